/** The default `sealer`: JWE with keys derived once per (secret, purpose); on Node synchronously, elsewhere over Web Crypto. */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import type { Settings } from '../contract/settings.ts'
import { outdatedKey } from '../contract/symbols.ts'
import { setBounded } from '../runtime/shared.ts'
import { decryptNode, decryptWeb, deriveNodeKey, deriveWebKey, encryptNode, encryptWeb, type NodeKey, type WebKey } from './ciphers.ts'
import { acceptClaims, textOfClaims } from './claims.ts'
import { keyInfoOf, type NodeCrypto, nodeCrypto } from './crypto.ts'
import { eachKey, type Encryption, foreignKey, keyOf, maxHeader, maxKeys, maxPurposes, type Ring, ringOf } from './key-ring.ts'

/** Which platform it is is asked once, here, and not while requests run. */
export function createSealer(runtime: Runtime, shared: Shared): Sealer {
  return createNodeSealer(runtime, shared) ?? createWebSealer(runtime, shared)
}

/** Undefined where the runtime has no working `node:crypto`. */
export function createNodeSealer(runtime: Runtime, shared: Shared): Sealer | undefined {
  const crypto = nodeCrypto()
  if (!crypto) return undefined
  const derived = shared.cache<NodeKey>('node keys')
  const rings = new WeakMap<Settings, Map<string, Ring<NodeKey>>>()

  function ringFor(purpose: string, settings: Settings): Ring<NodeKey> {
    let known = rings.get(settings)
    if (!known) rings.set(settings, (known = new Map()))
    return known.get(purpose) ?? setBounded(known, purpose, createRing(purpose, settings), maxPurposes)
  }

  function createRing(purpose: string, settings: Settings): Ring<NodeKey> {
    const info = keyInfoOf(settings, purpose)
    const keyFor = (secret: string, enc: Encryption): NodeKey => {
      // JSON keeps ("a","bc") and ("ab","c") apart.
      const id = JSON.stringify([enc, secret, purpose, info])
      return derived.get(id) ?? setBounded(derived, id, deriveNodeKey(crypto as NodeCrypto, secret, purpose, info, enc), maxKeys)
    }
    return ringOf(eachKey(settings, keyFor))
  }

  return {
    seal(purpose, payload, seconds, settings) {
      return encryptNode(crypto, ringFor(purpose, settings).sealing, textOfClaims(payload, seconds, runtime))
    },
    open(purpose, token, settings, endless = false) {
      try {
        const end = token.indexOf('.')
        if (end < 0 || end > maxHeader) return null
        const ring = ringFor(purpose, settings)
        const { sealing } = ring
        const header = token.slice(0, end)
        // Nearly every token is under the newest key: to compare texts costs less than to hash one.
        const key = header === sealing.header ? sealing : (ring.byHeader.get(header) ?? foreignKey(ring, header))
        const text = key && decryptNode(crypto, key, token)
        const claims = text === undefined ? null : acceptClaims(JSON.parse(text), runtime.now(), endless)
        // Not enumerable: it is no claim, and no copy carries it.
        if (claims && key !== sealing) Object.defineProperty(claims, outdatedKey, { value: true })
        return claims
      } catch {
        // Foreign, altered and expired values look alike on purpose: no oracle.
        return null
      }
    },
  }
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
      return derived.get(id) ?? setBounded(derived, id, await deriveWebKey(secret, purpose, info, enc), maxKeys)
    }
    return ringOf(await Promise.all(eachKey(settings, keyFor)))
  }

  return {
    seal: async (purpose, payload, seconds, settings) =>
      encryptWeb((await ringFor(purpose, settings)).sealing, textOfClaims(payload, seconds, runtime)),
    async open(purpose, token, settings, endless = false) {
      try {
        const ring = await ringFor(purpose, settings)
        const key = keyOf(ring, token)
        const text = key && (await decryptWeb(key, token))
        const claims = text === undefined ? null : acceptClaims(JSON.parse(text), runtime.now(), endless)
        if (claims && key !== ring.sealing) Object.defineProperty(claims, outdatedKey, { value: true })
        return claims
      } catch {
        // Foreign, altered and expired values look alike on purpose: no oracle.
        return null
      }
    },
  }
}
