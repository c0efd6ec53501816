/**
 * The contract between the kernel and a data layer: the 19 operations of Auth.js' adapters and optional ones beyond them.
 * Every operation is optional and may be synchronous; what a flow needs is checked at compile (rows 158 to 176).
 */
import type { Account } from './account.ts'
import type { Awaitable, User } from './data.ts'

/** A stored user. The kernel writes `email` in lower case. It is null for a user without an address where the adapter has `nullableEmail`. `emailVerified` is set by the first email sign-in (D16). */
export interface AdapterUser extends User {
  id: string
  /** Unique in the store. */
  email: string
  /** When the address was proved; null: it was not. */
  emailVerified: Date | null
}
/** Types of accounts that are stored; credentials never are (row 351). */
export type AdapterAccountType = Exclude<Account['type'], 'credentials'>
/** A stored account: always owned by a user. */
export interface AdapterAccount extends Account {
  userId: string
  type: AdapterAccountType
  /** Fields that are stored and that no secret decrypts. They are absent in this object, and that does not mean that they were never stored. */
  readonly unreadable?: readonly string[]
}
/** An account whose owner is made together with it. */
export interface NewAdapterAccount extends Account {
  type: AdapterAccountType
}
/** A user of an import, with the accounts that are stored together with it. */
export interface NewUserWithAccounts {
  user: AdapterUser
  /** Empty: the user has none. */
  accounts: readonly NewAdapterAccount[]
}
/** A stored session of the database strategy. */
export interface AdapterSession {
  /** The value of the session cookie, or its hash where an adapter is wrapped to keep hashes. */
  sessionToken: string
  /** Whose session it is. */
  userId: string
  /** Absolute expiry. */
  expires: Date
  /** When the user signed in; needed for `session.absoluteMaxAge` (D37). */
  createdAt?: Date | null
}
/** A one-time token that was mailed; `token` is hashed (row 355). */
export interface VerificationToken {
  /** The address that the token was mailed to. */
  identifier: string
  /** When the token ends. */
  expires: Date
  /** Hash of what was mailed. */
  token: string
}
/** A WebAuthn credential (row 356). Binary values are standard base64, as Auth.js stores them (row 173). */
export interface AdapterAuthenticator {
  /** Id of the passkey. */
  credentialID: string
  /** Whose passkey it is. */
  userId: string
  /** Names the account of the passkey. */
  providerAccountId: string
  credentialPublicKey: string
  /** Uses that the authenticator counted; 0 where it does not count. */
  counter: number
  /** `singleDevice`, or `multiDevice` for a passkey that is synced. */
  credentialDeviceType: string
  /** Whether the passkey has a copy elsewhere. */
  credentialBackedUp: boolean
  /** Comma-joined transports. */
  transports?: string | null
}

/** Rows that `deleteExpired` removed. */
export interface ExpiredRows {
  /** Sessions of the database strategy. */
  sessions: number
  /** Verification tokens. */
  tokens: number
  /** Marks of the services `once` and `limit`. */
  once: number
  /** Attempts that no longer count. */
  limit: number
}
/** Options of `deleteExpired`. */
export interface CleanUpOptions {
  /** Stops after so many rows; default: all. */
  max?: number
  /** Called after each batch with what has been removed so far. */
  onProgress?(removed: ExpiredRows): void
}

/** A fault of a store that was overcome, by trying again or by finding the work done. */
export interface HealedFault {
  /** What failed, without values of rows. */
  message: string
  /** The driver's code, where it has one. */
  code?: string
  /** Attempts in all, the one that worked included. */
  attempts?: number
}

/** Query of `listUsers`: filter, start and page size. */
export interface UserQuery {
  /** Beginning of the address, in lower case; default: any. */
  email?: string | undefined
  /** Id of the last user of the page before. */
  after?: string | undefined
  /** Users of one page, at most. */
  limit: number
}

/** Query of `searchUsers`. All filters must hold. */
export interface UserSearchQuery {
  /** Part of the address, the name, the id, or the id of an account, in any case; default: any. */
  text?: string | undefined
  /** Whether the address was verified. */
  verified?: boolean | undefined
  /** Users with an account of this provider. */
  provider?: string | undefined
  /** Only users of these ids, at most 10,000. */
  among?: readonly string[] | undefined
  /** No users of these ids, at most 10,000. */
  except?: readonly string[] | undefined
  /** Sorted by this, then by the id; default `id`. A user without it comes first. */
  sort?: 'id' | 'email' | 'name' | undefined
  /** Default `asc`. */
  order?: 'asc' | 'desc' | undefined
  /** Users that are passed over; default 0. */
  offset?: number | undefined
  /** Users of one page, at most. */
  limit: number
  /** Beginning of the addresses of the tenant, which is no part of what is searched. Empty: the default tenant, whose addresses begin with no `~`, or with `~~`. Set by the kernel. */
  within?: string | undefined
}
/** What `searchUsers` answers. */
export interface FoundUsers {
  /** One page. */
  users: AdapterUser[]
  /** Of all pages. */
  total: number
}

/** A key of an account. */
export type AccountKey = Pick<AdapterAccount, 'provider' | 'providerAccountId'>
/** An account without its tokens. */
export type AccountOwner = Pick<AdapterAccount, 'provider' | 'providerAccountId' | 'userId'>
type Nothing = null | undefined

/** A column of users that the host declares. */
export interface AdditionalField {
  /** `string`: at most 255 characters on MySQL and MariaDB. */
  type: 'string' | 'text' | 'number' | 'boolean'
  /** Of new users, and of the existing ones when `migrate` adds the column. Not for `text`. */
  default?: string | number | boolean
  /** Shown to clients as `session.user.<name>`. Default false. */
  session?: boolean
  /** Users may change it themselves, by `client.profile.update` of accountsPlugin. Default false. */
  editable?: boolean
}
/** Additional fields by name. */
export type AdditionalFields = Readonly<Record<string, AdditionalField>>
/** Types of declared fields: `interface User extends FieldsOf<typeof additionalFields> {}`. */
export type FieldsOf<F extends AdditionalFields> = {
  -readonly [K in keyof F]?: { string: string; text: string; number: number; boolean: boolean }[F[K]['type']] | null
}

/** A data layer. Plain object, no base class; wrap it with `adapterPlugin` or give it as `adapter`. */
export interface Adapter {
  /** Stores a new user and answers it. */
  createUser?(user: AdapterUser): Awaitable<AdapterUser>
  /** A user by id. */
  getUser?(id: string): Awaitable<AdapterUser | null>
  /** A user by address. */
  getUserByEmail?(email: string): Awaitable<AdapterUser | null>
  /** The owner of an account. */
  getUserByAccount?(key: AccountKey): Awaitable<AdapterUser | null>
  /** Changes fields of a user and answers the user. */
  updateUser?(user: Partial<AdapterUser> & Pick<AdapterUser, 'id'>): Awaitable<AdapterUser>
  /** Deletes a user with accounts, sessions and authenticators. */
  deleteUser?(userId: string): Awaitable<AdapterUser | Nothing | void>
  /** Stores an account of a user. */
  linkAccount?(account: AdapterAccount): Awaitable<AdapterAccount | Nothing | void>
  /** Deletes an account. */
  unlinkAccount?(key: AccountKey): Awaitable<AdapterAccount | Nothing | void>
  /** An account by provider and id. */
  getAccount?(providerAccountId: string, provider: string): Awaitable<AdapterAccount | null>
  /** Stores a session. */
  createSession?(session: AdapterSession): Awaitable<AdapterSession>
  /** A session with its user, by token. */
  getSessionAndUser?(sessionToken: string): Awaitable<{ session: AdapterSession; user: AdapterUser } | null>
  /** Changes a session. */
  updateSession?(session: Partial<AdapterSession> & Pick<AdapterSession, 'sessionToken'>): Awaitable<AdapterSession | Nothing>
  /** Deletes a session by its token. */
  deleteSession?(sessionToken: string): Awaitable<AdapterSession | Nothing | void>
  /** Stores the hash of a mailed token. */
  createVerificationToken?(token: VerificationToken): Awaitable<VerificationToken | Nothing>
  /** Deletes a token and answers it, to one of many callers. */
  useVerificationToken?(key: Pick<VerificationToken, 'identifier' | 'token'>): Awaitable<VerificationToken | null>
  /** Stores a passkey. */
  createAuthenticator?(authenticator: AdapterAuthenticator): Awaitable<AdapterAuthenticator>
  /** A passkey by its credential id. */
  getAuthenticator?(credentialID: string): Awaitable<AdapterAuthenticator | null>
  /** Passkeys of a user. */
  listAuthenticatorsByUserId?(userId: string): Awaitable<AdapterAuthenticator[]>
  /** Stores the signature counter of a passkey. */
  updateAuthenticatorCounter?(credentialID: string, newCounter: number): Awaitable<AdapterAuthenticator>

  // ---- operations that Auth.js does not have; used when `store.supports()` says so
  /** User and account in one transaction; a taken account key or email must throw and leave nothing behind (D32). */
  createUserWithAccount?(user: AdapterUser, account: NewAdapterAccount): Awaitable<AdapterUser>
  /** Several users with their accounts, at most 500, all or none: a taken id, address or account must throw and leave nothing behind. Answers the users. */
  createUsers?(users: readonly NewUserWithAccounts[]): Awaitable<AdapterUser[]>
  /** Replaces the token fields of an existing account (D15). */
  updateAccount?(account: Partial<AdapterAccount> & AccountKey): Awaitable<AdapterAccount | Nothing | void>
  /** Accounts of a user. */
  listAccountsByUserId?(userId: string): Awaitable<AdapterAccount[]>
  /** Whose these accounts are, in any order; keys without an account are left out. Without it `getAccount` is called for each key. */
  listAccountOwners?(keys: readonly AccountKey[]): Awaitable<AccountOwner[]>
  /** Sessions of a user. */
  listSessionsByUserId?(userId: string): Awaitable<AdapterSession[]>
  /** Several users by their ids, in any order; unknown ids are left out. Without it `getUser` is called for each id. */
  getUsers?(ids: readonly string[]): Awaitable<AdapterUser[]>
  /** Users in the order of their ids, after the id `after`, whose address begins with `email`; at most `limit`. */
  listUsers?(query: UserQuery): Awaitable<AdapterUser[]>
  /** Users by a part of what is known of them, with filters, an order and the number of all that were found. */
  searchUsers?(query: UserSearchQuery): Awaitable<FoundUsers>
  /** Ends all sessions of a user. */
  deleteSessionsByUserId?(userId: string, except?: { sessionToken: string }): Awaitable<unknown>
  /** Several at once, in one statement where the database can. */
  deleteSessions?(sessionTokens: readonly string[]): Awaitable<unknown>
  /** Deletes the tokens of an address. */
  deleteVerificationTokens?(identifier: string): Awaitable<unknown>
  /** Deletes a passkey. */
  deleteAuthenticator?(credentialID: string): Awaitable<unknown>
  /**
   * Removes sessions, verification tokens and the marks of `once` and `limit` that ended before `now` (default: the present). Built-in adapters return
   * `ExpiredRows`, delete in batches and lock no other call; it may take minutes, so the store sets no deadline.
   */
  deleteExpired?(now?: Date, options?: CleanUpOptions): Awaitable<unknown>
  /** Sessions come back with `createdAt`; needed for `session.absoluteMaxAge` (D37). */
  readonly keepsCreatedAt?: boolean
  /** Users may have no address: `email` is null then, for as many of them as there are. */
  readonly nullableEmail?: boolean
  /** Ends connections; called by `auth.close()`. */
  close?(): Awaitable<void>
}

/** Optional facts that an adapter declares about its tables and its servers. */
export interface AdapterTables {
  /** Columns of users beyond those of Auth.js: the kernel fills in defaults, and sessions show those that say so. */
  readonly additionalFields?: AdditionalFields
  /**
   * A replica, which lags behind what was written, may serve reads. A session that the replica does not have may exist, so authkernel deletes no cookie and ends no session for that.
   */
  readonly replica?: boolean
  /** Tokens of accounts are encrypted: an account may come with `unreadable`, and the next sign-in stores fresh tokens. */
  readonly encryptsTokens?: boolean
  /** Tables that these operations need and the database lacks. Asked by `auth.ready()`, which names `npx authkernel migrate --apply`. */
  missingTables?(operations: readonly (AdapterMethod | 'nullableEmail')[]): Awaitable<readonly (string | MissingPart)[]>
}
/** Something that a database lacks and `migrate` does not make. */
export interface MissingPart {
  /** What is lacking, in words that follow "The database lacks". */
  readonly name: string
  /** What the host has to do. */
  readonly remedy: string
}

/** An adapter that keeps tenants apart by itself. With any other one values of a namespace carry a prefix. */
export interface TenantAdapter extends Adapter {
  /** The same data layer for one tenant. */
  namespaced(namespace: string): Adapter
}

/** Names of the operations of an adapter. */
export type AdapterMethod = Exclude<keyof Adapter, 'keepsCreatedAt' | 'nullableEmail'>

/**
 * An adapter as the kernel sees it: every operation is there and throws when the adapter lacks it, so ask `supports()` first.
 * Dates are real `Date`s (D26), calls end at their deadline (D31), failures are `AdapterError`s.
 */
export type Store = Required<Pick<Adapter, AdapterMethod>> & {
  readonly keepsCreatedAt: boolean
  /** Whether a user without an address can be stored. */
  readonly nullableEmail: boolean
  /** Whether reads may be answered by a replica that lags behind. */
  readonly replica: boolean
  /** Whether accounts may come with `unreadable`. */
  readonly encryptsTokens: boolean
  /** Names of additional fields. */
  readonly fieldNames: readonly string[]
  /** Additional fields that a session shows. */
  readonly shownFields: readonly string[]
  /** Additional fields that users may change. */
  readonly editableFields: AdditionalFields
  /** Where the adapter can tell. */
  readonly missingTables?: AdapterTables['missingTables']
  supports(method: AdapterMethod): boolean
  /** The same store for one tenant: what another one stored is absent. */
  namespaced(namespace: string): Store
}
