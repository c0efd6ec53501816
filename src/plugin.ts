/**
 * What a plugin may say. Everything here is types; `docs/architecture.md` tells the rules.
 * Third parties extend `ProviderTypes`, `Services`, `Decisions` and `Events` by declaration merging on `authkernel/kernel`.
 */
import type { CompileView } from './compile.ts'
import type { ResolvedConfig } from './config.ts'
import type { Context } from './context.ts'
import type { AuthError } from './errors.ts'
import type { Provider, ProviderFlow, ProviderOf, ProviderType } from './flow.ts'
import type { DecisionHandler, Decisions, EventHandler, Events, Settings } from './messages.ts'
import type { Runtime } from './runtime.ts'
import type { Services } from './services.ts'
import type { Awaitable, CookiesOptions, Session } from './types.ts'

/** A unit of behaviour: `setup` registers, synchronously and without I/O; what it returns lands on `auth`. */
export interface Plugin<Ext = unknown> {
  /** Appears in errors and in `inspect()`. */
  readonly name: string
  /** Services that must exist, checked at compile. */
  readonly requires?: readonly (keyof Services)[]
  setup(kernel: Kernel): Ext
}

/** An HTTP route; `path` is relative to the base path and may hold `:name` segments. */
export interface Route {
  method: 'GET' | 'POST'
  path: `/${string}`
  /** `false`: no CSRF token and no Origin check; say why in a comment. */
  csrf?: false
  handler(ctx: Context): Awaitable<Response>
  /** Answers a failure of this route where an error page makes no sense: JSON routes. */
  failure?(ctx: Context, error: AuthError): Awaitable<Response | undefined>
}

/** What a host or a binding asks of the kernel (DESIGN, "Five doors"). */
export interface Doors {
  /** Answers every route; every error becomes a response. */
  handler(request: Request, options?: HandleOptions): Promise<Response>
  /** The same, but throws `AuthError` to the caller: for form actions on the server. */
  dispatch(request: Request, options?: HandleOptions): Promise<Response>
  /** The session; extends nothing and stores nothing (D51). Throws SessionTokenError when the store failed (D38). */
  session(request: Request, options?: HandleOptions): Promise<Session | null>
  /** The session and the Set-Cookie headers that go with it. Throws like `session`. */
  read(request: Request, options?: HandleOptions): Promise<{ session: Session | null; headers: Headers }>
  /** Compiles; throws the configuration mistake. */
  ready(): Promise<void>
}

/** What `setup` registers with. */
export interface Kernel {
  /** As known now; read `ctx.settings` per request. */
  readonly config: ResolvedConfig
  readonly runtime: Runtime
  /** Values under the host's own: cookie names and key derivation of another product. */
  defaults(patch: Partial<Settings> & { cookies?: Partial<CookiesOptions>; trustProxyFollowsHost?: boolean }): void
  /** Declares a decision of one's own: types are erased, the verb is not. */
  decision<K extends keyof Decisions>(
    name: K,
    verb: Decisions[K]['verb'],
    ...carry: Decisions[K] extends { carry: infer C extends string } ? [carry: C] : []
  ): void
  /** An explicit service beats a fallback; a factory that answers undefined steps aside; two candidates are an error. */
  provide<K extends keyof Services>(
    name: K,
    service: Services[K] | ((app: CompileView) => Services[K] | undefined),
    options?: { fallback?: true },
  ): void
  /** With `fallback` another plugin's flow for the type takes its place. */
  providerType<T extends ProviderType>(type: T, flow: ProviderFlow<ProviderOf<T>>, options?: { fallback?: true }): void
  provider(provider: Provider | (() => Provider)): void
  route(route: Route): void
  hook<K extends keyof Decisions>(name: K, handler: DecisionHandler<K>): () => void
  on<K extends keyof Events>(name: K, handler: EventHandler<K>): () => void
  /** The doors of `auth`, for faces of bindings; after `remove` they throw. */
  readonly doors: Doors
  /** Runs at `auth.close()`. */
  onClose(callback: () => Awaitable<void>): void
  /** A context outside a request of the kernel's own: for faces of bindings. */
  context(request: Request, options?: HandleOptions): Promise<Context>
}

/** What a binding knows and the Request does not. */
export interface HandleOptions {
  /** Where it is mounted (Express `req.baseUrl`); never written into config. */
  basePath?: string | undefined
  clientAddress?: string | undefined
  /** The framework trusts its proxy (Express `trust proxy`). */
  trustForwarded?: boolean | undefined
  /** `origin`: a same-origin Origin or Sec-Fetch-Site replaces the token (D30). */
  csrf?: 'token' | 'origin' | undefined
}

// ---- types through `.use()`

/** What `.use()` adds to `auth`; nothing for a plugin without a face, nor for a careless `Plugin<any>`, which would swallow every other type. */
export type With<Ext, E> = 0 extends 1 & E ? Ext : E extends object ? Ext & E : Ext
