/** Koa 2 and 3: `app.use(auth.koa.handler)`. */
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import { type ConfigSource, type Kernels, kernelsOf } from './_shared/kernels.ts'
import type { GuardOptions } from './_shared/actions.ts'
import { createApi, type Api } from './_shared/node-api.ts'
import { type NodeRequest, type NodeResponse, toStream } from './_shared/node-request.ts'
import { forwardedHost } from './_shared/edge.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of a Koa context that are used here. */
export interface KoaContext {
  req: NodeRequest
  res: NodeResponse
  originalUrl: string
  /** `body` is what a parser left behind. */
  request: { ip: string; body?: unknown; rawBody?: unknown }
  app: { proxy: boolean }
  protocol: string
  state: { session?: Session | null }
  status: number
  body: unknown
  set(name: string, value: string): void
  append(name: string, value: string[]): void
}
/** A Koa middleware. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** What `auth.koa` offers. */
export interface KoaApi extends Pick<Api<KoaContext>, 'request' | 'session' | 'user' | 'signIn' | 'signOut'> {
  /** Answers the routes of authkernel, and the paths at the origin's root that plugins answer; leaves other paths alone. */
  handler: KoaMiddleware
  /** The paths at the origin's root that plugins answer, alone: for apps that call `handler` below a path only. */
  root: KoaMiddleware
  /** Puts the session into `ctx.state.session`. */
  middleware: KoaMiddleware
  /** Lets signed-in users pass; browsers are sent to the sign-in page and back, others get 401 JSON. */
  requireSession(options?: GuardOptions): KoaMiddleware
}

/** Puts `koa` on `auth`. */
export function koaBinding(options: NoOptions = {}): Plugin<{ koa: KoaApi }> {
  assertOptions('koaBinding', options, {})
  return { name: 'koa', setup: (kernel) => ({ koa: koaApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the context. */
export function KoaAuth(config: ConfigSource<KoaContext>, ...plugins: readonly Plugin[]): KoaApi {
  return koaApi(kernelsOf('koa', config, { plugins }))
}

/** The API over a kernel, or over one for each context. */
function koaApi(kernel: Kernels<KoaContext>): KoaApi {
  const api = createApi<KoaContext>({
    argument: { has: ['req', 'request', 'app'], say: "koa binding: give Koa's context: `auth.koa.session(ctx)`." },
    kernel,
    // Koa's parsers fill `ctx.request`, not the raw request.
    req: ({ req, request, originalUrl }) => Object.assign(req, { originalUrl, body: request.body, rawBody: request.rawBody }),
    res: ({ res }) => res,
    // Not `ctx.host`, which makes a host of what is none.
    edge: ({ req, protocol, app }) => ({ protocol, host: forwardedHost(req, app.proxy) }),
    options: ({ request, app }) => ({ clientAddress: request.ip, trustForwarded: app.proxy }),
    send: sendByKoa,
    cookies: appendKoaCookies,
  })
  return {
    request: api.request,
    session: api.session,
    user: api.user,
    signIn: api.signIn,
    signOut: api.signOut,
    handler: async (ctx, next) => (await api.handle(ctx)) || next(),
    root: async (ctx, next) => (await api.root(ctx)) || next(),
    async middleware(ctx, next) {
      ctx.state.session = await api.session(ctx)
      return next()
    },
    requireSession: (options) => async (ctx, next) => {
      ctx.state.session = await api.guard(ctx, options)
      return ctx.state.session && next()
    },
  }
}

/** Koa's own response: other middleware may still add to it on the way out. */
function sendByKoa(ctx: KoaContext, response: Response): void {
  // Before the status: an empty body would change it to 204.
  ctx.body = response.body ? toStream(response.body) : ''
  ctx.status = response.status
  for (const [name, value] of response.headers) if (name !== 'set-cookie') ctx.set(name, value)
  appendKoaCookies(ctx, response.headers)
}

function appendKoaCookies(ctx: KoaContext, headers: Headers): void {
  const list = headers.getSetCookie()
  if (list.length > 0) ctx.append('Set-Cookie', list)
}
