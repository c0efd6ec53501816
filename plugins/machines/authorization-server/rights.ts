/** What a user may give a client now. */
import type { AnyContext, User } from 'authkernel/kernel'
import type { Client } from './clients.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import type { OAuthGrant } from './tables.ts'

/** The scopes that the client may still have, and the user may still give. */
export async function allowedScopes(
  ctx: AnyContext,
  { can }: Pick<ResolvedOptions, 'can'>,
  user: User & { id: string },
  { id: client, metadata }: Pick<Client, 'id' | 'metadata'>,
  scopes: readonly string[],
): Promise<string[]> {
  const own = metadata.scope?.split(' ')
  const within = own ? scopes.filter((scope) => own.includes(scope)) : scopes
  const answers = await Promise.all(within.map((scope) => !can || openidScopes.includes(scope) || can({ user, client, scope, ctx })))
  return within.filter((_, index) => answers[index] === true)
}

/** Null: the user is gone, or a plugin that knows of bans says no. */
export async function readOwner(ctx: AnyContext, { userId }: Pick<OAuthGrant, 'userId'>): Promise<(User & { id: string }) | null> {
  const user = userId === null ? null : await ctx.store?.getUser(userId)
  return user && (await ctx.access.allows(user.id, 'appToken')) ? user : null
}
