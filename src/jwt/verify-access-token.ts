/** `verifyAccessToken`: what a resource server checks of an access token (RFC 9068 section 4). */
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import { AuthError, type ErrorRow } from '../errors/base.ts'
import { equal, sha256, toBase64Url } from '../keys/crypto.ts'
import { isSecureUrl } from '../runtime/runtime.ts'
import { InvalidProof, verifyProof } from './dpop-proof.ts'
import { isEndedGrant } from './ended-grants.ts'

/** Algorithms with a public key. */
export type AccessTokenAlgorithm =
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
/** Public keys (RFC 7517). */
export interface PublicKeys {
  keys: readonly Record<string, unknown>[]
}
/** A request with a token, as the client sent it. */
export interface ProofInput {
  /** Its method, and its headers `Authorization` and `DPoP`. */
  request: Pick<Request, 'method' | 'url'> & { headers: Pick<Headers, 'get'> }
  /** URL as the client knows it, behind a proxy that changes it; default: that of the request. */
  url?: string | URL | undefined
  /** Returns true to exactly one caller of a key within `seconds`. Default: a memory of this process. With several processes give a shared one. */
  once?: ((key: string, seconds: number) => boolean | PromiseLike<boolean>) | undefined
}

/** What a token must fit. */
export interface VerifyAccessTokenOptions {
  /** Who issues tokens; compared as it is. */
  issuer: string
  /** The name of this service. */
  audience: string
  /** Those that the issuer signs with. */
  algorithms: readonly AccessTokenAlgorithm[]
  /** Public keys, or the https address of them; default: `/.well-known/jwks.json` at the origin of the issuer. */
  jwks?: string | URL | PublicKeys | undefined
  /** Scopes that the token must have, all of them. */
  scope?: string | readonly string[] | undefined
  /** The request that brought the token. Without it a token that is bound to a key (RFC 9449) is rejected. */
  proof?: ProofInput | undefined
  /**
   * The certificate of the connection that brought the token, in DER (`socket.getPeerCertificate().raw` of node:tls), or its SHA-256 in base64url. Without it a
   * token that is bound to a certificate (RFC 8705) is rejected.
   */
  certificate?: Uint8Array | string | undefined
  /**
   * Address of the list of ended grants of authorizationServerPlugin, `https://your.site/auth/oauth2/ended-grants`: a token whose grant ended is rejected
   * at most 30 seconds later. Default: a token counts to its end. Throws KeysUnavailable where the list cannot be read.
   */
  endedGrants?: string | URL | undefined
  /** Seconds that clocks may differ; default 5, at most 60. */
  clockTolerance?: number | undefined
  /** Milliseconds since the epoch; default: the clock of the process. */
  now?: (() => number) | undefined
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch | undefined
}
/** Claims of an access token (RFC 9068 section 2.2). Others may be there. */
export interface AccessTokenClaims {
  /** Who issued the token. */
  iss: string
  /** Whom the token speaks for. */
  sub: string
  /** Services that the token is for. */
  aud: string | string[]
  /** The app that asked for the token. */
  client_id: string
  /** Seconds since the epoch, as is `exp`. */
  iat: number
  /** When the token ends. */
  exp: number
  /** Unique id of the token. */
  jti: string
  /** Granted scopes, separated by blanks. */
  scope?: string
  /** Thumbprints of the keys that the token is bound to: of DPoP (RFC 9449 section 6.1), and of a certificate (RFC 8705 section 3.1). */
  cnf?: { jkt?: string; 'x5t#S256'?: string }
  [claim: string]: unknown
}

/** The token is not good here. `code` and `challenge` are what RFC 6750 section 3 and RFC 9449 section 7.1 answer. */
export class InvalidAccessToken extends AuthError {
  static override type = 'InvalidAccessToken'
  static override row: ErrorRow = { page: 'error', status: 401 }
  readonly code: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof'
  constructor(message: string, code: InvalidAccessToken['code'] = 'invalid_token', err?: unknown) {
    super(message, err instanceof Error ? { cause: { err } } : undefined)
    this.code = code
    if (code === 'insufficient_scope') this.status = 403
  }
  /** Value of `WWW-Authenticate`. */
  get challenge(): string {
    return `${this.code === 'invalid_dpop_proof' ? 'DPoP' : 'Bearer'} error="${this.code}"`
  }
}

/** The public keys could not be fetched: nothing is known of the token. */
export class KeysUnavailable extends AuthError {
  static override type = 'KeysUnavailable'
  static override row: ErrorRow = { page: 'error', status: 503 }
}

type KeySource = JWTVerifyGetKey
const maxLength = 16_384
const maxSources = 100
const maxTolerance = 60
const symmetric = /^(?:HS|none)/i
// A token is checked with keys of the issuer, never with one that it brings or names itself.
const foreignKeys = ['jku', 'jwk', 'x5u', 'x5c']
const sources = new Map<string, KeySource>()

/**
 * The claims of a token. Throws InvalidAccessToken for one that is not good here, KeysUnavailable when the keys cannot be fetched, and TypeError for
 * options without issuer, audience and algorithms.
 */
export async function verifyAccessToken(token: string, options: VerifyAccessTokenOptions): Promise<AccessTokenClaims> {
  checkOptions(options)
  const { decodeProtectedHeader, jwtVerify } = await import('jose')
  const { issuer, audience, algorithms, clockTolerance = 5, now = Date.now, scope } = options
  if (typeof token !== 'string' || token.length > maxLength) throw new InvalidAccessToken('The access token is no text, or too long.')
  const keys = await loadKeySource(options)
  let payload: Record<string, unknown>
  try {
    const header = readHeader(token, decodeProtectedHeader)
    const foreign = foreignKeys.find((name) => name in header)
    if (foreign !== undefined) throw new InvalidAccessToken(`The access token contains its key (${foreign}).`)
    const verified = await jwtVerify(token, keys, {
      algorithms: [...algorithms],
      typ: 'at+jwt',
      issuer,
      audience,
      clockTolerance,
      currentDate: new Date(now()),
      requiredClaims: ['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti'],
    })
    payload = verified.payload
  } catch (error) {
    throw toAccessTokenError(error)
  }
  for (const claim of ['sub', 'client_id', 'jti'])
    if (typeof payload[claim] !== 'string') throw new InvalidAccessToken(`The claim \`${claim}\` of the access token is no text.`)
  if ((payload['iat'] as number) > now() / 1000 + clockTolerance) throw new InvalidAccessToken('The access token is from the future.')
  const claims = payload as AccessTokenClaims
  await assertHeld(token, await assertCertificate(claims.cnf, options.certificate), options)
  await assertNotEnded(claims, options)
  const held = typeof claims.scope === 'string' ? claims.scope.split(' ') : []
  const missing = (typeof scope === 'string' ? scope.split(' ').filter(Boolean) : (scope ?? [])).filter((one) => !held.includes(one))
  if (missing.length > 0) throw new InvalidAccessToken(`The access token lacks the scope ${missing.join(' ')}.`, 'insufficient_scope')
  return claims
}

/** A token without a grant is none of authorizationServerPlugin: such a list says nothing about it. */
async function assertNotEnded({ gid }: AccessTokenClaims, { endedGrants, now = Date.now, fetch }: VerifyAccessTokenOptions): Promise<void> {
  if (endedGrants === undefined || typeof gid !== 'string') return
  const url = new URL(endedGrants)
  if (!isSecureUrl(url)) throw new TypeError(`verifyAccessToken: ${url.origin} is not https. Plain http is for loopback only.`)
  const isEnded = await isEndedGrant(url, gid, now(), fetch).catch((error: unknown) => {
    throw new KeysUnavailable('The list of ended grants could not be read.', { cause: { err: error as Error } })
  })
  if (isEnded) throw new InvalidAccessToken('The grant of the access token has ended.')
}

function checkOptions({ issuer, audience, algorithms, clockTolerance = 0 }: VerifyAccessTokenOptions): void {
  const wrong = (what: string): TypeError => new TypeError(`verifyAccessToken: ${what}`)
  if (typeof issuer !== 'string' || issuer === '') throw wrong('`issuer` must be the issuer of the tokens.')
  if (typeof audience !== 'string' || audience === '') throw wrong('`audience` must be the name of this service.')
  if (!Array.isArray(algorithms) || algorithms.length === 0) throw wrong('`algorithms` must list what the issuer signs with: ["ES256"].')
  // With a public key as its secret, HS256 would make every client an issuer.
  if (algorithms.some((one: unknown) => typeof one !== 'string' || symmetric.test(one))) throw wrong('`algorithms` must have a public key.')
  if (!(clockTolerance >= 0 && clockTolerance <= maxTolerance)) throw wrong(`\`clockTolerance\` must be 0 to ${maxTolerance} seconds.`)
}

async function loadKeySource({ issuer, jwks, fetch }: VerifyAccessTokenOptions): Promise<KeySource> {
  const jose = await import('jose')
  if (jwks && typeof jwks === 'object' && 'keys' in jwks) return jose.createLocalJWKSet(jwks as JSONWebKeySet)
  const place = jwks ?? new URL('/.well-known/jwks.json', issuer)
  const url = new URL(place)
  if (!isSecureUrl(url)) throw new TypeError(`verifyAccessToken: ${url.origin} is not https. Plain http is for loopback only.`)
  const make = (): KeySource => jose.createRemoteJWKSet(url, fetch && { [jose.customFetch]: fetch })
  // A `fetch` of one's own may lead elsewhere: its keys are not for others.
  if (fetch) return ownSource(fetch, url.href, make)
  return rememberSource(sources, url.href, make)
}

const ownSources = new WeakMap<typeof fetch, Map<string, KeySource>>()
function ownSource(given: typeof fetch, href: string, make: () => KeySource): KeySource {
  let known = ownSources.get(given)
  if (!known) ownSources.set(given, (known = new Map()))
  return rememberSource(known, href, make)
}

function rememberSource(known: Map<string, KeySource>, href: string, make: () => KeySource): KeySource {
  const source = known.get(href) ?? make()
  if (!known.has(href) && known.size >= maxSources) known.clear()
  known.set(href, source)
  return source
}

/** A header that cannot be read is a TypeError of jose, without a code. */
function readHeader(token: string, decode: typeof import('jose').decodeProtectedHeader): object {
  try {
    return decode(token)
  } catch (error) {
    throw new InvalidAccessToken('The access token has no header that can be read.', 'invalid_token', error)
  }
}

const faults = /^ERR_(?:JWS|JWT|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE)/

function toAccessTokenError(error: unknown): AuthError {
  if (error instanceof AuthError) return error
  const { code, message } = error as { code?: unknown; message?: string }
  if (typeof code === 'string' && faults.test(code))
    return new InvalidAccessToken(`The access token is not good here: ${message}`, 'invalid_token', error)
  return new KeysUnavailable('The public keys of the issuer could not be read.', { cause: { err: error as Error } })
}

/** What is left of `cnf` after the certificate (RFC 8705 section 3). Throws InvalidAccessToken where the connection has another one, or none. */
async function assertCertificate(cnf: unknown, certificate: VerifyAccessTokenOptions['certificate']): Promise<unknown> {
  if (typeof cnf !== 'object' || cnf === null || !('x5t#S256' in cnf)) return cnf
  const { 'x5t#S256': bound, ...others } = cnf as Record<string, unknown>
  if (certificate === undefined)
    throw new InvalidAccessToken(
      'The access token is bound to a certificate. Give verifyAccessToken that of the connection: { certificate }.',
    )
  const shown = typeof certificate === 'string' ? certificate : toBase64Url(await sha256(new Uint8Array(certificate)))
  if (typeof bound !== 'string' || !equal(bound, shown))
    throw new InvalidAccessToken('The access token is bound to another certificate than that of the connection.')
  return Object.keys(others).length > 0 ? others : undefined
}

const maxProofAge = 60
const maxUsedProofs = 100_000

/** Whether the client has the key that its access token is bound to (RFC 9449 section 7). Throws InvalidAccessToken. `cnf`: the claim of the token. */
async function assertHeld(
  token: string,
  cnf: unknown,
  { proof: given, now = Date.now }: { proof?: ProofInput | undefined; now?: (() => number) | undefined },
): Promise<void> {
  const scheme = /^(\S+) /.exec(given?.request.headers.get('authorization') ?? '')?.[1]?.toLowerCase()
  if (cnf === undefined) {
    if (scheme === 'dpop') throw new InvalidAccessToken('The access token is bound to no key, and was sent with the scheme DPoP.')
    return
  }
  const { jkt } = (typeof cnf === 'object' && cnf !== null ? cnf : {}) as { jkt?: unknown }
  if (typeof jkt !== 'string') throw new InvalidAccessToken('The access token is bound in a way that is not known here (`cnf`).')
  if (!given)
    throw new InvalidAccessToken('The access token is bound to a key. Give verifyAccessToken the request: { proof: { request } }.')
  // RFC 9449 section 7.2: a token that an attacker copied must not pass as a bearer token.
  if (scheme !== 'dpop') throw new InvalidAccessToken('The access token is bound to a key, and was sent without the scheme DPoP.')
  const { method, url, headers } = given.request
  const options = { method, url: given.url ?? url, accessToken: token, maxAge: maxProofAge, now }
  const shown = await verifyProof(headers.get('dpop') ?? '', options).catch((error: unknown) => {
    throw error instanceof InvalidProof ? new InvalidAccessToken(error.message, 'invalid_dpop_proof', error) : error
  })
  if (shown.jkt !== jkt) throw new InvalidAccessToken('The DPoP proof is of another key than that of the access token.')
  const once = given.once ?? ((key, seconds) => takenHere(key, seconds, now()))
  if (!(await once(`dpop ${shown.id}`, 2 * maxProofAge)))
    throw new InvalidAccessToken('The DPoP proof was used before.', 'invalid_dpop_proof')
}

const usedProofs = new Map<string, number>()

function takenHere(key: string, seconds: number, now: number): boolean {
  if ((usedProofs.get(key) ?? 0) > now) return false
  for (const [old, until] of usedProofs) {
    if (until > now && usedProofs.size < maxUsedProofs) break
    usedProofs.delete(old)
  }
  usedProofs.set(key, now + seconds * 1000)
  return true
}
