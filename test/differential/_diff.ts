/** What two values disagree about, one short line per place: readable where a whole transcript is not. */

/** Lines of the form `path: theirs -> ours`. */
export function differences(ours: unknown, theirs: unknown, path = ''): string[] {
  if (Object.is(ours, theirs)) return []
  if (!isObject(ours) || !isObject(theirs) || Array.isArray(ours) !== Array.isArray(theirs))
    return [`${path}: ${text(theirs)} -> ${text(ours)}`]
  const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
  return keys.flatMap((key) => differences(ours[key], theirs[key], path === '' ? key : `${path}.${key}`))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function text(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
