/** What a host or a preset may write about an OAuth 2.0 or OpenID Connect provider: plain data and a few seams. Types only. */
import type { TokenSet } from './account.ts'
import type { Awaitable, Optional, Profile, User } from './data.ts'
import type { allowInsecureRequests, customFetch } from './symbols.ts'

/** Fields of every provider. */
export interface CommonProviderOptions {
  /** Part of the callback URL; lower case, unique in one `createAuth`. */
  id: string
  /** Label on the sign-in button. */
  name: string
  /** Absolute URLs, present on the provider object that callbacks see (row 358). */
  signinUrl?: string
  /** Where users come back to; beside `signinUrl`. */
  callbackUrl?: string
}

/** Look of a provider's button. `bg` and `text` are deprecated (row 336). */
export interface OAuthProviderButtonStyles {
  /** Inline SVG markup, a `data:` URL or a path on the own origin; foreign URLs are not shown (D19). */
  logo?: string | undefined
  brandColor?: string | undefined
  /** @deprecated use `brandColor` */
  text?: string | undefined
  /** @deprecated use `brandColor` */
  bg?: string | undefined
}

/** One of the checks of an authorization code flow (row 362). */
export type OAuthCheck = 'pkce' | 'state' | 'none'
/** A protection of a flow: `pkce`, `state`, `nonce` or `none`. */
export type OIDCCheck = OAuthCheck | 'nonce'

/**
 * URLs, `params`, `headers`, `body` and `path` may name `{issuer}` (without its trailing slash), `{clientId}`, `{clientSecret}`
 * and `{tokens.x}`: known only after the environment was read, or after the code was exchanged. Other names stay as they are.
 */
export type Template = string

/** The authorization endpoint: URL and parameters. */
export interface AuthorizationEndpoint {
  url?: string | undefined
  /** Query parameters; `claims` may be an object and is sent as JSON. */
  params?: Record<string, unknown> | undefined
  /** Builds the final URL: gets what would be sent, may change or replace it. */
  request?: ((context: { url: URL; provider: OAuthConfig | OIDCConfig }) => Awaitable<URL>) | undefined
}

/** The token endpoint: URL and parameters of the code exchange. */
export interface TokenEndpoint {
  url?: string | undefined
  /** Extra body parameters. */
  params?: Record<string, Template> | undefined
  /** Members added to the answer when it lacks them: `{ token_type: 'bearer' }`. */
  defaults?: Record<string, string> | undefined
  /** Repairs a non-standard answer; return nothing to keep it (row 187). */
  conform?: ((response: Response) => Awaitable<Response | undefined | void>) | undefined
  /** Replaces the exchange (row 188). */
  request?: ((context: TokenRequestContext) => Awaitable<{ tokens: TokenSet }>) | undefined
  /** Key of `private_key_jwt`; with a bare CryptoKey the algorithm is the key's own. */
  clientPrivateKey?: CryptoKey | { key: CryptoKey; kid?: string } | undefined
}
/** What a `token.request` of a provider is called with. */
export interface TokenRequestContext {
  /** Parameters of the callback, checked. */
  params: Record<string, string>
  checks: { code_verifier?: string; nonce?: string; state?: string }
  redirectUri: string
  provider: OAuthConfig | OIDCConfig
  /** The provider's `clientSecret`; a function is called. */
  clientSecret?: string | undefined
  /** `fetch` with a deadline and a size limit; the provider's `customFetch` if it has one. */
  fetch: typeof fetch
}

/** The userinfo endpoint: URL and parameters of the profile request. */
export interface UserinfoEndpoint<P = Profile> {
  url?: string | undefined
  params?: Record<string, Template> | undefined
  method?: 'GET' | 'POST' | undefined
  headers?: Record<string, Template> | undefined
  /** JSON body of a POST. */
  body?: Record<string, unknown> | undefined
  /** How the access token travels: `Authorization: Bearer` by default, a query parameter, the last path segment, or not at all. */
  token?: 'header' | 'path' | 'none' | { query: string } | undefined
  /** Appended to the path: `{tokens.user_id}`. */
  path?: Template | undefined
  /** Dotted path to the profile inside the answer: `bot.owner.user`, `response.0`. */
  unwrap?: string | undefined
  /** Replaces the request (row 186). */
  request?: ((context: UserinfoRequestContext) => Awaitable<P>) | undefined
}
/** What a `userinfo.request` of a provider is called with. */
export interface UserinfoRequestContext {
  tokens: TokenSet
  provider: OAuthConfig | OIDCConfig
  /** `fetch` with a deadline and a size limit; the provider's `customFetch` if it has one. */
  fetch: typeof fetch
}

/** A user as a provider describes it: what a sparse profile lacks is undefined. */
export type ProviderUser = Optional<User>
/** What `profile` may use beside the profile. */
export interface ProfileContext {
  /** `fetch` with a deadline and a size limit; the provider's `customFetch` if it has one. */
  fetch: typeof fetch
}

/** How a client authenticates at the token endpoint (OpenID Connect Core section 9). */
export type ClientAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'client_secret_jwt'
  | 'private_key_jwt'
  | 'tls_client_auth'
  | 'self_signed_tls_client_auth'
  | 'none'
/** Overrides for the OAuth library (row 190). */
export interface Client {
  client_id?: string | undefined
  token_endpoint_auth_method?: ClientAuthMethod | undefined
  id_token_signed_response_alg?: string | undefined
  userinfo_signed_response_alg?: string | undefined
  default_max_age?: number | undefined
  require_auth_time?: boolean | undefined
  [metadata: string]: unknown
}

/** A private key; with several, `kid` says which one. */
export type DecryptionKey = CryptoKey | { key: CryptoKey; kid?: string }

/** Options of an OAuth 2.0 provider. `P` is the profile that `userinfo` answers. */
export interface OAuthConfig<P = Profile> extends CommonProviderOptions {
  /** OAuth 2.0: the profile comes from `userinfo`. */
  type: 'oauth'
  /** Id of the app at the provider; default: the environment variable `AUTH_<ID>_ID`. */
  clientId?: string | undefined
  /** A function is called at each exchange: for secrets that expire, such as Apple's. */
  clientSecret?: string | ((context: { now: Date; clientId: string }) => Awaitable<string>) | undefined
  /** Endpoints that are not given are read from its discovery document. Default: the environment variable `AUTH_<ID>_ISSUER`. */
  issuer?: string | undefined
  /** Discovery document; replaces `issuer + /.well-known/openid-configuration` (D8). */
  wellKnown?: string | undefined
  /** Address of the keys that sign ID tokens; default: `jwks_uri` of the discovery document. */
  jwks_endpoint?: string | undefined
  /** Address that users are sent to, or address and parameters; default: that of the discovery document. */
  authorization?: string | AuthorizationEndpoint | undefined
  /** Address where the code is exchanged, or address and parameters; default: that of the discovery document. */
  token?: string | TokenEndpoint | undefined
  /** Address of the profile, or address and request; default: that of the discovery document. */
  userinfo?: string | UserinfoEndpoint<P> | undefined
  /** Used when `authorization` gives none; `''`: the parameter is left out. Default `openid profile email` (row 180). */
  scope?: string | undefined
  /** Default `['pkce']`; a `state` is always sent (D47). */
  checks?: readonly OIDCCheck[] | undefined
  /**
   * The user that a profile describes; its `id` becomes providerAccountId and must not be empty (row 194). `fapi2`: `securityProfile: 'fapi2'` with the
   * default mapping.
   */
  profile?: ((profile: P, tokens: TokenSet, context: ProfileContext) => Awaitable<ProviderUser>) | 'fapi2' | undefined
  /** Replaces the stored token fields (row 195). */
  account?: ((tokens: TokenSet) => Partial<TokenSet> | undefined | void) | undefined
  /** Links to an existing user of the same address unless the provider calls it unverified (D33). */
  allowDangerousEmailAccountLinking?: boolean | undefined
  /**
   * Whether this provider checks addresses, or the domains whose addresses it checks. Then an `email_verified: true` verifies the email: it sets
   * `emailVerified`, and takes the address from users who only typed it. `false`: it never vouches for one. Default: true for presets that check
   * mailboxes; undefined elsewhere, which proves nothing and takes nothing away.
   */
  trustEmail?: boolean | readonly string[] | undefined
  /** Member of the profile that says whether the address is verified; default `email_verified` (D33). */
  emailVerified?: ((profile: P, tokens: TokenSet) => unknown) | undefined
  /** The strings that also count as `email_verified: true`, when a provider sends strings (D33). */
  emailVerifiedStrings?: readonly string[] | undefined
  /** Stores fresh tokens at each sign-in (D15). */
  updateAccount?: boolean | undefined
  /** Names of authorization parameters that a client may send; default: all but protocol parameters (D11). */
  authorizationParams?: readonly string[] | undefined
  /** Look of the button on the sign-in page. */
  style?: OAuthProviderButtonStyles | undefined
  /** Overrides of the client metadata that is made of the other options. */
  client?: Client | undefined
  /** Default: the option of the same name of `createAuth`. `''`: none for this provider. */
  redirectProxyUrl?: string | undefined
  /**
   * Path of the redirect URI below the base path, such as `/sso/callback/acme`: the one that another product registered at the provider. A route there must lead the
   * browser on to `/callback/<id>`, as `betterAuthCompatPlugin` does. Default: `/callback/<id>`.
   */
  callbackPath?: string | undefined
  /**
   * Sends the authorization request to the provider directly (RFC 9126); the browser gets `client_id` and `request_uri` alone. Default: when the
   * discovery document says that the provider requires it.
   */
  pushedAuthorization?: boolean | undefined
  /**
   * `fapi2`: what the FAPI 2.0 Security Profile asks of a client is on. That is pushed requests, PKCE, `iss` in the answer, private_key_jwt or mTLS, bound tokens, and signatures with PS256, ES256 or Ed25519. Options that contradict it are rejected.
   */
  securityProfile?: 'fapi2' | undefined
  /** Binds tokens to a key of this server (RFC 9449), so that a stolen token is of no use; true is ES256. Default false. */
  dpop?: boolean | 'ES256' | 'Ed25519' | undefined
  /** Signs the authorization request with `token.clientPrivateKey` (RFC 9101). Default false. */
  signedRequest?: boolean | undefined
  /** What the access token is for (RFC 8707): absolute URIs. Sent with the authorization request; a single one with token requests, too. */
  resource?: string | readonly string[] | undefined
  /** Requested claims (OpenID Connect Core 5.5). */
  claims?: Record<string, unknown> | undefined
  /** Seconds since the user last proved who they are; an answer that does not keep to it is rejected. */
  max_age?: number | undefined
  /** Requested authentication context classes, the best first. */
  acr_values?: string | readonly string[] | undefined
  /** Opens ID tokens and userinfo that the provider encrypts for this client (JWE). */
  decryptionKey?: DecryptionKey | readonly DecryptionKey[] | undefined
  /** Folds other parameters of the callback into the claims: Apple's `user` form field. */
  callback?: ((params: Record<string, string>, claims: P) => Awaitable<P>) | undefined
  /** The issuer a token must come from, when it depends on the token: Entra's tenants. Throw to reject. */
  issuerOf?: ((claims: Record<string, unknown>, provider: { id: string; issuer?: string | undefined }) => string) | undefined
  /** What the discovery document may say its issuer is, instead of `issuer`: a template, or a path below it. */
  discoveryIssuer?: string | readonly string[] | undefined
  /** Replaces `fetch` for requests to this provider. */
  [customFetch]?: typeof fetch | undefined
  /** Permits addresses with plain http beyond loopback; default false. */
  [allowInsecureRequests]?: boolean | undefined
  /** Options that the app passed to a preset, merged over the values of the preset (D50). */
  options?: Partial<Omit<OAuthConfig<P>, 'type' | 'options'>> | undefined
}

/** Options of an OpenID Connect provider. */
export interface OIDCConfig<P = Profile> extends Omit<OAuthConfig<P>, 'type' | 'options'> {
  /** OpenID Connect: an ID token is required, and validated. */
  type: 'oidc'
  /** `false`: the profile comes from the userinfo endpoint; an ID token is still required (row 198). */
  idToken?: boolean | undefined
  /**
   * Takes `amr`, `acr` and `auth_time` of the validated ID token over into `login.proof`; `mfa` in `amr` then counts as two factors. Without it a
   * sign-in at this provider is one factor, whatever the provider says. Default false.
   */
  trustAssurance?: boolean | undefined
  /** Options that the app passed to a preset, merged over the values of the preset (D50). */
  options?: Partial<Omit<OIDCConfig<P>, 'type' | 'options'>> | undefined
}

/** Options of a preset. All are optional, and merged over the values of the preset (D50). */
export type OAuthUserConfig<P = Profile> = NonNullable<OAuthConfig<P>['options']>
/** Options of a preset of type `oidc`. */
export type OIDCUserConfig<P = Profile> = NonNullable<OIDCConfig<P>['options']>
