/** What the pages of organizations share: who looks, where else one can go, and what a refusal looks like. */
import { AuthError, type Content, type Context, type PageTools, type PageView } from 'authkernel/kernel'
import { type Actor, createVisitor, type PluginInstance, type Membership, requireMembership, findUser } from './actor.ts'
import { coversRole, grantsPermission } from './roles.ts'

/** The query of a page. */
export type Params = Readonly<Record<string, string | undefined>>
/** A user who looks at one organization. */
export interface Visit {
  membership: Membership
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

/** Null: signed out. */
export async function findVisitor(plugin: PluginInstance, ctx: Context): Promise<Actor | null> {
  return (await findUser(ctx)) ? createVisitor(plugin, ctx) : null
}

/** A page about one organization, for its members: with the way to the others, what went wrong, and what was done. */
export async function drawOrganizationPage(
  plugin: PluginInstance,
  ctx: Context,
  { tools, params, place }: { tools: PageTools; params: Params; place: Place },
  draw: (visit: Visit) => Promise<readonly Content[]>,
): Promise<PageView | Response> {
  const { html, say, alert, form } = tools
  const { organization: id = '', error, done } = params
  const actor = await findVisitor(plugin, ctx)
  if (!actor) return ctx.page('signIn')
  try {
    const membership = await requireMembership(actor, id)
    const may = (permission: string): boolean => grantsPermission(plugin.options.roles, membership.role, permission)
    const act: Visit['act'] = (action, body, more = {}) => form('/organizations', body, { action, organization: id, ...more })
    const body = await draw({ membership, tools, params, may, act })
    const shown = [
      alert(error),
      done !== undefined && html`<p role="status">${say('organizations.done')}</p>`,
      ...body,
      drawNavigation(tools, id, place, may),
    ]
    return { title: membership.organization.name, lead: say(`organizations.${place}`), body: shown, ...pageStatus(error) }
  } catch (thrown) {
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return { title: say('organizations.title'), body: alert(thrown.type), status: thrown.status }
  }
}

/** Where else one can go. */
function drawNavigation({ html, say, base }: PageTools, id: string, here: Place, may: (permission: string) => boolean): Content {
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

/** A choice among the roles that the user may give. `none`: the text of having none. */
export function drawRoleChoice({ membership, tools: { html, say }, tools }: Visit, whose: string, chosen: string, none?: Content): Content {
  const { roles } = membership.options
  const option = (value: string, text: Content): Content =>
    value === chosen ? html`<option value="${value}" selected>${text}</option>` : html`<option value="${value}">${text}</option>`
  return html`<label
    >${say('organizations.role')}
    <select name="role" aria-label="${say('organizations.role')} ${whose}">
      ${none !== undefined && option('', none)}
      ${[...roles.keys()].filter((role) => coversRole(roles, membership.role ?? '', role)).map((role) => option(role, nameOfRole(tools, role)))}
    </select></label
  >`
}

/** A host's own role has the text that the host gave it, or its name. */
export function nameOfRole({ say }: PageTools, role: string): Content {
  return say(`organizations.role.${role}`) || role
}

export function pageStatus(error: string | undefined): { status?: number } {
  return error === undefined ? {} : { status: 400 }
}
