/** The administrator who acts, and whether `can` allows it. */
import { AccessDenied, type AnyContext, jobFor, type Kernel, type User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { findBan } from './bans.ts'
import type { AdminAct, AdminOptions, By } from './options.ts'

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

/** Throws AccessDenied unless `can` says true. */
export async function assertAllowed({ can }: AdminOptions, { ctx, admin }: Admin, act: AdminAct, user: User | null): Promise<void> {
  if ((await can({ admin, act, user, ctx })) !== true) throw new AccessDenied(`admin.${act}: \`can\` refused it.`)
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
