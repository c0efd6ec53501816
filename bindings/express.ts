/** Express 4 and 5: `createAuth().use(expressBinding())`, or `ExpressAuth(config)` and `getSession(req, config)`. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import { SessionTokenError } from 'authkernel/errors'
import { type ConfigSource, type Kernels, kernelsOf } from './_shared/kernels.ts'
import type { GuardOptions } from './_shared/actions.ts'
import { createApi, type Api } from './_shared/node-api.ts'
import { mountPath } from './_shared/mount.ts'
import { appendCookies, type NodeRequest, type NodeResponse, sendResponse } from './_shared/node-request.ts'
import { forwardedHost } from './_shared/edge.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

declare global {
  namespace Express {
    interface Locals {
      /** Set by `auth.express.middleware` and `requireSession`; null: signed out. */
      session?: Session | null
    }
  }
}

/** The parts of an Express request that are used here. */
export interface ExpressRequest extends NodeRequest {
  originalUrl: string
  baseUrl: string
  protocol: string
  ip?: string | undefined
  params: unknown
  app?: { get(setting: string): unknown }
  res?: ExpressResponse | undefined
}
/** The parts of an Express response that are used here. */
export interface ExpressResponse extends NodeResponse {
  locals: object
}
/** Of Express and Connect. */
export type Next = (error?: unknown) => void
/** A middleware whose promise fulfils when the answer is sent or handed on. */
export type ExpressHandler = (req: ExpressRequest, res: ExpressResponse, next: Next) => Promise<void>

/** What `auth.express` offers. */
export interface ExpressApi extends Pick<Api<ExpressRequest>, 'request' | 'session' | 'user' | 'signIn' | 'signOut'> {
  /** Every route of authkernel: `app.use('/auth', auth.express.handler)`. */
  handler: ExpressHandler
  /**
   * Paths below `/.well-known/` at the origin's root that plugins answer: `app.use(auth.express.root)`. Needed where `handler` is mounted at a
   * path; mounted without one, it answers them.
   */
  root: ExpressHandler
  /** Puts the session into `res.locals.session`. */
  middleware: ExpressHandler
  /** Lets signed-in users pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession: ExpressHandler & ((options?: GuardOptions) => ExpressHandler)
}

/** Options of `ExpressAuth` and `getSession`: those of `createAuth` without `raw`. */
export type ExpressAuthConfig = Omit<AuthConfig, 'raw'>
/** Result of `getSession`: the session, or `null` for a request without a valid session. */
export type GetSessionResult = Promise<Session | null>

/**
 * `auth.express`, see `ExpressApi`.
 * @experimental The API may change in a minor version.
 */
export function expressBinding(options: NoOptions = {}): Plugin<{ express: ExpressApi }> {
  assertOptions('expressBinding', options, {})
  return { name: 'express', setup: (kernel) => ({ express: expressApi(() => kernel) }) }
}

/**
 * The handler of a configuration, or of a function of the request: `app.use('/auth/*splat', ExpressAuth(config))` (row 289).
 * @experimental The API may change in a minor version.
 */
export function ExpressAuth(config: ConfigSource<ExpressRequest>, ...plugins: readonly Plugin[]): ExpressHandler {
  return apiOf(config, plugins).handler
}

/**
 * The session of a request under the configuration given to `ExpressAuth` (row 290).
 * @experimental The API may change in a minor version.
 */
export function getSession(req: ExpressRequest, config: ConfigSource<ExpressRequest>): GetSessionResult {
  return apiOf(config).session(req)
}

/** The API over a kernel, or over one for each request. */
function expressApi(kernel: Kernels<ExpressRequest>): ExpressApi {
  const api = createApi<ExpressRequest>({
    argument: { has: ['headers'], not: 'bodyUsed', say: "express binding: give Express's request: `auth.express.session(req)`." },
    kernel,
    req: (req) => req,
    res: ({ res }) => res,
    // Express applied its `trust proxy` setting to the protocol; its host lacks the port in version 4.
    edge: (req) => ({ protocol: req.protocol, host: forwardedHost(req, trustsProxy(req)) }),
    options: (req) => ({ clientAddress: req.ip, trustForwarded: trustsProxy(req) }),
    mount: mountPath,
    send: (req, response) => sendResponse(findResponse(req), response),
    cookies: (req, headers) => appendCookies(findResponse(req), headers),
  })
  /** Hands on with the session in `res.locals`, unless there is none to hand on with. */
  const handOnSession =
    (read: (req: ExpressRequest) => Promise<Session | null>, optional: boolean): ExpressHandler =>
    (req, res, next) =>
      runMiddleware(res, next, async () => {
        const session = await read(req)
        Object.assign(res.locals, { session })
        return optional || session !== null
      })
  const always = handOnSession((req) => api.guard(req), false)

  return {
    request: api.request,
    session: api.session,
    user: api.user,
    signIn: api.signIn,
    signOut: api.signOut,
    // `app.use(handler)`: paths that are not below the base path are the rest of the app.
    handler: (req, res, next) => runMiddleware(res, next, async () => !(await api.handle(req))),
    root: (req, res, next) => runMiddleware(res, next, async () => !(await api.root(req))),
    middleware: handOnSession(api.session, true),
    requireSession: ((...args: Parameters<ExpressHandler> | [GuardOptions?]) =>
      args.length === 3 ? always(...args) : handOnSession((req) => api.guard(req, args[0]), false)) as ExpressApi['requireSession'],
  }
}

const apis = new WeakMap<ConfigSource<ExpressRequest>, ExpressApi>()

/** One api for a configuration, however many calls name it; the one that brings plugins counts. */
function apiOf(config: ConfigSource<ExpressRequest>, plugins: readonly Plugin[] = []): ExpressApi {
  let api = plugins.length === 0 ? apis.get(config) : undefined
  if (!api) apis.set(config, (api = expressApi(kernelsOf('express', config, { plugins }))))
  return api
}

/** Runs `work`; `next()` when it says so, `next(error)` when it fails, neither when it has answered (row 298). */
async function runMiddleware(res: ExpressResponse, next: Next, work: () => Promise<boolean>): Promise<void> {
  let more: boolean
  try {
    more = await work()
  } catch (error) {
    // Express takes the status of its error page from here: a store that is down is no bug of the page (D38).
    if (error instanceof SessionTokenError && !res.headersSent) res.statusCode = 503
    return next(error)
  }
  // Outside the try: what later handlers throw is not ours to catch.
  if (more) next()
}

function findResponse(req: ExpressRequest): ExpressResponse {
  if (req.res) return req.res
  throw new Error('express binding: this request has no response. Call signIn and signOut with the request of a running route.')
}

function trustsProxy(req: ExpressRequest): boolean {
  // No app: an upgrade request, which never went through Express.
  const trust = req.app?.get('trust proxy fn')
  return typeof trust === 'function' && trust(req.socket.remoteAddress, 0) === true
}
