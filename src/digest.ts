/** Keyed hashes of one-time values, under keys derived per purpose (D3). */
import { hkdf, hmac, hmacKey } from './crypto.ts'
import type { Settings } from './messages.ts'
import { bounded, type Shared } from './shared.ts'

const maxKeys = 10_000

/** HMAC-SHA-256 in hex under a key of one secret and purpose. */
export async function digest(shared: Shared, settings: Settings, purpose: string, value: string, secret: string): Promise<string> {
  const keys = shared.cache<CryptoKey>('digest')
  const id = JSON.stringify([secret, purpose, settings.keyInfo(purpose)])
  const key = keys.get(id) ?? bounded(keys, id, await hmacKey(await hkdf(secret, purpose, settings.keyInfo(purpose), 32)), maxKeys)
  return hmac(key, value)
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
  return settings.legacyDigests ? [...own, ...(await settings.legacyDigests(value, secrets))] : own
}
