/** The token in the cookie: written, taken away, and what it is remembered by. */
import { type Context, type JWT, randomUUID, sha256, toHex } from 'authkernel/kernel'
import type { Settled } from './settled.ts'

export async function decodeWith(
  decode: NonNullable<Settled['decode']>,
  ctx: Context,
  salt: string,
  token: string,
  failed: ((error: unknown) => void) | undefined,
): Promise<JWT | null> {
  try {
    return await decode({ token, secret: secretOf(ctx), salt })
  } catch (error) {
    failed?.(error)
    return null
  }
}

export async function write(ctx: Context, options: Settled, token: JWT): Promise<void> {
  const { name, options: attributes } = ctx.cookies.sessionToken
  const expires = expiry(ctx, options, token)
  const maxAge = Math.max(1, Math.round((expiry(ctx, options, token, options.tokenAge).getTime() - ctx.now.getTime()) / 1000))
  const value = options.encode
    ? await options.encode({ token, secret: secretOf(ctx), salt: name, maxAge })
    : await ctx.seal(name, token, maxAge)
  ctx.setChunkedCookie(name, value, { ...attributes, expires })
}

export function clear(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

/** Claims that outlive whatever the jwt callback returns: when the session began, and its id for revocation. */
export function anchors(ctx: Context, { absoluteMaxAge, revocable }: Settled, previous: JWT | null): JWT {
  return {
    ...(absoluteMaxAge !== undefined && { sst: previous?.['sst'] ?? Math.floor(ctx.now.getTime() / 1000) }),
    // A token from before `revocable` keeps the name that its copies have.
    ...(revocable && { sid: previous?.['sid'] ?? previous?.jti ?? randomUUID(ctx.runtime) }),
  }
}

export async function notEnded(ctx: Context, token: JWT, value: string): Promise<boolean> {
  return !(await ctx.once.taken(`ended ${await endedAs(token, value)}`))
}

/** What the end of a token is remembered by; one of the host's own `encode` may have no id at all. */
export async function endedAs({ sid, jti }: JWT, value: string): Promise<string> {
  if (typeof sid === 'string') return sid
  return typeof jti === 'string' ? jti : toHex(await sha256(value))
}

export function expiry(ctx: Context, { maxAge, absoluteMaxAge }: Settled, token: JWT, age: number = maxAge): Date {
  const idle = ctx.now.getTime() + age * 1000
  return new Date(absoluteMaxAge === undefined ? idle : Math.min(idle, (Number(token['sst']) + absoluteMaxAge) * 1000))
}

// As the host wrote it: its own encode and decode expect the option's shape.
function secretOf(ctx: Context): string | readonly string[] {
  const { secret } = ctx.settings
  return secret.length === 1 ? (secret[0] as string) : secret
}
