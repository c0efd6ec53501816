/** One request, one job, and the compiled kernel that they run in, as plugins see them. Types only; `src/request` makes them. */
import type { AuthError } from '../errors/index.ts'
import type { Access } from './access.ts'
import type { AdapterUser, Store } from './adapter.ts'
import type { ResolvedConfig, Settings } from './config.ts'
import type { Awaitable, CookieOptions, CookieSet, JWT, LoggerInstance, Session } from './data.ts'
import type { ProviderFlow } from './flow.ts'
import type { Identity, Login, ParkedLogin, ParkOptions, ResumeOptions } from './login.ts'
import type { MailTemplate } from './mail.ts'
import type { Answer, Events, HookInput, Hooks } from './messages.ts'
import type { PageParts } from './page.ts'
import type { Provider } from './provider.ts'
import type { AtomicWrite, RecordFields, RecordTable } from './records.ts'
import type { RouteInfo, Routes } from './route.ts'
import type { Lease, Limit, Once, PageName, Runtime, Services, SharedState } from './services.ts'
import type { SessionStrategy } from './session.ts'

/** The client of a request and its time, as plain data that can be stored and queued. */
export interface Facts {
  /** The `x-request-id` of a trusted proxy, else random. */
  readonly requestId: string
  /** IP address of the client. */
  readonly address: string | undefined
  /** At most 256 characters. */
  readonly userAgent: string | undefined
  /** Of the tenant; '' is the default. */
  readonly namespace: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Name of the job; undefined for a request. */
  readonly job: string | undefined
  /** The program that acts in the request, where a plugin has named one with `ctx.actAs`; absent: none. */
  readonly actor?: ProgramActor
}

/** A program that acts instead of a user, as audit and events name it: `{ type: 'scim', id: 'Okta of Acme' }`. */
export interface ProgramActor {
  /** What kind of program: a lower-case word of at most 32 letters, digits and hyphens. Not `user`, `admin`, `provider`, `system` or `anonymous`. */
  readonly type: string
  /** Which one: an id, or a name that users know. 1 to 255 characters, no secret. */
  readonly id: string
}

/** Writes of users that tell the events of a sign-in: for plugins that keep users by a protocol or a directory. */
export interface UserWrites {
  /**
   * Stores a user and fires the event `createUser`. Without `id` a random one is given, which an adapter may replace. Asks no hook: whether a visitor may
   * become a user is asked by `storeNewUser` of `authkernel/kernel/users`. Throws AuthError without an adapter that can, HttpError 409 for an address that another user has, and what the
   * adapter throws.
   */
  create(user: Omit<AdapterUser, 'id'> & { id?: string }): Promise<AdapterUser>
  /**
   * Changes the fields that are given and fires the event `updateUser`. Throws AuthError without an adapter that can, HttpError 409 for an address that
   * another user has, and what the adapter throws.
   */
  update(user: Partial<AdapterUser> & Pick<AdapterUser, 'id'>): Promise<AdapterUser>
}

/** What requests and jobs have in common. */
export interface CommonContext {
  /** The compiled kernel. */
  readonly app: App
  /** Secret, origin, base path, cookie prefix and namespace that hold here. */
  readonly settings: Settings
  /** Clock, randomness and `fetch`. */
  readonly runtime: Runtime
  /** The host's logger. Never log a token, a code or a password. */
  readonly logger: LoggerInstance
  /** The client of the request and its time, as plain data. */
  readonly facts: Facts
  /** The session strategy in force. */
  readonly session: SessionStrategy
  /** The adapter behind deadlines, namespaces and errors; undefined without an adapter. */
  readonly store: Store | undefined
  /** Writes of users that fire the events `createUser` and `updateUser`, as a sign-in does. */
  readonly users: UserWrites
  /** Who may be given access, and how access ends. */
  readonly access: Access
  /** Replay protection. */
  readonly once: Once
  /** Counts attempts. */
  readonly limit: Limit
  /** The time by the injected clock. */
  readonly now: Date
  /** Aborted when the deadline of the request or job passes. */
  readonly signal: AbortSignal
  /** Throws AuthError when no plugin provides it. */
  service<K extends keyof Services>(name: K): Services[K]
  /** A provider of the list, or one that the `provider` hook brings. Throws InvalidProvider. */
  providerById(id: string): Promise<Provider>
  /** A provider of the list, or one that the `provider` hook brought in this request, without asking it: for events and logs. */
  peekProvider(id: string): Provider | undefined
  /** Flow of a provider's type. */
  flow<P extends Provider>(provider: P): ProviderFlow<P>
  /** Encrypts a value for `seconds` seconds, bound to a purpose and to the tenant. */
  seal(purpose: string, payload: JWT, seconds: number | null): Awaitable<string>
  /** Null: not ours, expired, for another purpose or altered; without an end, unless `endless` permits it. */
  open<T extends object = JWT>(purpose: string, token: string, endless?: boolean): Awaitable<(JWT & T) | null>
  /** The rows of a record that a plugin declared with `kernel.records`. Throws AuthError for an unknown name, and without the service `records`. */
  records<K extends string>(name: K): RecordTable<RecordFields<K>>
  /** Up to 20 writes over several records: all, with their answers in order, or none and false. */
  atomic(writes: readonly AtomicWrite[]): Promise<readonly unknown[] | false>
  /** One holder at a time, for `seconds`; null: another one has it. Between processes with shared records, else in this process. */
  lease(key: string, seconds: number): Promise<Lease | null>
  /** The answer to a hook, without the handlers of the plugins in `skip`. */
  ask<K extends keyof Hooks>(name: K, message: HookInput<K>, skip?: string | readonly string[]): Awaitable<Answer<K>>
  /** Whether a hook or an event has a handler. */
  has(kind: 'hook' | 'on', name: string): boolean
  /** Fires an event. An error thrown by a listener is logged and ignored. */
  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void>
  /** Keyed HMAC-SHA-256 in hex under the newest secret, or under `secret`. */
  digest(purpose: string, value: string, secret?: string): Promise<string>
  /** Digests under every secret, newest first, then legacy ones: what counts when a stored value is looked up. */
  digests(purpose: string, value: string, secret?: string): Promise<readonly string[]>
}

/** Work without a request: a clean-up, a webhook, a queue. `kernel.job` makes it. */
export interface JobContext extends CommonContext {
  /** Absent: a job has no request. */
  readonly request?: undefined
  /** Its name. */
  readonly job: string
}

/** One request. Everything is lazy and memoised. */
export interface Context extends CommonContext {
  /** The original request. Read its body with `body`, `form`, `text` or `bytes`. */
  readonly request: Request
  /** The route that was found; undefined outside of routes: `auth.session`, APIs of plugins. */
  readonly route: RouteInfo | undefined
  /** Values of `:name` segments, decoded once. */
  readonly params: Readonly<Record<string, string>>
  /** Public URL of the request: origin of the app, path and query. Throws UntrustedHost. */
  readonly url: URL
  /** Origin of the app without trailing slash. Throws UntrustedHost. */
  readonly origin: string
  /** Path the routes are mounted at: `/auth`. */
  readonly basePath: string
  /** `origin + basePath`. */
  readonly base: string
  /** False where no response can carry cookies: a session read by server code. */
  readonly canSetCookies: boolean
  /** IP address of the client, read from X-Forwarded-For as `trustProxy` permits; undefined if it is not known. */
  readonly clientAddress: string | undefined
  /** Names and attributes of the cookies of authkernel for this request. */
  readonly cookies: CookieSet
  /**
   * Names the program whose credential the route has checked: from then on `facts.actor` of events and the actor of audit records. For handlers of routes,
   * with values that the host or the plugin has stored, never with text of the request. Throws TypeError outside of routes, for another shape, and for a
   * second program in one request.
   */
  actAs(actor: ProgramActor): void
  /** The provider named by the path. Throws InvalidProvider. */
  provider(): Promise<Provider>
  /** Providers to show. */
  providers(): Promise<readonly Provider[]>
  /**
   * Where the flow ends, past the `redirect` hook. A flow that carries its own target names it as `candidate`, before it is asked for:
   * later it throws a TypeError.
   */
  callbackUrl(candidate?: string): Promise<string>
  /** Names the target that a flow carries, and leaves the `redirect` hook to the first `callbackUrl()`: a flow that fails before runs no hook. */
  useCallbackUrl(candidate: string | undefined): void
  /** JSON object or form fields, last value wins; {} for other content types (row 8). Throws HttpError 400, 413 or 415. */
  body(): Promise<Record<string, unknown>>
  /** Form fields with repeated keys (D36); for a GET, the query. */
  form(): Promise<URLSearchParams>
  /** Body as text, within the limit of the route. Throws HttpError 413 or 415. */
  text(): Promise<string>
  /** Body as bytes, within the limit of the route. Throws HttpError 413 or 415. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  /** Value of a cookie; the first of a name counts. */
  cookie(name: string): string | undefined
  /** Value of a cookie that may be in chunks. */
  chunkedCookie(name: string): string | undefined
  /** Values are dropped when the flow fails, unless `always`: a list that lost a used entry. Deletions stay. `secure` defaults to the origin's scheme. */
  setCookie(name: string, value: string, options?: CookieOptions, when?: 'always'): void
  /** Writes in as many chunks as needed and removes stale ones. */
  setChunkedCookie(name: string, value: string, options?: CookieOptions): void
  /** Removes a cookie and its chunks. */
  deleteCookie(name: string, options?: CookieOptions): void
  /** Adds a header to the answer; dropped when the flow fails. Not for cookies. */
  addHeader(name: string, value: string): void
  /** Redirects to a page: the URL in `pages`, or the built-in page. Throws AuthError for a page without a path. */
  page(name: PageName | 'newUser', params?: Record<string, string | undefined>): Response
  /** Draws a page here and now; with `pages.<name>` of the host, a page of a plugin is a redirect to that. */
  render(name: PageName, params?: Readonly<Record<string, string | undefined>>): Promise<Response>
  /** Redirect to a target from outside: runs the `redirect` hook. Never for `callbackUrl()`, which already passed it. */
  redirect(target: string): Promise<Response>
  /** Token for a form, and its cookie when it is new (D43). */
  csrfToken(): Promise<string>
  /** The session of the request: the answer of the hook `authenticate`, else that of the strategy. If the store fails it throws, unless `sessionOnError` is `'null'` (D38). */
  currentSession(): Promise<Session | null>
  /** Completes a sign-in: finds the owner, runs `signIn`, links the account, runs `onLinked`, then `resume()`. */
  complete(identity: Identity): Promise<Response>
  /** Stores a login until the user has completed a step on another page, and redirects there. The `redirect` hook does not run. */
  park(login: Login, options: ParkOptions): Promise<Response>
  /** The login that this browser has parked for the plugin of the running route, or for `by`. Looks, uses nothing up. */
  parked<D = unknown>(by?: string): Promise<ParkedLogin<D> | null>
  /** Stores other `data` with it. */
  keep(parked: ParkedLogin, data: unknown): Promise<void>
  /** Forgets it. */
  drop(parked: ParkedLogin): Promise<void>
  /** Continues a parked login, once: runs the remaining `login` hooks, issues the session, fires the events, redirects. */
  resume(parked: ParkedLogin | Login, options?: ResumeOptions): Promise<Response>
  /** A login for the current session, for a step-up; null if the request is signed out. */
  loginAgain(options: { callbackUrl: string }): Promise<Login | null>
}

/** The context of a request or of a job. In a job `ctx.request` is undefined. */
export type AnyContext = Context | JobContext

/** A compiled kernel. It is frozen, and a request keeps the one it began with. */
export interface App {
  /** The options of the host with their defaults. */
  readonly config: ResolvedConfig
  /** Those of no request: read `ctx.settings` for the ones of this request. */
  readonly settings: Settings
  /** Providers of the list by id, without those that the `provider` hook brings. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Routes of the kernel and of all plugins. */
  readonly routes: Routes
  /** Parts of pages and texts that plugins registered. */
  readonly parts: PageParts
  /** Templates by name. */
  readonly mailTemplates: ReadonlyMap<string, MailTemplate>
  /** Services by name; absent ones are undefined. */
  readonly services: Readonly<Partial<Services>>
  /** The adapter, without the namespace of a request. */
  readonly store: Store | undefined
  /** Names of the plugins, in their order. */
  readonly plugins: readonly string[]
  /** Kinds of sessions that plugins declared. */
  readonly sessionKinds: ReadonlySet<string>
  /** State that several snapshots share: caches and requests under way. */
  readonly shared: SharedState
  /** The first configuration mistake; no request is served until it is gone. Options are checked before the first request. */
  readonly fault: AuthError | undefined
}
