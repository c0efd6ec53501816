/** `encode` and `decode` of hosts: a JWE (`dir`) under keys derived per purpose (rows 92 to 102, D37). */
import type { JWT } from '../contract/data.ts'
import type { DecodeParams, EncodeParams } from '../contract/token.ts'
import { setBounded } from '../runtime/shared.ts'
import { eachKey, type Encryption, keyOf, type Ring, ringOf } from './key-ring.ts'
import { defaultKeyInfo, type NodeCrypto, nodeCrypto } from './crypto.ts'
import { decryptNode, decryptWeb, deriveNodeKey, deriveWebKey, encryptNode, encryptWeb, type NodeKey, type WebKey } from './ciphers.ts'
import { acceptClaims } from './claims.ts'

const month = 30 * 24 * 60 * 60
// D46: hosts that decode by themselves may run on another machine than the one that encoded.
const tolerance = 15
const encryption: readonly Encryption[] = ['A256CBC-HS512', 'A256GCM']
// These functions belong to no kernel, so their keys live as long as the process.
const rings = new Map<string, Ring<NodeKey>>()
const webRings = new Map<string, Ring<WebKey>>()
const maxRings = 100

/** A JWE (`dir`, A256CBC-HS512) with `iat`, `exp` and `jti` (row 100). Throws a TypeError without a secret. */
export async function encode<Payload = JWT>(params: EncodeParams<Payload>): Promise<string> {
  const { token = {}, secret, salt, maxAge = month, keyInfo = defaultKeyInfo } = params
  const now = Math.floor(Date.now() / 1000)
  const text = JSON.stringify({ ...(token as JWT), iat: now, exp: now + maxAge, jti: crypto.randomUUID() })
  return sealText(secretsOf(secret).slice(0, 1), salt, keyInfo(salt), text)
}

/** The payload; null without a token. Throws on a foreign, altered or expired token (15 s tolerance), and on one without `exp`. */
export async function decode<Payload = JWT>(params: DecodeParams): Promise<Payload | null> {
  const { token, secret, salt, keyInfo = defaultKeyInfo } = params
  if (!token) return null
  const text = await openText(secretsOf(secret), salt, keyInfo(salt), token)
  const payload = text === undefined ? null : acceptClaims(JSON.parse(text), Date.now(), false, tolerance)
  if (payload === null) throw new Error('The token is foreign, altered or expired, or it has no `exp`.')
  return payload as Payload
}

async function sealText(secrets: readonly string[], salt: string, info: string, text: string): Promise<string> {
  const node = nodeCrypto()
  if (node) return encryptNode(node, nodeRing(node, secrets, salt, info).sealing, text)
  return encryptWeb((await webRing(secrets, salt, info)).sealing, text)
}

async function openText(secrets: readonly string[], salt: string, info: string, token: string): Promise<string | undefined> {
  const node = nodeCrypto()
  if (node) {
    const key = keyOf(nodeRing(node, secrets, salt, info), token)
    return key && decryptNode(node, key, token)
  }
  const key = keyOf(await webRing(secrets, salt, info), token)
  return key && decryptWeb(key, token)
}

function nodeRing(node: NodeCrypto, secrets: readonly string[], salt: string, info: string): Ring<NodeKey> {
  const id = idOf(secrets, salt, info)
  const make = (secret: string, enc: Encryption) => deriveNodeKey(node, secret, salt, info, enc)
  return rings.get(id) ?? setBounded(rings, id, ringOf(eachKey({ secret: secrets, encryption }, make)), maxRings)
}

async function webRing(secrets: readonly string[], salt: string, info: string): Promise<Ring<WebKey>> {
  const id = idOf(secrets, salt, info)
  const make = (secret: string, enc: Encryption) => deriveWebKey(secret, salt, info, enc)
  const known = webRings.get(id)
  return known ?? setBounded(webRings, id, ringOf(await Promise.all(eachKey({ secret: secrets, encryption }, make))), maxRings)
}

// JSON keeps ("a","bc") and ("ab","c") apart.
const idOf = (...parts: readonly unknown[]): string => JSON.stringify(parts)

function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!secrets[0]) throw new TypeError('encode and decode need a secret')
  return secrets
}
