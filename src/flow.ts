/** Provider types, how they sign people in, and what every one of them ends in. Types only. */
import type { AdapterMethod, AdapterUser } from './adapter.ts'
import type { ResolvedConfig } from './config.ts'
import type { Context } from './context.ts'
import type { AuthError } from './errors.ts'
import type { CredentialsConfig, EmailConfig, InputAttributes, OAuthConfig, OIDCConfig, WebAuthnConfig } from './provider-types.ts'
import type { Services } from './services.ts'
import type { Account, Awaitable, Profile, User } from './types.ts'

/** Provider types and their options. Third parties merge their own in. */
export interface ProviderTypes {
  // any: a profile's type belongs to one provider (GitHub's `id` is a number) and is unknown in a list of providers.
  oauth: OAuthConfig<any>
  oidc: OIDCConfig<any>
  email: EmailConfig
  credentials: CredentialsConfig
  webauthn: WebAuthnConfig
}
/** Name of a provider type (row 359). */
export type ProviderType = keyof ProviderTypes
/** Options of one provider type. */
export type ProviderOf<T extends ProviderType> = ProviderTypes[T] & { type: T }
/** A provider of any type. */
export type Provider = { [T in ProviderType]: ProviderOf<T> }[ProviderType]

/** How a provider type signs people in: a module-level constant. */
export interface ProviderFlow<P> {
  /** Methods of `/callback/:provider`; default `{ POST: 'csrf' }`. `crossSite`: the flow itself proves where the request comes from (state). */
  readonly callback?: { readonly GET?: false; readonly POST?: 'csrf' | 'crossSite' | false }
  /** Demanded only when a provider of the type exists: else MissingAdapter. */
  readonly requires?: readonly (keyof Services)[]
  /** Adapter operations demanded likewise: else MissingAdapterMethods. */
  readonly methods?: readonly AdapterMethod[]
  /** Provider option to suffix of `AUTH_<ID>_<SUFFIX>`, for options left undefined (row 59). */
  readonly env?: Readonly<Record<string, string>>
  /** Error for an account that belongs to somebody else; default AccountNotLinked. */
  readonly notLinked?: (message: string) => AuthError
  /** Throws the configuration error of a provider, naming the option and the remedy. */
  validate?(provider: P, all: readonly Provider[], config: ResolvedConfig): void
  /** How pages draw it; default: one button that posts to `/signin/:provider`. */
  form?(provider: P): ProviderForm
  /**
   * Somebody else is about to prove the address of a user: takes away what anybody could have got by typing it, and says whether there was any.
   * Types whose providers vouch for an address have nothing to do here.
   */
  disown?(ctx: Context, user: AdapterUser): Awaitable<boolean>
  /** `POST /signin/:provider`; absent: the sign-in page. */
  start?(ctx: Context, provider: P): Awaitable<Response>
  /** `/callback/:provider`. A `Response` ends here: redirect proxy, confirm page, "code wrong, try again". */
  finish(ctx: Context, provider: P): Promise<Identity | Response>
}
/** A form on the sign-in page. */
export interface ProviderForm {
  post: 'signin' | 'callback'
  fields?: Record<string, InputAttributes>
  /** Inline script; the page gives it the nonce. */
  script?: string
  /** Text of the button; default: "Sign in with {name}". */
  submit?: string
  /** Not on the built-in page: there is nothing that it could ask. */
  hidden?: boolean
}

/** What every provider type ends in. */
export interface Identity {
  user: User
  account: Account
  profile?: Profile
  credentials?: Record<string, unknown>
  /** What linkAccount / updateAccount store; default: `account`. */
  record?: Partial<Account>
  /** How the owner is found. */
  match: 'account' | 'email' | 'none'
  /** `signIn` is asked about `user` as it is, and the owner is looked for afterwards (WIRE 9.10, 9.11). */
  settled?: boolean
  /** The provider may be believed about the address (D33). */
  trustsEmail?: boolean
  /** A registration, which proves nothing about an account that exists: such an account is refused unless the signed-in user owns it. */
  registers?: boolean
  /** `subjectOf` when the flow began: the account is linked to no other signed-in user. Undefined: it began in this request. */
  startedBy?: string | null
  /** Stores `record` at each sign-in of a known account (D15). */
  updates?: boolean
  /** Before the session; throwing undoes a user and an account made in this request. */
  onLinked?(user: User): Awaitable<void>
}

/** A person whose identity is settled and who is not yet signed in. Plain data: may be parked and given to `ctx.resume()` later. */
export interface Login {
  user: User
  account: Account
  profile?: Profile
  /** Undefined without a store (WIRE 9.2). */
  isNewUser: boolean | undefined
  trigger: 'signIn' | 'signUp'
  /** `keep`: an account linked to, or already owned by, the signed-in user. */
  session: 'new' | 'keep'
  /** Who was signed in. */
  previous: User | null
  /** How the owner was found. */
  match: Identity['match']
  /** Where to go, already past the `redirect` decision. */
  callbackUrl: string
}
