/** Keyed hashes of one-time values, under keys derived per purpose (D3). */
import type { Shared } from '../contract/runtime.ts'
import type { Settings } from '../contract/settings.ts'
import { setBounded } from '../runtime/shared.ts'
import { createHmac, hkdf, type Hmac } from './crypto.ts'
import { keyInfoOf } from './key-info.ts'

const maxKeys = 10_000

/** HMAC-SHA-256 in hex under a key of one secret and purpose. */
export async function digest(shared: Shared, settings: Settings, purpose: string, value: string, secret: string): Promise<string> {
  const keys = shared.cache<Hmac>('digest')
  const info = keyInfoOf(settings, purpose)
  const id = JSON.stringify([secret, purpose, info])
  const mac = keys.get(id) ?? setBounded(keys, id, await createHmac(await hkdf(secret, purpose, info, 32)), maxKeys)
  return mac(value)
}

/** What a stored digest may look like: one per secret, newest first, then those of another product (row 69). */
export async function digests(
  shared: Shared,
  settings: Settings,
  purpose: string,
  value: string,
  secrets: readonly string[],
): Promise<readonly string[]> {
  const own = await Promise.all(secrets.map((secret) => digest(shared, settings, purpose, value, secret)))
  // Another product knew no tenants.
  return settings.legacyDigests && settings.namespace === '' ? [...own, ...(await settings.legacyDigests(value, secrets))] : own
}
