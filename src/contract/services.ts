/** What plugins share by name, and the platform below it. Types only. */
import type { Store } from './adapter.ts'
import type { AccessTokens, AppTokens, SigningKeys } from './app-tokens.ts'
import type { ResolvedConfig, Settings } from './config.ts'
import type { AnyContext, Context } from './context.ts'
import type { Awaitable, JWT } from './data.ts'
import type { Mail, MailTransport } from './mail.ts'
import type { Provider } from './provider.ts'
import type { OAuthService } from './oauth-service.ts'
import type { RecordSpec, RecordStore } from './records.ts'
import type { Revocations, SessionAbility, SessionStrategy } from './session.ts'

/** Replay protection: `take` answers true for exactly one caller until `ttlSeconds` have passed. */
export interface Once {
  /** Returns true to exactly one caller of a key within `seconds`. */
  take(key: string, ttlSeconds: number): Awaitable<boolean>
  /** Whether the key was taken. Takes nothing. */
  taken(key: string): Awaitable<boolean>
  /** Whether other processes see it. */
  readonly shared?: boolean
}
/** Counts attempts in a window. */
export interface Limit {
  /** Counts one attempt; `retryAfter` in seconds, 0 when allowed. */
  take(key: string, rule: LimitRule): Awaitable<{ allowed: boolean; retryAfter: number }>
  /** Removes one attempt from the count, after a success. */
  refund(key: string): Awaitable<void>
}
/** How many attempts in how long a time. */
export interface LimitRule {
  /** Attempts that are allowed in one window. */
  max: number
  /** Length of the window in seconds. */
  seconds: number
}
/** Something that one holder has for a time. */
export interface Lease {
  /** Extends the lease. False: the time was over, and another holder may have it. */
  renew(seconds: number): Promise<boolean>
  /** Ends the lease before its time is over. */
  release(): Promise<void>
}
/** An answer with its whole body. */
export interface PublicDocument {
  /** HTTP status: 200, where `get` was called. */
  readonly status: number
  readonly statusText: string
  /** `content-type` in lower case, without parameters; `cache-control` and `age` where `get` was called, `www-authenticate` and `dpop-nonce` where `send` was. */
  readonly headers: Headers
  /** The body. */
  readonly content: Uint8Array<ArrayBuffer>
}
/** One call of `publicFetch`. */
export interface PublicFetchRequest {
  /** Media types that are taken, such as `application/json`, in lower case and without parameters. Default: all. */
  types?: readonly string[]
  /** Further headers. No cookies and no credentials: an attacker may have chosen the address. */
  headers?: Readonly<Record<string, string>>
  /** Bytes of the answer; default 65536. */
  limit?: number
  /** Milliseconds for all of it, from the look-up of the name to the last byte; default 5000. */
  deadline?: number
  /** Ends the call early: `ctx.signal`. */
  signal?: AbortSignal
}
/** What a host may set with `createPublicFetch`. */
export interface PublicFetchOptions {
  /** Addresses and networks that are called although they are not public: `10.1.0.0/16` with the identity provider of the own company. Default: none. */
  allow?: readonly string[]
  /** Answers the addresses of a host name. Default: the resolver of the system. */
  lookup?: (host: string) => Awaitable<readonly string[]>
  /** Certificates of authorities in PEM, instead of those of the runtime. */
  ca?: string | readonly string[]
}
/** Reads documents at addresses that any client chooses: metadata of an identity provider, documents of clients. */
export interface PublicFetch {
  /**
   * Gets a document by https. The host name is looked up once, each of its addresses must be public, and the connection goes to one of these. No redirect is followed. Throws NetworkError with the reason in `code`: `INSECURE` (no https, or a password in the address), `PRIVATE` (an address of this machine, a
   * private network, or a reserved one). Other codes are `UNREACHABLE`, `REDIRECT`, `STATUS` (not 200), `TYPE`, `TOO_LARGE`, `TIMEOUT`, `UNSUPPORTED` (a runtime without
   * node:dns and node:https).
   */
  get(url: string | URL, request?: PublicFetchRequest): Promise<PublicDocument>
  /**
   * Calls an endpoint that a client chose, such as the token endpoint of a company's identity provider, under the rules of `get`. With `body` it is a POST. Every status but a redirect is returned. Throws NetworkError as `get`, without `STATUS`.
   */
  send(url: string | URL, request?: PublicFetchRequest & { body?: string }): Promise<PublicDocument>
}
/** Encrypted, purpose-bound, expiring values. */
export interface Sealer {
  /** `seconds` null: no end, for values that are stored. */
  seal(purpose: string, payload: JWT, seconds: number | null, settings: Settings): Awaitable<string>
  /** `null`: not ours, expired, for another purpose or altered; without an end, unless `endless` permits it. */
  open(purpose: string, token: string, settings: Settings, endless?: boolean): Awaitable<JWT | null>
}
/** Draws what users see. */
export interface Pages {
  /** Draws a page. */
  render(name: PageName, ctx: Context, params: Readonly<Record<string, string | undefined>>): Awaitable<Response>
}
/** A built-in page, or one of a plugin (`kernel.page`). */
export type PageName = 'signIn' | 'signOut' | 'error' | 'verifyRequest' | 'verifyConfirm' | (string & {})
/** A provider that a company's users sign in with. */
export interface HomeRealmAnswer {
  /** Id of the provider: of the list, or one that the hook `provider` answers. */
  provider: string
}
/** Home-realm discovery: which provider the users of a domain use. */
export interface HomeRealm {
  /**
   * Looks at the domain of the address alone, so that the answer tells nothing about users. Null for a domain without a provider, and for what is no
   * address. Never throws for what a user typed.
   */
  find(ctx: Context, address: string): Awaitable<HomeRealmAnswer | null>
}

/** The session's cookie in the form of another product. The strategy `database` asks it. */
export interface SessionCookie {
  /** The token in the value of a cookie; undefined: it is not ours, or was altered. */
  open(ctx: AnyContext, value: string): Awaitable<string | undefined>
  /** The value of the cookie of a token. */
  write(ctx: AnyContext, token: string): Awaitable<string>
}
/** One thing of another product: a password, a ban, a membership. `key` names it here and there: the id of the user, or of the thing itself. */
export interface ImportRow<T> {
  key: string
  value: T
}
/** What is here for a key. */
export interface ImportState {
  /** A text that differs after every change by the user or the host. Upkeep, such as a new hash of the same password, leaves it. At most 128 characters. */
  version: string
  /** Whether it already is what the given value says. False where no value was given. */
  same: boolean
  /** It was chosen here, and the other product has it from here: the move did not write it. */
  own?: boolean | undefined
  /** When the user or the host changed it last, where that is known. */
  changed?: Date | undefined
}
/**
 * Stores things of another product as one plugin keeps them. Each call takes at most 500 rows and answers in their order. A move compares `version` with
 * the one that it wrote, so that it never replaces what a user changed here.
 */
export interface ImportTarget<T> {
  /** Why a value cannot be stored, in words; undefined: it can. */
  refuse?(ctx: AnyContext, value: T): Awaitable<string | undefined>
  /** Whether nothing of the kind is here at all: then `read` is not called before a write. Default: false. */
  isEmpty?(ctx: AnyContext): Promise<boolean>
  /** Undefined: nothing is here for the key. */
  read(ctx: AnyContext, rows: readonly { key: string; value?: T }[]): Promise<readonly (ImportState | undefined)[]>
  /** The version of each row that was stored. `over`: replaces what has this version; without it there must be nothing. Undefined: another request was faster. */
  write(ctx: AnyContext, rows: readonly (ImportRow<T> & { over?: string | undefined })[]): Promise<readonly (string | undefined)[]>
  /** Removes what still has the version. Answers how many. */
  remove(ctx: AnyContext, rows: readonly { key: string; version: string }[]): Promise<number>
}

/** Takes over what another product stored for users who are in the store. */
export interface Takeover<T> extends ImportTarget<T> {
  /** Stores what a user does not have here yet, and answers how many; with `dry` it only counts. Throws AuthError for what it does not know. */
  take(ctx: AnyContext, rows: readonly T[], options: { dry: boolean }): Promise<number>
}
/** A second factor of another product. */
export interface ImportedFactor {
  userId: string
  /** Base32 secret of codes of 6 digits, 30 seconds, SHA-1. */
  secret: string
  /** In clear text, as the user has them. */
  backupCodes: readonly string[]
}
/** A password of another product. */
export interface PasswordTaken {
  userId: string
  /** In a format that `verify` of `passwordsPlugin` knows. */
  hash: string
  /** Whether the other product has verified the address. False: the hash is parked. Absent: the store is asked. */
  verified?: boolean
}

/** Credentials that another product keeps for the users of this table: its passwords, factors, passkeys and keys. */
export interface SharedCredentials {
  /** Whether the user has any there. Asked only for users with an unverified address: any visitor who typed the address may have set them. */
  has(ctx: AnyContext, userId: string): Promise<boolean>
  /** Whether one of them signs in without the password: a passkey, a key, a phone number. */
  hasOtherThanPassword(ctx: AnyContext, userId: string): Promise<boolean>
  /** Removes them all there. Called when another user verifies the email. */
  remove(ctx: AnyContext, userId: string): Promise<void>
}

/** Services by name. Plugins add theirs by declaration merging. */
export interface Services {
  /** Users, accounts, sessions and tokens. */
  store: Store
  /** How sessions are kept. */
  session: SessionStrategy
  /** Replay protection. */
  once: Once
  /** Encryption of values that travel or are stored. */
  sealer: Sealer
  /** Counting of attempts. */
  limit: Limit
  /** Documents at addresses that any client chooses. */
  publicFetch: PublicFetch
  /** Drawing of pages. */
  pages: Pages
  /** Writing and sending of mails. */
  mail: Mail
  /** Sends mails. Used unless the caller passes another transport. */
  mailTransport: MailTransport
  /** Requests to the provider of an oauth or oidc sign-in. */
  oauth: OAuthService
  /** Tables of plugins; `ctx.records` works on it. */
  records: RecordStore
  /** Tokens that count as ended before they expire. */
  revocations: Revocations
  /** Which provider the users of a domain use; a sign-in page asks it once an address was typed. */
  homeRealm: HomeRealm
  /** The token endpoint for apps. */
  appTokens: AppTokens
  /** Signed access tokens for other services. */
  accessTokens: AccessTokens
  /** Signs statements of other plugins, where a plugin keeps signing keys. */
  signingKeys: SigningKeys
  /** The form of the session's cookie, where it is not the token itself. */
  sessionCookie: SessionCookie
  /** How soon an ending must hold in every process: session strategies with a copy of endings renew it so often. Default: their own option. */
  sessionFreshness: { readonly seconds: number }
  /** What another product keeps of the same users, while both run. */
  sharedCredentials: SharedCredentials
  /** Hashes of passwords of another product. */
  passwordTakeover: Takeover<PasswordTaken>
  /** Second factors of another product. */
  factorTakeover: Takeover<ImportedFactor> & {
    /** Those of the backup codes that the user has not used here, in the same order. */
    listUnused(ctx: AnyContext, userId: string, codes: readonly string[]): Promise<string[]>
  }
}

/** What a service factory may look at. */
export interface CompileView {
  readonly config: ResolvedConfig
  /** The records that are declared, by name. */
  readonly records: ReadonlyMap<string, RecordSpec>
  /** Whether a plugin requires something of the session strategy. */
  requires(requirement: `session:${SessionAbility}` | 'records'): boolean
  readonly shared: SharedState
  /** Of the list, by id. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Another service, or undefined; a circle is an error. */
  service<K extends keyof Services>(name: K): Services[K] | undefined
}

/** Clock, randomness and `fetch`. Tests and runtimes can replace them. */
export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number
  /** That many unpredictable bytes. */
  random(bytes: number): Uint8Array
  fetch: typeof fetch
}

/** State that several kernels share: replay protection, derived keys, discovery documents, requests under way. One object per host, or per function-config binding. */
export interface SharedState {
  /** A named map; the caller bounds its size. */
  cache<T>(name: string): Map<string, T>
  /** Runs `work` once for callers of the same key at the same time; all get its result. */
  flight<T>(key: string, work: () => Promise<T>): Promise<T>
}
