/** Keys of sealed values, as the sealers of all runtimes have them: how a token names its key, and which keys a purpose has. */
import type { Settings } from '../contract/config.ts'
import type { Awaitable } from '../contract/data.ts'
import { bytes, fromBase64, toBase64Url } from './crypto.ts'

/** Content encryption of a token (RFC 7518 section 5.1). */
export type Encryption = Settings['encryption'][number]

/** A key as tokens name it. */
export interface NamedKey {
  enc: Encryption
  kid: string
  /** The protected header of every token under this key, as it travels. */
  header: string
}
/** Keys of one purpose: under each algorithm in order of the secrets. */
export interface Ring<Key = NamedKey> {
  sealing: Key
  keys: readonly Key[]
  byHeader: ReadonlyMap<string, Key>
}

/** In bytes: A256CBC-HS512 authenticates with one half (RFC 7518 section 5.2.2.1), A256GCM by itself. */
export const keySize = { 'A256CBC-HS512': 64, A256GCM: 32 } as const
export const ivSize = { 'A256CBC-HS512': 16, A256GCM: 12 } as const
export const tagSize = { 'A256CBC-HS512': 32, A256GCM: 16 } as const

/** No header is that long: what is no token must not cost as much as one. */
const maxHeader = 1_024
export const maxKeys = 10_000
export const maxPurposes = 64

/** The keys of one purpose. Throws a TypeError without a secret. */
export async function createRing<Key extends NamedKey>(
  { secret: secrets, encryption }: Pick<Settings, 'secret' | 'encryption'>,
  deriveKey: (secret: string, enc: Encryption) => Awaitable<Key>,
): Promise<Ring<Key>> {
  const keys = await Promise.all(encryption.flatMap((enc) => secrets.map((secret) => deriveKey(secret, enc))))
  const sealing = keys[0]
  if (!sealing) throw new TypeError('no secret to seal with')
  return { sealing, keys, byHeader: new Map(keys.map((key) => [key.header, key])) }
}

/** The key that the header of a token means. Throws on what is no header. */
export function findKeyOfToken<Key extends NamedKey>(ring: Ring<Key>, token: string): Key | undefined {
  const end = token.indexOf('.')
  if (end < 0 || end > maxHeader) return undefined
  const header = token.slice(0, end)
  // Nearly every token is under the newest key: to compare texts costs less than to hash one.
  return header === ring.sealing.header ? ring.sealing : (ring.byHeader.get(header) ?? foreignKey(ring, header))
}

/** What the RFC 7638 thumbprint of a key is the hash of: SHA-512 for A256CBC-HS512, SHA-256 for A256GCM (row 93). */
export function thumbprintOf(raw: Uint8Array): string {
  return JSON.stringify({ k: toBase64Url(raw), kty: 'oct' })
}

export function headerOf(enc: Encryption, kid: string): string {
  return toBase64Url(bytes(JSON.stringify({ alg: 'dir', enc, kid })))
}

/** The key of a header that another program wrote: no `kid`, or members in another order. Throws on what is no header. */
function foreignKey<Key extends NamedKey>(ring: Ring<Key>, header: string): Key | undefined {
  const { alg, enc, kid, ...rest } = JSON.parse(decodeUtf8(strictBytes(header))) as Record<string, unknown>
  // `zip` unpacks a small token into a large one (GHSA-hhhv-q57g-882q), `crit` asks for what is not understood, claims in the
  // header are not encrypted. Only what says nothing of consequence may stand beside the three.
  if (alg !== 'dir' || Object.keys(rest).some((name) => name !== 'typ' && name !== 'cty')) return undefined
  return ring.keys.find((key) => key.enc === enc && (kid === undefined || key.kid === kid))
}

/** Strict base64url: one value has one spelling, so that an altered token is never the same token. Throws on any other. */
export function strictBytes(part: string): Uint8Array<ArrayBuffer> {
  const read = fromBase64(part)
  if (toBase64Url(read) !== part) throw new TypeError('not base64url')
  return read
}

/** UTF-8; a byte order mark is a character. */
export function decodeUtf8(read: BufferSource): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(read)
}
