/** What the kernel's own routes do: loaded by the first request to one of them. */
import type { Context } from '../contract/context.ts'
import type { PagesOptions } from '../contract/data.ts'
import type { Provider, PublicProvider } from '../contract/provider.ts'
import { skipCSRFCheck } from '../contract/symbols.ts'
import { InvalidProvider, SessionTokenError, SignOutError, UnknownAction, UntrustedHost } from '../errors/index.ts'
import { withParams } from '../http/redirect.ts'
import { json, redirectTo } from '../http/messages.ts'
import type { RequestContext } from './request-context.ts'

export async function startSignIn(ctx: Context): Promise<Response> {
  const provider = await ctx.provider()
  const response = await ctx.flow(provider).start?.(ctx, provider)
  if (!response) return ctx.page('signIn')
  const user = ctx.has('on', 'linkRequested') ? await ctx.session.user(ctx) : null
  if (user) await ctx.emit('linkRequested', { user, provider: provider.id })
  return response
}

export async function finishCallback(ctx: Context): Promise<Response> {
  const provider = await ctx.provider()
  const result = await ctx.flow(provider).finish(ctx, provider)
  return 'account' in result ? ctx.complete(result) : result
}

/** How the provider's type protects its callback. Throws InvalidProvider for a method that the type does not answer (row 20). */
export async function callbackProtection(ctx: Context): Promise<'token' | 'crossSite'> {
  const provider = await ctx.provider()
  const { callback } = ctx.flow(provider)
  const isGet = ctx.request.method === 'GET'
  const accepted = isGet ? callback?.GET : (callback?.POST ?? 'token')
  if (accepted === false) {
    throw new InvalidProvider(`Callbacks of provider "${provider.id}" (${provider.type}) do not take ${ctx.request.method} requests.`)
  }
  return isGet || accepted === 'crossSite' ? 'crossSite' : 'token'
}

/** Thrown for a known path with another method (row 10). */
export function wrongMethod(ctx: Context): UnknownAction {
  return new UnknownAction(`${ctx.request.method} is not a method of ${new URL(ctx.request.url).pathname}.`)
}

export async function leadsNowhere(ctx: Context): Promise<never> {
  throw new InvalidProvider(`${new URL(ctx.request.url).pathname.slice(0, 200)} names no provider.`)
}

export async function signOut(ctx: Context): Promise<Response> {
  const callbackUrl = await ctx.callbackUrl()
  let ended: Awaited<ReturnType<typeof ctx.session.end>>
  try {
    ended = await ctx.session.end(ctx)
  } catch (error) {
    throw error instanceof SignOutError ? error : new SignOutError(error as Error)
  }
  if (!ended) return redirectTo(callbackUrl)
  await ctx.emit('signOut', ended)
  const elsewhere = await ctx.ask('signOut', { ended })
  return redirectTo(elsewhere ?? callbackUrl)
}

export async function readSession(ctx: Context): Promise<Response> {
  return withCookies(ctx, json(await ctx.currentSession()))
}

export async function updateSession(ctx: Context): Promise<Response> {
  const { data } = await ctx.body()
  try {
    return json(await ctx.session.update(ctx, data))
  } catch (error) {
    // As for a read: what a store or a callback throws is an outage, and no fault of the client (D38).
    throw error instanceof SessionTokenError || error instanceof UntrustedHost ? error : new SessionTokenError(error as Error)
  }
}

export async function answerCsrf(ctx: Context): Promise<Response> {
  if (ctx.app.config.skipCSRFCheck !== skipCSRFCheck) return withCookies(ctx, json({ csrfToken: await ctx.csrfToken() }))
  ctx.logger.warn('csrf-disabled')
  // Makes no token now, and still keeps the callback URL (row 15).
  await ctx.csrfToken()
  const { name, options } = ctx.cookies.csrfToken
  ctx.setCookie(name, '', { ...options, maxAge: 0 })
  return new Response(null, { status: 404 })
}

export async function answerProviders(ctx: Context): Promise<Response> {
  const entries = (await ctx.providers()).map((provider): [string, PublicProvider] => {
    const { id, name, type } = provider
    const form = publicForm(ctx, provider)
    return [id, { id, name, type, signinUrl: `${ctx.base}/signin/${id}`, callbackUrl: `${ctx.base}/callback/${id}`, form }]
  })
  // The same for all clients: no cache header, as clients expect (D40). Addresses that follow a proxy's headers are not the same for all.
  const { settings, app } = ctx
  const follows = settings.origin === '' && app.config.trustProxy
  return new Response(JSON.stringify(Object.fromEntries(entries)), {
    headers: { 'Content-Type': 'application/json', ...(follows && { Vary: 'X-Forwarded-Host, X-Forwarded-Proto' }) },
  })
}

/** What the sign-in page shows of a type's form, for clients and pages of the host. A form that no page shows keeps its fields to itself. */
function publicForm(ctx: Context, provider: Provider): PublicProvider['form'] {
  const { script: _script, fields, ...form } = ctx.flow(provider).form?.(provider) ?? { post: 'signin' as const }
  return { ...form, ...(fields && !form.hidden && { fields }) }
}

/** Cookies in the answer itself: one that was made a moment ago needs no copy with other headers. */
function withCookies(ctx: Context, response: Response): Response {
  ;(ctx as RequestContext).jar.flush(response.headers)
  return response
}

export async function signInPage(ctx: Context): Promise<Response> {
  const query = new URL(ctx.request.url).searchParams
  const error = query.get('error') || undefined
  const callbackUrl = await ctx.callbackUrl()
  return (
    ownPage(ctx, 'signIn', { callbackUrl, error }) ??
    ctx.render('signIn', {
      error,
      code: query.get('code') ?? undefined,
      callbackUrl,
      email: query.getAll('email').at(-1),
      ui_locales: query.get('ui_locales')?.slice(0, 100),
    })
  )
}

export async function signOutPage(ctx: Context): Promise<Response> {
  await keepCallbackUrl(ctx)
  return ownPage(ctx, 'signOut', {}) ?? ctx.render('signOut')
}

export async function errorPage(ctx: Context): Promise<Response> {
  // A `redirect` hook that fails must not lead from the error page to the error page.
  await keepCallbackUrl(ctx).catch((error: unknown) => ctx.logger.error(error as Error))
  const error = new URL(ctx.request.url).searchParams.get('error') ?? undefined
  return ownPage(ctx, 'error', { error }) ?? ctx.render('error', { error })
}

export async function verifyRequestPage(ctx: Context): Promise<Response> {
  await keepCallbackUrl(ctx)
  const query = Object.fromEntries(new URL(ctx.request.url).searchParams)
  return ownPage(ctx, 'verifyRequest', query) ?? ctx.render('verifyRequest', { provider: query['provider'], type: query['type'] })
}

/** A host's own page may post without the callbackUrl that it was opened with: the cookie has it then. */
async function keepCallbackUrl(ctx: Context): Promise<void> {
  if (new URL(ctx.request.url).searchParams.has('callbackUrl')) await ctx.callbackUrl()
}

/** The host's own page, as it was configured (rows 279 to 281). */
function ownPage(ctx: Context, name: keyof PagesOptions, params: Record<string, string | undefined>): Response | undefined {
  const page = ctx.app.config.pages[name]
  return page ? redirectTo(withParams(page, params)) : undefined
}
