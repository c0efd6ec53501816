/** Next 15 and 16: `export const { handlers, auth, signIn, signOut } = NextAuth(config)`, or `createAuth().use(nextBinding())`. */
import type { AuthConfig } from 'authkernel'
import {
  assertOptions,
  type Awaitable,
  type Context,
  type First,
  HttpError,
  type Kernel,
  type NoOptions,
  type Plugin,
  redirectTo,
  type Session,
} from 'authkernel/kernel'
import { createChallenge, readForGuard, type SignInOptions } from './_shared/actions.ts'
import { fromEnv, kernelsOf, withBasePath } from './_shared/kernels.ts'
import { readForm } from './_shared/form.ts'
import { currentScope, redirectByNext, withBrowserHost, nodeScope, passRequest, type Scope } from './_next.ts'
import { createWebApi } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { SignInOptions } from './_shared/actions.ts'

/** The parts of Next's request that `auth(handler)` and `authorized` show. */
export interface NextAuthRequest extends Request {
  auth: Session | null
  nextUrl: URL & { basePath: string; clone(): URL }
  cookies: {
    get(name: string): { name: string; value: string } | undefined
    getAll(): { name: string; value: string }[]
    has(name: string): boolean
  }
}
/** A request and a response of the Pages Router. */
export interface PagesContext {
  req: { headers: Readonly<Record<string, string | string[] | undefined>> }
  res: { headersSent?: boolean; appendHeader(name: string, value: string[]): unknown }
}
/** Options of every binding; `callbacks.authorized` is the question of the proxy. */
export type NextAuthConfig = AuthConfig

declare module 'authkernel/kernel' {
  interface Hooks {
    /** May this request of the proxy pass? False leads to the sign-in page and back, a Response is the answer. Asked by `auth` in `proxy.ts`. */
    authorized: First<{ request: NextAuthRequest; auth: Session | null }, boolean | Response>
  }
}

/** The session, wherever it is asked for. A refreshed cookie goes out where Next allows it: actions, route handlers, the proxy, the Pages Router. */
export interface NextAuthFunction {
  /** In server components, actions and route handlers. Rejects when the store is down (D38). */
  (): Promise<Session | null>
  /**
   * Wraps a route handler or the proxy: `request.auth` is the session. A proxy that returns nothing allows the request. For all of Next's own
   * request, say so: `auth((request: NextRequest & { auth: Session | null }) => ...)`.
   */
  <C, R extends Request = NextAuthRequest>(
    handler: (request: R, context: C) => Awaitable<Response | undefined | void>,
  ): (request: Request, context: C) => Promise<Response>
  /** The proxy itself: `export { auth as proxy }`. */
  (request: Request, event?: object): Promise<Response>
  /** In `getServerSideProps`. */
  (context: PagesContext): Promise<Session | null>
  /** In API routes of the Pages Router. */
  (req: PagesContext['req'], res: PagesContext['res']): Promise<Session | null>
}
/** Fields of a sign-in from server code; others go to the provider's form. */
export interface NextSignInOptions {
  /** Where to go after the sign-in. Default: the page that the request came from (Referer), else `/`. */
  redirectTo?: string | undefined
  /** False: returns the URL instead of going there. */
  redirect?: boolean | undefined
  [field: string]: unknown
}

/** `NextApi` under the name that next-auth gives the type. */
export type NextAuthResult = NextApi
/** What `NextAuth` returns and `auth.next` offers. */
export interface NextApi {
  /** `export const { GET, POST } = handlers` in `app/api/auth/[...nextauth]/route.ts`. */
  handlers: Record<'GET' | 'POST', (request: Request) => Promise<Response>>
  /**
   * Paths below `/.well-known/` at the origin's root that plugins answer: `export const { GET, HEAD, OPTIONS } = auth.next.root` in
   * `app/.well-known/[...path]/route.ts`. A proxy of `auth` that sees these paths answers them, too.
   */
  root: Record<'GET' | 'HEAD' | 'OPTIONS' | 'POST', (request: Request) => Promise<Response>>
  auth: NextAuthFunction
  /** For actions, `<form action={...}>` included: redirects, or returns the URL with `redirect: false`. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(
    provider?: string,
    options?: FormData | NextSignInOptions,
    authorizationParams?: SignInOptions['authorizationParams'],
  ): Promise<string>
  signOut(options?: { redirectTo?: string | undefined; redirect?: boolean | undefined }): Promise<string>
  /** Sends data to the `jwt` or `session` callback (trigger `update`); for actions and route handlers. */
  unstable_update(data: unknown): Promise<Session | null>
  /** The session, or Next's redirect to the sign-in page and from there to `callbackUrl`; Next does not tell a page its own path. */
  requireSession(options?: { callbackUrl?: string | undefined }): Promise<Session>
}

/** Puts `next` on `auth`; say `basePath: '/api/auth'` to `createAuth`. */
export function nextBinding(options: NoOptions = {}): Plugin<{ next: NextApi }> {
  assertOptions('nextBinding', options, {})
  return {
    name: 'next',
    setup(kernel) {
      registerHooks(kernel)
      return { next: nextApi(() => kernel) }
    },
  }
}

/** The API of a configuration, or of a function of the request, which is undefined where Next gives none (rows 323 to 326). */
export function NextAuth(
  config: NextAuthConfig | ((request: Request | undefined) => Awaitable<NextAuthConfig>),
  ...plugins: readonly Plugin[]
): NextApi {
  return nextApi(kernelsOf<Request | undefined>('next', config, { complete: completeConfig, setup: registerHooks, plugins }))
}

export default NextAuth

function registerHooks(kernel: Kernel): void {
  kernel.declareHook('authorized', 'first')
}

/** The base path and the names of environment variables that Next users know. */
function completeConfig(config: AuthConfig): AuthConfig {
  const url = fromEnv(config, 'AUTH_URL') ? undefined : fromEnv(config, 'NEXTAUTH_URL')
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  const secret = ['AUTH_SECRET', 'AUTH_SECRET_1', 'AUTH_SECRET_2', 'AUTH_SECRET_3'].some((name) => fromEnv(config, name))
    ? undefined
    : fromEnv(config, 'NEXTAUTH_SECRET')
  const path = parsed?.pathname.replace(/(?<!\/)\/+$/, '') || undefined
  return withBasePath(
    { ...config, origin: config.origin ?? parsed?.origin, basePath: config.basePath ?? path, secret: config.secret ?? secret },
    '/api/auth',
  )
}

function nextApi(kernel: (request: Request | undefined) => Awaitable<Kernel>): NextApi {
  const api = createWebApi<Scope>({
    kernel: ({ source }) => kernel(source),
    request: ({ request }) => request,
    cookies: ({ write }, headers) => write?.(headers),
    writable: ({ write }) => write !== undefined,
  })
  const scopeOf = (request: Request): Scope => ({ request: withBrowserHost(request), source: request, write: undefined })
  const answer = (request: Request): Promise<Response> => api.answer(scopeOf(request))
  const root = async (request: Request): Promise<Response> =>
    (await api.root(scopeOf(request))) ?? new Response('Not found.', { status: 404 })

  /** Takes cookies along and goes where a flow says. */
  async function follow(scope: Scope, response: Response, redirect: boolean): Promise<string> {
    scope.write?.(response.headers)
    const location = response.headers.get('location') ?? '/'
    return redirect ? redirectByNext(location) : location
  }

  /** The proxy, and wrapped route handlers. */
  async function guardRequest(request: NextAuthRequest, handler?: (request: NextAuthRequest) => unknown): Promise<Response> {
    const cookies = new Headers()
    const write = (headers: Headers): void => headers.getSetCookie().forEach((cookie) => cookies.append('set-cookie', cookie))
    const scope: Scope = { request: withBrowserHost(request), source: request, write }
    const published = await api.root(scope)
    if (published) return published
    const own = await kernel(request)
    const auth = await readForGuard(api.session(scope))
    if (auth instanceof HttpError) {
      const refused = await createChallenge(own, scope.request, {}, auth)
      if (!refused) throw auth
      return refused
    }
    const ctx = await own.contextOf(scope.request)
    const said = ctx.has('hook', 'authorized') ? await ctx.ask('authorized', { request, auth }) : undefined
    const verdict = said instanceof Response && leadsHere(said, scope.request) ? true : said
    let response: unknown
    if (verdict instanceof Response) response = verdict
    else if (handler) response = await handler(Object.assign(request, { auth }))
    else if (verdict === false) {
      const page = redirectToSignIn(own, ctx)
      response = page && ((auth ? undefined : await createChallenge(own, scope.request, {})) ?? page)
    }
    response ??= await passRequest()
    const answerWeb = response as Response
    const copy = new Response(answerWeb.body, answerWeb)
    for (const cookie of cookies.getSetCookie()) copy.headers.append('set-cookie', cookie)
    return copy
  }

  function auth(first?: unknown, second?: unknown): unknown {
    if (first === undefined) return currentScope().then(api.session)
    if (typeof first === 'function')
      return (request: NextAuthRequest, context: unknown) => guardRequest(request, (own) => first(own, context))
    if (first instanceof Request) return guardRequest(first as NextAuthRequest)
    const { req = first, res = second } = (first ?? {}) as Partial<PagesContext>
    if (!hasHeaders(req) || !canSend(res)) {
      return Promise.reject(
        new TypeError(
          'next binding: give nothing, a function, a Request, the context of getServerSideProps, or `req` and `res`: `auth.next.auth(req, res)`.',
        ),
      )
    }
    return api.session(nodeScope(req as PagesContext['req'], res as PagesContext['res']))
  }

  return {
    handlers: { GET: answer, POST: answer },
    root: { GET: root, HEAD: root, OPTIONS: root, POST: root },
    auth: auth as NextAuthFunction,
    async signIn(provider, options = {}, authorizationParams) {
      const { options: said, redirect } = readForm(options instanceof FormData ? options : Object.entries(options))
      const scope = await currentScope()
      const params = authorizationParams ?? said.authorizationParams
      return follow(scope, await api.signIn(scope, provider, { ...said, authorizationParams: params }), redirect)
    },
    async signOut(options = {}) {
      assertOptions('signOut', options, { redirectTo: true, redirect: true })
      const { redirectTo, redirect = true } = options
      const scope = await currentScope()
      return follow(scope, await api.signOut(scope, { redirectTo }), redirect)
    },
    async unstable_update(data) {
      const scope = await currentScope()
      const response = await api.update(scope, data)
      scope.write?.(response.headers)
      return (await response.json()) as Session | null
    },
    async requireSession(options = {}) {
      assertOptions('requireSession', options, { callbackUrl: true })
      const { callbackUrl = '/' } = options
      const scope = await currentScope()
      const session = await api.session(scope)
      if (session?.user) return session
      const ctx = await (await kernel(undefined)).contextOf(scope.request)
      // It throws, which its type does not say.
      return redirectByNext(ctx.page('signIn', { callbackUrl }).headers.get('location') ?? ctx.base) as never
    },
  }
}

/** The sign-in page and back; undefined: the request is for that page, or for a route of authkernel. */
function redirectToSignIn({ placeOf }: Kernel, ctx: Context): Response | undefined {
  const { pathname, href } = ctx.url
  const page = new URL(ctx.app.config.pages.signIn ?? `${ctx.base}/signin`, ctx.origin)
  if (pathname === page.pathname || placeOf(pathname, ctx.basePath) !== undefined) return undefined
  page.searchParams.set('callbackUrl', href)
  return redirectTo(page.href)
}

function hasHeaders(req: unknown): boolean {
  return typeof req === 'object' && req !== null && 'headers' in req
}

function canSend(res: unknown): boolean {
  return typeof res === 'object' && res !== null && 'appendHeader' in res
}

/** A redirect of `authorized` to the very page that was asked for would never end. */
function leadsHere(response: Response, request: Request): boolean {
  const location = response.headers.get('location')
  return location !== null && new URL(location, request.url).pathname === new URL(request.url).pathname
}
