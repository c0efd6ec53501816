/** Express 4 and 5: `createAuth().use(expressBinding())`, or `ExpressAuth(config)` and `getSession(req, config)`. */
import { createAuth } from 'authkernel'
import type { Auth, AuthConfig } from 'authkernel'
import { SessionTokenError } from 'authkernel/kernel'
import type { HandleOptions, Kernel, Plugin, Session } from 'authkernel/kernel'
import type { SignInOptions } from './_actions.ts'
import { type GuardOptions, createFace } from './_face.ts'
import { mountPath } from './_mount.ts'
import { type NodeRequest, type NodeResponse, appendCookies, respond, sendResponse, toRequest } from './_node.ts'
import { type Edge, isBelow } from './_target.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { SignInOptions } from './_actions.ts'
export type { GuardOptions } from './_face.ts'

declare global {
  namespace Express {
    interface Locals {
      /** Set by `auth.express.middleware` and `requireSession`; null: nobody is signed in. */
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
  app: { get(setting: string): unknown }
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
export interface ExpressFace {
  /** Every route of authkernel: `app.use('/auth', auth.express.handler)`. */
  handler: ExpressHandler
  /** The session of a request, read once per request; a refreshed cookie goes out with `req.res`. Rejects when the store is down (D38). */
  session(req: ExpressRequest): Promise<Session | null>
  /** The signed-in user. */
  user(req: ExpressRequest): Promise<NonNullable<Session['user']> | null>
  /** Puts the session into `res.locals.session`. */
  middleware: ExpressHandler
  /** Lets people with a session pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession: ExpressHandler & ((options?: GuardOptions) => ExpressHandler)
  /** Signs in from a route of the host and answers with the redirect. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(req: ExpressRequest, provider?: string, options?: SignInOptions): Promise<void>
  /** Signs out from a route of the host and answers with the redirect; default target: the page that sent the form. */
  signOut(req: ExpressRequest, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** `auth.express`, see `ExpressFace`. */
export function expressBinding(): Plugin<{ express: ExpressFace }> {
  return { name: 'express', setup: (kernel) => ({ express: expressFace(kernel) }) }
}

const instances = new WeakMap<AuthConfig, Auth<{ express: ExpressFace }>>()

/** The handler of a configuration: `app.use('/auth/*splat', ExpressAuth(config))` (row 289). */
export function ExpressAuth(config: Omit<AuthConfig, 'raw'>): ExpressHandler {
  return instance(config).express.handler
}

/** The session of a request under the configuration given to `ExpressAuth` (row 290). */
export function getSession(req: ExpressRequest, config: Omit<AuthConfig, 'raw'>): Promise<Session | null> {
  return instance(config).express.session(req)
}

function instance(config: Omit<AuthConfig, 'raw'>): Auth<{ express: ExpressFace }> {
  let auth = instances.get(config)
  if (!auth) instances.set(config, (auth = createAuth(config).use(expressBinding())))
  return auth
}

function expressFace(kernel: Kernel): ExpressFace {
  const face = createFace<ExpressRequest>(kernel, { request: (req) => toRequest(req, edge(req)), options, cookies: addCookies })
  const guarded =
    (guard: GuardOptions): ExpressHandler =>
    (req, res, next) =>
      attempt(res, next, async () => {
        const refusal = await face.guard(req, guard)
        if (refusal) await sendResponse(res, refusal)
        else Object.assign(res.locals, { session: await face.session(req) })
        return !refusal
      })
  const always = guarded({})

  return {
    session: face.session,
    user: face.user,
    handler: (req, res, next) =>
      attempt(res, next, async () => {
        const basePath = mountPath(req)
        // `app.use(handler)`: the rest of the app is not ours.
        if (basePath === undefined && !isBelow(req, kernel.config.basePath)) return true
        await respond(req, res, edge(req), (request) => kernel.doors.handler(request, { ...options(req), basePath }))
        return false
      }),
    middleware: (req, res, next) =>
      attempt(res, next, async () => {
        Object.assign(res.locals, { session: await face.session(req) })
        return true
      }),
    requireSession: ((...args: Parameters<ExpressHandler> | [GuardOptions?]) =>
      args.length === 3 ? always(...args) : guarded(args[0] ?? {})) as ExpressFace['requireSession'],
    signIn: async (req, provider, how) => sendResponse(responseOf(req), await face.signIn(req, provider, how)),
    signOut: async (req, how) => sendResponse(responseOf(req), await face.signOut(req, how)),
  }
}

/** Runs `work`; `next()` when it says so, `next(error)` when it fails, neither when it has answered (row 298). */
async function attempt(res: ExpressResponse, next: Next, work: () => Promise<boolean>): Promise<void> {
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

function addCookies(req: ExpressRequest, headers: Headers): void {
  if (req.res && !req.res.headersSent) appendCookies(req.res, headers)
}

function responseOf(req: ExpressRequest): ExpressResponse {
  if (req.res) return req.res
  throw new Error('express binding: this request has no response. Call signIn and signOut with the request of a running route.')
}

/** Express applied its `trust proxy` setting to protocol and address; the host of version 4 lacks the port, so it is read here. */
function edge(req: ExpressRequest): Edge {
  const forwarded = trusts(req) ? req.headers['x-forwarded-host'] : undefined
  const host = (Array.isArray(forwarded) ? forwarded[0] : forwarded)?.split(',')[0]?.trim()
  return { protocol: req.protocol, host: host || undefined }
}

function trusts(req: ExpressRequest): boolean {
  const trust = req.app.get('trust proxy fn')
  return typeof trust === 'function' && trust(req.socket.remoteAddress, 0) === true
}

/** Without a base path: in routes of the host the mount is not known, so that of the configuration counts. */
function options(req: ExpressRequest): HandleOptions {
  return { clientAddress: req.ip, trustForwarded: trusts(req) }
}
