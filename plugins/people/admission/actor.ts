/** Who acts, and whether `can` allows it. */
import { AccessDenied, type AnyContext, jobFor, type Kernel, type User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import type { AdmissionAct, By, ResolvedOptions } from './options.ts'

/** Who acts. `user` null: the host's own code. */
export interface Actor {
  ctx: AnyContext
  options: ResolvedOptions
  user: (User & { id: string }) | null
}

/** Throws AccessDenied for a request that is signed out, an API key, an app, an administrator who acts as another user, and if `can` does not say true. */
export async function createActor(kernel: Kernel, options: ResolvedOptions, by: By, act: AdmissionAct): Promise<Actor> {
  const ctx = by instanceof Request ? await kernel.contextOf(by) : await kernel.contextOf(jobFor('admission', by))
  return 'system' in by ? { ctx, options, user: null } : requireAdministrator(ctx, options, by instanceof Request ? null : by.userId, act)
}

/** The same in a route: the user who is signed in. `userId` null: that of the request. */
export async function requireAdministrator(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string | null,
  act: AdmissionAct,
): Promise<Actor> {
  const user = userId === null ? await findUser(ctx, act) : ((await ctx.store?.getUser(userId)) ?? null)
  if (!user) throw new AccessDenied(`admission.${act}: no user is signed in.`)
  if ((await options.can?.({ admin: user, act, ctx })) !== true)
    throw new AccessDenied(`admission.${act}: \`can\` rejected it. Without \`can\` only { system: true } may.`)
  return { ctx, options, user }
}

async function findUser(ctx: AnyContext, act: AdmissionAct): Promise<Actor['user']> {
  const id = ctx.request ? (await findOwnUser(ctx, `admission.${act}`))?.id : undefined
  return id === undefined ? null : ((await ctx.store?.getUser(id)) ?? null)
}
