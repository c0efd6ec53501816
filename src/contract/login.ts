/** What every provider type ends in, what becomes of it, and logins that wait for something: a second factor, terms of use, a captcha. Types only. */
import type { StampOfAccess } from './access.ts'
import type { Account } from './account.ts'
import type { AdapterAccount } from './adapter.ts'
import type { Awaitable, Profile, User } from './data.ts'

/** What every provider type ends in. */
export interface Identity {
  /** The user as the provider describes it. */
  user: User
  /** The account at the provider. */
  account: Account
  /** What the provider told, for the hooks. */
  profile?: Profile
  /** What was typed into the form, for the hook `signIn`. */
  credentials?: Record<string, unknown>
  /** What linkAccount / updateAccount store; default: `account`. */
  record?: Partial<Account>
  /** How the owner is found. */
  match: 'account' | 'email' | 'none'
  /** `signIn` is asked about `user` as it is, and the owner is looked for afterwards. */
  ownerAfterSignIn?: boolean
  /** The provider may be believed about the address (D33): the account is linked to the user who has it. */
  trustsEmail?: boolean
  /** The sign-in proves that the address is the user's (D85). A magic link proves it by `match: 'email'`. */
  provesEmail?: boolean
  /** A registration, which proves nothing about an account that exists: such an account is rejected unless the signed-in user owns it. */
  isRegistration?: boolean
  /**
   * `subjectOf` when the flow began: the account is linked to no other signed-in user. Required of types with `start`, null when no user was
   * signed in. Undefined for types without: it began in this request.
   */
  startedBy?: string | null
  /** An id under which the account may have been stored before. It counts where `owns` says that the stored account is this one. */
  former?: { providerAccountId: string; owns(account: AdapterAccount): boolean }
  /** Stores `record` at each sign-in of a known account (D15). */
  refreshTokens?: boolean
  /** What was proved; default: one factor, by no named method. */
  proof?: Proof
  /** Before the session; throwing undoes a user and an account made in this request. */
  onLinked?(user: User): Awaitable<void>
  /** The sign-in failed after `finish`: rejected, not linked, or a store that fails. Clean up; what it throws is logged. */
  onFailed?(error: unknown): Awaitable<void>
}

/** How a user proved who they are: methods, factors, time. */
export interface Proof {
  /** Authentication methods (RFC 8176), and `email` for a magic link or code. */
  readonly amr: readonly string[]
  /** Authentication context class, as the provider or the host names it. */
  readonly acr?: string
  /** When, in seconds since the epoch; default: now. */
  readonly authTime?: number
  /** How many independent factors; default 1. */
  readonly factors?: 1 | 2
  /** When each part was proved, where that was not at `authTime`. The kernel keeps it while a login waits. */
  readonly times?: { readonly methods?: Readonly<Record<string, number>>; readonly acr?: number; readonly factors?: number }
  /** What the provider calls the user in its sign-outs and signals (`sub` of the validated ID token); default: that of the profile, else the id of the account. */
  readonly sub?: string
  /** The session at the provider (`sid`) in which it was proved. For a step-up it takes the place of the former one. */
  readonly sid?: string
}

/** A user whose identity is settled and who is not yet signed in. Plain data: may be parked and given to `ctx.resume()` later. */
export interface Login {
  /** The user: the stored user where there is a store. */
  user: User
  /** The account that was signed in with. */
  account: Account
  /** What the provider told. */
  profile?: Profile
  /** Undefined without a store. */
  isNewUser: boolean | undefined
  /** `signUp` for a user who is new. */
  trigger: 'signIn' | 'signUp'
  /**
   * `new`: every sign-in, also of the user who is signed in already. `keep`: an account was linked to the signed-in user, who keeps the session.
   * `renew`: a new token for the session that is here, after a step-up.
   */
  session: 'new' | 'keep' | 'renew'
  /** `stepUp`: the user is signed in and proves it again; no `login` hook is asked. */
  purpose: 'signIn' | 'stepUp'
  /** Plugins that let it go on after they had parked it; only the kernel writes it. */
  passed: readonly string[]
  /** What was proved so far. */
  proof: Proof
  /** `user:<id>` with a store, else `account:<provider>:<subject>`: stays the same between sign-ins. */
  person: string
  /** Parts that were dropped to park it without records: `profile`, `id_token`, `tokens`. */
  trimmed?: readonly string[]
  /** Who was signed in. */
  previous: User | null
  /** How the owner was found. */
  match: Identity['match']
  /** The sign-in linked the account to a user who was there before: a login that is rejected later unlinks it. */
  linked?: true
  /** Where to go, already past the `redirect` hook. */
  callbackUrl: string
}

/** How a login is parked. */
export interface ParkOptions {
  /** Page that continues the login: a route of a plugin below the base path, or a page of the app. */
  to: `/${string}`
  /** Default 600, at most 3600. */
  seconds?: number
  /** Plain data of the plugin that parks the login. */
  data?: unknown
  /** Who parks it. Default: the plugin that has the route `to`; a page of the host must name it. */
  by?: string
}
/** A login that waits. */
export interface ParkedLogin<D = unknown> {
  /** Names it, opens nothing: the key for counting tries. */
  readonly id: string
  /** What forms and links carry on as `flow`, so that several tabs do not disturb each other. */
  readonly flow: string
  /** The login that waits. */
  readonly login: Login
  /** The plugin that parked it. */
  readonly by: string
  /** What that plugin keeps with it. */
  readonly data: D
  /** The state of the user's access when the sign-in began: `ctx.access.assert` says whether it still holds. */
  readonly access: StampOfAccess
  /** When it is too late. */
  readonly expires: Date
}
/** Options of continuing a parked login. */
export interface ResumeOptions {
  /** What was proved meanwhile; joined with what was proved before. */
  proof?: Partial<Proof>
  /** Further plugins that let it go on. */
  passed?: readonly string[]
}
