/** App sessions: how one begins, how its refresh token rotates, and how it ends (RFC 9700 section 4.14.2). */
import { type AnyContext, type AppGrant, equal, indexed, randomHex, type TokenAnswer, type User } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './table.ts'
import { firstRefresh, hashOf, isMarked, parseRefresh, type RefreshText, successors } from './tokens.ts'

/** Milliseconds within which an answer that was lost may be asked for again, and two tabs may refresh at once. */
const grace = 10_000
const maxTries = 20

/** An app session with its present refresh token, of which the row has a hash. */
export interface Family {
  session: AppSession
  refresh: string
}

/** A row to create, and its first refresh token. `jkt`: the key that the app proved. */
export async function newFamily(ctx: AnyContext, options: ResolvedOptions, grant: AppGrant, jkt: string | null): Promise<Family> {
  const { attributes, client, userId, scopes } = grant
  const now = ctx.now.getTime()
  const ends = new Date(now + options.maxAge * 1000)
  const id = randomHex(ctx.runtime, 16)
  const refresh = await firstRefresh(ctx, id)
  const session: AppSession = {
    id,
    userId,
    clientId: client.id,
    scopes: [...scopes],
    key: randomHex(ctx.runtime, 32),
    generation: 1,
    hash: await hashOf(refresh),
    jkt,
    rotated: ctx.now,
    provider: attributes?.provider ?? '',
    sub: attributes?.sub === undefined ? null : await indexed(attributes.sub),
    sid: attributes?.sid === undefined ? null : await indexed(attributes.sid),
    attributes,
    address: ctx.facts.address?.slice(0, 64) ?? null,
    started: ctx.now,
    ends,
    expires: earlier(ends, new Date(now + options.idle * 1000)),
  }
  return { session, refresh }
}

/** Who shows a refresh token: the app, and the key that it proved. */
export interface Holder {
  clientId: string
  jkt: string | null
}

/**
 * The session with the next refresh token; null: the token gives nothing. A token that was used before, or that another app brings, ends the
 * session. Only the former one within ten seconds, from the same key and while its successor is unused, is answered with that successor.
 * `admit` is asked before the token is used up: what it answers is returned, and the token stays as good as it was.
 */
export async function rotate(
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
    if (!session || !(await isOwn(ctx, session, token, text))) return null
    if (session.clientId !== holder.clientId) return endStolen(ctx, session)
    const nexts = await successors(ctx, token)
    if (token.generation < session.generation) {
      const again = await late(ctx, session, nexts, holder)
      if (!again) return endStolen(ctx, session)
      const refused = await admit(session)
      return refused ? { refused } : again
    }
    // Without its key the token is worth nothing, and whoever copied it cannot end the session either.
    if (session.jkt !== null && session.jkt !== holder.jkt) return null
    const refused = await admit(session)
    if (refused) return { refused }
    const refresh = nexts[0] as string
    const expires = earlier(session.ends, new Date(ctx.now.getTime() + options.idle * 1000))
    const next = { generation: session.generation + 1, hash: await hashOf(refresh), jkt: holder.jkt, rotated: ctx.now, expires }
    // Compare-and-set: of several refreshes at the same moment one raises the generation, and the others read again.
    const written = await sessions.update(session.id, next, { if: { generation: session.generation } })
    if (written) return { session: written, refresh }
  }
  return null
}

/** The successor that was answered already, where it may be answered again. */
async function late(ctx: AnyContext, session: AppSession, nexts: readonly string[], { jkt }: Holder): Promise<Family | undefined> {
  if (ctx.now.getTime() - session.rotated.getTime() > grace || session.jkt !== jkt) return undefined
  // That of an older token is not the one that counts.
  for (const refresh of nexts) if (equal(session.hash, await hashOf(refresh))) return { session, refresh }
  return undefined
}

/** The present token by its hash, an earlier one by its mark. An invented text is none of them. */
async function isOwn(ctx: AnyContext, session: AppSession, token: RefreshText, text: string): Promise<boolean> {
  if (token.generation > session.generation) return false
  return token.generation === session.generation ? equal(session.hash, await hashOf(text)) : isMarked(ctx, token)
}

/** The session of a refresh token of any age, for its end. Null: none, or of another app. */
export async function sessionOfRefresh(ctx: AnyContext, clientId: string, text: string): Promise<AppSession | null> {
  const token = parseRefresh(text)
  const session = token && (await ctx.records('appSession').get(token.session))
  return token && session?.clientId === clientId && (await isOwn(ctx, session, token, text)) ? session : null
}

/** False: it had ended. Of several callers one tells it. */
export async function endSession(ctx: AnyContext, { id }: { id: string }, by: string): Promise<boolean> {
  const session = await ctx.records('appSession').take(id)
  if (session) await ctx.emit('appSessionEnded', { ...told(session), by })
  return session !== null
}

/** What events say of a session. */
export function told({ id, userId, clientId }: AppSession): { id: string; user: User; clientId: string } {
  return { id, user: { id: userId }, clientId }
}

async function endStolen(ctx: AnyContext, { id }: AppSession): Promise<null> {
  const session = await ctx.records('appSession').take(id)
  if (session) await ctx.emit('appTokenReused', told(session))
  return null
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b
}
