/** A captcha in the forms that begin a sign-in: always, or after failures. */
import { AuthError, type Context, type ErrorRow, json, networksOf, type Plugin, type Provider, type RouteInfo } from 'authkernel/kernel'
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
  /** Pages whose forms show it; default `signIn`. */
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
  const { when = 'always', routes, pages = ['signIn'], whenUnavailable = 'refuse', linksWithout = 5 } = options
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
      for (const page of pages) {
        kernel.slot(page, 'form', async (ctx, tools, form = page, action = '') => {
          const error = new URL(ctx.request.url).searchParams.get('error')
          if (!(await belongsTo(ctx, form, page)) || !(error === 'CaptchaRequired' || (await asked(ctx)))) return undefined
          return captcha.draw(ctx, tools, form, action)
        })
      }
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
        // The event belongs to the plugin of codes, which may be absent: its types are not there then.
        kernel.on('codesGuessed' as never, (({ ctx }: { ctx: Context }) => noteAttack(ctx)) as never)
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
  if (routes?.(ctx.route, ctx)) return true
  if (ctx.route.flow === undefined) return false
  if (ctx.params['provider'] === undefined) return true
  return asksHere(ctx, await ctx.provider(), ctx.route.flow === 'callback' ? 'callback' : 'signin')
}

// What is typed here: a proof that is posted to the callback, or whom a message goes to. Others come from a provider, an authenticator or a mail.
function asksHere(ctx: Context, provider: Provider, post?: 'signin' | 'callback'): boolean {
  const form = ctx.flow(provider).form?.(provider)
  if (!form || form.script !== undefined || (post !== undefined && form.post !== post)) return false
  return Object.values(form.fields ?? {}).some(({ type }) => type !== 'hidden')
}

/** Whether a form of a page leads to what is guarded. */
async function belongsTo(ctx: Context, form: string, page: string): Promise<boolean> {
  if (form === page) return true
  const provider = (await ctx.providers()).find(({ id }) => id === form)
  return provider === undefined || asksHere(ctx, provider)
}

/** The way in without JavaScript: a mailed link proves more than a captcha does. */
async function mayHaveLink(ctx: Context, max: number): Promise<boolean> {
  if (ctx.route?.flow !== 'signIn' || ctx.params['provider'] === undefined) return false
  const { type } = await ctx.provider()
  if (type !== 'email' && type !== 'codes') return false
  const key = `captcha links ${networksOf(ctx.clientAddress)[0]?.key}`
  return (await ctx.limit.take(key, { max, seconds: hour })).allowed
}
