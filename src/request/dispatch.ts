/** From a request to a response: the order of all steps (docs/architecture.md). */
import type { Match, Route } from '../contract/route.ts'
import { AuthError, CallbackRouteError, HttpError, OAuthSignInError, UnknownAction } from '../errors/index.ts'
import { RequestTimeout, withTimeout } from '../errors/deadlines.ts'
import { bodyType } from '../http/body.ts'
import { isCanonical, pathBelow } from '../http/path.ts'
import { assertSameSite } from './csrf.ts'
import { configurationAnswer, failureAnswer, refusalAnswer, tryAnswer } from './failure.ts'
import { finishResponse, answerPreflight } from './finish.ts'
import type { RequestContext } from './request-context.ts'
import { callbackProtection, wrongMethod } from './handlers.ts'

/** Answers one request. With `throws`, AuthErrors go to the caller (the spec's `raw`). */
export function dispatch(ctx: RequestContext, throws: boolean): Promise<Response> {
  return ctx.compiled.observers.length === 0 ? answerRequest(ctx, throws) : dispatchObserved(ctx, throws)
}

async function dispatchObserved(ctx: RequestContext, throws: boolean): Promise<Response> {
  const work = (): Promise<Response> => answerRequest(ctx, throws)
  return ctx.compiled.observers.reduceRight((inner, { request }) => (request ? () => request(ctx, inner) : inner), work)()
}

async function answerRequest(ctx: RequestContext, throws: boolean): Promise<Response> {
  try {
    return finishResponse(ctx, await shapeAnswer(ctx, await serveInTime(ctx)))
  } catch (error) {
    if (error instanceof HttpError) {
      // Refused before any flow began, and logged all the same (row 274).
      if (error.reason) ctx.logger.error(error.reason)
      await emitRefused(ctx, reasonOf(error), error.reason ?? error)
      return finishResponse(ctx, await shapeAnswer(ctx, await refusalAnswer(ctx, error)))
    }
    // Values of a flow that failed must not stay in the browser; deletions must reach it.
    ctx.jar.dropValues()
    const failure = await reportFailure(ctx, error)
    if (throws && !ctx.request.headers.has('x-auth-return-redirect')) throw failure
    return finishResponse(ctx, await shapeAnswer(ctx, await failureAnswer(ctx, failure, ctx.matched)), true)
  }
}

/** The form that a plugin gives an answer: clients of another product read other forms. */
async function shapeAnswer(ctx: RequestContext, response: Response): Promise<Response> {
  if (!ctx.has('hook', 'response')) return response
  return (await tryAnswer(ctx, () => ctx.ask('response', { response }))) ?? response
}

/** The whole request has a deadline: every client gets an answer (D31). */
function serveInTime(ctx: RequestContext): Promise<Response> {
  const { request: deadline } = ctx.app.config.deadlines
  return withTimeout(serveRequest(ctx), deadline, () => {
    const error = new RequestTimeout(`The request took longer than ${deadline} ms (deadlines.request).`)
    ctx.abort(error)
    return error
  })
}

async function serveRequest(ctx: RequestContext): Promise<Response> {
  const { compiled, request } = ctx
  const { pathname, search } = ctx.sent
  const path = pathBelow(ctx.basePath, pathname, compiled)
  const inBase = path === undefined ? undefined : compiled.routes.find(request.method, path)
  const match = inBase ?? compiled.routes.findRoot(request.method, pathname)
  if (!match) throw notServed(ctx)
  if (request.method === 'OPTIONS')
    return answerPreflight(ctx, inBase ? (path as string) : pathname, match.info.at) ?? refuseMethod(ctx, match)
  // One spelling a path: a guard of the host, a proxy or a log must mean what is routed.
  if (inBase && !isCanonical(ctx.basePath, pathname, path as string)) return redirectToCanonical(ctx, path as string, search)
  if (match.route) ctx.enter(match)
  else if (match.info.plugin !== 'kernel' || (request.method !== 'GET' && request.method !== 'POST')) return refuseMethod(ctx, match)
  if (compiled.fault) return configurationAnswer(ctx, compiled.fault)
  const untrusted = faultOf(() => ctx.origin)
  if (untrusted) {
    await emitRefused(ctx, 'host', untrusted)
    return configurationAnswer(ctx, untrusted)
  }
  const answer = ctx.has('hook', 'request') ? await ctx.ask('request', {}) : undefined
  return answer ?? runHandler(ctx, match)
}

async function runHandler(ctx: RequestContext, match: Match): Promise<Response> {
  // A route of the kernel that exists for the other method only: still that route (rows 10, 18).
  if (!match.route) throw wrongMethod(ctx)
  ctx.assertOneCredential()
  // Before anything of the flow is used up.
  if (match.info.flow) ctx.assertNoCredential()
  // A GET has no body and takes no token; what is left to look at is its provider.
  if (match.route.method !== 'GET' || ctx.params['provider'] !== undefined) await checkRequest(ctx, match)
  return responseOf(match, await match.route.handler(ctx))
}

/**
 * What must hold before a handler runs: provider, method of the callback, type of the body, Origin and CSRF token, in this order. Rejects with
 * InvalidProvider, HttpError 415, MissingCSRF or CrossSiteRequest.
 */
async function checkRequest(ctx: RequestContext, { route, info }: Match & { route: Route }): Promise<void> {
  if (ctx.params['provider'] !== undefined) await ctx.provider()
  // The type of the provider knows what protects its callback: state, for a form that the provider posts.
  const kind = info.flow === 'callback' && info.plugin === 'kernel' ? await callbackProtection(ctx) : protectionOf(route)
  const { types } = route.body ?? {}
  const type = types && route.method !== 'GET' ? bodyType(ctx.request) : undefined
  if (type && !types?.includes(type)) {
    throw new HttpError(415, 'Unsupported media type.')
  }
  if (kind === 'token') await assertSameSite(ctx, ctx.options.csrf)
  if (kind === 'origin') await assertSameSite(ctx, 'origin')
}

function protectionOf({ method, csrf = 'token' }: Route): NonNullable<Route['csrf']> {
  if (method === 'GET') return 'crossSite'
  // What is no known word is refused at compile. Should it come here, it is checked.
  return csrf === 'crossSite' || csrf === 'bearer' || csrf === 'origin' ? csrf : 'token'
}

function responseOf({ info: { method, path, plugin } }: Match, answer: Response): Response {
  if (answer instanceof Response || isResponse(answer)) return answer
  const what = answer === null ? 'null' : typeof answer
  throw new AuthError(`The route ${method} ${path} of plugin "${plugin}" answered ${what}: its handler must return a Response.`)
}

/** Of another realm, or of a polyfill. */
function isResponse(answer: unknown): boolean {
  return typeof (answer as Response | undefined)?.status === 'number' && typeof (answer as Response).headers?.get === 'function'
}

/** The same address in its canonical form: browsers are redirected, other requests get 400. */
function redirectToCanonical(ctx: RequestContext, path: string, search: string): Response {
  if (ctx.request.method !== 'GET' && ctx.request.method !== 'HEAD') throw notServed(ctx)
  const base = ctx.basePath === '/' ? '' : ctx.basePath
  return new Response(null, {
    status: 308,
    headers: { Location: `${base}${path === '/' ? '' : path}${search}`, 'Cache-Control': 'private, no-store' },
  })
}

function refuseMethod(ctx: RequestContext, match: Match): never {
  if (match.info.plugin === 'kernel') throw notServed(ctx)
  const allow = match.route ? [match.route.method] : match.allow
  throw new HttpError(405, 'Method not allowed.', { Allow: allow.join(', ') }, wrongMethod(ctx))
}

/** One log entry and, for a sign-in, one event per failure. */
async function reportFailure(ctx: RequestContext, thrown: unknown): Promise<AuthError> {
  const error = toAuthError(ctx, thrown)
  ctx.logger.error(error)
  if (ctx.route?.flow) {
    const { subject: user, account } = ctx
    const tried = await ctx.tried()
    await ctx.emit('signInFailed', {
      provider: ctx.params['provider'] ?? account?.provider,
      error,
      ...(user && { user }),
      ...(account && { account }),
      ...(tried !== undefined && { tried }),
    })
  } else {
    await emitRefused(ctx, error.type, error)
  }
  return error
}

async function emitRefused(ctx: RequestContext, reason: string, error: Error): Promise<void> {
  await ctx.emit('refused', { reason, route: ctx.route, error })
}

function reasonOf({ status }: HttpError): string {
  return ({ 405: 'method', 413: 'body', 415: 'body', 429: 'limit' } as Record<number, string>)[status] ?? 'path'
}

/** Unforeseen errors get a name and the provider, so that a log says where to look (row 276). */
function toAuthError(ctx: RequestContext, thrown: unknown): AuthError {
  if (thrown instanceof AuthError) return thrown
  const err = thrown instanceof Error ? thrown : new Error(String(thrown))
  const provider = ctx.params['provider']
  const details = { cause: { err, provider } }
  if (ctx.route?.flow === 'callback') return new CallbackRouteError(err.message, details)
  if (ctx.route?.flow === 'signIn') return new OAuthSignInError(err.message, details)
  if (!ctx.route || ctx.route.plugin === 'kernel') return new AuthError(err)
  const { method, path, plugin } = ctx.route
  return new AuthError(`The route ${method} ${path} of plugin "${plugin}" threw: ${err.message}`, details)
}

function faultOf(read: () => unknown): AuthError | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return error instanceof AuthError ? error : new AuthError(error as Error)
  }
}

/** Not a path or a method of the library (rows 1 to 3). */
function notServed({ request }: RequestContext): HttpError {
  const reason = new UnknownAction(`${request.method} ${new URL(request.url).pathname.slice(0, 200)} is not a route of authkernel.`)
  return new HttpError(400, 'Bad request.', {}, reason)
}
