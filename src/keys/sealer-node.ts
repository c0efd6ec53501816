/**
 * The `sealer` of Node: the same JWE as jose's (RFC 7516, `dir`), synchronously. Web Crypto takes five turns in the thread pool
 * to open one token, which costs thirty times the cryptography itself (docs/speed.md).
 */
import type { JWT } from '../contract/data.ts'
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Sealer } from '../contract/services.ts'
import type { Settings } from '../contract/settings.ts'
import { outdatedKey } from '../contract/symbols.ts'
import { randomBytes } from '../runtime/random.ts'
import { setBounded } from '../runtime/shared.ts'
import { randomUUID } from './crypto.ts'
import { keyInfoOf } from './key-info.ts'
import { type NodeCrypto, nodeCrypto } from './node-crypto.ts'

const maxHeader = 1_024

type Encryption = Settings['encryption'][number]
type Secret = ReturnType<NodeCrypto['createSecretKey']>

interface Key {
  enc: Encryption
  kid: string
  /** The protected header of every token under this key, as it travels. */
  header: string
  cipher: Secret
  /** A256CBC-HS512 alone has one; A256GCM authenticates by itself. */
  mac: Secret | undefined
}
/** Keys of one purpose: under each algorithm in order of the secrets. */
export interface Ring {
  sealing: Key
  keys: readonly Key[]
  byHeader: ReadonlyMap<string, Key>
}

const maxKeys = 10_000
const maxPurposes = 64
// Nodes of one host may disagree a little; more is not an honest token.
const maxAhead = 60
// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1).
const lastSecond = 8.64e12
const tagSize = { 'A256CBC-HS512': 32, A256GCM: 16 } as const
const ivSize = { 'A256CBC-HS512': 16, A256GCM: 12 } as const

/** Undefined where the runtime has no working `node:crypto`. */
export function createNodeSealer(runtime: Runtime, shared: Shared): Sealer | undefined {
  const crypto = nodeCrypto()
  if (!crypto) return undefined
  const derived = shared.cache<Key>('node keys')
  const rings = new WeakMap<Settings, Map<string, Ring>>()

  function ringOf(purpose: string, settings: Settings): Ring {
    let known = rings.get(settings)
    if (!known) rings.set(settings, (known = new Map()))
    return known.get(purpose) ?? setBounded(known, purpose, createRing(purpose, settings), maxPurposes)
  }

  function createRing(purpose: string, settings: Settings): Ring {
    const info = keyInfoOf(settings, purpose)
    return ringOfKeys(settings, (secret, enc) => {
      // JSON keeps ("a","bc") and ("ab","c") apart.
      const id = JSON.stringify([enc, secret, purpose, info])
      return derived.get(id) ?? setBounded(derived, id, deriveKey(crypto as NodeCrypto, secret, purpose, info, enc), maxKeys)
    })
  }

  return {
    seal(purpose, payload, seconds, settings) {
      const now = Math.floor(runtime.now() / 1000)
      const claims: JWT = { ...payload, iat: now }
      if (seconds !== null) claims.exp = now + seconds
      claims.jti = randomUUID(runtime)
      return encrypt(crypto, ringOf(purpose, settings).sealing, JSON.stringify(claims))
    },
    open(purpose, token, settings, endless = false) {
      try {
        const end = token.indexOf('.')
        // Nobody's header is that long: what is no token must not cost as much as one.
        if (end < 0 || end > maxHeader) return null
        const ring = ringOf(purpose, settings)
        const { sealing } = ring
        const header = token.slice(0, end)
        // Nearly every token is under the newest key: to compare texts costs less than to hash one.
        const key = header === sealing.header ? sealing : (ring.byHeader.get(header) ?? foreignKey(ring, header))
        const text = key && decrypt(crypto, key, token)
        const claims = text === undefined ? null : acceptable(JSON.parse(text), runtime.now(), endless)
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

/** Throws a TypeError without a secret. */
export function ringOfKeys(of: Pick<Settings, 'secret' | 'encryption'>, find: (secret: string, enc: Encryption) => Key): Ring {
  const keys = of.encryption.flatMap((enc) => of.secret.map((secret) => find(secret, enc)))
  const sealing = keys[0]
  if (!sealing) throw new TypeError('no secret to seal with')
  return { sealing, keys, byHeader: new Map(keys.map((key) => [key.header, key])) }
}

/** HKDF-SHA-256 and the RFC 7638 thumbprint as `kid` (row 93). */
export function deriveKey(crypto: NodeCrypto, secret: string, salt: string, info: string, enc: Encryption): Key {
  const cbc = enc === 'A256CBC-HS512'
  const raw = Buffer.from(crypto.hkdfSync('sha256', secret, salt, info, cbc ? 64 : 32))
  const kid = crypto
    .createHash(cbc ? 'sha512' : 'sha256')
    .update(JSON.stringify({ k: raw.toString('base64url'), kty: 'oct' }))
    .digest('base64url')
  return {
    enc,
    kid,
    header: Buffer.from(JSON.stringify({ alg: 'dir', enc, kid })).toString('base64url'),
    // RFC 7518 section 5.2.2.1: the first half authenticates, the second encrypts.
    cipher: crypto.createSecretKey(cbc ? raw.subarray(32) : raw),
    mac: cbc ? crypto.createSecretKey(raw.subarray(0, 32)) : undefined,
  }
}

/** The key of a header that another program wrote: no `kid`, or members in another order. */
export function foreignKey(ring: Ring, header: string): Key | undefined {
  const { alg, enc, kid, ...rest } = JSON.parse(bytesOf(header).toString()) as Record<string, unknown>
  // `zip` unpacks a small token into a large one (GHSA-hhhv-q57g-882q), `crit` asks for what is not understood, claims in the
  // header are not encrypted. Only what says nothing of consequence may stand beside the three.
  if (alg !== 'dir' || Object.keys(rest).some((name) => name !== 'typ' && name !== 'cty')) return undefined
  return ring.keys.find((key) => key.enc === enc && (kid === undefined || key.kid === kid))
}

export function encrypt(crypto: NodeCrypto, { enc, header, cipher, mac }: Key, text: string): string {
  const iv = Buffer.from(randomBytes(ivSize[enc]).buffer)
  let sealed: Buffer
  let tag: Buffer
  if (mac) {
    const engine = crypto.createCipheriv('aes-256-cbc', cipher, iv)
    sealed = Buffer.concat([engine.update(text, 'utf8'), engine.final()])
    tag = authenticate(crypto, mac, header, iv, sealed)
  } else {
    const engine = crypto.createCipheriv('aes-256-gcm', cipher, iv).setAAD(Buffer.from(header))
    sealed = Buffer.concat([engine.update(text, 'utf8'), engine.final()])
    tag = engine.getAuthTag()
  }
  return `${header}..${iv.toString('base64url')}.${sealed.toString('base64url')}.${tag.toString('base64url')}`
}

/** Undefined for a token of another shape or with a wrong tag; nothing is decrypted before the tag is right. */
export function decrypt(crypto: NodeCrypto, { enc, cipher, mac }: Key, token: string): string | undefined {
  const [header = '', wrapped, vector, body, end, more] = token.split('.', 6)
  if (wrapped !== '' || vector === undefined || body === undefined || end === undefined || more !== undefined) return undefined
  const iv = bytesOf(vector)
  const sealed = bytesOf(body)
  const tag = bytesOf(end)
  // A shortened tag could be guessed.
  if (iv.length !== ivSize[enc] || tag.length !== tagSize[enc]) return undefined
  if (mac && !crypto.timingSafeEqual(authenticate(crypto, mac, header, iv, sealed), tag)) return undefined
  const engine = mac
    ? crypto.createDecipheriv('aes-256-cbc', cipher, iv)
    : crypto.createDecipheriv('aes-256-gcm', cipher, iv, { authTagLength: tagSize.A256GCM }).setAAD(Buffer.from(header)).setAuthTag(tag)
  // With GCM it is `final` that throws when the tag is wrong, so nothing of `update` is used before it.
  return Buffer.concat([engine.update(sealed), engine.final()]).toString()
}

/** RFC 7518 section 5.2.2.1: HMAC over header, IV, ciphertext and the header's length in bits, cut in half. */
function authenticate(crypto: NodeCrypto, mac: Secret, header: string, iv: Buffer, sealed: Buffer): Buffer {
  const length = Buffer.alloc(8)
  length.writeUInt32BE(header.length * 8, 4)
  return crypto.createHmac('sha512', mac).update(header).update(iv).update(sealed).update(length).digest().subarray(0, 32)
}

/** Strict base64url: one value has one spelling, so that an altered token is never the same token. Throws on any other. */
function bytesOf(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') !== part) throw new TypeError('not base64url')
  return bytes
}

/** The claims when they hold now: `exp` is required (D37), unless `endless`, and exact (D46) without a `tolerance` in seconds, `nbf` is kept, `iat` is not from the future unless `endless`: clocks of hosts differ. */
export function acceptable(claims: unknown, milliseconds: number, endless: boolean, tolerance = 0): JWT | null {
  if (typeof claims !== 'object' || claims === null) return null
  const { exp = endless ? Infinity : undefined, nbf = 0, iat = 0 } = claims as Record<string, unknown>
  if (typeof exp !== 'number' || typeof nbf !== 'number' || typeof iat !== 'number') return null
  // JSON knows numbers that no date can be made of: 1e999 is Infinity.
  if (Math.abs(iat) > lastSecond || (exp > lastSecond && !endless)) return null
  const now = Math.floor(milliseconds / 1000)
  return exp > now - tolerance && nbf <= now + tolerance && (endless || iat <= milliseconds / 1000 + maxAhead) ? (claims as JWT) : null
}
