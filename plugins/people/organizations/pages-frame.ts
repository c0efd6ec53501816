/** What the pages of organizations share: who looks, where else one can go, and what a rejection looks like. */
import { AuthError, type Content, type Context, type Markup, type Navigation, type PageTools, type PageView } from 'authkernel/kernel'
import { type Actor, createVisitor, type PluginInstance, type Membership, requireMembership, findUser } from './actor.ts'
import { listRoles, type OrganizationRole } from './custom-roles.ts'
import { coversRole, grantsPermission } from './roles.ts'

/** The query of a page. */
export type Params = Readonly<Record<string, string | undefined>>
/** A user who looks at one organization. */
export interface Visit {
  membership: Membership
  tools: PageTools
  params: Params
  may(permission: string): boolean
  /** Whether the user may give, change or take a role. */
  covers(role: string): boolean
  /** A form about this organization. `more` travels along. */
  act(action: string, body: Content, more?: Readonly<Record<string, string>>): Promise<Markup>
  /** A path of these pages, with the organization in its query. */
  to(place: string, more?: Readonly<Record<string, string>>): string
}

const places = [
  ['members', 'member:read'],
  ['roles', 'member:read'],
  ['teams', 'member:read'],
  ['domains', 'domain:claim'],
  ['history', 'organization:history'],
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
  const { say, alert, form, toast } = tools
  const { organization: id = '', error, done } = params
  const actor = await findVisitor(plugin, ctx)
  if (!actor) return ctx.page('signIn')
  try {
    const membership = await requireMembership(actor, id)
    const held = membership.held ?? []
    const visit: Visit = {
      membership,
      tools,
      params,
      may: (permission) => grantsPermission(membership.roles, held, permission),
      covers: (role) => coversRole(membership.roles, held, role),
      act: (action, body, more = {}) => form('/organizations', body, { action, organization: id, ...more }),
      to: (to, more = {}) => `/organizations/${to}?${new URLSearchParams({ organization: id, ...more }).toString()}`,
    }
    const body = [alert(error), done !== undefined && toast(say('organizations.done')), ...(await draw(visit))]
    return {
      title: membership.organization.name,
      lead: say(`organizations.${place}`),
      layout: 'wide',
      navigation: await drawNavigation(visit, place),
      body,
      ...pageStatus(error),
    }
  } catch (thrown) {
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return { title: say('organizations.title'), body: alert(thrown.type), status: thrown.status }
  }
}

/** Where else one can go; other plugins add places. */
async function drawNavigation({ tools: { say }, membership, may, to }: Visit, here: Place): Promise<Navigation> {
  const { ctx, organization, user, held } = membership
  const question = { items: [], organizationId: organization.id, userId: user?.id ?? '', role: held?.[0] ?? '' }
  const more = (await ctx.ask('organizationNavigation', question)) ?? []
  const items = places
    .filter(([, permission]) => may(permission))
    .map(([place]) => ({ label: say(`organizations.${place}`), to: to(place), current: place === here }))
  return {
    label: membership.organization.name,
    items: [
      ...items,
      ...more.map(({ label, to: path }) => ({ label: say(label), to: path })),
      { label: say('organizations.title'), to: '/organizations' },
    ],
  }
}

/** The roles of an organization with their names; those that the user may give first come first. */
export async function listRoleNames({ membership, tools }: Visit): Promise<readonly (readonly [role: string, name: Content])[]> {
  const roles = await listRoles(membership, membership.organization.id)
  return roles.map((role) => [role.role, nameOfRole(tools, role)] as const)
}

/** A choice among the roles that the user may give. `none`: the text of having none. */
export async function drawRoleChoice(visit: Visit, chosen: string, { key, none }: { key?: string; none?: Content } = {}): Promise<Content> {
  const known = (await listRoleNames(visit)).filter(([role]) => visit.covers(role))
  const options = none === undefined ? known : [['', none] as const, ...known]
  return visit.tools.select('role', { label: 'organizations.role', options, value: chosen }, key)
}

/** A role that members made has their title; one of the host the text that the host gave it, or its name. */
export function nameOfRole({ say }: PageTools, { role, title }: Pick<OrganizationRole, 'role' | 'title'>): Content {
  return title ?? (say(`organizations.role.${role}`) || role)
}

export function pageStatus(error: string | undefined): { status?: number } {
  return error === undefined ? {} : { status: 400 }
}
