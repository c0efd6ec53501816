/** What plugins share by name. Types only. */
import type { AdapterMethod, Store } from './adapter.ts'
import type { ResolvedConfig } from './config.ts'
import type { Context } from './context.ts'
import type { Awaitable, JWT, Session, User } from './data.ts'
import type { Login } from './login.ts'
import type { Mail, MailTransport } from './mail.ts'
import type { Events } from './messages.ts'
import type { Provider } from './provider.ts'
import type { OAuthService } from './oauth-service.ts'
import type { RecordStore } from './records.ts'
import type { Shared } from './runtime.ts'
import type { Settings } from './settings.ts'

/** How sessions are kept. */
export interface SessionStrategy {
  /** Adapter operations demanded at compile. */
  readonly methods?: readonly AdapterMethod[]
  /** `true`: sessions point to stored users, so an unstored one cannot be signed in (D52). */
  readonly storedUsers?: boolean
  /** Extends / re-issues only when `ctx.canSetCookies`. */
  read(ctx: Context): Awaitable<Session | null>
  /** Who is signed in, from the store where there is one. */
  user(ctx: Context): Awaitable<User | null>
  /**
   * Text that stays the same while the same person is signed in, null: nobody. Reads no store. A flow that leads elsewhere and back keeps it,
   * so that a planted flow links nothing; default: the id of `user`.
   */
  subject?(ctx: Context): Awaitable<string | null>
  /** `new`: fresh token, the browser's former session is deleted; `keep`: same token, cookie again. */
  issue(ctx: Context, login: Login): Awaitable<{ id: string } | null>
  update(ctx: Context, data: unknown): Awaitable<Session | null>
  /** `null`: nobody was here, no event. */
  end(ctx: Context): Awaitable<Events['signOut'] | null>
  revoke?(ctx: Context, who: { id: string } | { userId: string }): Awaitable<void>
}
/** One-time use: `take` answers true for exactly one caller until `ttlSeconds` have passed. */
export interface Once {
  take(key: string, ttlSeconds: number): Awaitable<boolean>
  taken(key: string): Awaitable<boolean>
  /** Whether other processes see it. */
  readonly shared?: boolean
}
/** Counts attempts in a window. */
export interface Limit {
  /** Counts one attempt; `retryAfter` in seconds, 0 when allowed. */
  take(key: string, rule: LimitRule): Awaitable<{ allowed: boolean; retryAfter: number }>
  /** Takes one attempt back: it succeeded. */
  refund(key: string): Awaitable<void>
}
export interface LimitRule {
  max: number
  /** Length of the window in seconds. */
  seconds: number
}
/** Something that one holder has for a time. */
export interface Lease {
  /** False: the time was over, and another holder may have it. */
  renew(seconds: number): Promise<boolean>
  release(): Promise<void>
}
/** Encrypted, purpose-bound, expiring values. Synchronous where the runtime can. */
export interface Sealer {
  /** `seconds` null: no end, for values that are stored. */
  seal(purpose: string, payload: JWT, seconds: number | null, settings: Settings): Awaitable<string>
  /** `null`: not ours, expired, for another purpose or altered; without an end, unless `endless` permits it. */
  open(purpose: string, token: string, settings: Settings, endless?: boolean): Awaitable<JWT | null>
}
/** Draws what people see. */
export interface Pages {
  render(name: PageName, ctx: Context, params: Readonly<Record<string, string | undefined>>): Awaitable<Response>
}
/** A built-in page, or one of a plugin (`kernel.page`). */
export type PageName = 'signIn' | 'signOut' | 'error' | 'verifyRequest' | 'verifyConfirm' | (string & {})

/** What plugins share by name. Third parties merge their own in. */
export interface Services {
  store: Store
  session: SessionStrategy
  once: Once
  sealer: Sealer
  limit: Limit
  pages: Pages
  mail: Mail
  /** What carries mails when the caller names nothing else. */
  mailTransport: MailTransport
  /** Requests to the provider of an oauth or oidc sign-in. */
  oauth: OAuthService
  /** Tables of plugins; `ctx.records` works on it. */
  records: RecordStore
}

/** What a service factory may look at. */
export interface CompileView {
  readonly config: ResolvedConfig
  /** The configured strategy, else `database` with a store, else `jwt` (row 29). */
  readonly strategy: 'jwt' | 'database'
  readonly shared: Shared
  /** Of the list, by id. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Another service, or undefined; a circle is an error. */
  service<K extends keyof Services>(name: K): Services[K] | undefined
}
