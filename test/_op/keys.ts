/** Keys of the test provider, made once per process, and tokens signed with them, rightly and wrongly. */
import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject, sign as rawSign } from 'node:crypto'

export type Jwk = Record<string, unknown>
/** A key pair and how it signs. */
export interface SigningKey {
  kid: string
  alg: string
  publicJwk: Jwk
  privateJwk: Jwk
  privateKey: KeyObject
}

function make(kid: string, alg: string, pair: { publicKey: KeyObject; privateKey: KeyObject }): SigningKey {
  const { publicKey, privateKey } = pair
  const jwk = { kid, alg, use: 'sig' }
  return {
    kid,
    alg,
    privateKey,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), ...jwk },
    privateJwk: { ...privateKey.export({ format: 'jwk' }), ...jwk },
  }
}

const rsa = (): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = (namedCurve: string): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync('ec', { namedCurve })

// BoringSSL (Bun, workerd) lacks the curve: there a point of it is published, and a key signs that no check may get as far as using.
function secp256k1(): SigningKey {
  try {
    return make('secp', 'ES256K', ec('secp256k1'))
  } catch {
    const stand = make('secp', 'ES256K', ec('P-256'))
    const point = { crv: 'secp256k1', x: 'eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g', y: 'SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg' }
    return { ...stand, publicJwk: { ...stand.publicJwk, ...point }, privateJwk: { ...stand.privateJwk, ...point } }
  }
}

/** `k1` is the provider's own key; `evil` was never published. */
export const keys: Record<'k1' | 'k2' | 'evil' | 'weak' | 'es256' | 'es384' | 'es512' | 'secp256k1' | 'ed25519', SigningKey> = {
  k1: make('k1', 'RS256', rsa()),
  k2: make('k2', 'RS256', rsa()),
  evil: make('k1', 'RS256', rsa()),
  weak: make('weak', 'RS256', generateKeyPairSync('rsa', { modulusLength: 1024 })),
  es256: make('es256', 'ES256', ec('P-256')),
  es384: make('es384', 'ES384', ec('P-384')),
  es512: make('es512', 'ES512', ec('P-521')),
  secp256k1: secp256k1(),
  ed25519: make('ed', 'EdDSA', generateKeyPairSync('ed25519')),
}

export const b64 = (value: string | Buffer | Uint8Array): string => Buffer.from(value as Buffer).toString('base64url')
export const json64 = (value: unknown): string => b64(JSON.stringify(value))

/** Signature of a JWS by the algorithm named, which need not be the key's own. */
export function signature(alg: string, key: KeyObject, data: string): string {
  const bytes = Buffer.from(data)
  const hash = `sha${alg.slice(2)}`
  // As text, and PSS in two steps: workerd's `sign` takes no key object beside options, and no padding.
  const text = (): string => key.export({ type: 'pkcs8', format: 'pem' }) as string
  if (alg.startsWith('RS')) return b64(rawSign(hash, bytes, key))
  if (alg.startsWith('PS'))
    return b64(
      createSign(hash)
        .update(bytes)
        .sign({ key: text(), padding: 6, saltLength: Number(alg.slice(2)) / 8 }),
    )
  if (alg.startsWith('ES')) return b64(rawSign(alg === 'ES256K' ? 'sha256' : hash, bytes, { key: text(), dsaEncoding: 'ieee-p1363' }))
  return b64(rawSign(null, bytes, key))
}

/** A compact JWS of a header and a payload, as given. */
export function jws(header: Jwk, payload: unknown, key: SigningKey): string {
  const data = `${json64(header)}.${typeof payload === 'string' || Buffer.isBuffer(payload) ? b64(payload) : json64(payload)}`
  return `${data}.${signature(String(header['alg']), key.privateKey, data)}`
}

/** A JWS under HMAC with any secret. */
export function hmacJws(header: Jwk, payload: unknown, secret: string | Buffer): string {
  const data = `${json64(header)}.${json64(payload)}`
  return `${data}.${createHmac(`sha${String(header['alg']).slice(2)}`, secret)
    .update(data)
    .digest('base64url')}`
}

/** The public key as an attacker finds it, for algorithm confusion. */
export function pem(key: SigningKey): string {
  return createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' }) as string
}
