/** What a failure looks like from outside: a status, a page, and never a detail. */
import type { Route } from '../contract/route.ts'
import { CrossSiteRequest } from '../errors/cross-site.ts'
import { type AuthError, CredentialsSignin, ErrorPageLoop, type HttpError, UnknownAction, visibleType } from '../errors/index.ts'
import { RequestTimeout, withTimeout } from '../errors/timeout.ts'
import { pathBelow } from '../http/path.ts'
import { withParams } from '../http/redirect.ts'
import { json, redirectTo, text } from '../http/responses.ts'
import type { RequestContext } from './request-context.ts'

const configurationMessage = 'There was a problem with the server configuration. Check the server logs for more information.'
const pagePaths = new Set(['/signin', '/signout', '/error', '/verify-request'])

/** Answer to an `AuthError` that was already reported, with the headers that its cause names. */
export async function failureAnswer(ctx: RequestContext, error: AuthError, route: Route | undefined): Promise<Response> {
  const answer = await plainAnswer(ctx, error, route)
  const headers = Object.entries((error.cause?.['headers'] ?? {}) as Record<string, string>)
  if (headers.length === 0) return answer
  // A handler of the host may answer with a response whose headers cannot be changed.
  const copy = new Response(answer.body, answer)
  for (const [name, value] of headers) copy.headers.set(name, value)
  return copy
}

async function plainAnswer(ctx: RequestContext, error: AuthError, route: Route | undefined): Promise<Response> {
  const own = await guarded(ctx, () => route?.failure?.(ctx, error))
  if (own) return own
  const decided = ctx.has('hook', 'failure') ? await guarded(ctx, () => ctx.ask('failure', { error })) : undefined
  if (decided) return decided
  if (error instanceof CrossSiteRequest) return json({ error: 'MissingCSRF', message: 'Cross-site request refused.' }, 403)
  if (retryAfter(error) !== undefined) {
    // `url`: clients of Auth.js look for the error in it.
    return json({ error: visibleType(error), url: errorUrl(ctx, error) }, 429, { 'Retry-After': String(retryAfter(error)) })
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

/** The same where the route or people have an own answer. */
export async function refusalAnswer(ctx: RequestContext, error: HttpError): Promise<Response> {
  const own = await guarded(ctx, () => ctx.matched?.refusal?.(ctx, error))
  return own ?? (await notFoundPage(ctx, error)) ?? httpAnswer(error)
}

/** For people who opened an address that does not exist; undefined: programs asked. */
async function notFoundPage(ctx: RequestContext, { reason }: HttpError): Promise<Response | undefined> {
  const { headers, method } = ctx.request
  const forPeople = method === 'GET' && headers.get('accept')?.includes('text/html') && !headers.has('x-auth-return-redirect')
  if (!forPeople || !(reason instanceof UnknownAction)) return undefined
  return guarded(ctx, () => ctx.app.services.pages?.render('error', ctx, { error: 'UnknownAction', status: '404' }))
}

/** Every request while the configuration is wrong: a page for people, JSON for programs, details for the log only. */
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
  if (looping) ctx.logger.error(new ErrorPageLoop(`pages.error (${page}) itself asks for a sign-in. Let people see it without a session.`))
  if (page !== undefined && !looping) {
    return redirectTo(withParams(page.startsWith('/') ? origin + page : page, { error: 'Configuration' }))
  }
  const drawn = await guarded(ctx, () => ctx.app.services.pages?.render('error', ctx, { error: 'Configuration' }))
  return drawn ?? text(configurationMessage, 500)
}

function trustedOrigin(ctx: RequestContext): string {
  try {
    return ctx.origin
  } catch {
    return ''
  }
}

/** A failing failure handler must not hide the failure, and one that hangs must not hold it back: the request's own deadline has passed already. */
async function guarded(ctx: RequestContext, answer: () => unknown): Promise<Response | undefined> {
  const { store: deadline } = ctx.app.config.deadlines
  try {
    const late = (): Error => new RequestTimeout(`An answer to a failure did not come within ${deadline} ms (deadlines.store).`)
    return (await withTimeout(Promise.resolve(answer()), deadline, late)) as Response | undefined
  } catch (error) {
    ctx.logger.error(error as Error)
    return undefined
  }
}
