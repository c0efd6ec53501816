/** Tokens over Web Crypto, for runtimes without `node:crypto`: the JWE (RFC 7516, `dir`) that sealer-node.ts makes. */
import { bytes, equal, hkdf, toBase64Url } from './crypto.ts'
import { type Encryption, headerOf, ivSize, type NamedKey, keySize, strictBytes, tagSize, textOf, thumbprintOf } from './key-ring.ts'
import { randomBytes } from '../runtime/random.ts'

/** A key that no script can read out again. */
export interface WebKey extends NamedKey {
  cipher: CryptoKey
  /** A256CBC-HS512 alone has one. */
  mac: CryptoKey | undefined
}

type Bytes = Uint8Array<ArrayBuffer>

/** HKDF-SHA-256 and the RFC 7638 thumbprint as `kid` (row 93). */
export async function deriveKey(secret: string, salt: string, info: string, enc: Encryption): Promise<WebKey> {
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

export async function encrypt({ enc, header, cipher, mac }: WebKey, text: string): Promise<string> {
  const iv = randomBytes(ivSize[enc])
  const made = new Uint8Array(await crypto.subtle.encrypt(algorithm(header, iv, mac), cipher, bytes(text)))
  // Web Crypto appends the tag of GCM to the text.
  const end = made.length - (mac ? 0 : tagSize[enc])
  const sealed = made.slice(0, end)
  const tag = mac ? await authenticate(mac, header, iv, sealed) : made.slice(end)
  return [header, '', ...[iv, sealed, tag].map(toBase64Url)].join('.')
}

/** Undefined for a token of another shape or with a wrong tag, unless it throws; nothing is decrypted before the tag is right. */
export async function decrypt({ enc, cipher, mac }: WebKey, token: string): Promise<string | undefined> {
  const [header = '', wrapped, vector, body, end, more] = token.split('.', 6)
  if (wrapped !== '' || vector === undefined || body === undefined || end === undefined || more !== undefined) return undefined
  const iv = strictBytes(vector)
  const sealed = strictBytes(body)
  const tag = strictBytes(end)
  // A shortened tag could be guessed.
  if (iv.length !== ivSize[enc] || tag.length !== tagSize[enc]) return undefined
  // One value has one spelling, so texts are equal where bytes are.
  if (mac && !equal(toBase64Url(await authenticate(mac, header, iv, sealed)), end)) return undefined
  return textOf(await crypto.subtle.decrypt(algorithm(header, iv, mac), cipher, mac ? sealed : joined(sealed, tag)))
}

function algorithm(header: string, iv: Bytes, mac: CryptoKey | undefined): AesCbcParams | AesGcmParams {
  return mac ? { name: 'AES-CBC', iv } : { name: 'AES-GCM', iv, additionalData: bytes(header) }
}

/** RFC 7518 section 5.2.2.1: HMAC over header, IV, ciphertext and the header's length in bits, cut in half. */
async function authenticate(mac: CryptoKey, header: string, iv: Bytes, sealed: Bytes): Promise<Bytes> {
  const length = new Uint8Array(8)
  new DataView(length.buffer).setUint32(4, header.length * 8)
  const signed = await crypto.subtle.sign('HMAC', mac, joined(bytes(header), iv, sealed, length))
  return new Uint8Array(signed, 0, tagSize['A256CBC-HS512'])
}

function joined(...parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
