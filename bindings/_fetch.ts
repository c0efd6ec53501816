/** What servers whose handlers take a `Request` share: plain fetch, and the hosts that say otherwise where a request comes from. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Awaitable, HandleOptions, Kernel, Plugin, Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { kernelsOf, type Kernels } from './_shared/kernels.ts'
import { createPendingCookies } from './_shared/pending-cookies.ts'
import { type Argument, assertArgument, createWebApi } from './_shared/web-api.ts'

/** A handler of one's own that is given the session. */
export type WithSession<S> = (request: Request, session: S, ...rest: unknown[]) => Response | Promise<Response>

/** What `auth.fetch` and those of the hosts offer. `info` is the runtime's second argument: Bun's server, Deno's info; others are ignored. */
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

/** How a host is known. */
export interface FetchHost {
  /** Of the plugin, and of the API on `auth`. */
  name: string
  /** Address of the client, as the host tells it and no client can forge it. */
  address(request: Request, info: unknown): string | undefined
}

/** The plugin of a host. */
export function hostBinding<N extends string>(name: N, host: FetchHost): Plugin<Record<N, FetchApi>> {
  return { name: host.name, setup: (kernel) => ({ [name]: eagerApi(kernel, host) }) as Record<N, FetchApi> }
}

/** The API of a configuration, or of a function of the request. */
export function hostApi(source: AuthConfig | FetchConfigSource, plugins: readonly Plugin[], host: FetchHost): FetchApi | LazyFetchApi {
  if (typeof source !== 'function') {
    const auth = createAuth(source)
    for (const plugin of plugins) auth.use(plugin)
    return auth.use(hostBinding('host', host)).host
  }
  const infos = new WeakMap<Request, unknown>()
  const kernels = kernelsOf<Request>(host.name, (request) => source(request, infos.get(request)), { plugins })
  return {
    ...fetchApi(kernels, infos, host),
    matches: async (request, info) => answersPath(await kernels(noteInfo(infos, request, info, host)), request),
  }
}

function eagerApi(kernel: Kernel, host: FetchHost): FetchApi {
  return {
    ...fetchApi(() => kernel, new WeakMap(), host),
    matches(request) {
      assertArgument(request, argumentOf(host))
      return answersPath(kernel, request)
    },
  }
}

function argumentOf({ name }: FetchHost): Argument {
  return { has: ['url', 'headers'], say: `${name} binding: give the Request: \`auth.${name}.session(request)\`.` }
}

/** `infos` holds the runtime's second argument by request. */
function fetchApi(kernel: Kernels<Request>, infos: WeakMap<Request, unknown>, host: FetchHost): Omit<FetchApi, 'matches'> {
  // Cookies for the answer of a wrapped handler. Elsewhere there is no answer to carry them (D51).
  const pending = createPendingCookies<Request>()
  const api = createWebApi<Request>({
    argument: argumentOf(host),
    kernel,
    request: (request) => request,
    options: (request): HandleOptions => ({ clientAddress: host.address(request, infos.get(request)) }),
    cookies: pending.add,
    writable: pending.isOpen,
  })
  const withCookies = async (request: Request, info: unknown, answer: () => Response | Promise<Response>): Promise<Response> =>
    pending.collect(noteInfo(infos, request, info, host), answer)
  return {
    handler: async (request, info) => api.answer(noteInfo(infos, request, info, host)),
    session: async (request, info) => api.session(noteInfo(infos, request, info, host)),
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
    signIn: async (request, provider, how, info) => api.signIn(noteInfo(infos, request, info, host), provider, how),
    signOut: async (request, how, info) => api.signOut(noteInfo(infos, request, info, host), how),
  }
}

/** The request, with what the runtime said about it. */
function noteInfo(infos: WeakMap<Request, unknown>, request: Request, info: unknown, host: FetchHost): Request {
  assertArgument(request, argumentOf(host))
  if (info !== undefined) infos.set(request, info)
  return request
}

function answersPath(kernel: Kernel, { url }: Request): boolean {
  return kernel.placeOf(new URL(url).pathname) !== undefined
}
