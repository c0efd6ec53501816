/** One request as plugins see it. Types only; `request-context.ts` makes it. */
import type { Store } from './adapter.ts'
import type { Compiled } from './compile.ts'
import type { CookieSet } from './cookies.ts'
import type { Identity, Login, Provider, ProviderFlow } from './flow.ts'
import type { Answer, Decisions, Events, Settings } from './messages.ts'
import type { Runtime } from './runtime.ts'
import type { Limit, Once, PageName, Services, SessionStrategy } from './services.ts'
import type { Awaitable, CookieOptions, JWT, LoggerInstance, Session } from './types.ts'

/** One request. Everything is lazy and memoised. */
export interface Context {
  readonly request: Request
  readonly app: Compiled
  readonly settings: Settings
  readonly runtime: Runtime
  readonly logger: LoggerInstance
  /** Values of `:name` segments. */
  readonly params: Readonly<Record<string, string>>
  /** Public URL of the request: own origin, path and query. Throws UntrustedHost. */
  readonly url: URL
  /** Own origin without trailing slash. Throws UntrustedHost. */
  readonly origin: string
  /** Path the routes are mounted at: `/auth`. */
  readonly basePath: string
  /** `origin + basePath`. */
  readonly base: string
  readonly session: SessionStrategy
  readonly store: Store | undefined
  readonly once: Once
  readonly limit: Limit
  readonly now: Date
  /** Aborted when the request's deadline passes. */
  readonly signal: AbortSignal
  readonly canSetCookies: boolean
  readonly clientAddress: string | undefined
  /** Names and attributes of the library's own cookies for this request. */
  readonly cookies: CookieSet
  service<K extends keyof Services>(name: K): Services[K]
  /** The provider named by the path. Throws InvalidProvider. */
  provider(): Promise<Provider>
  /** Providers to show. */
  providers(): Promise<readonly Provider[]>
  /** Flow of a provider's type. */
  flow<P extends Provider>(provider: P): ProviderFlow<P>
  /** Where the flow ends, past the `redirect` decision. */
  callbackUrl(): Promise<string>
  /** Names the candidate of `callbackUrl()` for flows that carry their own; call it before the first use. */
  useCallbackUrl(candidate: string | undefined): void
  /** JSON object or form fields, last value wins; {} for other content types (row 8). Throws HttpError 400 or 413. */
  body(): Promise<Record<string, unknown>>
  /** Form fields with repeated keys (D36); for a GET, the query. */
  form(): Promise<URLSearchParams>
  /** Value of a cookie; the first of a name counts. */
  cookie(name: string): string | undefined
  /** Value of a cookie that may be in chunks. */
  chunkedCookie(name: string): string | undefined
  /** Values are dropped when the flow fails, unless `always`: a list that lost a used entry. Deletions stay. */
  setCookie(name: string, value: string, options?: CookieOptions, when?: 'always'): void
  /** Writes in as many chunks as needed and removes stale ones. */
  setChunkedCookie(name: string, value: string, options?: CookieOptions): void
  /** Removes a cookie and its chunks. */
  deleteCookie(name: string, options?: CookieOptions): void
  seal(purpose: string, payload: JWT, seconds: number): Awaitable<string>
  open(purpose: string, token: string): Awaitable<JWT | null>
  ask<K extends keyof Decisions>(name: K, message: Decisions[K]['in'], skip?: string): Awaitable<Answer<K>>
  /** Whether anybody answers a decision or listens to an event. */
  has(kind: 'hook' | 'on', name: string): boolean
  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void>
  /** Redirect to a page: the host's own URL or the built-in one. */
  page(name: Exclude<PageName, 'verifyConfirm'> | 'newUser', params?: Record<string, string | undefined>): Response
  /** Draws a page here and now. */
  render(name: PageName, params?: Readonly<Record<string, string | undefined>>): Promise<Response>
  /** Redirect to a target from outside: runs the `redirect` decision. Never for `callbackUrl()`, which already passed it. */
  redirect(target: string): Promise<Response>
  /** Token for a form, and its cookie when it is new (D43). */
  csrfToken(): Promise<string>
  /** Who is here: an API key's session, else the strategy's; `sessionOnError` says what a failing store means (D38). */
  currentSession(): Promise<Session | null>
  /** Find, ask signIn, link, onLinked, then `resume()`. */
  complete(identity: Identity): Promise<Response>
  /** Ask `login` (not the decider of plugin `skip`), issue, emit, redirect. */
  resume(login: Login, skip?: string): Promise<Response>
  /** Keyed HMAC-SHA-256 in hex under the newest secret, or under `secret`. */
  digest(purpose: string, value: string, secret?: string): Promise<string>
  /** Digests under every secret, newest first, then legacy ones: what counts when a stored value is looked up. */
  digests(purpose: string, value: string, secret?: string): Promise<readonly string[]>
}
