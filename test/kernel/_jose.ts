/** Sealed values by jose: the oracle of what the sealers make and open (rows 92 to 102, D37). */
import { base64url, calculateJwkThumbprint, EncryptJWT, jwtDecrypt } from 'jose'
import type { JWT } from '../../src/contract/data.ts'
import type { Runtime, Sealer } from '../../src/contract/services.ts'
import type { KeyInfo } from '../../src/contract/config.ts'
import { hkdf } from '../../src/keys/crypto.ts'
import { keyInfoOf } from '../../src/keys/crypto.ts'

/** Content encryption of a token (RFC 7518 section 5.1). */
export type ContentEncryption = 'A256CBC-HS512' | 'A256GCM'

/** A content encryption key and the name it travels under. */
export interface DerivedKey {
  raw: Uint8Array<ArrayBuffer>
  kid: string
  enc: ContentEncryption
}

/** A sealer of jose's functions alone. */
export function joseSealer(runtime: Runtime): Sealer {
  return {
    async seal(purpose, payload, seconds, settings) {
      const iat = Math.floor(runtime.now() / 1000)
      const enc = settings.encryption[0] as ContentEncryption
      const key = await deriveKey(settings.secret[0] as string, purpose, () => keyInfoOf(settings, purpose), enc)
      return encrypt({ ...payload, iat, ...(seconds !== null && { exp: iat + seconds }), jti: crypto.randomUUID() }, key)
    },
    async open(purpose, token, settings, endless = false) {
      const find = async (kid: string | undefined, enc: ContentEncryption): Promise<DerivedKey> => {
        for (const secret of settings.secret) {
          const key = await deriveKey(secret, purpose, () => keyInfoOf(settings, purpose), enc)
          if (kid === undefined || key.kid === kid) return key
        }
        throw new Error('sealed by another secret')
      }
      const payload = await decrypt(token, find, settings.encryption, runtime.now(), 0, endless).catch(() => null)
      // jose has no opinion on when a token may have been made.
      return payload && (payload.iat ?? 0) > runtime.now() / 1000 + 60 && !endless ? null : payload
    },
  }
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
