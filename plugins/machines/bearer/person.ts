/** Whose an app session is now, and what the app may do for that person. */
import type { AnyContext, AppClient, User } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './table.ts'

/** Null: the user is gone, or a plugin that knows of bans says no. */
export async function personOf(
  ctx: AnyContext,
  options: ResolvedOptions,
  session: Pick<AppSession, 'userId' | 'clientId' | 'id'>,
): Promise<{ user: User & { id: string }; app: AppClient } | null> {
  const app = options.apps.get(session.clientId)
  const user = app && (await ctx.store?.getUser(session.userId))
  if (!app || !user || !(await ctx.access.allows(user.id, 'appToken'))) return null
  if (ctx.has('hook', 'appSession') && (await ctx.ask('appSession', { user, app, id: session.id })) !== true) return null
  return { user, app }
}

/** What the person may still give, and what the app may still have. */
export async function rightsOf(
  ctx: AnyContext,
  { can }: ResolvedOptions,
  { user, app }: { user: User; app: AppClient },
  scopes: readonly string[],
): Promise<string[]> {
  const within = scopes.filter((scope) => app.scopes.includes(scope))
  const held = await Promise.all(within.map((scope) => !can || can({ user, app, scope, ctx })))
  return within.filter((_, index) => held[index] === true)
}
