/**
 * Tokens as JWE (RFC 7516, `dir`): synchronously over `node:crypto`, and over Web Crypto where the runtime has none. Web Crypto takes five turns in the
 * thread pool to open one token, which costs thirty times the cryptography itself (docs/speed.md).
 */
import type { Awaitable } from '../contract/data.ts'
import { joinBytes } from '../runtime/network.ts'
import { randomBytes } from '../runtime/runtime.ts'
import { bytes, equal, hkdf, type NodeCrypto, nodeCrypto, toBase64Url } from './crypto.ts'
import { type Encryption, headerOf, ivSize, type NamedKey, keySize, strictBytes, tagSize, decodeUtf8, thumbprintOf } from './key-ring.ts'

type Secret = ReturnType<NodeCrypto['createSecretKey']>

/** A key of `node:crypto`. */
interface NodeKey extends NamedKey {
  cipher: Secret
  /** A256CBC-HS512 alone has one; A256GCM authenticates by itself. */
  mac: Secret | undefined
}
/** A key that no script can read out again. */
interface WebKey extends NamedKey {
  cipher: CryptoKey
  /** A256CBC-HS512 alone has one. */
  mac: CryptoKey | undefined
}
type Bytes = Uint8Array<ArrayBuffer>

/** The encryption of one platform. Its keys are of no use to another one. */
export interface Cipher<Key extends NamedKey = NamedKey> {
  readonly platform: 'node' | 'web'
  deriveKey(secret: string, salt: string, info: string, enc: Encryption): Awaitable<Key>
  /** A token of a text. */
  encrypt(key: Key, text: string): Awaitable<string>
  /** The text of a token. Undefined or an error for one of another shape or with a wrong tag. */
  decrypt(key: Key, token: string): Awaitable<string | undefined>
}

/** `node:crypto` where it works, else Web Crypto. */
export function chooseCipher(): Cipher {
  const crypto = nodeCrypto()
  return crypto ? createNodeCipher(crypto) : webCipher
}

function createNodeCipher(crypto: NodeCrypto): Cipher<NodeKey> {
  return {
    platform: 'node',
    deriveKey: (secret, salt, info, enc) => deriveNodeKey(crypto, secret, salt, info, enc),
    encrypt: (key, text) => encryptNode(crypto, key, text),
    decrypt: (key, token) => decryptNode(crypto, key, token),
  }
}

const webCipher: Cipher<WebKey> = { platform: 'web', deriveKey: deriveWebKey, encrypt: encryptWeb, decrypt: decryptWeb }

/** Derives a key by HKDF-SHA-256, with the RFC 7638 thumbprint as its `kid`. */
function deriveNodeKey(crypto: NodeCrypto, secret: string, salt: string, info: string, enc: Encryption): NodeKey {
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

/** A token of a text. */
function encryptNode(crypto: NodeCrypto, { enc, header, cipher, mac }: NodeKey, text: string): string {
  const iv = Buffer.from(randomBytes(ivSize[enc]).buffer)
  let sealed: Buffer
  let tag: Buffer
  if (mac) {
    const engine = crypto.createCipheriv('aes-256-cbc', cipher, iv)
    sealed = Buffer.concat([engine.update(text, 'utf8'), engine.final()])
    tag = signNode(crypto, mac, header, iv, sealed)
  } else {
    const engine = crypto.createCipheriv('aes-256-gcm', cipher, iv).setAAD(Buffer.from(header))
    sealed = Buffer.concat([engine.update(text, 'utf8'), engine.final()])
    tag = engine.getAuthTag()
  }
  return `${header}..${iv.toString('base64url')}.${sealed.toString('base64url')}.${tag.toString('base64url')}`
}

/** The text of a token. Undefined for a token of another shape or with a wrong tag; nothing is decrypted before the tag is right. */
function decryptNode(crypto: NodeCrypto, { enc, cipher, mac }: NodeKey, token: string): string | undefined {
  const [header = '', wrapped, vector, body, end, more] = token.split('.', 6)
  if (wrapped !== '' || vector === undefined || body === undefined || end === undefined || more !== undefined) return undefined
  const iv = toStrictBuffer(vector)
  const sealed = toStrictBuffer(body)
  const tag = toStrictBuffer(end)
  // A shortened tag could be guessed.
  if (iv.length !== ivSize[enc] || tag.length !== tagSize[enc]) return undefined
  if (mac && !crypto.timingSafeEqual(signNode(crypto, mac, header, iv, sealed), tag)) return undefined
  const engine = mac
    ? crypto.createDecipheriv('aes-256-cbc', cipher, iv)
    : crypto.createDecipheriv('aes-256-gcm', cipher, iv, { authTagLength: tagSize.A256GCM }).setAAD(Buffer.from(header)).setAuthTag(tag)
  // With GCM it is `final` that throws when the tag is wrong, so nothing of `update` is used before it.
  return Buffer.concat([engine.update(sealed), engine.final()]).toString()
}

/** RFC 7518 section 5.2.2.1: HMAC over header, IV, ciphertext and the header's length in bits, cut in half. */
function signNode(crypto: NodeCrypto, mac: Secret, header: string, iv: Buffer, sealed: Buffer): Buffer {
  const length = Buffer.alloc(8)
  length.writeUInt32BE(header.length * 8, 4)
  return crypto.createHmac('sha512', mac).update(header).update(iv).update(sealed).update(length).digest().subarray(0, 32)
}

/** Strict base64url: one value has one spelling, so that an altered token is never the same token. Throws on any other. */
function toStrictBuffer(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') !== part) throw new TypeError('not base64url')
  return bytes
}

/** `deriveNodeKey` over Web Crypto. */
async function deriveWebKey(secret: string, salt: string, info: string, enc: Encryption): Promise<WebKey> {
  const { subtle } = crypto
  const cbc = enc === 'A256CBC-HS512'
  const raw = await hkdf(secret, salt, info, keySize[enc])
  const kid = toBase64Url(new Uint8Array(await subtle.digest(cbc ? 'SHA-512' : 'SHA-256', bytes(thumbprintOf(raw)))))
  return {
    enc,
    kid,
    header: headerOf(enc, kid),
    // RFC 7518 section 5.2.2.1: the first half authenticates, the second encrypts.
    cipher: await subtle.importKey('raw', cbc ? raw.slice(32) : raw, cbc ? 'AES-CBC' : 'AES-GCM', false, ['encrypt', 'decrypt']),
    mac: cbc ? await subtle.importKey('raw', raw.slice(0, 32), { name: 'HMAC', hash: 'SHA-512' }, false, ['sign']) : undefined,
  }
}

/** `encryptNode` over Web Crypto. */
async function encryptWeb({ enc, header, cipher, mac }: WebKey, text: string): Promise<string> {
  const iv = randomBytes(ivSize[enc])
  const made = new Uint8Array(await crypto.subtle.encrypt(webAlgorithm(header, iv, mac), cipher, bytes(text)))
  // Web Crypto appends the tag of GCM to the text.
  const end = made.length - (mac ? 0 : tagSize[enc])
  const sealed = made.slice(0, end)
  const tag = mac ? await signWeb(mac, header, iv, sealed) : made.slice(end)
  return [header, '', ...[iv, sealed, tag].map(toBase64Url)].join('.')
}

/** `decryptNode` over Web Crypto. It may also throw for a wrong tag. */
async function decryptWeb({ enc, cipher, mac }: WebKey, token: string): Promise<string | undefined> {
  const [header = '', wrapped, vector, body, end, more] = token.split('.', 6)
  if (wrapped !== '' || vector === undefined || body === undefined || end === undefined || more !== undefined) return undefined
  const iv = strictBytes(vector)
  const sealed = strictBytes(body)
  const tag = strictBytes(end)
  // A shortened tag could be guessed.
  if (iv.length !== ivSize[enc] || tag.length !== tagSize[enc]) return undefined
  // One value has one spelling, so texts are equal where bytes are.
  if (mac && !equal(toBase64Url(await signWeb(mac, header, iv, sealed)), end)) return undefined
  return decodeUtf8(await crypto.subtle.decrypt(webAlgorithm(header, iv, mac), cipher, mac ? sealed : joinBytes([sealed, tag])))
}

function webAlgorithm(header: string, iv: Bytes, mac: CryptoKey | undefined): AesCbcParams | AesGcmParams {
  return mac ? { name: 'AES-CBC', iv } : { name: 'AES-GCM', iv, additionalData: bytes(header) }
}

/** RFC 7518 section 5.2.2.1: HMAC over header, IV, ciphertext and the header's length in bits, cut in half. */
async function signWeb(mac: CryptoKey, header: string, iv: Bytes, sealed: Bytes): Promise<Bytes> {
  const length = new Uint8Array(8)
  new DataView(length.buffer).setUint32(4, header.length * 8)
  const signed = await crypto.subtle.sign('HMAC', mac, joinBytes([bytes(header), iv, sealed, length]))
  return new Uint8Array(signed, 0, tagSize['A256CBC-HS512'])
}
