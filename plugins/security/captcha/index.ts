/** A captcha in the forms that begin a sign-in: always, or after failures. */
import {
  assertOptions,
  AuthError,
  type Context,
  type ErrorRow,
  json,
  networksOf,
  type Plugin,
  type Provider,
  redirectTo,
  type RouteInfo,
} from 'authkernel/kernel'
import type {} from 'authkernel/plugins/codes'
import { messages } from './messages.ts'
import { isSuspicious, noteAttack, noteFailure, type Suspicion } from './suspicion.ts'
import type { Captcha } from './widget.ts'

export { altcha, type AltchaOptions } from './altcha.ts'
export { hcaptcha, type HostedCaptchaOptions, recaptcha, type RecaptchaOptions, turnstile } from './hosted.ts'
export type { Suspicion } from './suspicion.ts'
export type { Captcha, CaptchaVerdict } from './widget.ts'

/** Options of `captchaPlugin`. */
export interface CaptchaOptions {
  /** `always`, or after failures of the same network or name. Default `always`. */
  when?: 'always' | Suspicion
  /**
   * Which POST requests beside the forms that take something typed and the routes of plugins that begin a sign-in. Their pages draw the widget
   * with the form helper.
   */
  routes?: (route: RouteInfo, ctx: Context) => boolean
  /** Pages whose forms show it. Default: all pages, in the forms that lead to a guarded route. */
  pages?: readonly string[]
  /** What a service that cannot be asked means; default `refuse`. */
  whenUnavailable?: 'refuse' | 'allow'
  /**
   * Mailed links that one network may ask for without a captcha in an hour: the way in without JavaScript. Default 5; 0 closes it. Mails are limited
   * by `throttle.mail` besides.
   */
  linksWithout?: number
}

/** A captcha was asked for, and no right token came. */
export class CaptchaRequired extends AuthError {
  static override type = 'CaptchaRequired'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** Whoever checks tokens cannot be asked. */
export class CaptchaUnavailable extends AuthError {
  static override type = 'CaptchaUnavailable'
  static override row: ErrorRow = { page: 'signIn', status: 503, visible: true }
}

const maxToken = 8_192
const hour = 3_600

/** Asks for a captcha before a password is checked and before a mail is sent. */
export function captchaPlugin(captcha: Captcha, options: CaptchaOptions = {}): Plugin {
  assertOptions('Plugin "captcha"', options, { when: true, routes: true, pages: true, whenUnavailable: true, linksWithout: true })
  if (typeof options.when === 'object') assertOptions('Plugin "captcha"', options.when, { failures: true, seconds: true }, 'when')
  const { when = 'always', routes, pages, whenUnavailable = 'refuse', linksWithout = 5 } = options
  if (typeof captcha?.verify !== 'function') throw new AuthError('captchaPlugin: give a captcha, as in captchaPlugin(altcha()).')
  const asked = async (ctx: Context): Promise<boolean> => when === 'always' || isSuspicious(ctx, when)
  return {
    name: 'captcha',
    requires: ['once', 'limit'],
    setup(kernel) {
      kernel.messages(messages)
      // For pages of the host, and for programs that solve it.
      kernel.route({
        method: 'GET',
        path: '/captcha',
        handler: async (ctx) => json(await captcha.describe(ctx, ctx.url.searchParams.get('action') ?? '')),
      })
      for (const page of pages ?? (['*'] as const)) {
        kernel.slot(page, 'form', async (ctx, tools, form = page, action = '') => {
          const error = new URL(ctx.request.url).searchParams.get('error')
          if (form !== page && !(await leadsToGuarded(ctx, action, routes))) return undefined
          return error === 'CaptchaRequired' || (await asked(ctx)) ? captcha.draw(ctx, tools, form, action) : undefined
        })
      }
      // Back to the page of a plugin on which something was typed; the sign-in page would be another form.
      kernel.hook('failure', async ({ error, ctx }) => {
        if (!(error instanceof CaptchaRequired) || ctx.route?.takes !== 'typed') return undefined
        const page = [...ctx.app.parts.pages.values()].find(({ path }) => path === ctx.route?.path)
        return page && redirectTo(`${ctx.base}${page.path}?error=${error.type}`)
      })
      kernel.hook('request', async ({ ctx }) => {
        if (!(await isGuarded(ctx, routes)) || !(await asked(ctx))) return
        const token = (await ctx.body())[captcha.field]
        const isToken = typeof token === 'string' && token !== '' && token.length <= maxToken
        const verdict = isToken ? await captcha.verify(ctx, token, actionOf(ctx)) : 'wrong'
        if (verdict === 'solved' || (verdict === 'unavailable' && whenUnavailable === 'allow')) return
        if ((token === undefined || token === '' || verdict === 'unavailable') && (await mayHaveLink(ctx, linksWithout))) return
        if (verdict === 'unavailable') throw new CaptchaUnavailable(`captchaPlugin: ${captcha.name} cannot be asked.`)
        throw new CaptchaRequired(`captchaPlugin: the request has no right token in "${captcha.field}".`)
      })
      if (when !== 'always') {
        kernel.on('codesGuessed', ({ ctx }) => noteAttack(ctx), { of: ['codes', 'phone'] })
        kernel.on('signInFailed', async ({ ctx, error }) => {
          if (ctx.request && error.status < 500 && !(error instanceof CaptchaRequired)) await noteFailure(ctx, when)
        })
      }
    },
  }
}

/** The path of the base path that is asked for, as forms name it. */
function actionOf({ route, params }: Context): string {
  return (route?.path ?? '').replace(/:(\w+)/g, (_name, key: string) => encodeURIComponent(params[key] ?? ''))
}

async function isGuarded(ctx: Context, routes: CaptchaOptions['routes']): Promise<boolean> {
  if (ctx.request.method !== 'POST' || !ctx.route) return false
  return isGuardedRoute(ctx, ctx.route, () => (ctx.params['provider'] === undefined ? undefined : ctx.provider()), routes)
}

/** Whether a form of a page leads to what is guarded. */
async function leadsToGuarded(ctx: Context, action: string, routes: CaptchaOptions['routes']): Promise<boolean> {
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

// What is typed here: a proof that is posted to the callback, or whom a message goes to. Others come from a provider, an authenticator or a mail.
function asksHere(ctx: Context, provider: Provider, post: 'signin' | 'callback'): boolean {
  const form = ctx.flow(provider).form?.(provider)
  if (!form || form.script !== undefined || form.post !== post) return false
  return Object.values(form.fields ?? {}).some(({ type }) => type !== 'hidden')
}

/** The way in without JavaScript: a mailed link proves more than a captcha does. */
async function mayHaveLink(ctx: Context, max: number): Promise<boolean> {
  if (ctx.route?.flow !== 'signIn' || ctx.params['provider'] === undefined) return false
  const { type } = await ctx.provider()
  if (type !== 'email' && type !== 'codes') return false
  const key = `captcha links ${networksOf(ctx.clientAddress)[0]?.key}`
  return (await ctx.limit.take(key, { max, seconds: hour })).allowed
}
