/** A captcha in the forms that begin a sign-in: always, or after failures. */
import { type Context, json, type Plugin, redirectTo } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/codes'
import { CaptchaRequired, CaptchaUnavailable } from './errors.ts'
import { messages } from './messages.ts'
import { type Captcha, type CaptchaOptions, resolveOptions } from './options.ts'
import { isGuarded, leadsToGuarded, mayHaveLink, actionOf } from './requests.ts'
import { isSuspicious, noteAttack, noteFailure } from './suspicion.ts'

export { altcha, type AltchaOptions } from './altcha.ts'
export { CaptchaRequired, CaptchaUnavailable } from './errors.ts'
export { hcaptcha, type HostedCaptchaOptions, recaptcha, type RecaptchaOptions, turnstile } from './hosted-captchas.ts'
export type { Captcha, CaptchaOptions, CaptchaVerdict } from './options.ts'
export type { Suspicion } from './suspicion.ts'

const maxToken = 8_192

/** Asks for a captcha before a password is checked and before a mail is sent. */
export function captchaPlugin(captcha: Captcha, options: CaptchaOptions = {}): Plugin {
  const { when, routes, pages, whenUnavailable, linksWithout } = resolveOptions(captcha, options)
  const isNeeded = async (ctx: Context): Promise<boolean> => when === 'always' || isSuspicious(ctx, when)
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
          return error === 'CaptchaRequired' || (await isNeeded(ctx)) ? captcha.draw(ctx, tools, form, action) : undefined
        })
      }
      // Back to the page of a plugin on which something was typed; the sign-in page would be another form.
      kernel.hook('failure', async ({ error, ctx }) => {
        if (!(error instanceof CaptchaRequired) || ctx.route?.takes !== 'typed') return undefined
        const page = [...ctx.app.parts.pages.values()].find(({ path }) => path === ctx.route?.path)
        return page && redirectTo(`${ctx.base}${page.path}?error=${error.type}`)
      })
      kernel.hook('request', async ({ ctx }) => {
        if (!(await isGuarded(ctx, routes)) || !(await isNeeded(ctx))) return
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
