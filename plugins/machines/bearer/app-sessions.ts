/** App sessions: how one begins, how its refresh token rotates, what it may do now, and how it ends (RFC 9700 section 4.14.2). */
import { type AnyContext, type AppClient, type AppGrant, equal, randomHex, type TokenAnswer, type User } from 'authkernel/kernel'
import { indexedName } from 'authkernel/kernel/strategies'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './tables.ts'
import { hashRefreshToken, isMarked, makeFirstRefresh, nextRefreshTexts, parseRefresh, type RefreshText } from './tokens.ts'

/** Milliseconds within which a lost answer may be repeated, and two tabs may refresh at once. */
const grace = 10_000
const maxTries = 20

/** An app session with its present refresh token, of which the row has a hash. */
export interface Family {
  session: AppSession
  refresh: string
}

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

/** Who shows a refresh token: the app, and the key that it proved. */
interface Holder {
  clientId: string
  jkt: string | null
}

/**
 * The session with the next refresh token; null: the token gives nothing. A token that was used before, or that another app brings, ends the
 * session. Only the former one within ten seconds, from the same key and while its successor is unused, is answered with that successor.
 * `admit` runs before the token is used up: what it returns is the result, and the token stays as good as it was.
 */
export async function rotateRefresh(
  ctx: AnyContext,
  options: ResolvedOptions,
  holder: Holder,
  text: string,
  admit: (session: AppSession) => Promise<TokenAnswer | undefined>,
): Promise<Family | { readonly refused: TokenAnswer } | null> {
  const token = parseRefresh(text)
  const sessions = ctx.records('appSession')
  for (let tries = 0; token && tries < maxTries; tries++) {
    const session = await sessions.get(token.session)
    if (!session || !(await isTokenOfSession(ctx, session, token, text))) return null
    if (session.clientId !== holder.clientId) return endStolen(ctx, session)
    const nexts = await nextRefreshTexts(ctx, token)
    if (token.generation < session.generation) {
      const again = await findRecentSuccessor(ctx, session, nexts, holder)
      if (!again) return endStolen(ctx, session)
      const refusal = await admit(session)
      return refusal ? { refused: refusal } : again
    }
    // Without its key the token is worth nothing, and an attacker who copied it cannot end the session either.
    if (session.jkt !== null && session.jkt !== holder.jkt) return null
    const refusal = await admit(session)
    if (refusal) return { refused: refusal }
    const refresh = nexts[0] as string
    const expires = earlierOf(session.ends, new Date(ctx.now.getTime() + options.idle * 1000))
    const next = { generation: session.generation + 1, hash: await hashRefreshToken(refresh), jkt: holder.jkt, rotated: ctx.now, expires }
    // Compare-and-set: of several refreshes at the same moment one raises the generation, and the others read again.
    const written = await sessions.update(session.id, next, { if: { generation: session.generation } })
    if (written) return { session: written, refresh }
  }
  return null
}

/** The session of a refresh token of any age, for its end. Null: none, or of another app. */
export async function sessionOfRefresh(ctx: AnyContext, clientId: string, text: string): Promise<AppSession | null> {
  const token = parseRefresh(text)
  const session = token && (await ctx.records('appSession').get(token.session))
  return token && session?.clientId === clientId && (await isTokenOfSession(ctx, session, token, text)) ? session : null
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

/** The successor that was answered already, where it may be answered again. */
async function findRecentSuccessor(
  ctx: AnyContext,
  session: AppSession,
  nexts: readonly string[],
  { jkt }: Holder,
): Promise<Family | undefined> {
  if (ctx.now.getTime() - session.rotated.getTime() > grace || session.jkt !== jkt) return undefined
  // That of an older token is not the one that counts.
  for (const refresh of nexts) if (equal(session.hash, await hashRefreshToken(refresh))) return { session, refresh }
  return undefined
}

/** The present token by its hash, an earlier one by its mark. An invented text is none of them. */
async function isTokenOfSession(ctx: AnyContext, session: AppSession, token: RefreshText, text: string): Promise<boolean> {
  if (token.generation > session.generation) return false
  return token.generation === session.generation ? equal(session.hash, await hashRefreshToken(text)) : isMarked(ctx, token)
}

async function endStolen(ctx: AnyContext, { id }: AppSession): Promise<null> {
  const session = await ctx.records('appSession').take(id)
  if (session) await ctx.emit('appTokenReused', describeSession(session))
  return null
}

function earlierOf(a: Date, b: Date): Date {
  return a < b ? a : b
}
