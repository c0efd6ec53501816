/** Names that users sign in with: those that a request types, and those under which a browser has signed in before. Limits and suspicion count by them. */
import type { Context } from '../contract/context.ts'
import type { CookieHandle } from '../contract/cookie.ts'
import { createCookie } from '../http/cookie-handle.ts'
import { countedName } from '../http/mail-address.ts'
import { randomHex } from '../keys/crypto.ts'

const fields = ['email', 'username', 'identifier', 'phone', 'name', 'login']
// How long a browser is remembered.
const seconds = 180 * 24 * 60 * 60
const maxNames = 16

/**
 * The names that were typed. On a route of a provider only the first field of its form counts, because only that one is checked. Another field would avoid the count of the real one, or fill the count of another user. Elsewhere all fields that name users. Empty for a GET.
 */
export async function typedNames(ctx: Context): Promise<string[]> {
  if (ctx.request.method === 'GET') return []
  // A body that cannot be read names no user; the route says what is wrong with it.
  const body = await ctx.body().catch((): Record<string, unknown> => ({}))
  const names = ctx.params['provider'] === undefined ? fields : await ownField(ctx)
  const values = names.map((name) => oneSpelling(body[name])).filter((value) => value !== '')
  return [...new Set(values)]
}

async function ownField(ctx: Context): Promise<string[]> {
  try {
    const provider = await ctx.provider()
    const form = ctx.flow(provider).form?.(provider)
    // Other steps of the flow take no name: a code, or the answer of a provider.
    if (!form || (form.post === 'callback') !== (ctx.route?.flow === 'callback')) return []
    return Object.entries(form.fields ?? {})
      .filter(([, { type }]) => type !== 'password' && type !== 'hidden')
      .map(([name]) => name)
      .slice(0, 1)
  } catch {
    return []
  }
}

function oneSpelling(value: unknown): string {
  if (value === undefined || value === null) return ''
  // JSON may wrap a name, ["ann"], which many a query reads as the name: it counts as the name.
  const text = typeof value === 'string' ? value : JSON.stringify(value).replace(/[[\]{}"]/g, '')
  return text.trim() === '' ? '' : countedName(text)
}

/**
 * Browsers in which a user has already signed in under a name. Attackers who use up the attempts of a name must not keep its owner out. The cookie proves
 * nothing but that: a client that has it still has to know the password, within a separate number of attempts. The kernel registers it.
 */
export const knownDeviceCookie: CookieHandle = /* @__PURE__ */ createCookie('known-device', { path: 'base', maxAge: seconds })

interface Device {
  id: string
  /** Digests of names, latest first. */
  of: string[]
}

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
