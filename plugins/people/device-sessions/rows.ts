/** Rows of sessions: found, listed, and what becomes of one when its session goes on under another id. */
import { type AnyContext, type Context, type SessionSelector, type SessionStrategy, sha256, toHex } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import type { DeviceSession } from './tables.ts'

/** The id of a session's row. */
export async function rowId(sessionId: string): Promise<string> {
  return toHex(await sha256(sessionId))
}
/** The row of a session; null for one from before the plugin. */
export async function findDeviceSession(ctx: Context, sessionId: string): Promise<DeviceSession | null> {
  return ctx.records('deviceSession').get(await rowId(sessionId))
}

/** The moment so many seconds from now. */
export function inSeconds({ now }: Context, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000)
}

/** Ids of the rows that guard what a selector names. Those of sessions that a provider ends go by themselves. */
export async function listGuardIds(ctx: AnyContext, which: SessionSelector): Promise<string[]> {
  if ('id' in which) return [await rowId(which.id)]
  if (!('userId' in which)) return []
  const { userId, except } = which
  const rows = await listRows(ctx.records('deviceSession'), { where: { userId } })
  return rows.filter(({ sessionId }) => sessionId !== except).map(({ id }) => id)
}

/** Those of a user that have not ended, the newest first. */
export async function listLiveRows(ctx: AnyContext, strategy: SessionStrategy, userId: string): Promise<DeviceSession[]> {
  const { rows } = await ctx.records('deviceSession').find({ where: { userId }, order: 'desc', limit: 1000 })
  if (!strategy.abilities?.has('list')) return rows
  // The identity provider may have ended some.
  const live = new Set((await strategy.list?.(ctx, userId))?.map(({ id }) => id))
  return rows.filter(({ sessionId }) => live.has(sessionId))
}

/** Fields that a browser changes by a registration or a refresh, which may be under way. */
const movedFields = [
  'bound',
  'key',
  'offer',
  'offerUntil',
  'challenge',
  'challengeUntil',
  'value',
  'valueUntil',
  'former',
  'formerUntil',
] as const

/**
 * Deletes the row of a session that has ended. `to` is the row of the session in its place, which was made from the row. What the browser changed meanwhile goes there too, so that a bound session never goes on unbound.
 */
export async function dropFormer(ctx: Context, former: DeviceSession, to: string | null): Promise<void> {
  const table = ctx.records('deviceSession')
  if (to === null) return void (await table.delete(former.id))
  let known = former
  for (;;) {
    const now = await table.get(former.id)
    if (!now) return
    if (movedFields.some((field) => cellText(now[field]) !== cellText(known[field])))
      await table.update(to, Object.fromEntries(movedFields.map((field) => [field, now[field]])))
    known = now
    const { bound, offer, challenge, value } = now
    if (await table.take(former.id, { if: { bound, offer, challenge, value } })) return
  }
}

function cellText(value: string | Date | null): string {
  return value instanceof Date ? String(value.getTime()) : String(value)
}
