/** The short cookie of a bound session. */
import { type Context, type CookieHandle, createCookie, equal, randomHex, sha256, toHex } from 'authkernel/kernel'
import type { DeviceSession, DeviceSessionRow } from './table.ts'
import { inSeconds } from './table.ts'

export const shortCookie: CookieHandle = createCookie('device', {})

/** Whether the browser has the present value, or the one before, which counts 30 seconds longer: requests may be under way with it. */
export async function holds(ctx: Context, row: DeviceSession): Promise<boolean> {
  const given = shortCookie.get(ctx)
  if (given === undefined) return false
  const digest = toHex(await sha256(given))
  const counts = (value: string | null, until: Date | null): boolean =>
    value !== null && until !== null && until > ctx.now && equal(value, digest)
  return counts(row.value, row.valueUntil) || counts(row.former, row.formerUntil)
}

/** A new value: what to store, and `set`, to be called when it was stored. */
export async function renew(
  ctx: Context,
  row: DeviceSession,
  seconds: number,
): Promise<{ change: Partial<DeviceSessionRow>; set(): void }> {
  const value = randomHex(ctx.runtime, 32)
  const until = row.valueUntil
  const soon = inSeconds(ctx, 30)
  const change = {
    value: toHex(await sha256(value)),
    valueUntil: inSeconds(ctx, seconds),
    former: row.value,
    formerUntil: until && until < soon ? until : soon,
  }
  return { change, set: () => shortCookie.set(ctx, value, { maxAge: seconds }) }
}
