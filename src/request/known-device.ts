/**
 * Browsers in which a user has already signed in under a name. Attackers who use up the attempts of a name must not keep its owner out.
 * The cookie proves nothing but that: a client that has it still has to know the password, within attempts of its own.
 */
import type { Context } from '../contract/context.ts'
import type { CookieHandle } from '../contract/cookie.ts'
import { randomHex } from '../keys/crypto.ts'
import { createCookie } from '../http/cookie-handle.ts'

// How long a browser is remembered.
const seconds = 180 * 24 * 60 * 60

/** The cookie, which the kernel registers. */
export const knownDeviceCookie: CookieHandle = /* @__PURE__ */ createCookie('known-device', { path: 'base', maxAge: seconds })

interface Device {
  id: string
  /** Digests of names, latest first. */
  of: string[]
}

const maxNames = 16

/** An id of this browser when a user has signed in here under `name`; undefined: it is not known for that name. */
export async function isKnownDevice(ctx: Context, name: string): Promise<string | undefined> {
  const device = await knownDeviceCookie.open<Device>(ctx)
  return device?.of?.includes(await digestOf(ctx, name)) ? device.id : undefined
}

/** Stores for 180 days that this browser has signed in with `name`. Call it after the name is proved. If the sign-in fails, nothing is stored. */
export async function rememberDevice(ctx: Context, name: string): Promise<void> {
  const device = await knownDeviceCookie.open<Device>(ctx)
  const digest = await digestOf(ctx, name)
  const of = [digest, ...(device?.of ?? []).filter((other) => other !== digest)].slice(0, maxNames)
  const sealed = await knownDeviceCookie.seal(ctx, { id: device?.id ?? randomHex(ctx.runtime, 16), of }, seconds)
  knownDeviceCookie.set(ctx, sealed)
}

async function digestOf(ctx: Context, name: string): Promise<string> {
  return (await ctx.digest('known-device', name)).slice(0, 32)
}
