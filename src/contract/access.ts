/** Who may be given access, and how it ends: the contract of `ctx.access`. Types only. */
import type { User } from './data.ts'
import type { SessionSelector } from './session.ts'

/** What is being given, as the hook `access` and errors name it. Plugins may use other names. */
export type AccessPurpose =
  | 'signIn'
  | 'stepUp'
  | 'link'
  | 'credential'
  | 'address'
  | 'apiKey'
  | 'appCode'
  | 'appToken'
  | 'refresh'
  | 'deviceApproval'
  | 'acting'
  | (string & {})

/** A session at a provider that proved who the user is: what logout tokens and security events name. */
export interface AccessProof {
  /** As sessions keep it: see `SessionAttributes.provider`. */
  readonly provider: string
  /** The user there. */
  readonly sub?: string | undefined
  /** The session there. */
  readonly sid?: string | undefined
  /** When it proved the user, in milliseconds; default: when the stamp was taken. */
  readonly at?: number | undefined
}

/**
 * The state of a user's access when a sign-in, a link, a code or an approval began. Plain data: it is kept with what waits, and compared when access
 * is given. An ending in between makes it void.
 */
export interface StampOfAccess {
  /** `user:<id>` with a store, else `account:<provider>:<id>`. */
  readonly subject: string
  /** Number of the last ending of the subject that was known when the stamp was taken; 0: none. */
  readonly generation: number
  /** When it began: milliseconds times 1000, counted on within one millisecond. */
  readonly at: number
  /** The process that took it. */
  readonly process: string
  /** Sessions at providers that the stamp rests on. */
  readonly proofs: readonly AccessProof[]
  /** Memberships that the stamp rests on, each with the number of its last ending; absent: none. See `stampMember`. */
  readonly memberships?: readonly { readonly organizationId: string; readonly generation: number }[]
}

/** Why access ends. Plugins decide by it what else ends: API keys end with a password reset, and stay at a sign-out everywhere. */
export type EndReason =
  | 'signOutEverywhere'
  | 'passwordReset'
  | 'credentialChanged'
  | 'ban'
  | 'deletion'
  | 'providerLogout'
  | 'accountDisabled'
  | 'membershipEnded'
  /** A directory switched the user off, or removed the user. */
  | 'directory'
  | 'policy'
  | (string & {})

/** What an ending did. Undefined where a number is not known. */
export interface EndReport {
  /** Sessions of browsers. */
  readonly sessions: number | undefined
  /** What plugins ended, by step; steps without a plugin are absent. */
  readonly ended: Readonly<Partial<Record<EndStep, number | undefined>>>
}

/**
 * Steps of an ending after browser sessions, in this order: what waits (parked logins, codes, approvals, pending resets), app sessions, keys, tokens
 * of providers.
 */
export type EndStep = 'pending' | 'app' | 'key' | 'token'

/** What a step of an ending gets. */
export interface Ending {
  readonly which: AccessSelector
  readonly reason: EndReason
  /** Who asked, for events and audit. */
  readonly by: string
  /** What was made since may stay, where a step knows when it was made: keys. Absent: all. */
  readonly before?: Date | undefined
}

/** What a user got as a member of one organization. It has no `userId` field, so that no step takes it for the whole user. */
export interface MembershipSelector {
  readonly member: { readonly organizationId: string; readonly userId: string }
}

/** Whose access: of a user, what rests on a session at a provider, or what a user got by one membership. */
export type AccessSelector = Exclude<SessionSelector, { id: string }> | MembershipSelector

/** How access is ended. */
export interface EndOptions {
  /** Who asks, for events and errors. */
  by: string
  /** Default `signOutEverywhere`, `providerLogout` for a session at a provider, or `membershipEnded` for a membership. */
  reason?: EndReason
  /** `required` (default): throws MissingSessionAbility where the strategy cannot end sessions from elsewhere. `whereEndable`: leaves them then. */
  sessions?: 'required' | 'whereEndable'
  /** Keys that were made since may stay: something else has permitted them. Default: all end that the reason ends. */
  before?: Date | undefined
  /** No events: an ending that is repeated because it may have been interrupted. */
  silent?: boolean
}

/** `ctx.access`: every plugin that gives access stamps first and grants with the stamp; every plugin that ends access calls `end`. */
export interface Access {
  /**
   * Takes a stamp for a subject, `user:<id>` or `Login.person`. Take it before a password is compared or a credential is read. Throws AccessEnded when
   * access ended since this request began.
   */
  stamp(subject: string, proofs?: readonly AccessProof[]): Promise<StampOfAccess>
  /**
   * A stamp for the user who is signed in; null: none. What is granted with it in this request also needs its session to be there afterwards, asked
   * of the store. `user`: who that is, where the caller has just read it.
   */
  stampSession(user?: User): Promise<StampOfAccess | null>
  /**
   * The same stamp, which also rests on the membership of its user in an organization: an ending of that membership makes it void. Take it before the
   * membership is read. Throws TypeError for a stamp of a subject that is no stored user.
   */
  stampMember(stamp: StampOfAccess, organizationId: string): Promise<StampOfAccess>
  /** The stamp after an ending that this request made itself. An ending by any other request leaves it void. */
  restamp(stamp: StampOfAccess): StampOfAccess
  /** Whether the hook `access` says yes: for each use of what was given before, a key or a token. */
  allows(userId: string, by: AccessPurpose): Promise<boolean>
  /** Asks the hook `access` and compares. Throws AccessDenied when a handler rejects, AccessEnded when access ended since the stamp. */
  assert(stamp: StampOfAccess, by: AccessPurpose): Promise<void>
  /**
   * Asks the hook `access`, writes, and compares again. When access ended meanwhile, `takeBack` undoes the write and AccessEnded is thrown: nothing of it
   * may have left the server before. `written` is undefined where the write failed: it may have been done, and its answer lost. `takeBack` is repeated
   * while it throws, four times at most; what is left is logged. Hand out nothing of what was written before `grant` has answered. Throws
   * AccessDenied when a handler rejects: nothing is written then; and what `write` throws.
   */
  grant<T>(stamp: StampOfAccess, by: AccessPurpose, write: () => Promise<T>, takeBack: (written: T | undefined) => unknown): Promise<T>
  /**
   * Ends access: first nothing that began before can be granted any more, then sessions of browsers end, then what waits, app sessions, keys and
   * provider tokens. Of a membership no session ends, because sessions read the membership at each use. Idempotent: after a fault the next call finishes it. Throws MissingSessionAbility when the strategy cannot end sessions from elsewhere.
   */
  end(which: AccessSelector, options: EndOptions): Promise<EndReport>
}
