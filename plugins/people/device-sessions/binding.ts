/** What binds a session to its browser: the offer to register a key, and the short cookie of a bound session. */
import { type Context, type CookieHandle, type CookieOptions, createCookie, equal, randomHex, sha256, toHex } from 'authkernel/kernel'
import { inSeconds } from './rows.ts'
import type { DeviceSession, DeviceSessionRow } from './tables.ts'

/** What the cookies of sessions are called, before a piece of what the browser calls the session: several may wait in one browser. */
export const shortCookie: CookieHandle = /* @__PURE__ */ createCookie('device', {})

export function shortCookieName(ctx: Context, bound: string): string {
  return `${shortCookie.name(ctx)}.${bound.slice(0, 8)}`
}
export function deleteShortCookie(ctx: Context, bound: string): void {
  ctx.deleteCookie(shortCookieName(ctx, bound), cookieOptionsOf(ctx))
}
function cookieOptionsOf(ctx: Context): CookieOptions {
  // Cookies of plugins are among them by their key. The type lists those of the kernel.
  return (ctx.cookies as unknown as Record<string, { options: CookieOptions }>)[shortCookie.spec.key]?.options ?? {}
}

/** Whether the browser has the present value, or the one before, which counts 30 seconds longer: requests may be under way with it. */
export async function holdsCookie(ctx: Context, row: DeviceSession): Promise<boolean> {
  const value = row.bound === null ? undefined : ctx.cookie(shortCookieName(ctx, row.bound))
  if (value === undefined) return false
  const digest = toHex(await sha256(value))
  const counts = (value: string | null, until: Date | null): boolean =>
    value !== null && until !== null && until > ctx.now && equal(value, digest)
  return counts(row.value, row.valueUntil) || counts(row.former, row.formerUntil)
}

/** A new value: what to store, and `set`, to be called when it was stored. */
export async function renewCookie(
  ctx: Context,
  row: DeviceSession,
  bound: string,
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
  return { change, set: () => ctx.setCookie(shortCookieName(ctx, bound), value, { ...cookieOptionsOf(ctx), maxAge: seconds }) }
}

const offerSeconds = 60

/** What is stored with a new session, so that its browser can register a key. */
export function createOffer(ctx: Context): { offer: string; offerUntil: Date } {
  return { offer: randomHex(ctx.runtime, 32), offerUntil: inSeconds(ctx, offerSeconds) }
}

/** The header by which the browser learns that it can register a key. */
export function announceRegistration(ctx: Context, challenge: string): void {
  const path = `${ctx.basePath === '/' ? '' : ctx.basePath}/dbsc/register`
  ctx.addHeader('Secure-Session-Registration', `(ES256);path="${path}";challenge="${challenge}"`)
}
