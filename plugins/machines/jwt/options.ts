/** Options of `jwtPlugin`, with their defaults, and their checks. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type Context, type Session } from 'authkernel/kernel'
import { assertExternalKeys, type ExternalKeys } from './external-keys.ts'
import type { SigningAlgorithm } from './tables.ts'

/** What a token is asked for. */
export interface TokenQuestion {
  session: Session
  audience: string
  ctx: Context
}
/** An API key that asks about a token, as the session of its request names it. */
export interface CallerKey {
  id: string
  scopes: readonly string[]
  owner: unknown
}
/** A resource server that may ask about tokens. */
export interface IntrospectionClient {
  id: string
  /** At least 32 characters. */
  secret: string
  /** It learns of tokens for these audiences only. */
  audiences: readonly string[]
}
/** Who may ask about tokens (RFC 7662 section 2.1). */
export interface IntrospectionOptions {
  /** Resource servers with a secret; default: none. */
  clients?: readonly IntrospectionClient[] | undefined
  /** Audiences that an API key may ask about; default: none. */
  apiKey?: ((question: { apiKey: CallerKey; ctx: Context }) => Awaitable<readonly string[]>) | undefined
}
/** What `jwtPlugin` takes. */
export interface JwtOptions {
  /** `iss` of tokens, an https URL without query and fragment; default: the origin of the request. */
  issuer?: string | undefined
  /** Services that tokens may be issued for; default: any for server code. The routes need the list. */
  audiences?: readonly string[] | undefined
  /** Scopes that tokens may have; default: any. */
  scopes?: readonly string[] | undefined
  /** Whether the user or key of the request has a right that a token shall carry; others are left out of the token. Default: all. */
  can?: ((question: TokenQuestion & { scope: string }) => Awaitable<boolean>) | undefined
  /** Further claims. They replace none of RFC 9068. */
  claims?: ((question: TokenQuestion) => Awaitable<Record<string, unknown>>) | undefined
  /** `client_id` of tokens for users; default: the issuer. Tokens for API keys have the id of the key. */
  clientId?: string | undefined
  /** Default `ES256`. */
  algorithm?: SigningAlgorithm | undefined
  /** Further algorithms: each has keys, and clients of authorizationServerPlugin may choose among them. Default: none. */
  algorithms?: readonly SigningAlgorithm[] | undefined
  /** Keys of a KMS or an HSM, which signs: of their algorithms no private key is stored. Default: none. */
  externalKeys?: ExternalKeys | undefined
  /** Seconds that a token is valid, 10 to 3600; default 600. It never outlives the session or key it was issued for. */
  maxAge?: number | undefined
  /** Seconds that resource servers may keep the public keys, 10 to 86400; default 600. A key is published twice as long before it signs. */
  jwksMaxAge?: number | undefined
  /** Seconds that a key signs, at least four times `jwksMaxAge`; default 2592000 (30 days). */
  rotateEvery?: number | undefined
  /** Adds `POST /jwt/token` for pages and `POST /jwt/key-token` for API keys; default false. */
  routes?: boolean | undefined
  /** Adds `POST /jwt/introspect`; default: there is none. */
  introspection?: IntrospectionOptions | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions extends JwtOptions {
  algorithm: SigningAlgorithm
  /** All, `algorithm` first. */
  algorithms: readonly SigningAlgorithm[]
  maxAge: number
  jwksMaxAge: number
  rotateEvery: number
}

const algorithms: readonly string[] = ['ES256', 'EdDSA', 'RS256', 'PS256']

/** Throws AuthError that names the option. */
export function resolveOptions(options: JwtOptions): ResolvedOptions {
  assertOptions('Plugin "jwt"', options, {
    issuer: true,
    audiences: true,
    scopes: true,
    can: true,
    claims: true,
    clientId: true,
    algorithm: true,
    algorithms: true,
    externalKeys: true,
    maxAge: true,
    jwksMaxAge: true,
    rotateEvery: true,
    routes: true,
    introspection: true,
  })
  assertOptions('Plugin "jwt"', options.introspection, { clients: true, apiKey: true }, 'introspection')
  for (const client of options.introspection?.clients ?? [])
    assertOptions('Plugin "jwt"', client, { id: true, secret: true, audiences: true }, 'introspection.clients')
  const resolved = {
    ...options,
    algorithm: options.algorithm ?? 'ES256',
    algorithms: [...new Set([options.algorithm ?? 'ES256', ...(options.algorithms ?? [])])],
    maxAge: options.maxAge ?? 600,
    jwksMaxAge: options.jwksMaxAge ?? 600,
    rotateEvery: options.rotateEvery ?? 30 * 86_400,
  }
  const { issuer, audiences, introspection, maxAge, jwksMaxAge } = resolved
  if (issuer !== undefined && !isIssuer(issuer)) refuseOption('`issuer` must be an https URL without query, fragment and final slash.')
  if (!algorithms.includes(resolved.algorithm)) refuseOption(`\`algorithm\` must be one of ${algorithms.join(', ')}.`)
  if (resolved.algorithms.some((one) => !algorithms.includes(one)))
    refuseOption(`\`algorithms\` must be a list of ${algorithms.join(', ')}.`)
  if (options.externalKeys !== undefined && typeof options.externalKeys !== 'function') assertExternalKeys(options.externalKeys)
  if (!(maxAge >= 10 && maxAge <= 3600)) refuseOption('`maxAge` must be 10 to 3600 seconds.')
  if (!(jwksMaxAge >= 10 && jwksMaxAge <= 86_400)) refuseOption('`jwksMaxAge` must be 10 to 86400 seconds.')
  if (!(resolved.rotateEvery >= 4 * jwksMaxAge)) refuseOption('`rotateEvery` must be at least four times `jwksMaxAge`.')
  if (audiences?.some((one) => typeof one !== 'string' || one === '')) refuseOption('`audiences` must be a list of texts.')
  if (options.routes && !audiences?.length)
    refuseOption('`routes` needs `audiences`: without the list any user could get a token for any service.')
  for (const { id, secret, audiences: of } of introspection?.clients ?? []) {
    if (typeof id !== 'string' || id === '') refuseOption('`introspection.clients` has an entry without `id`.')
    if (typeof secret !== 'string' || secret.length < 32)
      refuseOption(`\`introspection.clients\`: the secret of "${id}" is shorter than 32 characters.`)
    if (!Array.isArray(of) || of.length === 0) refuseOption(`\`introspection.clients\`: "${id}" needs \`audiences\`.`)
  }
  if (introspection && !introspection.clients?.length && !introspection.apiKey) refuseOption('`introspection` needs `clients` or `apiKey`.')
  return resolved
}

/** `iss` in this context. Throws AuthError for a job without an issuer. */
export function jwtIssuer(ctx: AnyContext, { issuer }: ResolvedOptions): string {
  if (issuer !== undefined) return issuer
  return ctx.request ? ctx.origin : refuseOption('`issuer` is needed where there is no request.')
}

function isIssuer(issuer: string): boolean {
  if (typeof issuer !== 'string' || !URL.canParse(issuer) || issuer.endsWith('/')) return false
  const { protocol, hostname, search, hash } = new URL(issuer)
  return (protocol === 'https:' || hostname === 'localhost' || hostname === '127.0.0.1') && search === '' && hash === ''
}

function refuseOption(what: string): never {
  throw new AuthError(`Plugin "jwt": ${what}`)
}
