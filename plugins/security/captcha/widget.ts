/** What a captcha is to the plugin: a part of a form, and a check of what it sends. */
import type { Context, PageTools, SlotView } from 'authkernel/kernel'

/** Whether a token shows that somebody has solved it. `unavailable`: whoever checks tokens cannot be asked. */
export type CaptchaVerdict = 'solved' | 'wrong' | 'unavailable'

/** A captcha: `altcha()`, `turnstile()`, `hcaptcha()`, `recaptcha()`, or one of your own. */
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
