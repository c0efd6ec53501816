/** What a failure looks like from outside: a status, a page, and never a detail. */
import type { Route } from '../contract/route.ts'
import { CrossSiteRequest } from '../errors/kernel-errors.ts'
import { AuthError, CredentialsSignin, ErrorPageLoop, HttpError, rowOf, UnknownAction, visibleType } from '../errors/index.ts'
import { overloadOf, RequestTimeout, withTimeout } from '../errors/deadlines.ts'
import { pathBelow } from '../http/path.ts'
import { withParams } from '../http/redirect.ts'
import { json, redirectTo, text } from '../http/messages.ts'
import type { RequestContext } from './request-context.ts'

const configurationMessage = 'There was a problem with the server configuration. Check the server logs for more information.'
// Seconds after which a server that failed may be asked again.
const defaultWait = 2
const pagePaths = new Set(['/signin', '/signout', '/error', '/verify-request'])

/** Answer to an `AuthError` that was already reported, with the headers that its cause names. */
export async function failureAnswer(ctx: RequestContext, error: AuthError, route: Route | undefined): Promise<Response> {
  const answer = await plainAnswer(ctx, error, route)
  const busy = overloadAt(ctx, error)
  // A route in a form of its own may know no overload.
  const status = busy !== undefined && answer.status >= 400 ? 503 : answer.status
  const seconds = busy ?? (isLate(error) ? defaultWait : undefined)
  const wait = seconds !== undefined && status === 503 && !answer.headers.has('retry-after') ? { 'Retry-After': String(seconds) } : {}
  const headers = Object.entries({ ...wait, ...((error.cause?.['headers'] ?? {}) as Record<string, string>) })
  if (headers.length === 0 && status === answer.status) return answer
  // A handler of the host may answer with a response whose headers cannot be changed.
  const copy = new Response(answer.body, { status, headers: answer.headers })
  for (const [name, value] of headers) copy.headers.set(name, value)
  return copy
}

/**
 * Seconds after which an overloaded server may be asked again. A sign-in that waits too long for a provider, a mail server or a hook is no overload: it
 * ends on the error page, as with Auth.js.
 */
function overloadAt({ route, matched }: RequestContext, error: AuthError): number | undefined {
  if (error instanceof RequestTimeout && route?.plugin === 'kernel' && matched?.flow) return undefined
  return overloadOf(error)
}

/** Whether a store did not answer in time: it is asked too much, or away for a moment. */
function isLate({ cause }: AuthError): boolean {
  const err = cause?.err
  return typeof cause?.['deadline'] === 'number' || (err instanceof AuthError && isLate(err))
}

async function plainAnswer(ctx: RequestContext, error: AuthError, route: Route | undefined): Promise<Response> {
  const own = await tryAnswer(ctx, () => route?.failure?.(ctx, error))
  if (own) return own
  const decided = ctx.has('hook', 'failure') ? await tryAnswer(ctx, () => ctx.ask('failure', { error })) : undefined
  if (decided) return decided
  if (error instanceof CrossSiteRequest) return json({ error: 'MissingCSRF', message: 'Cross-site request refused.' }, 403)
  const busy = overloadAt(ctx, error)
  const wait = busy ?? (error instanceof RequestTimeout ? undefined : retryAfter(error))
  if (wait !== undefined) {
    // `url`: clients of Auth.js look for the error in it.
    return json({ error: visibleType(error), url: errorUrl(ctx, error) }, busy === undefined ? 429 : 503, { 'Retry-After': String(wait) })
  }
  return redirectTo(errorUrl(ctx, error))
}

/** Where an error is shown: the host's page or the built-in one, absolute (D21, row 271). */
function errorUrl(ctx: RequestContext, error: AuthError): string {
  const page = ctx.app.config.pages[error.kind]
  const target = page ? (page.startsWith('/') ? ctx.origin + page : page) : `${ctx.base}/${error.kind.toLowerCase()}`
  // Only this error carries a code: anything else might tell too much (row 275).
  return withParams(target, { error: visibleType(error), code: error instanceof CredentialsSignin ? error.code : undefined })
}

/** Too many attempts: seconds until the next one. */
function retryAfter(error: AuthError): number | undefined {
  const seconds = error.cause?.['retryAfter']
  return typeof seconds === 'number' ? seconds : undefined
}

/** A request that was wrong before any flow began. */
export function httpAnswer(error: HttpError): Response {
  return json(error.message, error.status, error.headers)
}

/** The same where the route or users have an own answer. */
export async function refusalAnswer(ctx: RequestContext, error: HttpError): Promise<Response> {
  const own = await tryAnswer(ctx, () => ctx.matched?.refusal?.(ctx, error))
  return own ?? (await notFoundPage(ctx, error)) ?? (await busyPage(ctx, error)) ?? httpAnswer(error)
}

/** For users who came while the server was busy; undefined: programs asked. */
async function busyPage(ctx: RequestContext, { status, headers }: HttpError): Promise<Response | undefined> {
  if (status !== 503 || !ctx.request.headers.get('accept')?.includes('text/html') || ctx.request.headers.has('x-auth-return-redirect'))
    return undefined
  const drawn = await tryAnswer(ctx, () => ctx.app.services.pages?.render('error', ctx, { error: 'Overloaded', status: '503' }))
  if (!drawn) return undefined
  const copy = new Response(drawn.body, drawn)
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value)
  return copy
}

/** Used when not even a context can be made. */
export function bareFailure(error?: unknown): Response {
  if (error instanceof HttpError) return httpAnswer(error)
  // A hook of the host that hangs before there is a context is a mistake of the host.
  if (error instanceof AuthError && !(error instanceof RequestTimeout) && (overloadOf(error) !== undefined || rowOf(error).status === 503))
    return json({ message: 'Busy. Try again in a moment.' }, 503, { 'Retry-After': String(overloadOf(error) ?? defaultWait) })
  return json({ message: configurationMessage }, 500)
}

/** For users who opened an address that does not exist; undefined: programs asked. */
async function notFoundPage(ctx: RequestContext, { reason }: HttpError): Promise<Response | undefined> {
  const { headers, method } = ctx.request
  const forPeople = method === 'GET' && headers.get('accept')?.includes('text/html') && !headers.has('x-auth-return-redirect')
  if (!forPeople || !(reason instanceof UnknownAction)) return undefined
  return tryAnswer(ctx, () => ctx.app.services.pages?.render('error', ctx, { error: 'UnknownAction', status: '404' }))
}

/** Every request while the configuration is wrong: a page for users, JSON for programs, details for the log only. */
export async function configurationAnswer(ctx: RequestContext, fault: AuthError): Promise<Response> {
  ctx.logger.error(fault)
  await ctx.emit('configurationFault', { error: fault })
  // A host that is not trusted must not get into a Location: a path will do.
  const origin = trustedOrigin(ctx)
  ctx.lenientOrigin = origin === ''
  const { pathname, searchParams } = new URL(ctx.request.url)
  const path = pathBelow(ctx.basePath, pathname) ?? ''
  if (ctx.request.method !== 'GET' || !pagePaths.has(path)) return json({ message: configurationMessage }, 500)

  const { error: page } = ctx.app.config.pages
  const looping = page !== undefined && (searchParams.get('callbackUrl') ?? '').startsWith(page)
  if (looping) ctx.logger.error(new ErrorPageLoop(`pages.error (${page}) itself asks for a sign-in. Let users see it without a session.`))
  if (page !== undefined && !looping) {
    return redirectTo(withParams(page.startsWith('/') ? origin + page : page, { error: 'Configuration' }))
  }
  const drawn = await tryAnswer(ctx, () => ctx.app.services.pages?.render('error', ctx, { error: 'Configuration' }))
  return drawn ?? text(configurationMessage, 500)
}

function trustedOrigin(ctx: RequestContext): string {
  try {
    return ctx.origin
  } catch {
    return ''
  }
}

/** A handler that fails must not hide the answer that is there, and one that hangs must not hold it back: the request's own deadline may have passed. */
export async function tryAnswer(ctx: RequestContext, answer: () => unknown): Promise<Response | undefined> {
  const { store: deadline } = ctx.app.config.deadlines
  try {
    const late = (): Error => new RequestTimeout(`An answer to a failure did not come within ${deadline} ms (deadlines.store).`)
    return (await withTimeout(Promise.resolve(answer()), deadline, late)) as Response | undefined
  } catch (error) {
    ctx.logger.error(error as Error)
    return undefined
  }
}
