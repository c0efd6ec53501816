/** Roles of administrators: who has which, and which covers another. */
import { AccessDenied, type AnyContext, HttpError, type User } from 'authkernel/kernel'
import { banId } from './bans.ts'
import type { AdminAct, ResolvedOptions } from './options.ts'

const noActs: ReadonlySet<AdminAct> = new Set()

/** The role of a user; null: no administrator. A role that the options no longer have counts as none. */
export async function findRole(options: ResolvedOptions, ctx: AnyContext, user: User & { id: string }): Promise<string | null> {
  if (options.administrators.has(user.id)) return 'administrator'
  const role = options.roleOf ? await options.roleOf(user, ctx) : (await ctx.records('adminRole').get(await banId(user.id)))?.role
  return typeof role === 'string' && options.roles?.has(role) ? role : null
}

/** What a role may do. */
export function actsOf({ roles }: ResolvedOptions, role: string | null): ReadonlySet<AdminAct> {
  return (role === null ? undefined : roles?.get(role)) ?? noActs
}

/** Whether a role may do all that another may. */
export function coversRole(options: ResolvedOptions, role: string | null, other: string | null): boolean {
  const acts = actsOf(options, role)
  return [...actsOf(options, other)].every((act) => acts.has(act))
}

/** Stores the role of a user; null takes it. Throws HttpError 400 for the own role and an unknown one, AccessDenied for one with more rights than the own. */
export async function storeRole(
  options: ResolvedOptions,
  { ctx, admin }: { ctx: AnyContext; admin: User & { id: string } },
  user: User & { id: string },
  role: string | null,
): Promise<void> {
  assertRole(options, admin, user, role)
  await assertCovered(options, { ctx, admin }, role)
  const id = await banId(user.id)
  if (role === null) await ctx.records('adminRole').delete(id)
  else await ctx.records('adminRole').put({ id, userId: user.id, role, by: admin.id, since: ctx.now })
}

/** Throws AccessDenied for a role with more rights than those of the administrator. */
export async function assertCovered(
  options: ResolvedOptions,
  { ctx, admin }: { ctx: AnyContext; admin: User & { id: string } },
  role: string | null,
): Promise<void> {
  if (!coversRole(options, await findRole(options, ctx, admin), role))
    throw new AccessDenied('admin.setRole: the role has rights that the administrator does not have.')
}

/** Throws HttpError 400 for a role that cannot be given. */
export function assertRole(options: ResolvedOptions, admin: { id: string }, user: { id: string }, role: unknown): void {
  if (!options.roles || options.roleOf)
    throw new HttpError(
      400,
      'admin.setRole: the host stores roles itself, or has none. Set `roles: true` of adminPlugin, without `roleOf`.',
    )
  if (user.id === admin.id) throw new HttpError(400, 'admin.setRole: administrators cannot change their own role.')
  if (options.administrators.has(user.id))
    throw new HttpError(400, 'admin.setRole: the option `administrators` names this user. Change the option.')
  if (role !== null && (typeof role !== 'string' || !options.roles.has(role)))
    throw new HttpError(400, `admin.setRole: \`role\` must be null or one of ${[...options.roles.keys()].join(', ')}.`)
}
