/** `encode` and `decode` of hosts: a JWE (`dir`) under keys derived per purpose (rows 92 to 102, D37). */
import type { DecodeParams, EncodeParams } from '../contract/config.ts'
import type { Awaitable, JWT } from '../contract/data.ts'
import { setBounded } from '../runtime/shared.ts'
import { chooseCipher, type Cipher } from './ciphers.ts'
import { defaultKeyInfo } from './crypto.ts'
import { createRing, type Encryption, findKeyOfToken, type NamedKey, type Ring } from './key-ring.ts'
import { acceptClaims } from './claims.ts'

const month = 30 * 24 * 60 * 60
// D46: hosts that decode by themselves may run on another machine than the one that encoded.
const tolerance = 15
const encryption: readonly Encryption[] = ['A256CBC-HS512', 'A256GCM']
// These functions belong to no kernel, so their keys live as long as the process.
const rings = new Map<string, Ring>()
const maxRings = 100

/** A JWE (`dir`, A256CBC-HS512) with `iat`, `exp` and `jti` (row 100). Throws a TypeError without a secret. */
export async function encode<Payload = JWT>(params: EncodeParams<Payload>): Promise<string> {
  const { token = {}, secret, salt, maxAge = month, keyInfo = defaultKeyInfo } = params
  const now = Math.floor(Date.now() / 1000)
  const text = JSON.stringify({ ...(token as JWT), iat: now, exp: now + maxAge, jti: crypto.randomUUID() })
  const cipher = chooseCipher()
  const { sealing } = await ringFor(cipher, secretsOf(secret).slice(0, 1), salt, keyInfo(salt))
  return cipher.encrypt(sealing, text)
}

/** The payload; null without a token. Throws on a foreign, altered or expired token (15 s tolerance), and on one without `exp`. */
export async function decode<Payload = JWT>(params: DecodeParams): Promise<Payload | null> {
  const { token, secret, salt, keyInfo = defaultKeyInfo } = params
  if (!token) return null
  const cipher = chooseCipher()
  const key = findKeyOfToken(await ringFor(cipher, secretsOf(secret), salt, keyInfo(salt)), token)
  const text = key && (await cipher.decrypt(key, token))
  const payload = text === undefined ? null : acceptClaims(JSON.parse(text), Date.now(), false, tolerance)
  if (payload === null) throw new Error('The token is foreign, altered or expired, or it has no `exp`.')
  return payload as Payload
}

/** JSON in the id keeps ("a","bc") and ("ab","c") apart. */
async function ringFor(cipher: Cipher, secrets: readonly string[], salt: string, info: string): Promise<Ring> {
  const id = JSON.stringify([cipher.platform, secrets, salt, info])
  const derive = (secret: string, enc: Encryption): Awaitable<NamedKey> => cipher.deriveKey(secret, salt, info, enc)
  return rings.get(id) ?? setBounded(rings, id, await createRing({ secret: secrets, encryption }, derive), maxRings)
}

function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!secrets[0]) throw new TypeError('encode and decode need a secret')
  return secrets
}
