/** The kernel's own routes (WIRE section 3); everything else comes from plugins. */
import type { Context } from './context.ts'
import { CrossSiteRequest } from './csrf.ts'
import type { Owned } from './draft.ts'
import { AdapterError, type AuthError, InvalidProvider, SessionTokenError, SignOutError, UnknownAction } from './errors.ts'
import type { PublicProvider } from './provider-types.ts'
import type { Route } from './plugin.ts'
import { withParams } from './redirect.ts'
import { json, redirectTo } from './responses.ts'
import { skipCSRFCheck } from './symbols.ts'
import type { PagesOptions } from './types.ts'

const routes: readonly Route[] = [
  { method: 'GET', path: '/signin', handler: signInPage },
  { method: 'POST', path: '/signin', handler: async (ctx) => ctx.page('signIn') },
  { method: 'POST', path: '/signin/:provider', handler: start },
  { method: 'GET', path: '/callback/:provider', handler: callback },
  // Whether a token is demanded is the provider type's word: state protects a form_post callback.
  { method: 'POST', path: '/callback/:provider', handler: callback },
  { method: 'GET', path: '/signout', handler: async (ctx) => ownPage(ctx, 'signOut', {}) ?? ctx.render('signOut') },
  { method: 'POST', path: '/signout', handler: signOut },
  { method: 'GET', path: '/session', handler: readSession, failure: async () => json(null, 503) },
  {
    method: 'POST',
    path: '/session',
    handler: updateSession,
    failure: async (_ctx, error) => json(null, isOutage(error) ? 503 : error instanceof CrossSiteRequest ? 403 : 400),
  },
  { method: 'GET', path: '/csrf', handler: csrf },
  { method: 'GET', path: '/providers', handler: providers },
  { method: 'GET', path: '/error', handler: errorPage },
  { method: 'GET', path: '/verify-request', handler: verifyRequestPage },
]

/** Registered under the name `kernel`. */
export const coreRoutes: readonly Owned<Route>[] = routes.map((value) => ({ value, owner: 'kernel' }))

async function start(ctx: Context): Promise<Response> {
  const provider = await ctx.provider()
  const { start } = ctx.flow(provider)
  return start ? start(ctx, provider) : ctx.page('signIn')
}

async function callback(ctx: Context): Promise<Response> {
  const provider = await ctx.provider()
  const result = await ctx.flow(provider).finish(ctx, provider)
  return 'account' in result ? ctx.complete(result) : result
}

/** Whether a provider's type answers this method at all (row 20). Throws InvalidProvider. */
export async function assertCallbackMethod(ctx: Context): Promise<'csrf' | 'crossSite'> {
  const provider = await ctx.provider()
  const { callback } = ctx.flow(provider)
  const accepted = ctx.request.method === 'GET' ? callback?.GET : (callback?.POST ?? 'csrf')
  if (accepted === false) {
    throw new InvalidProvider(`Callbacks of provider "${provider.id}" (${provider.type}) do not take ${ctx.request.method} requests.`)
  }
  return accepted === 'crossSite' ? 'crossSite' : 'csrf'
}

/** Thrown for a known path with another method (row 10). */
export function wrongMethod(ctx: Context): UnknownAction {
  return new UnknownAction(`${ctx.request.method} is not a method of ${new URL(ctx.request.url).pathname}.`)
}

/** Actions whose path lacks what it must name, or whose plugin is not there: no wrong path, but no handler either. */
export function isLoneAction(path: string | undefined): boolean {
  return path !== undefined && /^\/(?:callback|webauthn-options(?:\/[^/]+)?)$/.test(path)
}

/** Thrown for these (WIRE section 3). */
export function leadsNowhere(ctx: Context): AuthError {
  const { pathname } = new URL(ctx.request.url)
  if (ctx.request.method === 'POST' && !pathname.includes('/callback')) return wrongMethod(ctx)
  return new InvalidProvider(`${pathname.slice(0, 200)} names no provider that has this route.`)
}

async function signOut(ctx: Context): Promise<Response> {
  const callbackUrl = await ctx.callbackUrl()
  let ended: Awaited<ReturnType<typeof ctx.session.end>>
  try {
    ended = await ctx.session.end(ctx)
  } catch (error) {
    throw error instanceof SignOutError ? error : new SignOutError(error as Error)
  }
  if (!ended) return redirectTo(callbackUrl)
  await ctx.emit('signOut', ended)
  const elsewhere = await ctx.ask('signOut', { ctx, ended })
  return redirectTo(elsewhere ?? callbackUrl)
}

async function readSession(ctx: Context): Promise<Response> {
  return json(await ctx.currentSession())
}

// D38: the store's fault, not the request's.
function isOutage(error: AuthError): boolean {
  return error instanceof SessionTokenError || error instanceof AdapterError
}

async function updateSession(ctx: Context): Promise<Response> {
  const { data } = await ctx.body()
  return json(await ctx.session.update(ctx, data))
}

async function csrf(ctx: Context): Promise<Response> {
  if (ctx.app.config.skipCSRFCheck !== skipCSRFCheck) return json({ csrfToken: await ctx.csrfToken() })
  ctx.logger.warn('csrf-disabled')
  // Makes no token now, and still keeps the callback URL (row 15).
  await ctx.csrfToken()
  const { name, options } = ctx.cookies.csrfToken
  ctx.setCookie(name, '', { ...options, maxAge: 0 })
  return new Response(null, { status: 404 })
}

async function providers(ctx: Context): Promise<Response> {
  const entries = (await ctx.providers()).map(({ id, name, type }): [string, PublicProvider] => {
    return [id, { id, name, type, signinUrl: `${ctx.base}/signin/${id}`, callbackUrl: `${ctx.base}/callback/${id}` }]
  })
  // The one answer that is the same for everybody: no cache header, as clients expect (D40).
  return new Response(JSON.stringify(Object.fromEntries(entries)), { headers: { 'Content-Type': 'application/json' } })
}

async function signInPage(ctx: Context): Promise<Response> {
  const query = new URL(ctx.request.url).searchParams
  const error = query.get('error') || undefined
  const callbackUrl = await ctx.callbackUrl()
  return (
    ownPage(ctx, 'signIn', { callbackUrl, error }) ??
    ctx.render('signIn', { error, code: query.get('code') ?? undefined, callbackUrl, email: query.getAll('email').at(-1) })
  )
}

async function errorPage(ctx: Context): Promise<Response> {
  const error = new URL(ctx.request.url).searchParams.get('error') ?? undefined
  return ownPage(ctx, 'error', { error }) ?? ctx.render('error', { error })
}

async function verifyRequestPage(ctx: Context): Promise<Response> {
  const query = Object.fromEntries(new URL(ctx.request.url).searchParams)
  return ownPage(ctx, 'verifyRequest', query) ?? ctx.render('verifyRequest', { provider: query['provider'], type: query['type'] })
}

/** The host's own page, as it was configured (rows 279 to 281). */
function ownPage(ctx: Context, name: keyof PagesOptions, params: Record<string, string | undefined>): Response | undefined {
  const page = ctx.app.config.pages[name]
  return page ? redirectTo(withParams(page, params)) : undefined
}
