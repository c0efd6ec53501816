/** What a host or a binding asks of a kernel: requests, sessions, and the jobs of an operator. Types only. */
import type { ExpiredRows } from './adapter.ts'
import type { Session } from './data.ts'
import type { ParkedLogin, ResumeOptions } from './login.ts'

/** What a binding passes to `handler` beside the Request: address of the client, mount path, request id. */
export interface HandleOptions {
  /** Where it is mounted (Express `req.baseUrl`); never written into config. */
  basePath?: string | undefined
  /** IP address of the client as the framework knows it, not read from headers. */
  clientAddress?: string | undefined
  /** Request id of the framework's log. Default: `x-request-id` of a trusted proxy, else random. */
  requestId?: string | undefined
  /** The framework trusts its proxy (Express `trust proxy`). */
  trustForwarded?: boolean | undefined
  /** `origin`: a same-origin Origin or Sec-Fetch-Site replaces the token (D30). */
  csrf?: 'token' | 'origin' | undefined
}
/** Options of `ready()`. */
export interface ReadyOptions {
  /** Also loads what the first sign-in and the first page would load. Default false. */
  warm?: boolean
  /** Seconds to wait for a store that does not answer; default 0, where it is a warning. Mistakes of the configuration are thrown at once. */
  wait?: number
  /** Told each second why it waits. Default: a line on a terminal. */
  onProgress?: (waiting: { seconds: number; message: string }) => void
}
/** What a host or a binding asks of the kernel (docs/architecture.md). */
export interface EntryPoints {
  /** Answers every route; every error becomes a response. */
  handler(request: Request, options?: HandleOptions): Promise<Response>
  /** Like `handler`, but throws `AuthError` to the caller: for form actions on the server. */
  dispatch(request: Request, options?: HandleOptions): Promise<Response>
  /** The session; extends nothing and stores nothing (D51). Throws SessionTokenError when the store failed (D38). */
  session(request: Request, options?: HandleOptions): Promise<Session | null>
  /** The session and the Set-Cookie headers that go with it. Throws like `session`. */
  read(request: Request, options?: HandleOptions): Promise<{ session: Session | null; headers: Headers }>
  /** Compiles; throws the configuration mistake. `warm` also loads what the first sign-in and the first page would load: for servers, not for functions. */
  ready(options?: ReadyOptions): Promise<void>
  /**
   * Removes what has ended: rows of records, sessions, magic links, marks of `once` and `limit`, of all tenants, 1000 rows a statement. One
   * process at a time; null: another one is at it. Run it once a day.
   */
  cleanup(run?: CleanUpRun): Promise<CleanUpReport | null>
  /** Seals the sealed fields of one tenant's records with the newest secret; afterwards the former one can be dropped. */
  reseal(run?: ResealRun): Promise<ResealReport>
  /** Parked logins, for pages of the host outside of the routes. */
  readonly login: LoginApi
  /** Paths below `/.well-known/` at the origin's root that plugins answer; bindings mount them. */
  readonly rootPaths: readonly string[]
}

/** `auth.login`: what a page of the host does with a login that was parked with `by` and leads to it. */
export interface LoginApi {
  /** Looks, uses nothing up. Null: this browser has none. */
  parked<D = unknown>(request: Request, by: string, options?: HandleOptions): Promise<ParkedLogin<D> | null>
  /** Continues a parked login: the response redirects and sets the cookies of the session. Throws AuthErrors. Call it from a route that checks the CSRF token. */
  resume(request: Request, by: string, more?: ResumeOptions, options?: HandleOptions): Promise<Response>
}

/** Rows that `auth.cleanup()` removed. */
export interface CleanUpReport extends ExpiredRows {
  /** Expired rows of plugins' records, by the name of the record. */
  records: Record<string, number>
  /** Deletions of users that had been interrupted, and are finished now. */
  erasures: number
}
/** How a clean-up is run. */
export interface CleanUpRun {
  /** Called after each batch with what has been removed so far. */
  onProgress?(removed: CleanUpReport): void
}

/** What `auth.reseal()` did. */
export interface ResealReport {
  /** Rows whose sealed fields are now under the newest secret. */
  resealed: number
  /** Rows with a sealed field that none of the secrets opens. They stay as they are. */
  unreadable: number
}
/** How `reseal` is run. */
export interface ResealRun {
  /** Name of the tenant, for kernels with tenants; null: the default namespace. */
  tenant?: string | null
  onProgress?(done: ResealReport): void
}
