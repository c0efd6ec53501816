/** Which requests need a captcha, and which forms lead to them. */
import { type Context, networksOf, type Provider, type RouteInfo } from 'authkernel/kernel'
import type { CaptchaOptions } from './options.ts'

const hour = 3_600

/** Whether this request needs a captcha. */
export async function isGuarded(ctx: Context, routes: CaptchaOptions['routes']): Promise<boolean> {
  if (ctx.request.method !== 'POST' || !ctx.route) return false
  return isGuardedRoute(ctx, ctx.route, () => (ctx.params['provider'] === undefined ? undefined : ctx.provider()), routes)
}

/** Whether a form of a page leads to what is guarded. */
export async function leadsToGuarded(ctx: Context, action: string, routes: CaptchaOptions['routes']): Promise<boolean> {
  const match = ctx.app.routes.find('POST', action)
  if (!match?.route) return false
  const id = match.params['provider']
  return isGuardedRoute(ctx, match.info, async () => (await ctx.providers()).find((one) => one.id === id), routes)
}

async function isGuardedRoute(
  ctx: Context,
  route: RouteInfo,
  provider: () => Promise<Provider | undefined> | undefined,
  routes: CaptchaOptions['routes'],
): Promise<boolean> {
  if (routes?.(route, ctx)) return true
  if (route.takes !== undefined) return route.takes === 'typed'
  if (route.flow === undefined) return false
  if (!route.path.includes('/:provider')) return true
  const found = await provider()
  return found !== undefined && asksHere(ctx, found, route.flow === 'callback' ? 'callback' : 'signin')
}

// What is typed here: a proof that is posted to the callback, or the recipient of a message. Others come from a provider, an authenticator or a mail.
function asksHere(ctx: Context, provider: Provider, post: 'signin' | 'callback'): boolean {
  const form = ctx.flow(provider).form?.(provider)
  if (!form || form.script !== undefined || form.post !== post) return false
  return Object.values(form.fields ?? {}).some(({ type }) => type !== 'hidden')
}

/** The way in without JavaScript: a magic link proves more than a captcha does. */
export async function mayHaveLink(ctx: Context, max: number): Promise<boolean> {
  if (ctx.route?.flow !== 'signIn' || ctx.params['provider'] === undefined) return false
  const { type } = await ctx.provider()
  if (type !== 'email' && type !== 'codes') return false
  const key = `captcha links ${networksOf(ctx.clientAddress)[0]?.key}`
  return (await ctx.limit.take(key, { max, seconds: hour })).allowed
}

/** The path of the base path that is asked for, as forms name it. */
export function actionOf({ route, params }: Context): string {
  return (route?.path ?? '').replace(/:(\w+)/g, (_name, key: string) => encodeURIComponent(params[key] ?? ''))
}
