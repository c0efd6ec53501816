/** The program that acts in a request: a directory, a queue of another service. */
import type { Facts, ProgramActor } from '../contract/context.ts'
import type { RouteInfo } from '../contract/route.ts'

const shape = /^[a-z][a-z0-9-]{0,31}$/
// What an audit log says of users and of the app itself: a program must not pass for one of them.
const reserved: ReadonlySet<string> = new Set(['user', 'admin', 'provider', 'system', 'anonymous'])

/** The facts of a request in which a program acts. Throws TypeError outside of routes, for another shape, and for a second program. */
export function withActor(facts: Facts, route: RouteInfo | undefined, actor: ProgramActor): Facts {
  if (!route) throw new TypeError('ctx.actAs: call it in the handler of a route, after the credential of the program was checked.')
  const { type, id } = Object(actor) as Partial<ProgramActor>
  if (typeof type !== 'string' || !shape.test(type) || reserved.has(type))
    throw new TypeError(
      `ctx.actAs: the type ${JSON.stringify(type)} is none of a program. Write a word such as "scim": lower-case letters, digits and hyphens, and none of ${[...reserved].join(', ')}.`,
    )
  if (typeof id !== 'string' || id === '' || id.length > 255) throw new TypeError('ctx.actAs: `id` is a text of 1 to 255 characters.')
  const known = facts.actor
  if (known && (known.type !== type || known.id !== id))
    throw new TypeError(`ctx.actAs: ${known.type} ${JSON.stringify(known.id)} acts in this request already. One request has one program.`)
  return Object.freeze({ ...facts, actor: Object.freeze({ type, id }) })
}
