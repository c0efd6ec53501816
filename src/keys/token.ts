/** `encode` and `decode` of hosts: a JWE (`dir`) under keys derived per purpose (rows 92 to 102, D37). */
import type { JWT } from '../contract/data.ts'
import type { KeyInfo } from '../contract/settings.ts'
import type { DecodeParams, EncodeParams } from '../contract/token.ts'
import { setBounded } from '../runtime/shared.ts'
import type { ContentEncryption, DerivedKey } from './jwe.ts'
import { defaultKeyInfo } from './key-info.ts'
import { type NodeCrypto, nodeCrypto } from './node-crypto.ts'
import {
  acceptable,
  decrypt as decryptNow,
  deriveKey as deriveNow,
  encrypt as encryptNow,
  foreignKey,
  type Ring,
  ringOfKeys,
} from './sealer-node.ts'

// For runtimes without `node:crypto`.
const load = () => import('./jwe.ts')
const month = 30 * 24 * 60 * 60
// D46: hosts that decode by themselves may run on another machine than the one that encoded.
const tolerance = 15
const algorithms: readonly ContentEncryption[] = ['A256CBC-HS512', 'A256GCM']
// These functions belong to no kernel, so their keys live as long as the process.
const rings = new Map<string, Ring>()
const maxRings = 100

/** A JWE (`dir`, A256CBC-HS512) with `iat`, `exp` and `jti` (row 100). Throws a TypeError without a secret. */
export async function encode<Payload = JWT>(params: EncodeParams<Payload>): Promise<string> {
  const { token = {}, secret, salt, maxAge = month, keyInfo = defaultKeyInfo } = params
  const now = Math.floor(Date.now() / 1000)
  const payload = { ...(token as JWT), iat: now, exp: now + maxAge, jti: crypto.randomUUID() }
  const first = secretsOf(secret)[0] as string
  const node = nodeCrypto()
  if (node) return encryptNow(node, ringOf(node, [first], salt, keyInfo).sealing, JSON.stringify(payload))
  const { deriveKey, encrypt } = await load()
  return encrypt(payload, await deriveKey(first, salt, keyInfo, 'A256CBC-HS512'))
}

/** The payload; null without a token. Throws on a foreign, altered or expired token (15 s tolerance), and on one without `exp`. */
export async function decode<Payload = JWT>(params: DecodeParams): Promise<Payload | null> {
  const { token, secret, salt, keyInfo = defaultKeyInfo } = params
  if (!token) return null
  const secrets = secretsOf(secret)
  const node = nodeCrypto()
  if (!node) return (await (await load()).decrypt(token, keyFinder(secrets, salt, keyInfo), algorithms, Date.now(), tolerance)) as Payload
  const ring = ringOf(node, secrets, salt, keyInfo)
  const header = token.slice(0, token.indexOf('.'))
  const key = ring.byHeader.get(header) ?? foreignKey(ring, header)
  const text = key && decryptNow(node, key, token)
  const payload = text === undefined ? null : acceptable(JSON.parse(text), Date.now(), false, tolerance)
  if (payload === null) throw new Error('The token is foreign, altered or expired, or it has no `exp`.')
  return payload as Payload
}

function ringOf(node: NodeCrypto, secrets: readonly string[], salt: string, keyInfo: KeyInfo): Ring {
  const info = keyInfo(salt)
  // JSON keeps ("a","bc") and ("ab","c") apart.
  const id = JSON.stringify([secrets, salt, info])
  const make = (secret: string, enc: ContentEncryption) => deriveNow(node, secret, salt, info, enc)
  return rings.get(id) ?? setBounded(rings, id, ringOfKeys({ secret: secrets, encryption: algorithms }, make), maxRings)
}

function keyFinder(secrets: readonly string[], salt: string, keyInfo: KeyInfo) {
  return async (kid: string | undefined, enc: ContentEncryption): Promise<DerivedKey> => {
    const { deriveKey } = await load()
    if (kid === undefined) return deriveKey(secrets[0] as string, salt, keyInfo, enc)
    for (const secret of secrets) {
      const key = await deriveKey(secret, salt, keyInfo, enc)
      if (key.kid === kid) return key
    }
    throw new Error('no matching decryption secret')
  }
}

function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!secrets[0]) throw new TypeError('encode and decode need a secret')
  return secrets
}
