/**
 * The `sealer` of Node: a JWE (RFC 7516, `dir`), synchronously. Web Crypto takes five turns in the thread pool to open one token, which costs thirty
 * times the cryptography itself (docs/speed.md).
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
import {
  eachKey,
  type Encryption,
  foreignKey,
  headerOf,
  ivSize,
  keySize,
  maxHeader,
  maxKeys,
  maxPurposes,
  type NamedKey,
  type Ring,
  ringOf,
  tagSize,
  thumbprintOf,
} from './key-ring.ts'
import { type NodeCrypto, nodeCrypto } from './node-crypto.ts'

type Secret = ReturnType<NodeCrypto['createSecretKey']>

/** A key of `node:crypto`. */
export interface NodeKey extends NamedKey {
  cipher: Secret
  /** A256CBC-HS512 alone has one; A256GCM authenticates by itself. */
  mac: Secret | undefined
}

// Nodes of one host may disagree a little; more is not an honest token.
const maxAhead = 60
// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1).
const lastSecond = 8.64e12

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
      return derived.get(id) ?? setBounded(derived, id, deriveKey(crypto as NodeCrypto, secret, purpose, info, enc), maxKeys)
    }
    return ringOf(eachKey(settings, keyFor))
  }

  return {
    seal(purpose, payload, seconds, settings) {
      return encrypt(crypto, ringFor(purpose, settings).sealing, textOfClaims(payload, seconds, runtime))
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

/** JSON of a payload with the times of now. */
export function textOfClaims(payload: JWT, seconds: number | null, runtime: Runtime): string {
  const now = Math.floor(runtime.now() / 1000)
  const claims: JWT = { ...payload, iat: now }
  if (seconds !== null) claims.exp = now + seconds
  claims.jti = randomUUID(runtime)
  return JSON.stringify(claims)
}

/** HKDF-SHA-256 and the RFC 7638 thumbprint as `kid` (row 93). */
export function deriveKey(crypto: NodeCrypto, secret: string, salt: string, info: string, enc: Encryption): NodeKey {
  const cbc = enc === 'A256CBC-HS512'
  const raw = Buffer.from(crypto.hkdfSync('sha256', secret, salt, info, keySize[enc]))
  const kid = crypto
    .createHash(cbc ? 'sha512' : 'sha256')
    .update(thumbprintOf(raw))
    .digest('base64url')
  return {
    enc,
    kid,
    header: headerOf(enc, kid),
    // RFC 7518 section 5.2.2.1: the first half authenticates, the second encrypts.
    cipher: crypto.createSecretKey(cbc ? raw.subarray(32) : raw),
    mac: cbc ? crypto.createSecretKey(raw.subarray(0, 32)) : undefined,
  }
}

export function encrypt(crypto: NodeCrypto, { enc, header, cipher, mac }: NodeKey, text: string): string {
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
export function decrypt(crypto: NodeCrypto, { enc, cipher, mac }: NodeKey, token: string): string | undefined {
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
