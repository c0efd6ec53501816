/** The administrator who acts, and whether roles and `can` allow it. */
import { AccessDenied, type AnyContext, HttpError, jobFor, type Kernel, type User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { findBan } from './bans.ts'
import { type AdminAct, type By, readingActs, type ResolvedOptions } from './options.ts'
import { actsOf, coversRole, findRole } from './roles.ts'

/** The administrator who acts. */
export interface Admin {
  ctx: AnyContext
  admin: User & { id: string }
}

/** Throws AccessDenied for a request that is signed out, a banned user, an API key, and an administrator who acts as another user. */
export async function findAdmin(kernel: Kernel, by: By, act: AdminAct): Promise<Admin> {
  const found = by instanceof Request ? await fromRequest(kernel, by, act) : await fromStoredUser(kernel, by)
  if (!found?.admin) throw new AccessDenied(`admin.${act}: no user is signed in.`)
  const { ctx, admin } = found
  // The token of a banned administrator may be believed for some seconds in another process.
  if (await findBan(ctx, admin.id)) throw new AccessDenied(`admin.${act}: the user who asks is banned.`)
  return { ctx, admin }
}

/** Throws AccessDenied unless the role of the administrator has the act, the user has no higher role, and `can` says true. */
export async function assertAllowed(
  options: ResolvedOptions,
  { ctx, admin }: Admin,
  act: AdminAct,
  user: (User & { id: string }) | null,
): Promise<void> {
  if (options.roles) {
    const role = await findRole(options, ctx, admin)
    if (!actsOf(options, role).has(act)) throw new AccessDenied(`admin.${act}: the role of the administrator does not permit it.`)
    const touches = user !== null && user.id !== admin.id && !(readingActs as readonly string[]).includes(act)
    if (touches && !coversRole(options, role, await findRole(options, ctx, user)))
      throw new AccessDenied(`admin.${act}: the user has a role that the role of the administrator does not cover.`)
  }
  if (options.can && (await options.can({ admin, act, user, ctx })) !== true) throw new AccessDenied(`admin.${act}: \`can\` refused it.`)
}

/** Rejects a user who may read nothing of the console. Throws AccessDenied. */
export async function assertReader(options: ResolvedOptions, actor: Admin): Promise<void> {
  let refusal: unknown
  for (const act of readingActs) {
    try {
      return await assertAllowed(options, actor, act, null)
    } catch (error) {
      // A store that fails is no refusal, and asking it again for each act helps no user.
      if (!(error instanceof AccessDenied)) throw error
      refusal = error
    }
  }
  throw refusal
}

type FoundAdmin = { ctx: AnyContext; admin: Admin['admin'] | null }

async function fromRequest(kernel: Kernel, request: Request, act: AdminAct): Promise<FoundAdmin | null> {
  const ctx = await kernel.contextOf(request)
  const userId = (await findOwnUser(ctx, `admin.${act}`))?.id
  return userId === undefined ? null : { ctx, admin: (await ctx.store?.getUser(userId)) ?? null }
}

async function fromStoredUser(kernel: Kernel, { userId, ...tenant }: Exclude<By, Request>): Promise<FoundAdmin> {
  const ctx = await kernel.contextOf(jobFor('admin', tenant))
  return { ctx, admin: (await ctx.store?.getUser(userId)) ?? null }
}

/** Throws HttpError 400 for a reason that the audit log cannot keep. */
export function checkReason(what: string, reason: unknown): string {
  if (typeof reason === 'string' && reason.trim() !== '' && reason.length <= 500 && !reason.includes('\0')) return reason
  throw new HttpError(400, `admin.${what}: give a \`reason\` of 1 to 500 characters; the audit log keeps it.`)
}

/** Whether it can be the id of a row. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 255 && !value.includes('\0')
}
