/** Koa 2 and 3: `app.use(auth.koa.handler)`. */
import type { HandleOptions, Plugin, Session } from 'authkernel/kernel'
import { type SignInOptions } from './_actions.ts'
import { type GuardOptions, createFace } from './_face.ts'
import { type NodeRequest, type NodeResponse, answered, toRequest, toStream } from './_node.ts'
import { type Edge, isBelow } from './_target.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** The parts of a Koa context that are used here. */
export interface KoaContext {
  req: NodeRequest
  res: NodeResponse
  originalUrl: string
  /** `body` is what a parser left behind. */
  request: { body?: unknown; rawBody?: unknown }
  app: { proxy: boolean }
  ip: string
  protocol: string
  host: string
  state: { session?: Session | null }
  status: number
  body: unknown
  headerSent: boolean
  set(name: string, value: string): void
  append(name: string, value: string[]): void
}
/** A Koa middleware. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** What `auth.koa` offers. */
export interface KoaFace {
  /** Answers the routes of authkernel and leaves other paths alone. */
  handler: KoaMiddleware
  session(ctx: KoaContext): Promise<Session | null>
  /** Puts the session into `ctx.state.session`. */
  middleware: KoaMiddleware
  /** Lets people with a session pass; browsers are sent to the sign-in page and back, others get 401 JSON. */
  requireSession(options?: GuardOptions): KoaMiddleware
  signIn(ctx: KoaContext, provider?: string, options?: SignInOptions): Promise<void>
  signOut(ctx: KoaContext, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** Puts `koa` on `auth`. */
export function koaBinding(): Plugin<{ koa: KoaFace }> {
  return {
    name: 'koa',
    setup(kernel) {
      const face = createFace<KoaContext>(kernel, { request: (ctx) => toRequest(raw(ctx), edge(ctx)), options, cookies })
      return {
        koa: {
          session: face.session,
          async handler(ctx, next) {
            if (!isBelow(raw(ctx), kernel.config.basePath)) return next()
            send(ctx, await answered(raw(ctx), ctx.res, edge(ctx), (request) => kernel.doors.handler(request, options(ctx))))
          },
          async middleware(ctx, next) {
            ctx.state.session = await face.session(ctx)
            return next()
          },
          requireSession: (guard) => async (ctx, next) => {
            const refusal = await face.guard(ctx, guard)
            if (refusal) return send(ctx, refusal)
            ctx.state.session = await face.session(ctx)
            return next()
          },
          signIn: async (ctx, provider, how) => send(ctx, await face.signIn(ctx, provider, how)),
          signOut: async (ctx, how) => send(ctx, await face.signOut(ctx, how)),
        },
      }
    },
  }
}

/** Koa's own response: other middleware may still add to it on the way out. */
function send(ctx: KoaContext, response: Response): void {
  // Before the status: an empty body would change it to 204.
  ctx.body = response.body ? toStream(response.body) : ''
  ctx.status = response.status
  for (const [name, value] of response.headers) if (name !== 'set-cookie') ctx.set(name, value)
  cookies(ctx, response.headers)
}

function cookies(ctx: KoaContext, headers: Headers): void {
  const list = headers.getSetCookie()
  if (list.length > 0 && !ctx.headerSent) ctx.append('Set-Cookie', list)
}

// Koa's parsers fill `ctx.request`, not the raw request.
function raw(ctx: KoaContext): NodeRequest {
  return Object.assign(ctx.req, { originalUrl: ctx.originalUrl, body: ctx.request.body, rawBody: ctx.request.rawBody })
}

/** `app.proxy` is Koa's trust in forwarded headers, applied to these by Koa itself. */
function edge(ctx: KoaContext): Edge {
  return { protocol: ctx.protocol, host: ctx.host || undefined }
}

function options(ctx: KoaContext): HandleOptions {
  return { clientAddress: ctx.ip, trustForwarded: ctx.app.proxy }
}
