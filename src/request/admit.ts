/** What must hold before a handler runs: provider, method of the callback, type of the body, Origin and CSRF token, in this order. */
import type { Match, Route } from '../contract/route.ts'
import { HttpError } from '../errors/index.ts'
import { bodyType } from '../http/body.ts'
import { assertSameSite } from './csrf.ts'
import type { RequestContext } from './request-context.ts'
import { callbackProtection } from './handlers.ts'

/** Undefined where nothing is to be waited for. Rejects with InvalidProvider, HttpError 415, MissingCSRF or CrossSiteRequest. */
export function admit(ctx: RequestContext, match: Match & { route: Route }): Promise<void> | undefined {
  // A GET has no body and takes no token; what is left to look at is its provider.
  const { route, info } = match
  return route.method === 'GET' && info.flow !== 'callback' && ctx.params['provider'] === undefined ? undefined : checked(ctx, match)
}

async function checked(ctx: RequestContext, { route, info }: Match & { route: Route }): Promise<void> {
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

function protectionOf({ method, csrf = 'token' }: Route): Exclude<Route['csrf'], false | undefined> {
  if (method === 'GET' || csrf === false) return 'crossSite'
  // What is no known word is refused at compile. Should it come here, it is checked.
  return csrf === 'crossSite' || csrf === 'bearer' || csrf === 'origin' ? csrf : 'token'
}
