/** What other plugins may do at the provider of an oauth or oidc sign-in. Types only. */
import type { TokenSet } from './account.ts'
import type { AnyContext } from './context.ts'

/** Metadata of an authorization server (RFC 8414, OpenID Connect Discovery 3). */
export interface OAuthMetadata {
  readonly issuer: string
  readonly [name: string]: unknown
}
/** How tokens are refreshed. */
export interface RefreshOptions {
  /** A part of the granted scope; default: all of it (RFC 6749 section 6). */
  scope?: string | undefined
  /** An ID token in the answer must be of this user (OpenID Connect Core 12.2). */
  subject?: string | undefined
  /** Milliseconds until the answer is given up; default `deadlines.network`. */
  deadline?: number | undefined
  /** The key of the former tokens (`dpop_key`); default: a new one, where the provider has `dpop`. */
  dpopKey?: string | undefined
}
/** Required claims of a signed token. */
export interface VerifyOptions {
  /** Accepted values of the header `typ`, without `application/`; undefined in the list: it may be absent. */
  typ: string | readonly (string | undefined)[]
  /** Claims that must be there, beside `iss` and `aud`. `exp`, `nbf` and `iat` are checked when they are there. */
  claims?: readonly string[]
  /** The only audience that the token may have (`aud`). Default: this client, also among others. */
  audience?: string
}
/** A verified token. */
export interface VerifiedToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * The client of a provider, by the provider's id. Every call authenticates as the provider's options say, and is held to deadline, size limit and
 * https. Throws InvalidProvider for an id that is unknown or of another type, and OAuthRequestError for everything the provider does.
 */
export interface OAuthService {
  /**
   * At most one discovery request per hour and issuer. With the `claims` of a token, `issuer` is the one that this token must name. It differs where the provider has `issuerOf` (Entra: one issuer per tenant). It is empty where the provider has none for such claims.
   */
  metadata(ctx: AnyContext, id: string, claims?: Readonly<Record<string, unknown>>): Promise<OAuthMetadata>
  /**
   * A name (`sub` or `sid`) that `issuer` gave to a user or a session, as accounts and session attributes keep it. It differs from `name` where the
   * provider has `issuerOf`: the same name of two issuers means two.
   */
  named?(ctx: AnyContext, id: string, issuer: string, name: string): Promise<string>
  /** A fresh token set (RFC 6749 section 6). `refresh_token` is absent when the provider keeps the old one. */
  refresh(ctx: AnyContext, id: string, token: string, options?: RefreshOptions): Promise<TokenSet>
  /** A form POST to an endpoint that the metadata names, `introspection_endpoint` for example; the answer is complete. */
  request(ctx: AnyContext, id: string, endpoint: string, parameters: Readonly<Record<string, string>>): Promise<Response>
  /** A JWT of the provider for this client, or for `audience`: signature, algorithm, `typ`, `iss`, `aud` and times. */
  verify(ctx: AnyContext, id: string, jwt: string, options: VerifyOptions): Promise<VerifiedToken>
  /**
   * A request with an access token, as a bearer or with proof of its key (RFC 9449), also when the server asks for a nonce first. The answer is complete,
   * whatever its status; no redirect is followed. Where the token may go is for the caller to decide.
   */
  fetch(ctx: AnyContext, id: string, tokens: TokenSet, url: URL, init?: RequestInit): Promise<Response>
  /** Revokes a token (RFC 7009). False: the provider has no revocation endpoint. */
  revoke(ctx: AnyContext, id: string, token: string, hint?: 'access_token' | 'refresh_token'): Promise<boolean>
}
