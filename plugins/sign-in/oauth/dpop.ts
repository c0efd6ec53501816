/** Tokens bound to a key (RFC 9449). Loaded where a provider has the option `dpop`, or tokens have a key. */
import { isJsonObject } from 'authkernel/kernel/protocols'
import * as oauth from 'oauth4webapi'
import { Refusal } from './errors.ts'
import type { DPoPAlgorithm } from './provider.ts'

/** A key, and the tokens that are asked for with it. */
export interface Binding {
  readonly handle: oauth.DPoPHandle
  /** The private key, a JWK in JSON: without it the tokens are of no use. */
  readonly key: string
  /** Does it, and once more when the server asks for a nonce: it has not acted on the request then (RFC 9449 section 8). */
  once<T>(work: () => Promise<T>): Promise<T>
}

const algorithms: Record<DPoPAlgorithm, EcKeyGenParams | { name: 'Ed25519' }> = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  Ed25519: { name: 'Ed25519' },
}

/**
 * With a new key, or with the one that former tokens were bound to. `accepted`: what the server calls the algorithms that it takes. Throws `Refusal` for a
 * text that is no such key.
 */
export async function bindTokens(
  client: oauth.Client,
  algorithm: DPoPAlgorithm,
  accepted: readonly string[] | undefined,
  known?: string,
): Promise<Binding> {
  const [pair, key] = known === undefined ? await createKey(algorithm) : [await importKey(known), known]
  // RFC 9864 gave it a name of its own; the signature is the same.
  const former = pair.privateKey.algorithm.name === 'Ed25519' && accepted?.includes('EdDSA') && !accepted.includes('Ed25519')
  const renamed = { [oauth.modifyAssertion]: (header: Record<string, unknown>) => void (header['alg'] = 'EdDSA') }
  return {
    handle: oauth.DPoP(client, pair, former ? renamed : {}),
    key,
    async once(work) {
      try {
        return await work()
      } catch (error) {
        if (!oauth.isDPoPNonceError(error)) throw error
        return work()
      }
    },
  }
}

/** A request with a bound token. A body that is a stream is sent once, so a server that asks for a nonce then rejects it. */
export async function sendBoundRequest(
  { handle, once }: Binding,
  token: string,
  url: URL,
  { fetch, method = 'GET', headers, body, ...init }: RequestInit & { fetch: typeof globalThis.fetch },
): Promise<Response> {
  const own = new Headers(headers)
  for (const name of ['authorization', 'dpop']) own.delete(name)
  const send = (): Promise<Response> =>
    oauth.protectedResourceRequest(token, method, url, own, body as oauth.ProtectedResourceRequestBody, {
      DPoP: handle,
      // Where it may go was decided before.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: ((to: string, how: RequestInit) =>
        // oauth4webapi types the options of its fetch narrower than `RequestInit`.
        fetch(to, { ...init, ...how, signal: init.signal ?? how.signal ?? null })) as never,
    })
  try {
    return await (body instanceof ReadableStream ? send() : once(send))
  } catch (error) {
    // What the resource says is for the caller to read.
    if (error instanceof oauth.WWWAuthenticateChallengeError) return error.response
    throw error
  }
}

async function createKey(algorithm: DPoPAlgorithm): Promise<[CryptoKeyPair, string]> {
  const pair = (await crypto.subtle.generateKey(algorithms[algorithm], true, ['sign', 'verify'])) as CryptoKeyPair
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return [pair, JSON.stringify({ kty, crv, x, y, d })]
}

async function importKey(text: string): Promise<CryptoKeyPair> {
  try {
    const jwk: unknown = JSON.parse(text)
    if (!isJsonObject(jwk) || typeof jwk['d'] !== 'string') throw new TypeError('no private key')
    const { d: _secret, ...publicJwk } = jwk
    const algorithm = algorithms[jwk['crv'] === 'Ed25519' ? 'Ed25519' : 'ES256']
    return {
      privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign']),
      publicKey: await crypto.subtle.importKey('jwk', publicJwk, algorithm, true, ['verify']),
    }
  } catch {
    throw new Refusal('The key that the tokens are bound to (`dpop_key`) cannot be read.')
  }
}
