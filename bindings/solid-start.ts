/** SolidStart 1: `export const { GET, POST } = SolidAuth(config)` in `src/routes/api/auth/[...solidauth].ts`. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Awaitable, type Kernel, type Plugin, type Session, setHostRequest } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { kernelsOf, type Kernels, withBasePath } from './_shared/kernels.ts'
import { createWebApi } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** Options of every binding, and `prefix`. */
export interface SolidAuthConfig extends AuthConfig {
  /** Base path of the routes; default `/api/auth`. `basePath` is the same and wins. */
  prefix?: string | undefined
}
/** The parts of an API event and of `getRequestEvent()` that are used here. */
export interface SolidStartEvent {
  request: Request
  /** The response to come. */
  response?: { headers: Pick<Headers, 'append'> }
  locals?: object
  clientAddress?: string | undefined
  nativeEvent?: unknown
}

/** What `getSession` gives. */
export type GetSessionResult = Promise<Session | null>

/** What `SolidAuth` returns and `auth.solidStart` offers. */
export interface SolidStartApi {
  /** The routes of authkernel; undefined for other paths (row 302). */
  GET(event: SolidStartEvent): Promise<Response | undefined>
  POST(event: SolidStartEvent): Promise<Response | undefined>
  /** For `createMiddleware({ onRequest: [middleware] })`: puts `auth()` on `event.locals`. */
  middleware(event: SolidStartEvent): Promise<void>
  /** The session, read once per event: `session(getRequestEvent()!)`. A refreshed cookie goes out with the response. Rejects when the store is down (D38). */
  session(event: SolidStartEvent): Promise<Session | null>
  /** The session, for server functions and API routes. Without one it throws the Response that leads to the sign-in page and back. */
  requireSession(event: SolidStartEvent, options?: GuardOptions): Promise<Session>
  /** The answer that signs in, for actions: `throw await signIn(event, 'acme')`. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(event: SolidStartEvent, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out, likewise. */
  signOut(event: SolidStartEvent, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/**
 * Puts `solidStart` on `auth`; say `basePath: '/api/auth'` to `createAuth`, or mount the routes at `/auth`.
 * @experimental The API may change in a minor version.
 */
export function solidStartBinding(options: NoOptions = {}): Plugin<{ solidStart: SolidStartApi }> {
  assertOptions('solidStartBinding', options, {})
  return { name: 'solid-start', setup: (kernel) => ({ solidStart: solidStartApi(() => kernel) }) }
}

/**
 * The API of a configuration, or of a function of the event (rows 300 to 303).
 * @experimental The API may change in a minor version.
 */
export function SolidAuth(
  config: SolidAuthConfig | ((event: SolidStartEvent) => Awaitable<SolidAuthConfig>),
  ...plugins: readonly Plugin[]
): SolidStartApi {
  return solidStartApi(kernelsFor(config, plugins))
}

/**
 * The session of a request under the configuration given to `SolidAuth` (row 304). Nothing is extended: there is no response (D51).
 * @experimental The API may change in a minor version.
 */
export async function getSession(request: Request, config: SolidAuthConfig): GetSessionResult {
  return (await kernelsFor(config)({ request })).entryPoints.session(request)
}

function kernelsFor(
  config: SolidAuthConfig | ((event: SolidStartEvent) => Awaitable<SolidAuthConfig>),
  plugins: readonly Plugin[] = [],
): Kernels<SolidStartEvent> {
  return kernelsOf<SolidStartEvent>('solid-start', config, { complete: completeConfig, plugins })
}

function completeConfig({ prefix, ...config }: SolidAuthConfig): AuthConfig {
  return prefix !== undefined && config.basePath === undefined ? { ...config, basePath: prefix } : withBasePath(config, '/api/auth')
}

function solidStartApi(kernel: (event: SolidStartEvent) => Awaitable<Kernel>): SolidStartApi {
  const api = createWebApi<SolidStartEvent>({
    argument: {
      has: ['request'],
      say: "solid-start binding: give SolidStart's event: `auth.solidStart.session(getRequestEvent()!)`.",
    },
    kernel,
    request: ({ request }) => request,
    page: pageRequest,
    options: ({ clientAddress }) => ({ clientAddress }),
    cookies: ({ response }, headers) => {
      for (const cookie of headers.getSetCookie()) response?.headers.append('set-cookie', cookie)
    },
    writable: ({ response, nativeEvent }) => response !== undefined && !headersSent(nativeEvent),
  })
  return {
    GET: api.route,
    POST: api.route,
    session: api.session,
    signIn: api.signIn,
    signOut: api.signOut,
    async middleware(event) {
      Object.assign((event.locals ??= {}), { auth: () => api.session(event) })
    },
    async requireSession(event, options) {
      const found = await api.guard(event, options)
      if (found instanceof Response) throw found
      return found
    },
  }
}

/** A server function is called by a page: that is what users are sent away from, and back to. */
function pageRequest({ request }: SolidStartEvent): Request {
  if (!request.headers.has('x-server-id') && new URL(request.url).pathname !== '/_server') return request
  const headers = new Headers(request.headers)
  headers.set('accept', 'text/html')
  const referer = headers.get('referer') ?? ''
  // Its path alone: neither the host of a Referer nor a path of two slashes must become our origin.
  const page = new URL(request.url)
  const { pathname, search } = URL.canParse(referer) ? new URL(referer) : { pathname: '/', search: '' }
  Object.assign(page, { pathname, search })
  return setHostRequest(new Request(page, { headers }), request)
}

/** A page that streams has sent its headers before its last session is read. */
function headersSent(nativeEvent: unknown): boolean {
  const { node } = (nativeEvent ?? {}) as { node?: { res?: { headersSent?: boolean } } }
  return node?.res?.headersSent === true
}
