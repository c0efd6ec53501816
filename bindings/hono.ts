/** Hono 4 on every runtime: `app.use('/auth/*', auth.hono.handler)`, or `HonoAuth(config)`. */
import {
  assertOptions,
  type NoOptions,
  AuthError,
  type Awaitable,
  type Kernel,
  type Plugin,
  type Session,
  setHostRequest,
} from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { mountedAt } from './_shared/mount.ts'
import { addressFrom } from './_shared/edge.ts'
import { createWebApi } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of a Hono context that are used here. */
export interface HonoContext {
  req: {
    raw: Request
    /** Pattern of the running handler. */
    routePath?: string
    /** Bodies that a middleware has read. */
    bodyCache?: object
    formData(): Promise<FormData>
    text(): Promise<string>
  }
  env: unknown
  /** True once the response is made. */
  finalized: boolean
  header(name: string, value: string, options: { append: true }): void
  set(key: 'session', value: Session | null): void
}
/** A middleware of Hono. */
export type HonoHandler = (context: HonoContext, next: () => Promise<void>) => Promise<Response | void>
/** For `new Hono<HonoAuthEnv>()`: types what `middleware` and `requireSession` set. */
export interface HonoAuthEnv {
  Variables: { session: Session | null }
}

/** What `auth.hono` offers. */
export interface HonoApi {
  /**
   * Every route of authkernel; the wildcard route it is mounted at is the base path. Mounted without a path, or at `/.well-known/*`, it answers
   * what plugins have at the origin's root, too. Other paths go on to the next handler.
   */
  handler: HonoHandler
  /** The paths at the origin's root that plugins answer, alone: `app.use(auth.hono.root)` where `handler` is mounted at a path. */
  root: HonoHandler
  /** Puts the session into `c.var.session`; a refreshed cookie goes out with the response. */
  middleware: HonoHandler
  /** Lets signed-in users pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession(options?: GuardOptions): HonoHandler
  /** The session, read once per request. Rejects when the store is down (D38). */
  session(context: HonoContext): Promise<Session | null>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(context: HonoContext, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(context: HonoContext, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `hono` on `auth`. */
export function honoBinding(options: NoOptions = {}): Plugin<{ hono: HonoApi }> {
  assertOptions('honoBinding', options, {})
  return { name: 'hono', setup: (kernel) => ({ hono: honoApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the context: workers have their secrets in `c.env`. */
export function HonoAuth(config: ConfigSource<HonoContext>, ...plugins: readonly Plugin[]): HonoApi {
  return honoApi(kernelsOf('hono', config, { plugins }))
}

function honoApi(kernel: (context: HonoContext) => Awaitable<Kernel>): HonoApi {
  const api = createWebApi<HonoContext>({
    argument: { has: ['req', 'header'], say: "hono binding: give Hono's context: `auth.hono.session(c)`." },
    kernel,
    request: requestOf,
    options: ({ req, env }) => ({ clientAddress: addressFrom(env, req.raw) }),
    mount: ({ req }, basePath) => mountedAt(req.routePath, new URL(req.raw.url).pathname, basePath),
    cookies: (context, headers) => {
      for (const cookie of headers.getSetCookie()) context.header('Set-Cookie', cookie, { append: true })
    },
    writable: ({ finalized }) => !finalized,
  })
  const session: HonoApi['session'] = (context) => api.session(context).catch(toAnswerable)
  return {
    session,
    signIn: (context, provider, options) => api.signIn(context, provider, options).catch(toAnswerable),
    signOut: (context, options) => api.signOut(context, options).catch(toAnswerable),
    handler: async (context, next) => (await api.route(context)) ?? next(),
    root: async (context, next) => (await api.root(context)) ?? next(),
    async middleware(context, next) {
      context.set('session', await session(context))
      await next()
    },
    requireSession: (options) => async (context, next) => {
      const found = await api.guard(context, options).catch(toAnswerable)
      if (found instanceof Response) return found
      context.set('session', found)
      return next()
    },
  }
}

/**
 * Throws an error on, with what Hono's own error handler asks errors for: without it a wrong password that the app does not catch would be
 * answered 500 instead of the error's own status.
 */
function toAnswerable(error: unknown): never {
  if (error instanceof AuthError && !('getResponse' in error)) {
    const { status } = error
    const say = status === 401 ? 'Unauthorized' : status === 403 ? 'Forbidden' : status < 500 ? 'Refused' : 'Internal Server Error'
    Object.defineProperty(error, 'getResponse', { value: () => new Response(say, { status, headers: { 'Cache-Control': 'no-store' } }) })
  }
  throw error
}

/** A body that a parser has read is made again: Hono keeps what it read. */
async function requestOf({ req }: HonoContext): Promise<Request> {
  const { raw, bodyCache = {} } = req
  if (!raw.bodyUsed || Object.keys(bodyCache).length === 0) return raw
  const headers = new Headers(raw.headers)
  headers.delete('content-length')
  const form = 'formData' in bodyCache || 'parsedBody' in bodyCache
  const body = form ? new URLSearchParams([...(await req.formData())].map(([name, value]) => [name, String(value)])) : await req.text()
  // Multipart would come back with another boundary than its header says.
  if (form) headers.set('content-type', 'application/x-www-form-urlencoded')
  return setHostRequest(new Request(raw.url, { method: raw.method, headers, body }), raw)
}
