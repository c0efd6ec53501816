/** What connects a user with a provider. Types only. */
import type { ProviderType } from './provider.ts'

/** RFC 9396 section 2: one entry of rich authorization details. */
export interface AuthorizationDetails {
  readonly type: string
  readonly locations?: readonly string[]
  readonly actions?: readonly string[]
  readonly datatypes?: readonly string[]
  readonly privileges?: readonly string[]
  readonly identifier?: string
  readonly [parameter: string]: unknown
}

/** Answer of a token endpoint (RFC 6749 section 5.1), with `token_type` in lower case (row 197). */
export interface TokenSet {
  /** Opens the API of the provider. */
  readonly access_token?: string
  /** Gets new access tokens. */
  readonly refresh_token?: string
  /** Signed statement about the user (OpenID Connect). */
  readonly id_token?: string
  /** Seconds, as the provider said it. */
  readonly expires_in?: number
  /** Granted scopes, separated by blanks; missing: those that were asked for. */
  readonly scope?: string
  readonly token_type?: Lowercase<string>
  /** What was granted in detail (RFC 9396). */
  readonly authorization_details?: readonly AuthorizationDetails[]
  /** Seconds since the epoch, computed from `expires_in` (row 196). */
  expires_at?: number
  /** The key that the tokens are bound to (RFC 9449): a private JWK in JSON. Keep it as secret as a refresh token. */
  readonly dpop_key?: string
  /** Other members of the answer, `session_state` for example. */
  readonly [parameter: string]: unknown
}

/** A connection between a user and a provider, with the tokens of the provider (row 348). */
export interface Account extends TokenSet {
  /** Id of the provider. */
  provider: string
  /** Row 350: the profile's id (oauth, oidc), the address (email), the id that `authorize` returned (credentials). */
  providerAccountId: string
  /** Type of the provider. */
  type: ProviderType
  /** Whose account it is, once it is stored. */
  userId?: string
}
