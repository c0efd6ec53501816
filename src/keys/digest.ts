/** Keyed hashes of one-time values, under keys derived per purpose (D3). */
import type { SharedState } from '../contract/services.ts'
import type { Settings } from '../contract/config.ts'
import { setBounded } from '../runtime/shared.ts'
import { createHmac, hkdf, type Hmac, keyInfoOf } from './crypto.ts'

const maxKeys = 10_000
const maxPurposes = 64

/** HMAC-SHA-256 in hex under a key of one secret and purpose. */
export async function computeDigest(
  shared: SharedState,
  settings: Settings,
  purpose: string,
  value: string,
  secret: string,
): Promise<string> {
  const mac = findHmac(settings, purpose, secret) ?? (await deriveHmac(shared, settings, purpose, secret))
  return mac(value)
}

/** What a stored digest may look like: one per secret, newest first, then those of another product (row 69). */
export async function computeDigests(
  shared: SharedState,
  settings: Settings,
  purpose: string,
  value: string,
  secrets: readonly string[],
): Promise<readonly string[]> {
  const own: string[] = []
  for (const secret of secrets) {
    const made = (findHmac(settings, purpose, secret) ?? (await deriveHmac(shared, settings, purpose, secret)))(value)
    own.push(typeof made === 'string' ? made : await made)
  }
  // Another product knew no tenants.
  return settings.legacyDigests && settings.namespace === '' ? [...own, ...(await settings.legacyDigests(value, secrets))] : own
}

/** By purpose, and by secret. */
type Keys = Map<string, Map<string, Hmac>>
const keysOf = new WeakMap<Settings, Keys>()

function findHmac(settings: Settings, purpose: string, secret: string): Hmac | undefined {
  return keysOf.get(settings)?.get(purpose)?.get(secret)
}

/** Shared by all settings of the same names, and found by these settings from then on. */
async function deriveHmac(shared: SharedState, settings: Settings, purpose: string, secret: string): Promise<Hmac> {
  const cache = shared.cache<Hmac>('digest')
  const info = keyInfoOf(settings, purpose)
  const id = JSON.stringify([secret, purpose, info])
  const mac = cache.get(id) ?? setBounded(cache, id, await createHmac(await hkdf(secret, purpose, info, 32)), maxKeys)
  const keys: Keys = keysOf.get(settings) ?? new Map()
  keysOf.set(settings, keys)
  ;(keys.get(purpose) ?? setBounded(keys, purpose, new Map<string, Hmac>(), maxPurposes)).set(secret, mac)
  return mac
}
