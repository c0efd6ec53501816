/** React Router 7, framework mode: `export const { loader, action } = auth.reactRouter` in `app/routes/auth.$.ts`. */
import { assertOptions, type Awaitable, type Kernel, type Plugin, type Session, setHostRequest } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { createPendingCookies } from './_shared/pending-cookies.ts'
import { createWebApi, type EventMemory } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of the arguments of loaders, actions and middleware that are used here. */
export interface ReactRouterArgs {
  request: Request
  /** With middleware: one object per request. */
  context?: unknown
}
/** Options of the binding. */
export interface ReactRouterOptions {
  /** Address of the client, for rate limits. React Router does not tell it: take it from what your server puts into `context`. */
  clientAddress?: ((args: ReactRouterArgs) => string | undefined) | undefined
}

/** What `auth.reactRouter` offers. */
export interface ReactRouterApi {
  /** Of the route `auth/*`: every route of authkernel. Of a route `.well-known/*`: paths at the origin's root that plugins answer; 404 for others. */
  loader(args: ReactRouterArgs): Promise<Response>
  action(args: ReactRouterArgs): Promise<Response>
  /** For `middleware` of `app/root.tsx`: the cookie of a session that was extended goes out with the response. */
  middleware(args: ReactRouterArgs, next: () => Promise<Response>): Promise<Response>
  /** The session, read once per request. Extended only where `middleware` runs. Rejects when the store is down. */
  session(args: ReactRouterArgs): Promise<Session | null>
  /** The session, for loaders and actions. Without one it throws the Response that leads to the sign-in page and back. */
  requireSession(args: ReactRouterArgs, options?: GuardOptions): Promise<Session>
  /** The answer that signs in; return it from an action. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(args: ReactRouterArgs, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it from an action. */
  signOut(args: ReactRouterArgs, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `reactRouter` on `auth`. */
export function reactRouterBinding(options: ReactRouterOptions = {}): Plugin<{ reactRouter: ReactRouterApi }> {
  assertOptions('reactRouterBinding', options, { clientAddress: true })
  return { name: 'react-router', setup: (kernel) => ({ reactRouter: reactRouterApi(() => kernel, options) }) }
}

/** The API of a configuration, or of a function of the arguments. */
export function ReactRouterAuth(config: ConfigSource<ReactRouterArgs>, ...plugins: readonly Plugin[]): ReactRouterApi {
  return reactRouterApi(kernelsOf('react-router', config, { plugins }), {})
}

function reactRouterApi(kernel: (args: ReactRouterArgs) => Awaitable<Kernel>, { clientAddress }: ReactRouterOptions): ReactRouterApi {
  const pending = createPendingCookies<object>()
  const memories = new WeakMap<object, EventMemory>()
  const api = createWebApi<ReactRouterArgs>({
    argument: { has: ['request'], say: 'react-router binding: give the arguments of the loader: `auth.reactRouter.session(args)`.' },
    kernel,
    request: ({ request }) => request,
    page: ({ request }) => pageRequest(request),
    options: (args) => ({ clientAddress: clientAddress?.(args) }),
    cookies: (args, headers) => pending.add(keyOf(args), headers),
    writable: (args) => pending.isOpen(keyOf(args)),
    memory(args) {
      const memory = memories.get(keyOf(args)) ?? {}
      memories.set(keyOf(args), memory)
      return memory
    },
  })
  const answer = async (args: ReactRouterArgs): Promise<Response> => (await api.below(args)) ?? new Response('Not Found', { status: 404 })
  return {
    loader: answer,
    action: answer,
    session: api.session,
    middleware: (args, next) => pending.collect(keyOf(args), next),
    async requireSession(args, options) {
      const found = await api.guard(args, options)
      if (found instanceof Response) throw loadDocument(found)
      return found
    },
    signIn: async (args, provider, options) => loadDocument(await api.signIn(args, provider, options)),
    signOut: async (args, options) => loadDocument(await api.signOut(args, options)),
  }
}

/** Loaders and actions of one request get requests of their own, but one context where middleware runs. */
function keyOf({ request, context }: ReactRouterArgs): object {
  const isProvider = typeof context === 'object' && context !== null && 'get' in context && 'set' in context
  return isProvider ? context : request
}

/** The router of the browser asks for the data of a page with any type, and says it is a script of the same site. The page is what users come back to. */
function pageRequest(request: Request): Request {
  if (request.headers.get('accept') !== '*/*' || request.headers.get('sec-fetch-site') !== 'same-origin') return request
  const headers = new Headers(request.headers)
  headers.set('accept', 'text/html')
  return setHostRequest(new Request(request.url, { method: request.method, headers }), request)
}

/** Has the router load where the answer leads: the pages of authkernel are no components of the app. */
function loadDocument(response: Response): Response {
  if (!response.headers.has('location')) return response
  const copy = new Response(response.body, response)
  copy.headers.set('X-Remix-Reload-Document', 'true')
  return copy
}
