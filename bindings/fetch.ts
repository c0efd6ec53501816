/** Web-standard servers (Bun, Deno, workers, service workers): `export default { fetch: auth.fetch.handler }`. */
import { type AuthConfig, createAuth } from 'authkernel'
import {
  assertOptions,
  type NoOptions,
  type Awaitable,
  type HandleOptions,
  type Kernel,
  type Plugin,
  type Session,
} from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type Argument, assertArgument, createWebApi } from './_shared/web-api.ts'
import { kernelsOf, type Kernels } from './_shared/kernels.ts'
import { addressFrom } from './_shared/edge.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** A handler of one's own that is given the session. */
export type WithSession<S> = (request: Request, session: S, ...rest: unknown[]) => Response | Promise<Response>

/** What `auth.fetch` offers. `info` is the runtime's second argument: Bun's server, Deno's info; others are ignored. */
export interface FetchApi {
  /** Answers every request; call it where `matches` says so. */
  handler(request: Request, info?: unknown): Promise<Response>
  /** Whether the path is below the base path (with the base path `/`: a route), or one at the origin's root that a plugin answers. */
  matches(request: Request): boolean
  /** The session, read once per request. Nothing is extended: there is no response to carry the cookie (D51). */
  session(request: Request, info?: unknown): Promise<Session | null>
  /** Wraps a handler: it gets the session, and the answer takes a refreshed cookie along. */
  withSession(handler: WithSession<Session | null>): (request: Request, ...rest: unknown[]) => Promise<Response>
  /** As `withSession` for signed-in users only: other browsers are sent to the sign-in page and back, the rest gets 401 JSON. */
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

/** Puts `fetch` on `auth`. */
export function fetchBinding(options: NoOptions = {}): Plugin<{ fetch: FetchApi }> {
  assertOptions('fetchBinding', options, {})
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
  return {
    ...fetchApi(kernels, infos),
    matches: async (request, info) => answersPath(await kernels(noteInfo(infos, request, info)), request),
  }
}

function eagerApi(kernel: Kernel): FetchApi {
  return {
    ...fetchApi(() => kernel, new WeakMap()),
    matches(request) {
      assertArgument(request, argument)
      return answersPath(kernel, request)
    },
  }
}

const argument: Argument = { has: ['url', 'headers'], say: 'fetch binding: give the Request: `auth.fetch.session(request)`.' }

/** `infos` holds the runtime's second argument by request. */
function fetchApi(kernel: Kernels<Request>, infos: WeakMap<Request, unknown>): Omit<FetchApi, 'matches'> {
  // Cookies for the answer of a wrapped handler. Elsewhere there is no answer to carry them (D51).
  const answering = new WeakMap<Request, Headers>()
  const api = createWebApi<Request>({
    argument,
    kernel,
    request: (request) => request,
    options: (request) => handleOptionsOf(request, infos.get(request)),
    cookies: (request, headers) => {
      for (const cookie of headers.getSetCookie()) answering.get(request)?.append('set-cookie', cookie)
    },
    writable: (request) => answering.has(request),
  })
  const withCookies = async (request: Request, info: unknown, answer: () => Response | Promise<Response>): Promise<Response> => {
    const headers = new Headers()
    answering.set(noteInfo(infos, request, info), headers)
    return addResponseCookies(await answer(), headers)
  }
  return {
    handler: async (request, info) => api.answer(noteInfo(infos, request, info)),
    session: async (request, info) => api.session(noteInfo(infos, request, info)),
    withSession:
      (handler) =>
      async (request, ...rest) =>
        withCookies(request, rest[0], async () => handler(request, await api.session(request), ...rest)),
    protect:
      (handler, guard) =>
      async (request, ...rest) =>
        withCookies(request, rest[0], async () => {
          const found = await api.guard(request, guard)
          return found instanceof Response ? found : handler(request, found, ...rest)
        }),
    signIn: async (request, provider, how, info) => api.signIn(noteInfo(infos, request, info), provider, how),
    signOut: async (request, how, info) => api.signOut(noteInfo(infos, request, info), how),
  }
}

/** The request, with what the runtime said about it. */
function noteInfo(infos: WeakMap<Request, unknown>, request: Request, info: unknown): Request {
  assertArgument(request, argument)
  if (info !== undefined) infos.set(request, info)
  return request
}

function answersPath(kernel: Kernel, { url }: Request): boolean {
  return kernel.placeOf(new URL(url).pathname) !== undefined
}

function addResponseCookies(response: Response, headers: Headers): Response {
  const cookies = headers.getSetCookie()
  if (cookies.length === 0) return response
  // Responses may be immutable.
  const copy = new Response(response.body, response)
  for (const cookie of cookies) copy.headers.append('set-cookie', cookie)
  return copy
}

/** The peer's address as the runtime tells it; srvx puts it on the request. */
function handleOptionsOf(request: Request & { ip?: unknown }, info: unknown): HandleOptions {
  return { clientAddress: addressFrom(info, request) ?? (typeof request.ip === 'string' ? request.ip : undefined) }
}
