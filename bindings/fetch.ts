/** Web-standard servers (Bun, Deno, workers, service workers): `export default { fetch: auth.fetch.handler }`. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Awaitable, HandleOptions, Kernel, Plugin, Session } from 'authkernel/kernel'
import { type GuardOptions, refusal, type SignInOptions, signInResponse, signOutResponse } from './_actions.ts'
import { kernelsOf } from './_configs.ts'
import { addressFrom } from './_peer.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** A handler of one's own that is given the session. */
export type WithSession<S> = (request: Request, session: S, ...rest: unknown[]) => Response | Promise<Response>

/** What `auth.fetch` offers. `info` is the runtime's second argument: Bun's server, Deno's info; others are ignored. */
export interface FetchApi {
  /** Answers every request; call it for paths below the base path, see `matches`. */
  handler(request: Request, info?: unknown): Promise<Response>
  /** Whether the path is below the base path. */
  matches(request: Request): boolean
  /** The session. Nothing is extended: there is no response to carry the cookie (D51). */
  session(request: Request, info?: unknown): Promise<Session | null>
  /** Wraps a handler: it gets the session, and the answer takes a refreshed cookie along. */
  withSession(handler: WithSession<Session | null>): (request: Request, ...rest: unknown[]) => Promise<Response>
  /** As `withSession` for signed-in people only: other browsers are sent to the sign-in page and back, the rest gets 401 JSON. */
  protect(handler: WithSession<Session>, options?: GuardOptions): (request: Request, ...rest: unknown[]) => Promise<Response>
  /** The answer that signs in. Rejects with `AuthError`s. */
  signIn(request: Request, provider?: string, options?: SignInOptions, info?: unknown): Promise<Response>
  signOut(request: Request, options?: { redirectTo?: string | undefined }, info?: unknown): Promise<Response>
}
/** What `FetchAuth` gives for a function: the base path is not known before it is asked. */
export interface LazyFetchApi extends Omit<FetchApi, 'matches'> {
  matches(request: Request, info?: unknown): Promise<boolean>
}
/** Options for a request. Workers have their environment in `info`. */
export type FetchConfigSource = (request: Request, info: unknown) => Awaitable<AuthConfig>
/** The kernel for a request. */
type Kernels = (request: Request, info: unknown) => Awaitable<Kernel>

/** Puts `fetch` on `auth`. */
export function fetchBinding(): Plugin<{ fetch: FetchApi }> {
  return { name: 'fetch', setup: (kernel) => ({ fetch: eagerApi(kernel) }) }
}

/** The API of a configuration. */
export function FetchAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchApi
/** The API of a function of the request, asked once for each: `FetchAuth((request, env) => ({ env, providers: [...] }))` on workers. */
export function FetchAuth(source: FetchConfigSource, ...plugins: readonly Plugin[]): LazyFetchApi
export function FetchAuth(source: AuthConfig | FetchConfigSource, ...plugins: readonly Plugin[]): FetchApi | LazyFetchApi {
  if (typeof source !== 'function') {
    const auth = createAuth(source)
    for (const plugin of plugins) auth.use(plugin)
    return auth.use(fetchBinding()).fetch
  }
  const infos = new WeakMap<Request, unknown>()
  const kernels = kernelsOf<Request>('fetch', (request) => source(request, infos.get(request)), { plugins })
  return lazyApi((request, info) => {
    infos.set(request, info)
    return kernels(request)
  })
}

function eagerApi(kernel: Kernel): FetchApi {
  return { ...fetchApi(() => kernel), matches: (request) => isBelow(kernel, request) }
}

function lazyApi(kernels: Kernels): LazyFetchApi {
  return { ...fetchApi(kernels), matches: async (request, info) => isBelow(await kernels(request, info), request) }
}

function fetchApi(kernels: Kernels): Omit<FetchApi, 'matches'> {
  const withSession: FetchApi['withSession'] =
    (handler) =>
    async (request, ...rest) => {
      const { entryPoints } = await kernels(request, rest[0])
      const { session, headers } = await entryPoints.read(request, optionsOf(request, rest[0]))
      return withCookies(await handler(request, session, ...rest), headers)
    }
  return {
    withSession,
    handler: async (request, info) => (await kernels(request, info)).entryPoints.handler(request, optionsOf(request, info)),
    session: async (request, info) => (await kernels(request, info)).entryPoints.session(request, optionsOf(request, info)),
    protect: (handler, guard) =>
      withSession(async (request, session, ...rest) =>
        session?.user
          ? handler(request, session, ...rest)
          : refusal(await kernels(request, rest[0]), request, optionsOf(request, rest[0]), guard),
      ),
    signIn: async (request, provider, how, info) =>
      signInResponse(await kernels(request, info), request, optionsOf(request, info), provider, how),
    signOut: async (request, how, info) =>
      signOutResponse(await kernels(request, info), request, optionsOf(request, info), how?.redirectTo),
  }
}

function isBelow({ config: { basePath } }: Kernel, { url }: Request): boolean {
  const { pathname } = new URL(url)
  return pathname === basePath || pathname.startsWith(`${basePath}/`)
}

function withCookies(response: Response, headers: Headers): Response {
  const cookies = headers.getSetCookie()
  if (cookies.length === 0) return response
  // Responses may be immutable.
  const copy = new Response(response.body, response)
  for (const cookie of cookies) copy.headers.append('set-cookie', cookie)
  return copy
}

/** The peer's address as the runtime tells it; srvx puts it on the request. */
function optionsOf(request: Request & { ip?: unknown }, info: unknown): HandleOptions {
  return { clientAddress: addressFrom(info, request) ?? (typeof request.ip === 'string' ? request.ip : undefined) }
}
/** @deprecated `FetchApi` */
export type FetchFace = FetchApi
/** @deprecated `LazyFetchApi` */
export type LazyFetchFace = LazyFetchApi
