/** Who acts, and with which rights. */
import { AccessDenied, type AnyContext, type Context, jobFor, type Kernel, type OfTenant, type Row, type User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { NoSuchOrganization, OrganizationDenied } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { grantsPermission, heldRoles, type Roles } from './roles.ts'
import type { MemberRow, OrganizationRow } from './tables.ts'

/**
 * Who does it: the user who is signed in on a request, a stored user, or your own code, which needs no permission. `tenant` names the tenant where there are
 * several.
 */
export type By = Request | ({ userId: string } & OfTenant) | ({ system: true } & OfTenant)

/** The kernel and the options of one `organizationsPlugin`. */
export interface PluginInstance {
  kernel: Kernel
  options: ResolvedOptions
}
/** Who acts. `user` null: the host's own code. `rows`: the context of the tenant that has the rows. */
export interface Actor extends PluginInstance {
  ctx: AnyContext
  rows: AnyContext
  user: (User & { id: string; emailVerified?: Date | null }) | null
}
/** An actor and the organization, with what the actor is in it. */
export interface Membership extends Actor {
  organization: Row<OrganizationRow>
  /** Roles of the actor, the main one first; null for the host's own code. */
  held: readonly string[] | null
  /** All roles of the organization, those that its members made too. */
  roles: Roles
}

/** Throws AccessDenied for a request that is signed out, an API key, and an administrator who acts as another user. */
export async function createActor(plugin: PluginInstance, by: By): Promise<Actor> {
  if (by instanceof Request) return createVisitor(plugin, await plugin.kernel.contextOf(by))
  const ctx = await plugin.kernel.contextOf(jobFor('organizations', by))
  const user = 'system' in by ? null : await ctx.store?.getUser(by.userId)
  if (user === undefined || (user === null && !('system' in by))) throw new AccessDenied('organizations: there is no such user.')
  return { ...plugin, ctx, rows: await rowsOf(plugin, ctx), user }
}

/** The same on a route. */
export async function createVisitor(plugin: PluginInstance, ctx: Context): Promise<Actor> {
  const user = await findUser(ctx)
  if (!user) throw new AccessDenied('organizations: no user is signed in.')
  return { ...plugin, ctx, rows: await rowsOf(plugin, ctx), user }
}

/** The user who is signed in, as stored now. Throws AccessDenied for an API key, and for an administrator who acts as another user. */
export async function findUser(ctx: Context): Promise<Actor['user']> {
  const userId = (await findOwnUser(ctx, 'organizations'))?.id
  return userId === undefined ? null : ((await ctx.store?.getUser(userId)) ?? null)
}

/** Where the rows are. */
export async function rowsOf({ kernel, options }: PluginInstance, ctx: AnyContext): Promise<AnyContext> {
  return options.tenants === 'inside' || ctx.facts.namespace === '' ? ctx : kernel.contextOf({ job: 'organizations', tenant: null })
}

/** The row of a member whose membership is in force: one query by a unique key. Null for a suspended member, who may do nothing. */
export async function findMember(rows: AnyContext, organizationId: unknown, userId: unknown): Promise<Row<MemberRow> | null> {
  const row = await findMembershipRow(rows, organizationId, userId)
  return row?.suspended === null ? row : null
}

/** The row of a member, also of a suspended one. */
export async function findMembershipRow(rows: AnyContext, organizationId: unknown, userId: unknown): Promise<Row<MemberRow> | null> {
  if (!isRowId(organizationId) || !isId(userId)) return null
  return rows.records('organizationMember').get({ organizationId, userId })
}

/**
 * The organization as it is now, and what the actor is in it. Its row is read first: who writes under its `version` afterwards writes under the rights that are
 * read here. Throws NoSuchOrganization also for a user who is no member, AccessDenied without the permission.
 */
export async function requireMembership(
  actor: Actor,
  organizationId: unknown,
  permission?: string,
  { closing = false }: { closing?: boolean } = {},
): Promise<Membership> {
  const organization = isRowId(organizationId) ? await actor.rows.records('organization').get(organizationId) : null
  const own = organization && actor.user && (await findMember(actor.rows, organization.id, actor.user.id))
  if (!organization || (organization.closing && !closing) || (actor.user && !own))
    throw new NoSuchOrganization('There is no such organization for this user.')
  const held = own ? heldRoles(own) : null
  const roles = await rolesOf(actor.rows, actor.options, organization.id)
  if (held && permission !== undefined && !grantsPermission(roles, held, permission))
    throw new OrganizationDenied(`organizations: the role "${held.join('", "')}" does not have the permission "${permission}".`)
  return { ...actor, organization, held, roles }
}

/** The roles of the options, and those that the members of an organization made. */
export async function rolesOf(rows: AnyContext, { roles, all }: ResolvedOptions, organizationId: string): Promise<Roles> {
  const { rows: made } = await rows.records('organizationRole').find({ where: { organizationId }, limit: 1000 })
  if (made.length === 0) return roles
  // A permission that the host took out of its statements is none any more.
  return new Map([...roles, ...made.map(({ key, permissions }) => [key, new Set(permissions.filter((one) => all.has(one)))] as const)])
}

/** Whether it can be the id of a user at all. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 255 && !value.includes('\0') && !/\p{Cs}/u.test(value)
}
/** Whether it can be the id of a row. */
export function isRowId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value)
}
