/** What clients send, checked: texts that must be there, and ones that may. */

type Input<R extends string, O extends string> = { [K in R]: string } & { [K in O]?: string }

/** Throws TypeError for anything but an object with these texts; numbers and other fields are left out. */
export function texts<const R extends string = never, const O extends string = never>(
  required: readonly R[],
  optional: readonly O[] = [],
): (sent: unknown) => Input<R, O> {
  return (sent) => {
    const given = Object(sent) as Record<string, unknown>
    const found: Record<string, string> = {}
    for (const name of required) found[name] = text(given[name])
    for (const name of optional) if (given[name] !== undefined && given[name] !== null) found[name] = text(given[name])
    return found as Input<R, O>
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 1000) throw new TypeError('a text of at most 1000 characters')
  return value
}
