/** Sessions of other browsers under the jwt strategy: recorded, listed, and ended by revocations. */
import {
  type AnyContext,
  type Context,
  indexed,
  type RecordTable,
  type Revocation,
  type SessionAttributes,
  type SessionFields,
  type SessionInfo,
  type SessionSelector,
} from 'authkernel/kernel'
import type { Made } from './settled.ts'
import { attributeKey, type Claim, endedBy, expiry, type Held } from './token.ts'

type Rows = Awaited<ReturnType<RecordTable<SessionFields>['find']>>['rows']

const pageSize = 1_000
// With the watermark and the head they fit into one write.
const maxIds = 18

function tableOf(ctx: AnyContext): RecordTable<SessionFields> {
  return ctx.records('sessionRecord') as unknown as RecordTable<SessionFields>
}

/** Records a new session, where they are listed. */
export async function record(ctx: Context, options: Made, { token: { sub: userId }, claim }: Held): Promise<void> {
  const { id, started, provider, sub, sid } = claim
  if (userId === undefined || provider === undefined) return
  const { id: _id, ...attributes } = claim
  const names = { sub: sub === undefined ? null : await indexed(sub), sid: sid === undefined ? null : await indexed(sid) }
  const times = { started: new Date(started), lastUsed: ctx.now, expires: expiry(ctx, options, claim, options.tokenAge) }
  await tableOf(ctx).put({ id, userId, token: null, provider, ...names, attributes, ...times })
}

/** It was never handed out. */
export async function forget(ctx: Context, id: string): Promise<void> {
  await tableOf(ctx).delete(id)
}

/** Its token was renewed. */
export async function extend(ctx: Context, options: Made, claim: Claim): Promise<void> {
  await tableOf(ctx).update(claim.id, { lastUsed: ctx.now, expires: expiry(ctx, options, claim, options.tokenAge) })
}

/** The newest first. Rows outlive their sessions where those were ended by what the provider calls them. */
export async function list(ctx: AnyContext, { revocations }: Made, userId: string): Promise<SessionInfo[]> {
  const rows = await find(ctx, { where: { userId } })
  if (rows.length > 0 && revocations && ctx.runtime.now() >= revocations.freshUntil) await revocations.sync()
  const { namespace } = ctx.settings
  return rows
    .filter(({ id, started, attributes }) => {
      const claim: Claim = { id, ...(attributes as SessionAttributes), started: started.getTime() }
      return !revocations || !endedBy(revocations, namespace, { sub: userId }, claim)
    })
    .map(({ id, expires, started, lastUsed, attributes }) => {
      return { id, userId, expires, createdAt: started, lastUsed, attributes: attributes as SessionAttributes }
    })
    .toReversed()
}

/** How many were ended; undefined where sessions are not recorded. */
export async function revoke(ctx: AnyContext, options: Made, which: SessionSelector): Promise<number | undefined> {
  if ('id' in which) return revokeOne(ctx, options, which)
  if ('provider' in which && which.brief) {
    await options.revocations?.revoke(ctx, [watermark(ctx, options, which)], options.tokenAge)
    return undefined
  }
  const [found, asked] = await recorded(ctx, options, which)
  const ids = found && found.length <= maxIds ? found.map((id): Revocation => ({ key: `id:${id}`, before: ctx.now.getTime() })) : []
  await options.revocations?.revoke(ctx, [watermark(ctx, options, which), ...ids], options.tokenAge)
  if (asked && !('userId' in which && which.except !== undefined)) await tableOf(ctx).deleteWhere(asked)
  else for (const id of found ?? []) await tableOf(ctx).delete(id)
  return found?.length
}

async function revokeOne(ctx: AnyContext, options: Made, { id, userId }: { id: string; userId?: string }): Promise<number> {
  if (userId !== undefined) {
    if (!options.lists || (await tableOf(ctx).get(id))?.userId !== userId) return 0
  }
  if (!options.revocations) return Number(await ctx.once.take(`ended ${id}`, options.tokenAge))
  await options.revocations.revoke(ctx, [{ key: `id:${id}`, before: ctx.now.getTime() }], options.tokenAge)
  if (options.lists) await tableOf(ctx).delete(id)
  return 1
}

function watermark(ctx: AnyContext, options: Made, which: Exclude<SessionSelector, { id: string }>): Revocation {
  const now = ctx.now.getTime()
  if ('userId' in which) {
    const key = `user:${which.userId}`
    // A sign-in of the same millisecond begins after the last ending, and this one reaches it.
    const last = options.revocations?.entries.get(`${ctx.settings.namespace} ${key}`)?.before ?? 0
    return { key, before: Math.max(now, last + 1), except: which.except ?? null }
  }
  return { key: attributeKey(which), before: which.until ?? now }
}

/** Ids of the recorded sessions that a selector names, and how to delete their rows. */
async function recorded(
  ctx: AnyContext,
  { lists }: Made,
  which: Exclude<SessionSelector, { id: string }>,
): Promise<[string[] | undefined, Parameters<RecordTable<SessionFields>['deleteWhere']>[0] | undefined]> {
  if (!lists) return [undefined, undefined]
  if ('userId' in which) {
    const asked = { where: { userId: which.userId } }
    return [(await find(ctx, asked)).map(({ id }) => id).filter((id) => id !== which.except), asked]
  }
  const name = 'sid' in which ? { sid: await indexed(which.sid) } : { sub: await indexed(which.sub) }
  const range = which.until === undefined ? {} : { range: { started: { lte: new Date(which.until) } } }
  const asked = { where: { provider: which.provider, ...name }, ...range }
  const rows = await find(ctx, asked)
  if (!('sid' in which) || which.sub === undefined) return [rows.map(({ id }) => id), asked]
  const sub = await indexed(which.sub)
  const own = rows.filter((row) => row.sub === sub)
  return [own.map(({ id }) => id), own.length === rows.length ? asked : undefined]
}

async function find(ctx: AnyContext, asked: Parameters<RecordTable<SessionFields>['find']>[0]): Promise<Rows> {
  const rows: Rows = []
  let cursor: string | undefined
  do {
    const page = await tableOf(ctx).find({ ...asked, limit: pageSize, ...(cursor !== undefined && { cursor }) })
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}
