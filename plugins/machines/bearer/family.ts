/** App sessions: how one begins, how its refresh token rotates, and how it ends (RFC 9700 section 4.14.2). */
import { type AnyContext, type AppGrant, indexed, randomHex, type User } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './table.ts'
import { isRefresh, parseRefresh } from './tokens.ts'

/** Milliseconds within which an answer that was lost may be asked for again, and two tabs may refresh at once. */
const grace = 10_000
const maxTries = 20

/** A row to create. */
export async function newSession(ctx: AnyContext, options: ResolvedOptions, grant: AppGrant): Promise<AppSession> {
  const { attributes, client, userId, scopes } = grant
  const now = ctx.now.getTime()
  const ends = new Date(now + options.maxAge * 1000)
  return {
    id: randomHex(ctx.runtime, 16),
    userId,
    clientId: client.id,
    scopes: [...scopes],
    key: randomHex(ctx.runtime, 32),
    generation: 1,
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
}

/**
 * The session with the next refresh token; null: the token gives nothing. A token that was used before, or that another app brings, ends the
 * session. Only the former one within ten seconds, while its successor is unused, is answered with that successor.
 */
export async function rotate(ctx: AnyContext, options: ResolvedOptions, clientId: string, text: string): Promise<AppSession | null> {
  const token = parseRefresh(text)
  const sessions = ctx.records('appSession')
  for (let tries = 0; token && tries < maxTries; tries++) {
    const session = await sessions.get(token.session)
    if (!session || token.generation > session.generation || !(await isRefresh(session, token))) return null
    if (session.clientId !== clientId) return endStolen(ctx, session)
    if (token.generation < session.generation) {
      const isLate = ctx.now.getTime() - session.rotated.getTime() > grace
      return isLate || token.generation < session.generation - 1 ? endStolen(ctx, session) : session
    }
    const expires = earlier(session.ends, new Date(ctx.now.getTime() + options.idle * 1000))
    // Compare-and-set: of several refreshes at the same moment one raises the generation, and the others read again.
    const next = { generation: session.generation + 1, rotated: ctx.now, expires }
    const written = await sessions.update(session.id, next, { if: { generation: session.generation } })
    if (written) return written
  }
  return null
}

/** The session of a refresh token of any age, for its end. Null: none, or of another app. */
export async function sessionOfRefresh(ctx: AnyContext, clientId: string, text: string): Promise<AppSession | null> {
  const token = parseRefresh(text)
  const session = token && (await ctx.records('appSession').get(token.session))
  if (!token || !session || session.clientId !== clientId || token.generation > session.generation) return null
  return (await isRefresh(session, token)) ? session : null
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
