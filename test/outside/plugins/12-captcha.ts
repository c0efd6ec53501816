/** A captcha before credentials and mails: a widget on the built-in sign-in page, and a check on the server before the flow begins. */
import { boundedFetch, type Context, CredentialsSignin, type Plugin, type Provider } from 'authkernel/kernel'

export interface WidgetCaptchaOptions {
  siteKey: string
  secretKey: string
  /** `https://challenges.example/api.js`; its origin is what the page may load from. */
  script: string
  /** `https://challenges.example/siteverify`, as hCaptcha, reCAPTCHA and Turnstile have it. */
  verify: string
  /** Name of the field that the widget adds to its form. */
  field?: string
  /** Class of the element that the script looks for. */
  widget?: string
}
class CaptchaFailed extends CredentialsSignin {
  override code = 'captcha'
}
const guarded = ({ type }: Provider): boolean => type === 'credentials' || type === 'email'

export function widgetCaptchaPlugin(options: WidgetCaptchaOptions): Plugin {
  const { siteKey, secretKey, script, verify, field = 'captcha-response', widget = 'captcha' } = options
  const { origin } = new URL(script)
  return {
    name: 'widget-captcha',
    setup(kernel) {
      kernel.messages({ en: { 'error.CredentialsSignin.captcha': 'Please show that you are no robot.' } })
      kernel.slot('signIn', 'form', async (ctx, { html }, form) => {
        const provider = (await ctx.providers()).find(({ id }) => id === form)
        if (!provider || !guarded(provider)) return undefined
        return {
          html: html`<div class="${widget}" data-sitekey="${siteKey}" data-response-field-name="${field}"></div>`,
          scripts: [
            `if(!window.captchaScript){window.captchaScript=document.head.appendChild(Object.assign(document.createElement('script'),{src:${JSON.stringify(script)}}))}`,
          ],
          sources: { script: [origin], frame: [origin], connect: [origin] },
        }
      })
      kernel.hook('request', async ({ ctx }) => {
        if (ctx.request.method !== 'POST' || ctx.route?.flow === undefined) return undefined
        const provider = await ctx.provider()
        // Where the fields of the form are sent: the callback for passwords, the first step for mails.
        const post = ctx.flow(provider).form?.(provider)?.post === 'callback' ? 'callback' : 'signIn'
        if (!guarded(provider) || ctx.route.flow !== post) return undefined
        const answer = (await ctx.body())[field]
        if (typeof answer === 'string' && answer !== '' && (await passes(ctx, answer))) return undefined
        throw new CaptchaFailed('The captcha was not solved.')
      })

      async function passes(ctx: Context, response: string): Promise<boolean> {
        const { deadlines, limits } = ctx.app.config
        const fetch = boundedFetch({
          fetch: ctx.runtime.fetch,
          deadline: deadlines.network,
          limit: limits.providerResponse,
          signal: ctx.signal,
        })
        const body = new URLSearchParams({
          secret: secretKey,
          response,
          ...(ctx.clientAddress !== undefined && { remoteip: ctx.clientAddress }),
        })
        const result = (await (await fetch(verify, { method: 'POST', body })).json()) as { success?: unknown; hostname?: unknown }
        return result.success === true && (result.hostname === undefined || result.hostname === ctx.url.hostname)
      }
    },
  }
}
