/** Web-standard servers (Bun, Deno, workers, service workers): `export default { fetch: auth.fetch.handler }`. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { HandleOptions, Kernel, Plugin, Session } from 'authkernel/kernel'
import { type GuardOptions, refusal, type SignInOptions, signInResponse, signOutResponse } from './_actions.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** A handler of one's own that is given the session. */
export type WithSession<S> = (request: Request, session: S, ...rest: unknown[]) => Response | Promise<Response>

/** What `auth.fetch` offers. `info` is the runtime's second argument: Bun's server, Deno's info; others are ignored. */
export interface FetchFace {
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
  signIn(request: Request, provider?: string, options?: SignInOptions): Promise<Response>
  signOut(request: Request, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `fetch` on `auth`. */
export function fetchBinding(): Plugin<{ fetch: FetchFace }> {
  return { name: 'fetch', setup: (kernel) => ({ fetch: fetchFace(kernel) }) }
}

/** The face of a configuration. Workers have their environment in the second argument: `FetchAuth({ env, ... })`, kept beside it. */
export function FetchAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchFace {
  const auth = createAuth(config)
  for (const plugin of plugins) auth.use(plugin)
  return auth.use(fetchBinding()).fetch
}

function fetchFace(kernel: Kernel): FetchFace {
  const withSession: FetchFace['withSession'] =
    (handler) =>
    async (request, ...rest) => {
      const { session, headers } = await kernel.doors.read(request, options(request, rest[0]))
      return withCookies(await handler(request, session, ...rest), headers)
    }
  return {
    withSession,
    handler: (request, info) => kernel.doors.handler(request, options(request, info)),
    matches(request) {
      const { pathname } = new URL(request.url)
      return pathname === kernel.config.basePath || pathname.startsWith(`${kernel.config.basePath}/`)
    },
    session: (request, info) => kernel.doors.session(request, options(request, info)),
    protect: (handler, guard) =>
      withSession((request, session, ...rest) =>
        session?.user ? handler(request, session, ...rest) : refusal(kernel, request, options(request, rest[0]), guard),
      ),
    signIn: (request, provider, how) => signInResponse(kernel, request, {}, provider, how),
    signOut: (request, how) => signOutResponse(kernel, request, {}, how?.redirectTo),
  }
}

function withCookies(response: Response, headers: Headers): Response {
  const cookies = headers.getSetCookie()
  if (cookies.length === 0) return response
  // Responses may be immutable.
  const copy = new Response(response.body, response)
  for (const cookie of cookies) copy.headers.append('set-cookie', cookie)
  return copy
}

/** The peer's address as Bun and Deno tell it. Nothing else of a second argument counts: workers pass their environment. */
function options(request: Request, info: unknown): HandleOptions {
  if (typeof info !== 'object' || info === null) return {}
  if ('requestIP' in info && typeof info.requestIP === 'function') return { clientAddress: info.requestIP(request)?.address }
  const remote = 'remoteAddr' in info ? info.remoteAddr : undefined
  const hostname = typeof remote === 'object' && remote !== null && 'hostname' in remote ? remote.hostname : undefined
  return typeof hostname === 'string' ? { clientAddress: hostname } : {}
}
