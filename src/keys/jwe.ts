/**
 * Encrypted tokens by jose, for runtimes without `node:crypto`: keys derived per purpose, nothing compressed (rows 92 to 102, D37). Imported on
 * demand, so that Node never loads jose for a token; the import of jose is static, so that a bundler takes these four functions alone.
 */
import { base64url, calculateJwkThumbprint, EncryptJWT, jwtDecrypt } from 'jose'
import type { JWT } from '../contract/data.ts'
import type { KeyInfo } from '../contract/settings.ts'
import { hkdf } from './crypto.ts'

/** Content encryption of a token (RFC 7518 section 5.1). */
export type ContentEncryption = 'A256CBC-HS512' | 'A256GCM'

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
export async function encrypt(payload: JWT, key: DerivedKey): Promise<string> {
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
