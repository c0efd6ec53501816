/** Options of `bearerPlugin`, with their defaults, and their checks. */
import { type AnyContext, type AppClient, assertOptions, AuthError, type Awaitable, type User } from 'authkernel/kernel'
import { redirectKind } from './redirect.ts'

/** An app that users may sign in to. */
export interface AppOptions {
  /** `client_id`: 1 to 100 characters of `A-Za-z0-9._~-`. It is public; apps have no secret. */
  id: string
  /** Its name for users; pages show it. */
  name: string
  /**
   * Where the browser leads back to: an https URL that the app has claimed, `http://127.0.0.1/path` or `http://[::1]/path` (any port), or a
   * scheme that is a reversed domain (`com.example.app:/callback`). Compared byte for byte, but for the port of a loopback address.
   */
  redirectUris: readonly string[]
  /** What the app may ask for; default: `scopes` of the plugin. */
  scopes?: readonly string[] | undefined
  /**
   * The app proves a key with each request, and its tokens are worth nothing without it (RFC 9449 section 5.2). Default false: the tokens of an app
   * are bound when it sends a proof.
   */
  dpopBoundAccessTokens?: boolean | undefined
}
/** What an access token is. */
export interface AccessTokenOptions {
  /** `jwt` needs jwtPlugin; other services verify it. Default `opaque`. */
  format?: 'opaque' | 'jwt' | undefined
  /** Who the token is for: `aud`; default: the issuer. */
  audience?: string | undefined
  /** Seconds, 10 to 3600; default 600. */
  maxAge?: number | undefined
}
/** Whether a user has a right that an app asks for. */
export interface RightQuestion {
  user: User
  app: AppClient
  scope: string
  ctx: AnyContext
}
/** What `bearerPlugin` takes. */
export interface BearerOptions {
  /** At least one. Throws AuthError for an empty list and for two apps with one id. */
  apps: readonly AppOptions[]
  /** Scopes of apps that list none; default: none. */
  scopes?: readonly string[] | undefined
  /** Asked when tokens are issued and at each use: a right that the user lost is no longer in the session. Default: every scope. */
  can?: ((question: RightQuestion) => Awaitable<boolean>) | undefined
  /** Format, audience and lifetime of access tokens. */
  accessToken?: AccessTokenOptions | undefined
  /** Seconds that an app session lives without a refresh; default 2592000 (30 days). */
  idle?: number | undefined
  /** Seconds that an app session lives at most; default 7776000 (90 days). */
  maxAge?: number | undefined
  /** `issuer` of the metadata, an https URL without a path; default: the origin of the request. */
  issuer?: string | undefined
  /** `nonces`: proofs of keys must have a nonce of this server (RFC 9449 section 8), so that none is made in advance. Default false. */
  dpop?: { nonces?: boolean | undefined } | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions extends Pick<BearerOptions, 'can' | 'issuer'> {
  apps: ReadonlyMap<string, AppClient>
  /** Ids of apps whose tokens must be bound to a key. */
  bound: ReadonlySet<string>
  nonces: boolean
  format: 'opaque' | 'jwt'
  audience: string | undefined
  /** Of access tokens. */
  tokenAge: number
  idle: number
  maxAge: number
}

const scopeSyntax = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/

/** Throws AuthError that names the option. */
export function resolveOptions(options: BearerOptions): ResolvedOptions {
  assertOptions('Plugin "bearer"', options ?? {}, {
    apps: true,
    scopes: true,
    can: true,
    accessToken: true,
    idle: true,
    maxAge: true,
    issuer: true,
    dpop: true,
  })
  const { apps, scopes = [], accessToken = {}, idle = 30 * 86_400, maxAge = 90 * 86_400, issuer, can, dpop } = options ?? {}
  assertOptions('Plugin "bearer"', accessToken, { format: true, audience: true, maxAge: true }, 'accessToken')
  assertOptions('Plugin "bearer"', dpop, { nonces: true }, 'dpop')
  const { format = 'opaque', audience, maxAge: tokenAge = 600 } = accessToken
  if (!Array.isArray(apps) || apps.length === 0) refuseOption('`apps` is missing. List the apps that users may sign in to.')
  if (!['opaque', 'jwt'].includes(format)) refuseOption('`accessToken.format` must be "opaque" or "jwt".')
  if (!(tokenAge >= 10 && tokenAge <= 3600)) refuseOption('`accessToken.maxAge` must be 10 to 3600 seconds.')
  if (!(idle >= tokenAge && idle <= maxAge)) refuseOption('`idle` must be at least `accessToken.maxAge` and at most `maxAge`.')
  if (!(maxAge <= 366 * 86_400)) refuseOption('`maxAge` must be at most 31622400 seconds.')
  if (issuer !== undefined && !isIssuer(issuer)) refuseOption('`issuer` must be an https origin, without path and final slash.')
  const known = new Map<string, AppClient>()
  for (const app of apps as readonly AppOptions[]) {
    assertOptions('Plugin "bearer"', app, { id: true, name: true, redirectUris: true, scopes: true, dpopBoundAccessTokens: true }, 'apps')
    const resolved = { id: app.id, name: app.name, redirectUris: app.redirectUris ?? [], scopes: [...new Set(app.scopes ?? scopes)] }
    checkApp(resolved)
    if (known.has(app.id)) refuseOption(`two apps have the id "${app.id}".`)
    known.set(app.id, Object.freeze(resolved))
  }
  const bound = new Set(apps.filter((app) => app.dpopBoundAccessTokens === true).map(({ id }) => id))
  return { apps: known, bound, nonces: dpop?.nonces === true, format, audience, tokenAge, idle, maxAge, issuer, can }
}

function checkApp({ id, name, redirectUris, scopes }: AppClient): void {
  if (typeof id !== 'string' || !/^[A-Za-z0-9._~-]{1,100}$/.test(id))
    refuseOption('the `id` of an app must be 1 to 100 characters of A-Za-z0-9._~-.')
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100)
    refuseOption(`the app "${id}" needs a \`name\` of 1 to 100 characters.`)
  for (const uri of redirectUris) {
    if (redirectKind(uri)) continue
    refuseOption(
      `the app "${id}" has the redirect URI ${JSON.stringify(uri)}. Use https, http://127.0.0.1 or http://[::1] with any port, ` +
        'or a scheme that is a reversed domain, such as com.example.app:/callback; no fragment.',
    )
  }
  for (const scope of scopes)
    if (!scopeSyntax.test(scope)) refuseOption(`the app "${id}" has the scope ${JSON.stringify(scope)}, which RFC 6749 does not allow.`)
}

/** The issuer of this request. */
export function bearerIssuer(ctx: { readonly origin: string }, { issuer }: Pick<ResolvedOptions, 'issuer'>): string {
  return issuer ?? ctx.origin
}

function isIssuer(issuer: string): boolean {
  return typeof issuer === 'string' && URL.canParse(issuer) && new URL(issuer).origin === issuer && issuer.startsWith('https:')
}

function refuseOption(what: string): never {
  throw new AuthError(`Plugin "bearer": ${what}`)
}
