/** HTTP routes. Types only. */
import type { AuthError, HttpError } from '../errors/index.ts'
import type { Context } from './context.ts'
import type { Awaitable } from './data.ts'

/** Methods that routes may have. The GET of a plugin's route handles HEAD. The kernel handles OPTIONS, where `cors` says so. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** Kinds of bodies: form fields, JSON, `text/*`, anything else. */
export type BodyType = 'form' | 'json' | 'text' | 'binary'

/** An HTTP route. */
export interface Route {
  /** The HTTP method. */
  method: RouteMethod
  /**
   * Relative to the base path. Segments: static, `:name`, `*` for any one, and as the last one `**:rest` for all that follow.
   * A static segment beats a name, a name beats a wildcard.
   */
  path: `/${string}`
  /** `root`: an exact path below `/.well-known/` at the origin's root; bindings mount it. Default `base`. */
  at?: 'base' | 'root'
  /** Of a path at the root: the app works although requests do not reach it, so that `authkernel doctor` warns and does not fail. */
  optional?: true
  /**
   * How a request that changes something proves that it is the site's own; default `token` for everything but GET.
   * - `token`: CSRF token and, from browsers, the Origin of the app.
   * - `origin`: the Origin of the app, or a same-origin Sec-Fetch-Site.
   * - `crossSite`: Nothing is checked. The flow itself proves the request, by a `state` for example. Cookies are there.
   * - `bearer`: Nothing is checked and there are no cookies. The context has an empty jar and sends none.
   */
  csrf?: 'token' | 'origin' | 'crossSite' | 'bearer'
  /** Another plugin's route of the same method and path takes its place. Default: two are rejected at compile. */
  fallback?: true
  /** The step of a sign-in that runs here. Its failures fire `signInFailed`. */
  flow?: 'signIn' | 'callback'
  /**
   * What the request brings. `typed`: what any visitor can type, an address that gets a mail or a password: captchas are asked before it. `proof`: a
   * link's token, a parked login or a session, and no captcha. Default: `typed` for routes with `flow`, nothing for others.
   */
  takes?: 'typed' | 'proof'
  /** The answer is the same for all users: no `private, no-store`, and a `max-age` in seconds where one is given. */
  public?: true | { maxAge: number }
  /** For scripts of other origins, on `bearer` and `public` routes only; credentials are never allowed. */
  cors?: { origins: 'any' | readonly string[]; headers?: readonly string[] }
  /** `bytes`: limit of the body, default `limits.body`. `types`: others get status 415; default: any. */
  body?: { bytes?: number; types?: readonly BodyType[] }
  /** Made by `clientMethods`: the method of the client, `namespace.name`. */
  client?: string
  /** Answers the request. */
  handler(ctx: Context): Awaitable<Response>
  /** Answers a failure of this route where an error page makes no sense: JSON routes. */
  failure?(ctx: Context, error: AuthError): Awaitable<Response | undefined>
  /**
   * Answers a request of this route that is wrong in itself: HttpError 400, 413 or 415 for its body, or what the handler throws as HttpError.
   * Default: the message as a JSON text.
   */
  refusal?(ctx: Context, error: HttpError): Awaitable<Response | undefined>
}

/** A registered route, as a request and a list of routes know it. */
export interface RouteInfo {
  readonly method: RouteMethod
  /** As registered, with its `:name` segments. */
  readonly path: Route['path']
  readonly at: 'base' | 'root'
  /** Name of the plugin that registered it; `kernel` for the built-in ones. */
  readonly plugin: string
  readonly flow: Route['flow']
  readonly takes?: Route['takes']
  /** The method of the client that it is: `namespace.name`. */
  readonly client?: Route['client']
  readonly optional?: Route['optional']
}

/** What a path leads to. */
export type Match =
  | { readonly route: Route; readonly info: RouteInfo; readonly params: Readonly<Record<string, string>> }
  /** The path is known, the method is not: those that are. */
  | { readonly route?: undefined; readonly allow: readonly RouteMethod[]; readonly info: RouteInfo }

/** The routes of one compiled kernel. */
export interface Routes {
  readonly list: readonly RouteInfo[]
  /** Exact paths at the origin's root. */
  readonly rootPaths: readonly string[]
  /** `path` is canonical and below the base path. */
  find(method: string, path: string): Match | undefined
  /** `path` is one of `rootPaths`. */
  findRoot(method: string, path: string): Match | undefined
}
