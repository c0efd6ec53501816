/**
 * Signatures of a provider's tokens, against the keys it publishes; the keys are cached (D7, D8). Which key a protected header means, and whether key and
 * header may be used at all, is decided by jose. What it accepted once is remembered by the text of the header, and checked over `node:crypto` from then on:
 * Web Crypto takes a turn in the thread pool for each signature.
 */
import { type AnyContext, setBounded } from 'authkernel/kernel'
import { nodeCrypto, isJsonObject } from 'authkernel/kernel/protocols'
import { type CompactJWSHeaderParameters, compactVerify, createLocalJWKSet, type CryptoKey, errors, type JSONWebKeySet } from 'jose'
import type { AuthorizationServer } from 'oauth4webapi'
import { Refusal, TokenRefusal } from './errors.ts'
import { readJson } from './json.ts'
import { fapiAlgorithms, isFapi, type OAuthProvider } from './provider.ts'
import { endpointOf, readOf, transportOf } from './server.ts'

// A withdrawn key stops counting within this time.
const keyLifetime = 10 * 60 * 1000
// A provider that signs with ever new kids must not make us hammer its key endpoint.
const cooldown = 30 * 1000
const maxServers = 2_000
// Tries per token when several keys fit.
const maxTries = 16

// Providers sign with one or two keys; a header with a value of its own per token must not fill the memory.
const maxHeaders = 16

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

/** A verified token. */
export interface VerifiedJws {
  header: CompactJWSHeaderParameters
  /** Claims as signed. */
  payload: Uint8Array
}
/** Answers undefined for a header that was never accepted, and false for a wrong signature. */
interface KnownHeaders {
  verify(token: string): VerifiedJws | false | undefined
  /** A token that jose has verified with the only key that fits. */
  learn(token: string, header: CompactJWSHeaderParameters, key: CryptoKey): void
}

type SignatureCheck = (data: string, signature: string) => boolean

/**
 * Verifies a JWS. Symmetric algorithms count only when the host's `client` metadata names one: a public key must never
 * serve as an HMAC secret (RFC 8725 section 3.1). An unknown key refetches the keys, at most twice a minute.
 */
export async function verifySignature(
  { ctx, provider, server, clientSecret }: Signer,
  token: string,
  registered: unknown,
): Promise<VerifiedJws> {
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
    return await checkSignature(token, keys, algorithms)
  } catch (error) {
    // Keys may have been rotated just before signing (OpenID Connect Core 10.1.1), even under the same kid.
    const stale = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed
    if (!cached || !stale || !mayRefetch(ctx, cacheKeyOf(provider, uri))) throw error
    return checkSignature(token, await fetchKeys(ctx, provider, uri), algorithms)
  }
}

async function checkSignature(token: string, { find, known }: KeySet, algorithms: string[]): Promise<VerifiedJws> {
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
    if (response.status !== 200) throw new Refusal(`${uri} answered with status ${response.status} instead of keys.`, response.status)
    const document = await readJson(response, 'The key set', provider.type === 'oidc')
    if (!Array.isArray(document['keys'])) throw new Refusal('The key set has no list of keys.')
    const find = createLocalJWKSet({ keys: document['keys'].filter(isPublicKey) } as JSONWebKeySet)
    return setBounded(
      ctx.app.shared.cache<KeySet>('oauth.keys'),
      key,
      { find, known: createKnownHeaders(), until: ctx.runtime.now() + keyLifetime },
      maxServers,
    )
  })
}

// With a published private or shared key any attacker can sign; so does an RSA key of exponent 1.
function isPublicKey(key: unknown): boolean {
  if (!isJsonObject(key) || typeof key['kty'] !== 'string' || !['RSA', 'EC', 'OKP'].includes(key['kty'])) return false
  if (['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].some((member) => member in key)) return false
  // "AQ" is 1, and so is "AAAB".
  return key['kty'] !== 'RSA' || (typeof key['e'] === 'string' && !/^A*(?:AQ|E|AAB)?$/.test(key['e']))
}

/** Of one key set: forgotten with it. */
function createKnownHeaders(): KnownHeaders {
  const known = new Map<string, { header: CompactJWSHeaderParameters; check: SignatureCheck }>()
  return {
    verify(token) {
      const [text = '', payload = '', signature = ''] = token.split('.')
      const entry = known.get(text)
      if (!entry) return undefined
      if (!entry.check(`${text}.${payload}`, signature)) return false
      return { header: { ...entry.header }, payload: Buffer.from(payload, 'base64url') }
    },
    learn(token, header, key) {
      const [text = '', payload = '', signature = ''] = token.split('.')
      const check = createCheck(header.alg, key)
      // What jose accepted and this does not is a runtime with half a `node:crypto`.
      if (!check?.(`${text}.${payload}`, signature)) return
      if (known.size >= maxHeaders) known.delete(known.keys().next().value as string)
      known.set(text, { header, check })
    },
  }
}

// RFC 7518 section 3: the algorithm is the one that jose has held against the key.
function createCheck(alg: string, key: CryptoKey): SignatureCheck | undefined {
  const node = nodeCrypto()
  if (!node) return undefined
  try {
    // Node types its own `CryptoKey`, which is the global one.
    const own = node.KeyObject.from(key as never)
    const hash = alg.startsWith('Ed') ? null : `sha${alg.slice(2)}`
    const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = node.constants
    const options = alg.startsWith('PS')
      ? { key: own, padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST }
      : alg.startsWith('RS')
        ? { key: own, padding: RSA_PKCS1_PADDING }
        : { key: own, dsaEncoding: 'ieee-p1363' as const }
    return (data, signature) => {
      try {
        // The former reads texts as they are; Edwards curves have the latter alone.
        if (hash) return node.createVerify(hash).update(data).verify(options, signature, 'base64url')
        return node.verify(hash, Buffer.from(data), options, Buffer.from(signature, 'base64url'))
      } catch {
        return false
      }
    }
  } catch {
    return undefined
  }
}
