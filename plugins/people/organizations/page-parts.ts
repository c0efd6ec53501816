/** What the pages of organizations share: who looks, where else one can go, and what a refusal looks like. */
import { AuthError, type Content, type Context, type PageTools, type PageView } from 'authkernel/kernel'
import { type Actor, actorOf, type Desk, type Seat, seatIn, visitorOf } from './desk.ts'
import { covers, grants } from './roles.ts'

/** The query of a page. */
export type Params = Readonly<Record<string, string | undefined>>
/** Somebody who looks at one organization. */
export interface Visit {
  seat: Seat
  tools: PageTools
  params: Params
  may(permission: string): boolean
  /** A form about this organization. `more` travels along. */
  act(action: string, body: Content, more?: Readonly<Record<string, string>>): Promise<Content>
}

const places = [
  ['members', 'member:read'],
  ['teams', 'member:read'],
  ['domains', 'domain:claim'],
  ['settings', 'organization:update'],
] as const
export type Place = (typeof places)[number][0]

/** Null: nobody is signed in. */
export async function visiting(desk: Desk, ctx: Context): Promise<Actor | null> {
  return (await visitorOf(ctx)) ? actorOf(desk, ctx) : null
}

/** A page about one organization, for its members: with the way to the others, what went wrong, and what was done. */
export async function inside(
  desk: Desk,
  ctx: Context,
  { tools, params, place }: { tools: PageTools; params: Params; place: Place },
  draw: (visit: Visit) => Promise<readonly Content[]>,
): Promise<PageView | Response> {
  const { html, say, alert, form } = tools
  const { organization: id = '', error, done } = params
  const actor = await visiting(desk, ctx)
  if (!actor) return ctx.page('signIn')
  try {
    const seat = await seatIn(actor, id)
    const may = (permission: string): boolean => grants(desk.options.roles, seat.role, permission)
    const act: Visit['act'] = (action, body, more = {}) => form('/organizations', body, { action, organization: id, ...more })
    const body = await draw({ seat, tools, params, may, act })
    const shown = [
      alert(error),
      done !== undefined && html`<p role="status">${say('organizations.done')}</p>`,
      ...body,
      ways(tools, id, place, may),
    ]
    return { title: seat.organization.name, lead: say(`organizations.${place}`), body: shown, ...failed(error) }
  } catch (thrown) {
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return { title: say('organizations.title'), body: alert(thrown.type), status: thrown.status }
  }
}

/** Where else one can go. */
function ways({ html, say, base }: PageTools, id: string, here: Place, may: (permission: string) => boolean): Content {
  const links = places
    .filter(([place, permission]) => place !== here && may(permission))
    .map(
      ([place]) =>
        html`<li><a href="${base}/organizations/${place}?organization=${encodeURIComponent(id)}">${say(`organizations.${place}`)}</a></li>`,
    )
  return html`<nav aria-label="${say('organizations.title')}">
    <ul>
      ${links}
      <li><a href="${base}/organizations">${say('organizations.title')}</a></li>
    </ul>
  </nav>`
}

/** A choice among the roles that the person may give. `none`: the text of having none. */
export function roleChoice({ seat, tools: { html, say }, tools }: Visit, whose: string, chosen: string, none?: Content): Content {
  const { roles } = seat.options
  const option = (value: string, text: Content): Content =>
    value === chosen ? html`<option value="${value}" selected>${text}</option>` : html`<option value="${value}">${text}</option>`
  return html`<label
    >${say('organizations.role')}
    <select name="role" aria-label="${say('organizations.role')} ${whose}">
      ${none !== undefined && option('', none)}
      ${[...roles.keys()].filter((role) => covers(roles, seat.role ?? '', role)).map((role) => option(role, roleName(tools, role)))}
    </select></label
  >`
}

/** A host's own role has the text that the host gave it, or its name. */
export function roleName({ say }: PageTools, role: string): Content {
  return say(`organizations.role.${role}`) || role
}

export function failed(error: string | undefined): { status?: number } {
  return error === undefined ? {} : { status: 400 }
}
