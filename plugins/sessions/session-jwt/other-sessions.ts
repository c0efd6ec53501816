/** Sessions of other browsers under the jwt strategy: recorded, listed, and ended by revocations. */
import {
  type AnyContext,
  type Context,
  type RecordTable,
  type Revocation,
  type SessionAttributes,
  type SessionFields,
  type SessionInfo,
  type SessionSelector,
} from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import type { JwtStrategy } from './options.ts'
import { attributeKey, type Claim, expiryOf, type HeldToken, latestRevocation } from './token.ts'

// With the watermark and the head they fit into one write.
const maxIds = 18

function sessionRows(ctx: AnyContext): RecordTable<SessionFields> {
  return ctx.records('sessionRecord')
}

/** Records a new session, where they are listed. */
export async function recordSession(ctx: Context, options: JwtStrategy, { token: { sub: userId }, claim }: HeldToken): Promise<void> {
  const { id, started, provider, sub, sid } = claim
  if (userId === undefined || provider === undefined) return
  const { id: _id, ...attributes } = claim
  const names = { sub: sub === undefined ? null : await indexedName(sub), sid: sid === undefined ? null : await indexedName(sid) }
  const times = { started: new Date(started), lastUsed: ctx.now, expires: expiryOf(ctx, options, claim, options.tokenAge) }
  await sessionRows(ctx).put({ id, userId, token: null, provider, ...names, attributes, ...times })
}

/** It was never handed out. */
export async function forgetSession(ctx: Context, id: string): Promise<void> {
  await sessionRows(ctx).delete(id)
}

/** Its token was renewed. */
export async function extendSession(ctx: Context, options: JwtStrategy, claim: Claim): Promise<void> {
  await sessionRows(ctx).update(claim.id, { lastUsed: ctx.now, expires: expiryOf(ctx, options, claim, options.tokenAge) })
}

/** The newest first. Rows outlive their sessions where those were ended by what the provider calls them. */
export async function listSessions(ctx: AnyContext, { revocations }: JwtStrategy, userId: string): Promise<SessionInfo[]> {
  const rows = await listRows(sessionRows(ctx), { where: { userId } })
  if (rows.length > 0 && revocations && ctx.runtime.now() >= revocations.freshUntil) await revocations.sync()
  const { namespace } = ctx.settings
  return rows
    .filter(({ id, started, attributes }) => {
      const claim: Claim = { id, ...(attributes as SessionAttributes), started: started.getTime() }
      return !revocations || !latestRevocation(revocations, namespace, { sub: userId }, claim)
    })
    .map(({ id, expires, started, lastUsed, attributes }) => {
      const { feed: _feed, ...shown } = attributes as SessionAttributes & { feed?: string }
      return { id, userId, expires, createdAt: started, lastUsed, attributes: shown }
    })
    .toReversed()
}

/** How many were ended; undefined where sessions are not recorded. `place`: of the session that an id names, where the caller knows it. */
export async function revokeSessions(
  ctx: AnyContext,
  options: JwtStrategy,
  which: SessionSelector,
  place?: string,
): Promise<number | undefined> {
  if ('id' in which) return revokeOne(ctx, options, which, place)
  if ('provider' in which && which.brief) {
    await options.revocations?.revoke(ctx, [watermarkFor(ctx, options, which)], options.tokenAge)
    return undefined
  }
  const [found, query] = await findRecorded(ctx, options, which)
  const ids = found && found.length <= maxIds ? found.map((id): Revocation => ({ key: `id:${id}`, before: ctx.now.getTime() })) : []
  await options.revocations?.revoke(ctx, [watermarkFor(ctx, options, which), ...ids], options.tokenAge)
  if (query && !('userId' in which && which.except !== undefined)) await sessionRows(ctx).deleteWhere(query)
  else for (const id of found ?? []) await sessionRows(ctx).delete(id)
  return found?.length
}

async function revokeOne(
  ctx: AnyContext,
  options: JwtStrategy,
  { id, userId }: { id: string; userId?: string },
  given: string | undefined,
): Promise<number> {
  const asks = options.lists && (userId !== undefined || (given === undefined && options.revocations?.place !== undefined))
  const row = asks ? await sessionRows(ctx).get(id) : null
  if (userId !== undefined && row?.userId !== userId) return 0
  const place = given ?? (row?.attributes as { feed?: string } | undefined)?.feed
  if (!options.revocations) return Number(await ctx.once.take(`ended ${id}`, options.tokenAge))
  await options.revocations.revoke(ctx, [{ key: `id:${id}`, before: ctx.now.getTime(), place }], options.tokenAge)
  if (options.lists) await sessionRows(ctx).delete(id)
  return 1
}

function watermarkFor(ctx: AnyContext, options: JwtStrategy, which: Exclude<SessionSelector, { id: string }>): Revocation {
  const now = ctx.now.getTime()
  if ('userId' in which) {
    const key = `user:${which.userId}`
    // A sign-in of the same millisecond begins after the last ending, and this one reaches it.
    const last = options.revocations?.entries.get(`${ctx.settings.namespace} ${key}`)?.before ?? 0
    return { key, before: Math.max(now, last + 1), except: which.except ?? null }
  }
  return { key: attributeKey(which), before: which.until ?? now, bounded: which.until !== undefined }
}

/** Ids of the recorded sessions that a selector names, and how to delete their rows. */
async function findRecorded(
  ctx: AnyContext,
  { lists }: JwtStrategy,
  which: Exclude<SessionSelector, { id: string }>,
): Promise<[string[] | undefined, Parameters<RecordTable<SessionFields>['deleteWhere']>[0] | undefined]> {
  if (!lists) return [undefined, undefined]
  if ('userId' in which) {
    const query = { where: { userId: which.userId } }
    return [(await listRows(sessionRows(ctx), query)).map(({ id }) => id).filter((id) => id !== which.except), query]
  }
  const name = 'sid' in which ? { sid: await indexedName(which.sid) } : { sub: await indexedName(which.sub) }
  const range = which.until === undefined ? {} : { range: { started: { lte: new Date(which.until) } } }
  const query = { where: { provider: which.provider, ...name }, ...range }
  const rows = await listRows(sessionRows(ctx), query)
  if (!('sid' in which) || which.sub === undefined) return [rows.map(({ id }) => id), query]
  const sub = await indexedName(which.sub)
  const own = rows.filter((row) => row.sub === sub)
  return [own.map(({ id }) => id), own.length === rows.length ? query : undefined]
}
