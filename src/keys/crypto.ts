/** Hashing, key derivation, randomness and comparison: synchronous inside on Node, over Web Crypto elsewhere. */
import type { Awaitable } from '../contract/data.ts'
import type { Runtime } from '../contract/services.ts'
import type { Settings } from '../contract/config.ts'

const utf8 = new TextEncoder()

/** UTF-8 bytes of a text. */
export function bytes(value: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(value)
}

/** SHA-256 of a text (UTF-8) or of bytes. */
export async function sha256(value: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const node = nodeCrypto()
  if (node?.hash) return new Uint8Array(node.hash('sha256', value, 'buffer'))
  if (node) return new Uint8Array(node.createHash('sha256').update(value).digest())
  return new Uint8Array(await crypto.subtle.digest('SHA-256', typeof value === 'string' ? bytes(value) : value))
}

/** HKDF-SHA-256 (RFC 5869). */
export async function hkdf(secret: string, salt: string, info: string, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const node = nodeCrypto()
  if (node) return new Uint8Array(node.hkdfSync('sha256', secret, salt, info, length))
  const material = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: bytes(salt), info: bytes(info) }, material, length * 8)
  return new Uint8Array(bits)
}

/**
 * HKDF info of a purpose under the settings of a request. It names the tenant, so that nothing of one tenant opens at another, whatever secrets they share. The default namespace changes nothing: what was sealed before stays readable.
 */
export function keyInfoOf({ keyInfo, namespace }: Settings, purpose: string): string {
  const info = keyInfo(purpose)
  return namespace === '' ? info : `${info} namespace ${namespace}`
}

/** HKDF salt of the key of a purpose. */
export function keySaltOf({ keySalt }: Settings, purpose: string): string {
  return keySalt ? keySalt(purpose) : purpose
}

/** HKDF info of this library's keys (D2). */
export function defaultKeyInfo(salt: string): string {
  return `authkernel derived key (${salt})`
}

/** HMAC-SHA-256 under one key: a text to lower-case hex. */
export type Hmac = (value: string) => Awaitable<string>

/** The key is prepared once. */
export async function createHmac(raw: Uint8Array<ArrayBuffer>): Promise<Hmac> {
  const node = nodeCrypto()
  if (node) {
    const secret = node.createSecretKey(raw)
    return (value) => node.createHmac('sha256', secret).update(value).digest('hex')
  }
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return async (value) => toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(value))))
}

/** Compares in a time that depends on the lengths only, so that an attacker cannot guess character by character. */
export function equal(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  // Past its end a text has NaN, which counts as 0 here.
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** Returns random bytes as lower-case hex. */
export function randomHex(runtime: Pick<Runtime, 'random'>, length: number): string {
  return toHex(runtime.random(length))
}

/** UUID version 4 (RFC 9562). */
export function randomUUID(runtime: Pick<Runtime, 'random'>): string {
  const random = runtime.random(16)
  random[6] = ((random[6] ?? 0) & 0x0f) | 0x40
  random[8] = ((random[8] ?? 0) & 0x3f) | 0x80
  const hex = toHex(random)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const digits: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hex. */
export function toHex(value: Uint8Array): string {
  let hex = ''
  for (const byte of value) hex += digits[byte]
  return hex
}

/** Standard base64 with padding. */
export function toBase64(value: Uint8Array): string {
  let binary = ''
  for (const byte of value) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Base64url without padding (RFC 4648 section 5). */
export function toBase64Url(value: Uint8Array): string {
  // One call on Node, where a loop over the bytes costs three times as much.
  const { Buffer: native } = globalThis as { Buffer?: typeof Buffer }
  if (native) return native.from(value.buffer, value.byteOffset, value.byteLength).toString('base64url')
  return toBase64(value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Bytes of standard base64 or base64url. Throws on other characters. */
export function fromBase64(value: string): Uint8Array<ArrayBuffer> {
  const binary = atob(value.replaceAll('-', '+').replaceAll('_', '/'))
  const read = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) read[i] = binary.charCodeAt(i)
  return read
}

/** `node:crypto` where it works: its functions are synchronous, while each call of Web Crypto takes a turn in the thread pool (docs/speed.md). */
export type NodeCrypto = ReturnType<typeof process.getBuiltinModule<'node:crypto'>>

const probeResults = new WeakMap<NodeCrypto, boolean>()

/** Undefined on runtimes without it. Asked through the process, so that bundles for other runtimes have no `node:` import. */
export function nodeCrypto(): NodeCrypto | undefined {
  try {
    const crypto = globalThis.process.getBuiltinModule('node:crypto')
    let works = probeResults.get(crypto)
    // Some runtimes only have stubs.
    if (works === undefined) probeResults.set(crypto, (works = passesProbe(crypto)))
    return works ? crypto : undefined
  } catch {
    return undefined
  }
}

// One known value per primitive that is used.
function passesProbe(crypto: NodeCrypto): boolean {
  const key = Buffer.from(crypto.hkdfSync('sha256', 'probe', 'probe', 'probe', 32))
  const mac = crypto.createHmac('sha256', crypto.createSecretKey(key)).update('probe').digest()
  const hash = crypto.hash ? crypto.hash('sha256', key, 'buffer') : crypto.createHash('sha256').update(key).digest()
  const cbc = crypto.createCipheriv('aes-256-cbc', key, key.subarray(0, 16))
  const gcm = crypto.createCipheriv('aes-256-gcm', key, key.subarray(0, 12)).setAAD(hash)
  const sealed = Buffer.concat([cbc.update('probe', 'utf8'), cbc.final(), gcm.update('probe', 'utf8'), gcm.final(), gcm.getAuthTag()])
  const all = crypto.createHash('sha512').update(mac).update(hash).update(sealed).digest('base64url')
  return all === expectedProbe && crypto.timingSafeEqual(mac, mac) && crypto.randomBytes(16).length === 16
}

const expectedProbe = 'aNvFGIgKFrsx4TRoU_Eeo3Nj2m-CTvusRCp7VFpW2X97ZIOFyVyuGGLPmIzDlaw_xVYxxPv_zwVz75yB5aqMcg'
