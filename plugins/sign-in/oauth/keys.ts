/** Signatures of a provider's tokens, against the keys it publishes; the keys are cached (D7, D8). */
import { type AnyContext, setBounded } from 'authkernel/kernel'
import { compactVerify, createLocalJWKSet, type CryptoKey, errors, type JSONWebKeySet } from 'jose'
import type { AuthorizationServer } from 'oauth4webapi'
import { Refusal, TokenRefusal } from './refusal.ts'
import { isObject, readJson } from './json.ts'
import { endpointOf, readOf, transportOf } from './server.ts'
import { createKnownHeaders, type KnownHeaders, type Verified } from './signature.ts'
import { fapiAlgorithms, isFapi } from './strength.ts'
import type { OAuthProvider } from './types.ts'

// A withdrawn key stops counting within this time.
const lifetime = 10 * 60 * 1000
// A provider that signs with ever new kids must not make us hammer its key endpoint.
const cooldown = 30 * 1000
const maxServers = 2_000
// Tries per token when several keys fit.
const maxTries = 16
const asymmetric = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>
  known: KnownHeaders
  until: number
}
/** Who should have signed. */
export interface Signer {
  readonly ctx: AnyContext
  readonly provider: OAuthProvider
  readonly server: AuthorizationServer
  readonly clientSecret: string | undefined
}

/**
 * Verifies a JWS. Symmetric algorithms count only when the host's `client` metadata names one: a public key must never
 * serve as an HMAC secret (RFC 8725 section 3.1). An unknown key refetches the keys, at most twice a minute.
 */
export async function verify({ ctx, provider, server, clientSecret }: Signer, token: string, registered: unknown): Promise<Verified> {
  // Decoders forgive padding and blanks; RFC 7515 section 2 has neither.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new TokenRefusal('The token is not a compact JWS.')
  if (typeof registered === 'string' && registered.startsWith('HS')) {
    if (clientSecret === undefined)
      throw new Refusal(`Tokens signed with ${registered} need the clientSecret of provider "${provider.id}".`)
    const { protectedHeader, payload } = await compactVerify(token, new TextEncoder().encode(clientSecret), { algorithms: [registered] })
    return { header: protectedHeader, payload }
  }
  const algorithms = isFapi(provider) ? [...fapiAlgorithms] : asymmetric
  const uri = endpointOf(server, 'jwks_uri', provider).href
  const cache = ctx.app.shared.cache<KeySet>('oauth.keys')
  const known = cache.get(cacheKeyOf(provider, uri))
  const cached = known !== undefined && known.until > ctx.runtime.now()
  const keys = cached ? known : await fetchKeys(ctx, provider, uri)
  try {
    return await check(token, keys, algorithms)
  } catch (error) {
    // Keys may have been rotated just before signing (OpenID Connect Core 10.1.1), even under the same kid.
    const stale = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed
    if (!cached || !stale || !mayRefetch(ctx, cacheKeyOf(provider, uri))) throw error
    return check(token, await fetchKeys(ctx, provider, uri), algorithms)
  }
}

async function check(token: string, { find, known }: KeySet, algorithms: string[]): Promise<Verified> {
  const quick = known.verify(token)
  // Providers of one key set may differ in the algorithms that they accept.
  if (quick && algorithms.includes(quick.header.alg)) return quick
  if (quick === false) throw new errors.JWSSignatureVerificationFailed()
  try {
    const { protectedHeader, payload, key } = await compactVerify(token, find, { algorithms })
    known.learn(token, protectedHeader, key as CryptoKey)
    return { header: protectedHeader, payload }
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tries = 0
    for await (const key of error) {
      if (++tries > maxTries) break
      const match = await compactVerify(token, key, { algorithms }).catch(() => undefined)
      if (match) return { header: match.protectedHeader, payload: match.payload }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function cacheKeyOf(provider: OAuthProvider, uri: string): string {
  return transportOf(provider) + uri
}

function mayRefetch(ctx: AnyContext, key: string): boolean {
  const times = ctx.app.shared.cache<number>('oauth.keys.refetched')
  const now = ctx.runtime.now()
  if (now - (times.get(key) ?? Number.NEGATIVE_INFINITY) < cooldown) return false
  setBounded(times, key, now, maxServers)
  return true
}

function fetchKeys(ctx: AnyContext, provider: OAuthProvider, uri: string): Promise<KeySet> {
  const key = cacheKeyOf(provider, uri)
  return ctx.app.shared.flight(`oauth.keys ${key}`, async () => {
    const headers = { accept: 'application/json, application/jwk-set+json' }
    const response = await readOf(ctx, provider, true)(uri, { headers })
    if (response.status !== 200) throw new Refusal(`${uri} answered with status ${response.status} in place of keys.`, response.status)
    const document = await readJson(response, 'The key set', provider.type === 'oidc')
    if (!Array.isArray(document['keys'])) throw new Refusal('The key set has no list of keys.')
    const find = createLocalJWKSet({ keys: document['keys'].filter(isPublicKey) } as JSONWebKeySet)
    return setBounded(
      ctx.app.shared.cache<KeySet>('oauth.keys'),
      key,
      { find, known: createKnownHeaders(), until: ctx.runtime.now() + lifetime },
      maxServers,
    )
  })
}

// A published private or shared key signs for everybody; so does an RSA key of exponent 1.
function isPublicKey(key: unknown): boolean {
  if (!isObject(key) || typeof key['kty'] !== 'string' || !['RSA', 'EC', 'OKP'].includes(key['kty'])) return false
  if (['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].some((member) => member in key)) return false
  // "AQ" is 1, and so is "AAAB".
  return key['kty'] !== 'RSA' || (typeof key['e'] === 'string' && !/^A*(?:AQ|E|AAB)?$/.test(key['e']))
}
