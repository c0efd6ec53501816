/** App sessions: how one begins, what it may do now, and how it ends. */
import { type AnyContext, type AppClient, type AppGrant, randomHex, type User } from 'authkernel/kernel'
import { indexedName } from 'authkernel/kernel/strategies'
import type { ResolvedOptions } from './options.ts'
import { earlierOf, type FamilyKind, type TokenFamily } from './rotation.ts'
import type { AppSession } from './tables.ts'
import { hashRefreshToken, makeFirstRefresh } from './tokens.ts'

/** An app session with its present refresh token. */
export type Family = TokenFamily<AppSession>

/** A row to create, and its first refresh token. `jkt`: the key that the app proved. */
export async function createFamily(ctx: AnyContext, options: ResolvedOptions, grant: AppGrant, jkt: string | null): Promise<Family> {
  const { attributes, client, userId, scopes } = grant
  const now = ctx.now.getTime()
  const ends = new Date(now + options.maxAge * 1000)
  const id = randomHex(ctx.runtime, 16)
  const refresh = await makeFirstRefresh(ctx, id)
  const session: AppSession = {
    id,
    userId,
    clientId: client.id,
    scopes: [...scopes],
    key: randomHex(ctx.runtime, 32),
    generation: 1,
    hash: await hashRefreshToken(refresh),
    jkt,
    rotated: ctx.now,
    provider: attributes?.provider ?? '',
    sub: attributes?.sub === undefined ? null : await indexedName(attributes.sub),
    sid: attributes?.sid === undefined ? null : await indexedName(attributes.sid),
    attributes,
    address: ctx.facts.address?.slice(0, 64) ?? null,
    started: ctx.now,
    ends,
    expires: earlierOf(ends, new Date(now + options.idle * 1000)),
  }
  return { session, refresh }
}

/** App sessions as families of refresh tokens. */
export function appFamilies(ctx: AnyContext, { idle }: Pick<ResolvedOptions, 'idle'>): FamilyKind<AppSession> {
  return { table: ctx.records('appSession'), idle, noteTheft: async (session) => ctx.emit('appTokenReused', describeSession(session)) }
}

/** Null: the user is gone, or a plugin that knows of bans says no. */
export async function readOwner(
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

/** The scopes that the user may still give and the app may still have. */
export async function scopesOf(
  ctx: AnyContext,
  { can }: ResolvedOptions,
  { user, app }: { user: User; app: AppClient },
  scopes: readonly string[],
): Promise<string[]> {
  const within = scopes.filter((scope) => app.scopes.includes(scope))
  const answers = await Promise.all(within.map((scope) => !can || can({ user, app, scope, ctx })))
  return within.filter((_, index) => answers[index] === true)
}

/** False: it had ended. One of several callers emits the event. */
export async function endSession(ctx: AnyContext, { id }: { id: string }, by: string): Promise<boolean> {
  const session = await ctx.records('appSession').take(id)
  if (session) await ctx.emit('appSessionEnded', { ...describeSession(session), by })
  return session !== null
}

/** What events say of a session. */
export function describeSession({ id, userId, clientId }: AppSession): { id: string; user: User; clientId: string } {
  return { id, user: { id: userId }, clientId }
}
