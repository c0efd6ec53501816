/** Tokens for apps on other devices, and signed tokens for other services: what plugins share of them. Types only. */
import type { StampOfAccess } from './access.ts'
import type { HttpError } from '../errors/index.ts'
import type { AnyContext, Context } from './context.ts'
import type { Awaitable } from './data.ts'
import type { AtomicWrite } from './records.ts'
import type { SessionAttributes } from './session.ts'

/** An app that users sign in to with tokens instead of cookies. */
export interface AppClient {
  /** `client_id` (RFC 6749 section 2.2). It is public. */
  readonly id: string
  /** What users call the app. */
  readonly name: string
  /** Exact redirect URIs; the port of a loopback one is free. */
  readonly redirectUris: readonly string[]
  /** What the app may ask for. */
  readonly scopes: readonly string[]
}
/** What a user granted to an app. */
export interface AppGrant {
  readonly client: AppClient
  readonly userId: string
  /** Attributes of the session in which it was granted; null: they were not stored. */
  readonly attributes: SessionAttributes | null
  readonly scopes: readonly string[]
  /** How: `code`, `device`, or what another plugin calls it. */
  readonly by: string
  /** The state of the user's access when it was granted; default: when the tokens are asked for. */
  readonly access?: StampOfAccess | null
}
/** Answer of a token endpoint: tokens, or an error of RFC 6749 section 5.2. */
export type TokenAnswer = Readonly<Record<string, unknown>> & { readonly error?: string }

/** The app that calls, or the response to return instead. */
export type AppCaller =
  | { readonly client: AppClient }
  | { readonly error: TokenAnswer; readonly status: number; readonly headers: Readonly<Record<string, string>> }

/** The token endpoint as other plugins extend it: they decorate `grant` and `metadata`. */
export interface AppTokens {
  /** An app by its `client_id`. */
  client(id: string): AppClient | undefined
  /** The app that posts a form to an endpoint of RFC 6749, which must not have repeated fields. */
  caller(ctx: Context, form: URLSearchParams): AppCaller
  /** The scopes that a text asks for, or undefined when the app may not have one of them. An empty text: all that the app may have. */
  scopes(client: AppClient, asked: string | null): readonly string[] | undefined
  /** Answers one grant type: `form` has no repeated fields, `client` is known. */
  grant(ctx: Context, client: AppClient, form: URLSearchParams): Awaitable<TokenAnswer>
  /**
   * A new app session and its first tokens. `together` are writes that happen with it or not at all: what is used up for it. Answers
   * `invalid_grant` when the user may not have one, and when one of the writes finds nothing.
   */
  issue(ctx: Context, grant: AppGrant, together?: readonly AtomicWrite[]): Promise<TokenAnswer>
  /** Members of the metadata of RFC 8414. */
  metadata(ctx: Context): Awaitable<Readonly<Record<string, unknown>>>
  /** What a guard of the host answers a request whose access token opened nothing. `error`: what reading its session threw. */
  challenge?(ctx: Context, error?: HttpError): Promise<Response>
}

/** Claims of a signed access token; `iss`, `iat` and `jti` are added. */
export interface AccessClaims {
  readonly sub: string
  readonly aud: string
  readonly client_id: string
  /** Seconds since the epoch. */
  readonly exp: number
  readonly [claim: string]: unknown
}
/** Signs and verifies access tokens (RFC 9068) of this server. */
export interface AccessTokens {
  /** `iss` of the tokens; undefined: the origin of the request. */
  readonly issuer: string | undefined
  /** Throws AccessDenied when a plugin rejects the token. */
  sign(ctx: Context, claims: AccessClaims): Promise<string>
  /** The claims of a live token for one of the audiences; null for any other text. */
  verify(ctx: AnyContext, token: string, audiences: readonly string[]): Promise<Readonly<Record<string, unknown>> | null>
}
/** The keys of this server, for plugins that sign statements: ID tokens, logout tokens, access tokens with another issuer. */
export interface SigningKeys {
  /** The algorithm that statements are signed with where none is named. */
  readonly algorithm: string
  /** All that there are keys for, `algorithm` first. */
  readonly algorithms: readonly string[]
  /** Seconds after its signature that every key stays published: nothing that is signed may live longer. */
  readonly maxAge: number
  /**
   * Signs claims as they are. `typ`: what kind of statement it is, so that none passes for another (RFC 8725 section 3.11). A function gets the algorithm of the
   * key, which is a former one while a new one is not known to all. Throws AuthError for an algorithm that is not among `algorithms`.
   */
  sign(
    ctx: AnyContext,
    typ: string,
    claims: Readonly<Record<string, unknown>> | ((algorithm: string) => Promise<Readonly<Record<string, unknown>>>),
    wanted?: { algorithm?: string | undefined },
  ): Promise<string>
  /** The claims of a statement of this kind that one of the live keys signed, whatever its age; null for any other text. The caller compares the claims. */
  open(ctx: AnyContext, typ: string, text: string): Promise<Readonly<Record<string, unknown>> | null>
}
