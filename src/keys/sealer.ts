/** The default `sealer`: JWE with keys derived once per (secret, purpose). */
import type { Settings } from '../contract/config.ts'
import type { Runtime, Sealer, SharedState } from '../contract/services.ts'
import { outdatedKey } from '../contract/symbols.ts'
import { setBounded } from '../runtime/shared.ts'
import { type Cipher, chooseCipher } from './ciphers.ts'
import { acceptClaims, textOfClaims } from './claims.ts'
import { keyInfoOf, keySaltOf } from './crypto.ts'
import { createRing, findKeyOfToken, maxKeys, maxPurposes, type NamedKey, type Ring } from './key-ring.ts'

/** Which platform it is is asked once, here, and not while requests run. */
export function createSealer(runtime: Runtime, shared: SharedState, cipher: Cipher = chooseCipher()): Sealer {
  const derived = shared.cache<NamedKey>(`${cipher.platform} keys`)
  const rings = new WeakMap<Settings, Map<string, Ring>>()

  const findRing = (purpose: string, settings: Settings): Ring | undefined => rings.get(settings)?.get(purpose)

  async function deriveRing(purpose: string, settings: Settings): Promise<Ring> {
    const [info, salt] = [keyInfoOf(settings, purpose), keySaltOf(settings, purpose)]
    const ring = await createRing(settings, async (secret, enc) => {
      // JSON keeps ("a","bc") and ("ab","c") apart.
      const id = JSON.stringify([enc, secret, salt, info])
      return derived.get(id) ?? setBounded(derived, id, await cipher.deriveKey(secret, salt, info, enc), maxKeys)
    })
    let known = rings.get(settings)
    if (!known) rings.set(settings, (known = new Map()))
    return setBounded(known, purpose, ring, maxPurposes)
  }

  return {
    async seal(purpose, payload, seconds, settings) {
      const { sealing } = findRing(purpose, settings) ?? (await deriveRing(purpose, settings))
      return cipher.encrypt(sealing, textOfClaims(payload, seconds, runtime))
    },
    async open(purpose, token, settings, endless = false) {
      try {
        const ring = findRing(purpose, settings) ?? (await deriveRing(purpose, settings))
        const key = findKeyOfToken(ring, token)
        const text = key && (await cipher.decrypt(key, token))
        const claims = text === undefined ? null : acceptClaims(JSON.parse(text), runtime.now(), endless)
        // Not enumerable: it is no claim, and no copy carries it.
        if (claims && key !== ring.sealing) Object.defineProperty(claims, outdatedKey, { value: true })
        return claims
      } catch {
        // Foreign, altered and expired values look alike on purpose: no oracle.
        return null
      }
    },
  }
}
