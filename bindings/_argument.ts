/** The first argument of a binding's functions: a request, a context, an event. */

/** How to know it, and what to tell a caller who gave something else. */
export interface Argument {
  /** Members that it has. */
  has: readonly string[]
  /** A member that only another kind of request has. */
  not?: string
  /** `Give Express's request: auth.express.session(req).` */
  say: string
}

/** Throws TypeError for what is not what the framework hands on. */
export function assertArgument(given: unknown, { has, not, say }: Argument): void {
  const missing = typeof given === 'object' && given !== null ? has.find((member) => !(member in given)) : ''
  if (missing === undefined) {
    if (not === undefined || !(not in (given as object))) return
    throw new TypeError(`${say} The argument has \`${not}\`, so it is another kind of request.`)
  }
  throw new TypeError(`${say} The argument ${missing === '' ? `is ${given === null ? 'null' : typeof given}` : `has no \`${missing}\``}.`)
}
