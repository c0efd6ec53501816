/** What becomes of the row of a session when the session goes on under another id, or another one takes its place. */
import type { Context } from 'authkernel/kernel'
import type { DeviceSession } from './table.ts'

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
 * Deletes the row of a session that has ended. `to` is the row of the session in its place, which was made from the row: what the browser changed
 * meanwhile goes there too, so that a bound session never goes on unbound.
 */
export async function dropFormer(ctx: Context, former: DeviceSession, to: string | null): Promise<void> {
  const table = ctx.records('deviceSession')
  if (to === null) return void (await table.delete(former.id))
  let known = former
  for (;;) {
    const now = await table.get(former.id)
    if (!now) return
    if (movedFields.some((field) => textOf(now[field]) !== textOf(known[field])))
      await table.update(to, Object.fromEntries(movedFields.map((field) => [field, now[field]])))
    known = now
    const { bound, offer, challenge, value } = now
    if (await table.take(former.id, { if: { bound, offer, challenge, value } })) return
  }
}

function textOf(value: string | Date | null): string {
  return value instanceof Date ? String(value.getTime()) : String(value)
}
