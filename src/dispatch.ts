/** From a request to a response: the order in which everything is asked (DESIGN section 4, "POST order"). */
import { assertSameSite } from './csrf.ts'
import { RequestTimeout, within } from './deadline.ts'
import { AuthError, CallbackRouteError, HttpError, OAuthSignInError, UnknownAction } from './errors.ts'
import { configurationAnswer, failureAnswer, httpAnswer } from './failure.ts'
import type { Route } from './plugin.ts'
import { json } from './responses.ts'
import { pathBelow } from './router.ts'
import { assertCallbackMethod, isLoneAction, leadsNowhere, wrongMethod } from './routes.ts'
import type { RequestContext } from './request-context.ts'

/** Answers one request. With `throws`, AuthErrors go to the caller (the spec's `raw`). */
export async function dispatch(ctx: RequestContext, throws: boolean): Promise<Response> {
  try {
    return finish(ctx, await inTime(ctx, () => serve(ctx)))
  } catch (error) {
    if (error instanceof HttpError) {
      // Refused before any flow began, and logged all the same (row 274).
      if (error.reason) ctx.logger.error(error.reason)
      return finish(ctx, httpAnswer(error))
    }
    // Values of a flow that failed must not stay in the browser; deletions must reach it.
    ctx.jar.dropValues()
    const failure = await report(ctx, error)
    if (throws && !ctx.request.headers.has('x-auth-return-redirect')) throw failure
    return finish(ctx, await failureAnswer(ctx, failure, routeOf(ctx)), true)
  }
}

async function serve(ctx: RequestContext): Promise<Response> {
  const { app, request } = ctx
  const { pathname } = new URL(request.url)
  if (request.method !== 'GET' && request.method !== 'POST') throw notServed(ctx)
  const path = pathBelow(ctx.basePath, pathname)
  const match = path === undefined ? undefined : app.routes.find(request.method, path)
  if (match === undefined && !isLoneAction(path)) throw notServed(ctx)
  if (app.fault) return configurationAnswer(ctx, app.fault)
  const untrusted = faultOf(() => ctx.origin)
  if (untrusted) return configurationAnswer(ctx, untrusted)

  const early = app.bus.has('hook', 'request') ? await ctx.ask('request', { ctx }) : undefined
  if (early) return early
  // A provider id in the path of a route that exists for the other method only: still that route (rows 10, 18).
  if (match === 'wrong-method') throw wrongMethod(ctx)
  if (match === undefined) throw leadsNowhere(ctx)
  const { route, params } = match
  ctx.params = params
  ctx.route = route
  await admit(ctx, route)
  return route.handler(ctx)
}

/** Provider, method, Origin, CSRF: in this order, before any handler runs. */
async function admit(ctx: RequestContext, route: Route): Promise<void> {
  if (ctx.params['provider'] !== undefined) await ctx.provider()
  const protection = route.path === '/callback/:provider' ? await assertCallbackMethod(ctx) : 'csrf'
  if (route.method === 'POST' && route.csrf !== false && protection === 'csrf') await assertSameSite(ctx, ctx.options.csrf)
}

/** One log entry and, for a sign-in, one event per failure. */
async function report(ctx: RequestContext, thrown: unknown): Promise<AuthError> {
  const error = named(ctx, thrown)
  ctx.logger.error(error)
  const path = routeOf(ctx)?.path
  if (path === '/signin/:provider' || path === '/callback/:provider') {
    const user = ctx.subject
    await ctx.emit('signInFailed', { provider: ctx.params['provider'], error, ...(user && { user }) })
  }
  return error
}

/** Unforeseen errors get a name and the provider, so that a log says where to look (row 276). */
function named(ctx: RequestContext, thrown: unknown): AuthError {
  if (thrown instanceof AuthError) return thrown
  const err = thrown instanceof Error ? thrown : new Error(String(thrown))
  const provider = ctx.params['provider']
  const path = routeOf(ctx)?.path
  if (path === '/callback/:provider') return new CallbackRouteError(err.message, { cause: { err, provider } })
  // On the error page, like everything without a name of its own (WIRE section 12).
  if (path === '/signin/:provider')
    return Object.assign(new OAuthSignInError(err.message, { cause: { err, provider } }), { kind: 'error' as const })
  return new AuthError(err)
}

function routeOf(ctx: RequestContext): Route | undefined {
  return ctx.route
}

/** The whole request has a deadline: whoever waits gets an answer (D31). */
async function inTime(ctx: RequestContext, work: () => Promise<Response>): Promise<Response> {
  const { request: deadline } = ctx.app.config.deadlines
  return within(work(), deadline, () => {
    const error = new RequestTimeout(`The request took longer than ${deadline} ms (deadlines.request).`)
    ctx.abort(error)
    return error
  })
}

/** Adds cookies and cache headers, and turns redirects into JSON for clients that ask for it (rows 21, 22). */
function finish(ctx: RequestContext, response: Response, failed = false): Response {
  // Nothing to add: a copy would cost more than reading the session did.
  if (ctx.jar.empty && response.type === 'default' && response.headers.has('cache-control') && !response.headers.has('location'))
    return response
  // Responses may be immutable: redirects of the platform, answers of a fetch.
  const headers = new Headers(response.headers)
  ctx.jar.write(headers)
  if (!headers.has('cache-control') && !isPublic(ctx)) headers.set('Cache-Control', 'private, no-store')
  const location = headers.get('location')
  if (location !== null && ctx.request.headers.has('x-auth-return-redirect')) {
    // Clients read it with `new URL(url)`: it must be absolute.
    const url = location.startsWith('/') && !ctx.lenientOrigin ? ctx.origin + location : location
    headers.set('Content-Type', 'application/json')
    // Scripts tell the two apart by it (WIRE section 3).
    if (failed) headers.delete('location')
    return new Response(JSON.stringify({ url }), { status: 200, headers })
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}

function isPublic(ctx: RequestContext): boolean {
  return ctx.route?.path === '/providers'
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

/** Used when not even a context can be made. */
export function bareFailure(): Response {
  return json({ message: 'There was a problem with the server configuration. Check the server logs for more information.' }, 500)
}
