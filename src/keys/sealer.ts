/** The default `sealer`: JWE with keys derived once per (secret, purpose); on Node synchronously, elsewhere over Web Crypto. */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import type { Settings } from '../contract/settings.ts'
import { outdatedKey } from '../contract/symbols.ts'
import { setBounded } from '../runtime/shared.ts'
import { keyInfoOf } from './key-info.ts'
import { eachKey, type Encryption, keyOf, maxKeys, maxPurposes, type Ring, ringOf } from './key-ring.ts'
import { acceptable, createNodeSealer, textOfClaims } from './sealer-node.ts'
import { decrypt, deriveKey, encrypt, type WebKey } from './web-cipher.ts'

/** Asked once, here: nothing is asked about the platform while requests run. */
export function createSealer(runtime: Runtime, shared: Shared): Sealer {
  return createNodeSealer(runtime, shared) ?? createWebSealer(runtime, shared)
}

function createWebSealer(runtime: Runtime, shared: Shared): Sealer {
  const derived = shared.cache<WebKey>('web keys')
  const rings = new WeakMap<Settings, Map<string, Ring<WebKey>>>()

  async function ringFor(purpose: string, settings: Settings): Promise<Ring<WebKey>> {
    let known = rings.get(settings)
    if (!known) rings.set(settings, (known = new Map()))
    return known.get(purpose) ?? setBounded(known, purpose, await createRing(purpose, settings), maxPurposes)
  }

  async function createRing(purpose: string, settings: Settings): Promise<Ring<WebKey>> {
    const info = keyInfoOf(settings, purpose)
    const keyFor = async (secret: string, enc: Encryption): Promise<WebKey> => {
      // JSON keeps ("a","bc") and ("ab","c") apart.
      const id = JSON.stringify([enc, secret, purpose, info])
      return derived.get(id) ?? setBounded(derived, id, await deriveKey(secret, purpose, info, enc), maxKeys)
    }
    return ringOf(await Promise.all(eachKey(settings, keyFor)))
  }

  return {
    seal: async (purpose, payload, seconds, settings) =>
      encrypt((await ringFor(purpose, settings)).sealing, textOfClaims(payload, seconds, runtime)),
    async open(purpose, token, settings, endless = false) {
      try {
        const ring = await ringFor(purpose, settings)
        const key = keyOf(ring, token)
        const text = key && (await decrypt(key, token))
        const claims = text === undefined ? null : acceptable(JSON.parse(text), runtime.now(), endless)
        if (claims && key !== ring.sealing) Object.defineProperty(claims, outdatedKey, { value: true })
        return claims
      } catch {
        // Foreign, altered and expired values look alike on purpose: no oracle.
        return null
      }
    },
  }
}
