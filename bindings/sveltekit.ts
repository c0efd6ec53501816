/** SvelteKit 2: `export const { handle, signIn, signOut } = SvelteKitAuth(config)`, or `createAuth().use(sveltekitBinding())`. */
import type { AuthConfig } from 'authkernel'
import {
  assertOptions,
  type NoOptions,
  type Awaitable,
  type HandleOptions,
  type Kernel,
  type Plugin,
  type Session,
  setHostRequest,
} from 'authkernel/kernel'
import { assertArgument, createWebApi } from './_shared/web-api.ts'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf, withBasePath } from './_shared/kernels.ts'
import { readForm } from './_shared/form.ts'
import { cookiesOf, type SetCookie } from './_shared/set-cookie.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

declare global {
  namespace App {
    interface Locals {
      /** The session, read once per request. Rejects when the store is down (D38). */
      auth(): Promise<Session | null>
      /** @deprecated use `auth` */
      getSession(): Promise<Session | null>
    }
    interface PageData {
      session?: Session | null
    }
  }
}

/** Options of every binding. */
export type SvelteKitAuthConfig = AuthConfig
/** The parts of a request event that are used here. */
export interface SvelteKitEvent {
  request: Request
  url: URL
  cookies: { set(name: string, value: string, options: SetCookie['options'] & { encode(value: string): string }): void }
  locals: object
  isDataRequest?: boolean
  getClientAddress(): string
}

/** What `auth.sveltekit` offers. */
export interface SvelteKitApi {
  /** For `hooks.server.ts`: answers the routes of authkernel and puts `auth()` on `event.locals`. Other paths below the base path stay yours. */
  handle<E extends SvelteKitEvent>(input: { event: E; resolve(event: E): Awaitable<Response> }): Promise<Response>
  /**
   * A form action, `actions = { default: signIn }`: reads `providerId`, `redirectTo`, `redirect`, `authorizationParams-<key>` and the provider's fields.
   * Called with a provider it reads no form. Throws SvelteKit's redirect, or the `AuthError`: `CredentialsSignin`, `AccessDenied` …
   * With `redirect` false it returns the URL instead.
   */
  signIn(event: SvelteKitEvent, provider?: string, options?: SignInOptions & { redirect?: boolean | undefined }): Promise<string>
  /** A form action, likewise: reads `redirectTo` and `redirect`. */
  signOut(event: SvelteKitEvent, options?: { redirectTo?: string | undefined; redirect?: boolean | undefined }): Promise<string>
  /** The session, as `event.locals.auth()`. */
  session(event: SvelteKitEvent): Promise<Session | null>
  /** The session, for `load` and actions. Without one: throws the redirect to the sign-in page and back; 401 for what is no page. */
  requireSession(event: SvelteKitEvent, options?: GuardOptions): Promise<Session>
}

/** Puts `sveltekit` on `auth`. */
export function sveltekitBinding(options: NoOptions = {}): Plugin<{ sveltekit: SvelteKitApi }> {
  assertOptions('sveltekitBinding', options, {})
  return { name: 'sveltekit', setup: (kernel) => ({ sveltekit: svelteKitApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the event (row 317, 320). The routes are below `paths.base` of the app. */
export function SvelteKitAuth(config: ConfigSource<SvelteKitEvent>, ...plugins: readonly Plugin[]): SvelteKitApi {
  let base: string | undefined
  const complete = (given: AuthConfig): AuthConfig => (base ? withBasePath(given, `${base}/auth`) : given)
  const kernels = kernelsOf('sveltekit', config, { complete, plugins })
  return svelteKitApi(async (event) => {
    base ??= await pathsBase()
    return kernels(event)
  })
}

function svelteKitApi(kernel: (event: SvelteKitEvent) => Awaitable<Kernel>): SvelteKitApi {
  const answerWeb = new WeakSet<SvelteKitEvent>()
  // `load`, actions and endpoints get copies of the event that `handle` got; all have its request.
  const events = new WeakMap<Request, SvelteKitEvent>()
  const first = (event: SvelteKitEvent): SvelteKitEvent => {
    assertArgument(event, {
      has: ['request', 'cookies'],
      say: "sveltekit binding: give SvelteKit's event: `auth.sveltekit.session(event)`.",
    })
    return events.get(event.request) ?? event
  }
  const api = createWebApi<SvelteKitEvent>({
    kernel,
    request: ({ request }) => request,
    page: pageRequest,
    options: handleOptionsOf,
    cookies: setCookies,
    writable: (event) => !answerWeb.has(event),
  })

  /** Takes the cookies of a flow's answer along and goes where it says. */
  function follow(event: SvelteKitEvent, response: Response, redirect: boolean): Promise<string> | string {
    setCookies(event, response.headers)
    return redirect ? leaveByThrow(event, response) : (response.headers.get('location') ?? '/')
  }

  return {
    session: async (event) => api.session(first(event)),
    async handle({ event, resolve }) {
      events.set(event.request, event)
      Object.assign(event.locals, { auth: () => api.session(event), getSession: () => api.session(event) })
      const own = await api.route(event)
      if (own) return own
      const response = await resolve(event)
      answerWeb.add(event)
      return restoreMeant(event, response)
    },
    async signIn(given, provider, options) {
      const event = first(given)
      const form = provider === undefined ? readForm(await readFields(event)) : { provider, ...splitRedirect(options) }
      return follow(event, await api.signIn(event, form.provider, form.options), form.redirect)
    },
    async signOut(given, options) {
      const event = first(given)
      const form = options === undefined ? readForm(await readFields(event)) : splitRedirect(options)
      const { options: how, redirect } = options === undefined ? { ...form, options: { redirectTo: form.options.redirectTo } } : form
      return follow(event, await api.signOut(event, how), redirect)
    },
    async requireSession(given, options) {
      const event = first(given)
      const found = await api.guard(event, options)
      if (!(found instanceof Response)) return found
      setCookies(event, found.headers)
      return leaveByThrow(event, found)
    },
  }
}

/** The router of the browser fetches data for a page: the page is what users are sent away from, and back to. */
function pageRequest({ request, url, isDataRequest }: SvelteKitEvent): Request {
  const headers = new Headers(request.headers)
  if (isDataRequest) headers.set('accept', 'text/html')
  return setHostRequest(new Request(url, { method: request.method, headers }), request)
}

/** Options of code, with what only SvelteKit's functions know apart. */
function splitRedirect<O extends object>(
  { redirect = true, ...options }: O & { redirect?: boolean | undefined } = {} as O,
): {
  options: Omit<O & { redirect?: boolean | undefined }, 'redirect'>
  redirect: boolean
} {
  return { options, redirect }
}

function handleOptionsOf(event: SvelteKitEvent): HandleOptions {
  // SvelteKit's clients send no token; the browser's own word protects (D30).
  return { clientAddress: clientAddressOf(event), csrf: 'origin' }
}

/** Prerendering has no client, and SvelteKit throws when asked for its address. */
function clientAddressOf(event: SvelteKitEvent): string | undefined {
  try {
    return event.getClientAddress()
  } catch {
    return undefined
  }
}

function setCookies(event: SvelteKitEvent, headers: Headers): void {
  for (const { name, value, options } of cookiesOf(headers)) event.cookies.set(name, value, { ...options, encode: (encoded) => encoded })
}

async function readFields({ request }: SvelteKitEvent): Promise<Iterable<[string, unknown]>> {
  return /form/.test(request.headers.get('content-type') ?? '') ? request.formData() : []
}

// Leaving an action or `load`: by SvelteKit's own throw. It knows redirects by their class, and an app whose bundle holds a SvelteKit of its own knows another
// class than we do; then `handle` says what was meant.

const thrownResponses = new WeakMap<SvelteKitEvent, Response>()

/** Throws SvelteKit's redirect or error for a response. */
async function leaveByThrow(event: SvelteKitEvent, response: Response): Promise<never> {
  thrownResponses.set(event, response)
  const { redirect, error } = await import('@sveltejs/kit')
  const location = response.headers.get('location')
  return location === null ? error(response.status, response.status === 403 ? 'Forbidden' : 'Unauthorized') : redirect(302, location)
}

/** `paths.base` of the app; empty where no bundler resolves SvelteKit's own modules. */
async function pathsBase(): Promise<string> {
  const { base } = await import('$app/paths').catch(() => ({ base: '' }))
  return base
}

/** The response of SvelteKit, or what `leave` meant where SvelteKit did not understand its throw. */
function restoreMeant(event: SvelteKitEvent, response: Response): Response {
  const wanted = thrownResponses.get(event)
  if (!wanted) return response
  if (response.status !== 500) return withChallenge(response, wanted)
  const location = wanted.headers.get('location')
  const headers = new Headers({ 'cache-control': 'private, no-store' })
  for (const cookie of response.headers.getSetCookie()) headers.append('set-cookie', cookie)
  // A form with `use:enhance`, and the data of a page, want JSON (documented as `ActionResult`).
  if (event.request.headers.has('x-sveltekit-action')) {
    return Response.json(location === null ? { type: 'error', status: wanted.status } : { type: 'redirect', status: 302, location }, {
      headers,
    })
  }
  if (location === null)
    return withChallenge(new Response(wanted.status === 403 ? 'Forbidden' : 'Unauthorized', { status: wanted.status, headers }), wanted)
  if (new URL(event.request.url).pathname.endsWith('__data.json')) return Response.json({ type: 'redirect', location }, { headers })
  headers.set('location', location)
  return new Response(null, { status: 302, headers })
}

/** SvelteKit's errors have no headers: what tells an app why its token was rejected goes out with the error's page. */
function withChallenge(response: Response, { status, headers }: Response): Response {
  if (response.status !== status || !headers.has('www-authenticate')) return response
  const copy = new Response(response.body, response)
  for (const name of ['www-authenticate', 'dpop-nonce', 'access-control-expose-headers']) {
    const value = headers.get(name)
    if (value !== null) copy.headers.set(name, value)
  }
  return copy
}
