/** From a request to a response: the order in which everything is asked (docs/architecture.md). */
import type { Awaitable } from '../contract/data.ts'
import type { Match } from '../contract/route.ts'
import { AuthError, CallbackRouteError, HttpError, OAuthSignInError, UnknownAction } from '../errors/index.ts'
import { RequestTimeout, withTimeout } from '../errors/deadlines.ts'
import { isCanonical, pathBelow } from '../http/path.ts'
import { assertNoCredential, assertOneCredential } from '../registry/presented.ts'
import { admit } from './admit.ts'
import { configurationAnswer, failureAnswer, refusalAnswer } from './failure.ts'
import { finish, preflight } from './finish.ts'
import type { RequestContext } from './request-context.ts'
import { wrongMethod } from './handlers.ts'

/** Answers one request. With `throws`, AuthErrors go to the caller (the spec's `raw`). */
export function dispatch(ctx: RequestContext, throws: boolean): Promise<Response> {
  return ctx.compiled.observers.length === 0 ? answered(ctx, throws) : observed(ctx, throws)
}

async function observed(ctx: RequestContext, throws: boolean): Promise<Response> {
  const work = (): Promise<Response> => answered(ctx, throws)
  return ctx.compiled.observers.reduceRight((inner, { request }) => (request ? () => request(ctx, inner) : inner), work)()
}

async function answered(ctx: RequestContext, throws: boolean): Promise<Response> {
  try {
    const serving = serve(ctx)
    return finish(ctx, isLater(serving) ? await inTime(ctx, serving) : serving)
  } catch (error) {
    if (error instanceof HttpError) {
      // Refused before any flow began, and logged all the same (row 274).
      if (error.reason) ctx.logger.error(error.reason)
      await refused(ctx, reasonOf(error), error.reason ?? error)
      return finish(ctx, await refusalAnswer(ctx, error))
    }
    // Values of a flow that failed must not stay in the browser; deletions must reach it.
    ctx.jar.dropValues()
    const failure = await report(ctx, error)
    if (throws && !ctx.request.headers.has('x-auth-return-redirect')) throw failure
    return finish(ctx, await failureAnswer(ctx, failure, ctx.matched), true)
  }
}

// No async function: most requests have nothing to wait for before their handler runs, and each turn that is waited costs.
function serve(ctx: RequestContext): Awaitable<Response> {
  const { compiled, request } = ctx
  const { pathname, search } = ctx.sent
  const path = pathBelow(ctx.basePath, pathname, compiled)
  const inBase = path === undefined ? undefined : compiled.routes.find(request.method, path)
  const match = inBase ?? compiled.routes.findRoot(request.method, pathname)
  if (!match) throw notServed(ctx)
  if (request.method === 'OPTIONS') return preflight(ctx, inBase ? (path as string) : pathname, match.info.at) ?? refuseMethod(ctx, match)
  // One spelling a path: a guard of the host, a proxy or a log must mean what is routed.
  if (inBase && !isCanonical(ctx.basePath, pathname, path as string)) return elsewhere(ctx, path as string, search)
  if (match.route) {
    ctx.enter(match)
  } else if (match.info.plugin !== 'kernel' || (request.method !== 'GET' && request.method !== 'POST')) {
    return refuseMethod(ctx, match)
  }
  if (compiled.fault) return configurationAnswer(ctx, compiled.fault)
  const untrusted = faultOf(() => ctx.origin)
  if (untrusted) return untrustedAnswer(ctx, untrusted)
  return compiled.bus.known.has('hook:request') ? asked(ctx, match) : handled(ctx, match)
}

async function untrustedAnswer(ctx: RequestContext, untrusted: AuthError): Promise<Response> {
  await refused(ctx, 'host', untrusted)
  return configurationAnswer(ctx, untrusted)
}

async function asked(ctx: RequestContext, match: Match): Promise<Response> {
  return (await ctx.ask('request', {})) ?? handled(ctx, match)
}

function handled(ctx: RequestContext, match: Match): Awaitable<Response> {
  // A route of the kernel that exists for the other method only: still that route (rows 10, 18).
  if (!match.route) throw wrongMethod(ctx)
  assertOneCredential(ctx)
  // Before anything of the flow is used up.
  if (match.info.flow) assertNoCredential(ctx)
  const { handler } = match.route
  const answer = admit(ctx, match)?.then(() => handler(ctx)) ?? handler(ctx)
  return isLater(answer) ? answer.then((later) => responseOf(match, later)) : responseOf(match, answer)
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

/** The same address in its canonical form: browsers are led there, programs are told. */
function elsewhere(ctx: RequestContext, path: string, search: string): Response {
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
async function report(ctx: RequestContext, thrown: unknown): Promise<AuthError> {
  const error = named(ctx, thrown)
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
    await refused(ctx, error.type, error)
  }
  return error
}

async function refused(ctx: RequestContext, reason: string, error: Error): Promise<void> {
  await ctx.emit('refused', { reason, route: ctx.route, error })
}

function reasonOf({ status }: HttpError): string {
  return ({ 405: 'method', 413: 'body', 415: 'body', 429: 'limit' } as Record<number, string>)[status] ?? 'path'
}

/** Unforeseen errors get a name and the provider, so that a log says where to look (row 276). */
function named(ctx: RequestContext, thrown: unknown): AuthError {
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

/** The whole request has a deadline: whoever waits gets an answer (D31). */
function inTime(ctx: RequestContext, work: PromiseLike<Response>): Promise<Response> {
  const { request: deadline } = ctx.app.config.deadlines
  return withTimeout(work, deadline, () => {
    const error = new RequestTimeout(`The request took longer than ${deadline} ms (deadlines.request).`)
    ctx.abort(error)
    return error
  })
}

function isLater(answer: Awaitable<Response>): answer is PromiseLike<Response> {
  return typeof (answer as { then?: unknown } | undefined)?.then === 'function'
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
