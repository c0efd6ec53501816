/** The default `sealer`: JWE with keys derived once per (secret, purpose); on Node synchronously, elsewhere through jose. */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import type { Settings } from '../contract/settings.ts'
import { outdatedKey } from '../contract/symbols.ts'
import { setBounded } from '../runtime/shared.ts'
import { randomUUID } from './crypto.ts'
import type { DerivedKey } from './jwe.ts'
import { createNodeSealer } from './sealer-node.ts'
import { keyInfoOf } from './key-info.ts'

// Loaded by the first token that needs it: Node never does.
const load = () => import('./jwe.ts')
const maxKeys = 10_000
// Nodes of one host may disagree a little; more is not an honest token.
const maxAhead = 60
// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1): JSON knows 1e999, which no date can be made of.
const lastSecond = 8.64e12

/** Keys in order of the secrets, and by `kid`. */
type KeyRing = { first: DerivedKey; byKid: Map<string, DerivedKey> }

/** Asked once, here: nothing is asked about the platform while requests run. */
export function createSealer(runtime: Runtime, shared: Shared): Sealer {
  return createNodeSealer(runtime, shared) ?? createJoseSealer(runtime, shared)
}

function createJoseSealer(runtime: Runtime, shared: Shared): Sealer {
  const keys = shared.cache<DerivedKey>('keys')

  async function keyFor(secret: string, purpose: string, settings: Settings, enc: DerivedKey['enc']): Promise<DerivedKey> {
    // JSON keeps ("a","bc") and ("ab","c") apart.
    const info = keyInfoOf(settings, purpose)
    const id = JSON.stringify([enc, secret, purpose, info])
    const { deriveKey } = await load()
    return keys.get(id) ?? setBounded(keys, id, await deriveKey(secret, purpose, () => info, enc), maxKeys)
  }

  const rings = new WeakMap<Settings, Map<string, KeyRing>>()
  async function ring(purpose: string, settings: Settings, enc: DerivedKey['enc']): Promise<KeyRing> {
    let known = rings.get(settings)
    if (!known) rings.set(settings, (known = new Map()))
    const id = `${enc} ${purpose}`
    const existing = known.get(id)
    if (existing) return existing
    const all = await Promise.all(settings.secret.map((secret) => keyFor(secret, purpose, settings, enc)))
    const first = all[0]
    if (!first) throw new TypeError(`no secret to seal ${purpose} with`)
    return setBounded(known, id, { first, byKid: new Map(all.map((key) => [key.kid, key])) }, 64)
  }

  return {
    async seal(purpose, payload, seconds, settings) {
      const now = Math.floor(runtime.now() / 1000)
      const { first } = await ring(purpose, settings, settings.encryption[0] ?? 'A256CBC-HS512')
      const { encrypt } = await load()
      return encrypt({ ...payload, iat: now, ...(seconds !== null && { exp: now + seconds }), jti: randomUUID(runtime) }, first)
    },
    async open(purpose, token, settings, endless = false) {
      let used: DerivedKey | undefined
      const find = async (kid: string | undefined, enc: DerivedKey['enc']): Promise<DerivedKey> => {
        const { first, byKid } = await ring(purpose, settings, enc)
        const key = kid === undefined ? first : byKid.get(kid)
        if (!key) throw new Error('sealed by another secret')
        return (used = key)
      }
      try {
        const { decrypt } = await load()
        const payload = await decrypt(token, find, settings.encryption, runtime.now(), 0, endless)
        const { iat = 0, exp = 0 } = payload
        // What lies in a store was sealed by the clock of any host, and of any time.
        if ((iat > runtime.now() / 1000 + maxAhead && !endless) || -iat > lastSecond || (exp > lastSecond && !endless)) return null
        const { first } = await ring(purpose, settings, settings.encryption[0] ?? 'A256CBC-HS512')
        return used === first ? payload : Object.defineProperty(payload, outdatedKey, { value: true })
      } catch {
        // Foreign, altered and expired values look alike on purpose: no oracle.
        return null
      }
    },
  }
}
