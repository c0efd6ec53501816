/** Options of `captchaPlugin`, and what a captcha is to it: a part of a form, and a check of what it sends. */
import { assertOptions, AuthError, type Context, type PageTools, type RouteInfo, type SlotView } from 'authkernel/kernel'
import type { Suspicion } from './suspicion.ts'

/** Whether a token shows that a user has solved it. `unavailable`: the service that checks tokens does not answer. */
export type CaptchaVerdict = 'solved' | 'wrong' | 'unavailable'

/** A captcha: `altcha()`, `turnstile()`, `hcaptcha()`, `recaptcha()`, or a custom one. */
export interface Captcha {
  readonly name: string
  /** The field of the form that holds the token. */
  readonly field: string
  /**
   * Draws the widget, with the sources that it needs and no others. `form` differs between the forms of a page; `action` is the path of the base path that
   * the form posts to.
   */
  draw(ctx: Context, tools: PageTools, form: string, action: string): Promise<SlotView> | SlotView
  /** Checks a token of at most 8192 characters, once: a second use is `wrong`. `action`: the path that it was posted to. */
  verify(ctx: Context, token: string, action: string): Promise<CaptchaVerdict>
  /** What programs need to solve it, for `GET /captcha?action=/signin/mail`. */
  describe(ctx: Context, action: string): Promise<object> | object
}

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
   * Magic links that one network may ask for without a captcha in an hour: the way in without JavaScript. Default 5; 0 closes it. Mails are limited
   * by `throttle.mail` besides.
   */
  linksWithout?: number
}

/** Throws AuthError that names the option. */
export function resolveOptions(
  captcha: Captcha,
  options: CaptchaOptions,
): Required<Pick<CaptchaOptions, 'when' | 'whenUnavailable' | 'linksWithout'>> & Pick<CaptchaOptions, 'routes' | 'pages'> {
  assertOptions('Plugin "captcha"', options, { when: true, routes: true, pages: true, whenUnavailable: true, linksWithout: true })
  if (typeof options.when === 'object') assertOptions('Plugin "captcha"', options.when, { failures: true, seconds: true }, 'when')
  if (typeof captcha?.verify !== 'function') throw new AuthError('captchaPlugin: give a captcha, as in captchaPlugin(altcha()).')
  const { when = 'always', routes, pages, whenUnavailable = 'refuse', linksWithout = 5 } = options
  return { when, whenUnavailable, linksWithout, ...(routes && { routes }), ...(pages && { pages }) }
}
