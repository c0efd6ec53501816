/** Encrypted tokens: keys derived per purpose, one algorithm pair, nothing compressed (rows 92 to 102, D37). */
import { calculateJwkThumbprint, EncryptJWT, base64url, jwtDecrypt } from 'jose'
import type { JWT } from '../contract/data.ts'
import type { KeyInfo } from '../contract/settings.ts'
import type { DecodeParams, EncodeParams } from '../contract/token.ts'
import { hkdf } from './crypto.ts'

type ContentEncryption = 'A256CBC-HS512' | 'A256GCM'

const month = 30 * 24 * 60 * 60
// D46: hosts that decode by themselves may run on another machine than the one that encoded.
const tolerance = 15

/** HKDF info of this library's keys (D2). */
export function defaultKeyInfo(salt: string): string {
  return `authkernel derived key (${salt})`
}

/** A JWE (`dir`, A256CBC-HS512) with `iat`, `exp` and `jti` (row 100). */
export async function encode<Payload = JWT>(params: EncodeParams<Payload>): Promise<string> {
  const { token = {}, secret, salt, maxAge = month, keyInfo = defaultKeyInfo } = params
  const key = await deriveKey(firstOf(secret), salt, keyInfo, 'A256CBC-HS512')
  const now = Math.floor(Date.now() / 1000)
  return encrypt({ ...(token as JWT), iat: now, exp: now + maxAge, jti: crypto.randomUUID() }, key)
}

/** The payload; null without a token. Throws on a foreign, altered or expired token (15 s tolerance), and on one without `exp`. */
export async function decode<Payload = JWT>(params: DecodeParams): Promise<Payload | null> {
  const { token, secret, salt, keyInfo = defaultKeyInfo } = params
  if (!token) return null
  const list = typeof secret === 'string' ? [secret] : secret
  const find = async (kid: string | undefined, enc: ContentEncryption): Promise<DerivedKey> => {
    if (kid === undefined) return deriveKey(firstOf(secret), salt, keyInfo, enc)
    for (const candidate of list) {
      const key = await deriveKey(candidate, salt, keyInfo, enc)
      if (key.kid === kid) return key
    }
    throw new Error('no matching decryption secret')
  }
  return (await decrypt(token, find, ['A256CBC-HS512', 'A256GCM'], Date.now(), tolerance)) as Payload
}

/** A content encryption key and the name it travels under. */
export interface DerivedKey {
  raw: Uint8Array<ArrayBuffer>
  kid: string
  enc: ContentEncryption
}

/** The key of one secret for one purpose; `kid` is its RFC 7638 thumbprint (row 93). */
export async function deriveKey(secret: string, salt: string, keyInfo: KeyInfo, enc: ContentEncryption): Promise<DerivedKey> {
  const raw = await hkdf(secret, salt, keyInfo(salt), enc === 'A256CBC-HS512' ? 64 : 32)
  const kid = await calculateJwkThumbprint({ kty: 'oct', k: base64url.encode(raw) }, enc === 'A256CBC-HS512' ? 'sha512' : 'sha256')
  return { raw, kid, enc }
}

/** Encrypts a payload that already has its times. */
export function encrypt(payload: JWT, key: DerivedKey): Promise<string> {
  return new EncryptJWT(payload).setProtectedHeader({ alg: 'dir', enc: key.enc, kid: key.kid }).encrypt(key.raw)
}

/** Decrypts with the key that `find` gives; only `dir` and the given algorithms pass, `exp` is required (D37). Times in ms and s. */
export async function decrypt(
  token: string,
  find: (kid: string | undefined, enc: ContentEncryption) => Promise<DerivedKey>,
  algorithms: readonly ContentEncryption[],
  now: number,
  toleranceSeconds: number,
  endless = false,
): Promise<JWT> {
  const { payload } = await jwtDecrypt(
    token,
    async ({ kid, enc, zip }) => {
      // A small token must not unpack into a large one (GHSA-hhhv-q57g-882q).
      if (zip !== undefined) throw new Error('compressed tokens are refused')
      return (await find(kid, enc as ContentEncryption)).raw
    },
    {
      clockTolerance: toleranceSeconds,
      currentDate: new Date(now),
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: [...algorithms],
      requiredClaims: endless ? [] : ['exp'],
    },
  )
  return payload as JWT
}

function firstOf(secret: string | readonly string[]): string {
  const first = typeof secret === 'string' ? secret : secret[0]
  if (!first) throw new TypeError('encode and decode need a secret')
  return first
}
