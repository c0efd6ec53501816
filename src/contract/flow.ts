/** Provider types, how they sign users in, and what every one of them ends in. Types only. */
import type { AuthError } from '../errors/index.ts'
import type { Account } from './account.ts'
import type { AccountKey, AdapterAccount, AdapterMethod, AdapterUser } from './adapter.ts'
import type { ResolvedConfig } from './config.ts'
import type { AnyContext, Context } from './context.ts'
import type { Awaitable, Profile } from './data.ts'
import type { Identity, Login, Proof } from './login.ts'
import type { InputAttributes, Provider } from './provider.ts'
import type { Services } from './services.ts'

/** How a provider type signs users in: a module-level constant. */
export interface ProviderFlow<P> {
  /**
   * Methods of `/callback/:provider`; default `{ POST: 'token' }`. The words are those of `Route.csrf`. `crossSite`: the flow itself proves
   * where the request comes from (state). `csrf` is an old word for `token`.
   */
  readonly callback?: { readonly GET?: false; readonly POST?: 'token' | 'crossSite' | 'csrf' | false }
  /** Demanded only when a provider of the type exists: else MissingAdapter. */
  readonly requires?: readonly (keyof Services)[] | ((provider: P) => readonly (keyof Services)[])
  /** Adapter operations demanded likewise: else MissingAdapterMethods. */
  readonly methods?: readonly AdapterMethod[]
  /** Provider option to suffix of `AUTH_<ID>_<SUFFIX>`, for options left undefined (row 59). */
  readonly env?: Readonly<Record<string, string>>
  /** Every option that a provider of the type may have, beside `id`, `name` and `type`: other names are rejected at compile. Absent: any name. */
  readonly options?: Readonly<Record<string, true>>
  /** Says that this provider may have further options, such as the ones its templates name. A name close to a known one is still rejected. */
  open?(provider: P): boolean
  /** Error for an account that belongs to another user; default AccountNotLinked. */
  readonly notLinked?: (message: string) => AuthError
  /**
   * Throws the configuration error of a provider, naming the option and the remedy. Asked before the first request; it may be async to load code,
   * which the synchronous members below find loaded then.
   */
  validate?(provider: P, all: readonly Provider[], config: ResolvedConfig): Awaitable<void>
  /** Asked by `auth.ready()` and `authkernel doctor`. Throws what is missing outside of the options, a package for example, with the command to type. */
  check?(provider: P): Awaitable<unknown>
  /** How pages draw it; default: one button that posts to `/signin/:provider`. The same for every request: what is drawn of it is kept. */
  form?(provider: P): ProviderForm
  /**
   * Whether a user has something that an attacker can get by typing an address. `dormant`: something that has signed no user in and will not before a
   * proof, such as a password of another product. Types that have it also have `revokeUnverified`.
   */
  typed?(ctx: Context, user: AdapterUser): Awaitable<boolean | 'dormant'>
  /**
   * Whether a stored account of this provider is a reason to believe the address of a user without `emailVerified`; default true. A provider that can verify an email returns false: what it vouched for is stored. `silent`: it says nothing of the address, and is believed as in Auth.js unless another account of the user returns `denied`. `denied`: it said of this account that the address is not verified. Not asked of types with `typed`. `account`
   * undefined: the adapter cannot list accounts. The answer is then about any account of the provider.
   */
  vouches?(provider: P, account: AdapterAccount | undefined, email: string, ctx: AnyContext): Awaitable<boolean | 'silent' | 'denied'>
  /** Whether signing in with this provider can verify an email; default false. */
  provesAddress?(provider: P): boolean
  /**
   * Another user verifies the email of a user. Removes what an attacker could have got by typing it, and says whether there was any.
   */
  revokeUnverified?(ctx: Context, user: AdapterUser): Awaitable<boolean>
  /**
   * Whether the user can sign in by this provider: with `account`, one of the user's, default true; without one, default false. A password and a magic link need no account, and
   * an account of a passkey opens nothing when the passkey is gone. It keeps the last way in from being removed.
   */
  canSignIn?(ctx: Context, provider: P, user: AdapterUser, account: AdapterAccount | undefined): Awaitable<boolean>
  /**
   * An account was unlinked, by its user or because the sign-in that had linked it was rejected. Removes what the type stored beside it, so that none of it signs a user in.
   */
  onUnlinked?(ctx: Context, account: AccountKey, userId: string): Awaitable<void>
  /**
   * What the provider calls the user and the session (`sub` and `sid`), where `proof` of the identity does not say it. Default: the id of the account, and
   * no session.
   */
  namesIn?(account: Account, profile: Profile | undefined): Pick<Proof, 'sub' | 'sid'>
  /**
   * Leads the user of a session to the provider that the session began with, which proves the user again (RFC 9470). Undefined: it cannot give what is
   * demanded.
   */
  stepUp?(ctx: Context, provider: P, demand: StepUpDemand): Awaitable<Response | undefined>
  /** `POST /signin/:provider`; absent: the sign-in page. */
  start?(ctx: Context, provider: P): Awaitable<Response>
  /** `/callback/:provider`. A `Response` ends here: redirect proxy, confirm page, "code wrong, try again". */
  finish(ctx: Context, provider: P): Promise<Identity | Response>
}
/** What a step-up must prove. */
export interface StepUpDemand {
  /** The login that `resume` renews the session with. */
  login: Login
  /** `sub` of the session: what the provider calls the user. */
  sub: string
  /** `mfa`: two factors. */
  level: 'mfa' | undefined
  /** Seconds that the proof may be old. */
  maxAge: number
  /** Accepted authentication context classes. */
  acr?: readonly string[] | undefined
}
/** A form on the sign-in page. */
export interface ProviderForm {
  post: 'signin' | 'callback'
  fields?: Record<string, InputAttributes>
  /** Inline script. The page adds the nonce of its Content-Security-Policy. */
  script?: string
  /** Text of the button; default: "Sign in with {name}". */
  submit?: string
  /** `post: 'signin'` leads to a page of this site: the Content-Security-Policy names no other origin for it. */
  stays?: boolean
  /** Not on the built-in page: there is nothing that it could ask. */
  hidden?: boolean
}
