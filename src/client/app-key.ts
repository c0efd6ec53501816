/** Proofs that an app has a key (RFC 9449), with Web Crypto. */
import type { AppKeys } from './app-types.ts'

/** Makes proofs of one key, and keeps the nonces that servers give out. */
export interface Prover {
  /** `accessToken`: the token that goes with the request; none at the token endpoint. */
  proof(method: string, url: string, accessToken?: string): Promise<string>
  /** Keeps the nonce of an answer. True: the request was rejected for want of it. */
  wantsNonce(response: Response, url: string): boolean
  /** RFC 7638. */
  thumbprint(): Promise<string>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }

/** `true`: the key is kept in memory. */
export function createProver(keys: AppKeys | true): Prover {
  const nonces = new Map<string, string>()
  let loading: Promise<CryptoKeyPair> | undefined
  const load = (): Promise<CryptoKeyPair> => (loading ??= openKeys(keys).catch(forget))
  const forget = (error: unknown): never => {
    loading = undefined
    throw error
  }
  return {
    async proof(method, url, accessToken) {
      const pair = await load()
      const { origin, pathname } = new URL(url)
      const claims = {
        jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
        htm: method,
        htu: origin + pathname,
        iat: Math.floor(Date.now() / 1000),
        nonce: nonces.get(origin),
        ...(accessToken !== undefined && { ath: await hashText(accessToken) }),
      }
      const text = `${encodeJson({ typ: 'dpop+jwt', alg: 'ES256', jwk: await publicJwk(pair) })}.${encodeJson(claims)}`
      const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, new TextEncoder().encode(text))
      return `${text}.${base64url(new Uint8Array(signature))}`
    },
    wantsNonce({ headers, status }, url) {
      const nonce = headers.get('dpop-nonce')
      const { origin } = new URL(url)
      const isNew = nonce !== null && nonces.get(origin) !== nonce
      if (isNew) nonces.set(origin, nonce)
      return isNew && (status === 401 || status === 400)
    },
    async thumbprint() {
      // The order of the members is that of RFC 7638 section 3.
      const { crv, kty, x, y } = await publicJwk(await load())
      return hashText(JSON.stringify({ crv, kty, x, y }))
    },
  }
}

export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
}

/** SHA-256 in Base64url. */
export async function hashText(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

async function openKeys(keys: AppKeys | true): Promise<CryptoKeyPair> {
  const known = keys === true ? null : await keys.get()
  if (known) return known
  // The private key cannot be read, not even by the app itself.
  const made = (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])) as CryptoKeyPair
  if (keys !== true) await keys.set(made)
  return made
}

async function publicJwk({ publicKey }: CryptoKeyPair): Promise<JsonWebKey> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  return { kty, crv, x, y } as JsonWebKey
}

function encodeJson(value: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(value)))
}
