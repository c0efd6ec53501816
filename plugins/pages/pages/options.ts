/** Options of the plugin `pages`. */
import { assertOptions, type Messages, type Theme } from 'authkernel/kernel'

/** Options of `pagesPlugin`; each goes over the option of the same name in the configuration. */
export interface PagesPluginOptions {
  /** Colours and logo. */
  theme?: Theme | undefined
  /** Texts by language, over the built-in ones; new languages may be added. Keys: `plugins/pages/pages/messages/en.ts`. */
  messages?: Messages | undefined
  /** Language of a request; default: its Accept-Language. */
  locale?: ((request: Request) => string) | undefined
  /**
   * Origins that a sign-in may pass through on its way (`https://login.example`). With a list, `form-action` of the
   * Content-Security-Policy names these alone in place of every https address.
   */
  formAction?: readonly string[] | undefined
}

/** Throws AuthError that names an option which does not exist. */
export function checkPagesOptions(options: PagesPluginOptions): void {
  assertOptions('Plugin "pages"', options, { theme: true, messages: true, locale: true, formAction: true })
  assertOptions('Plugin "pages"', options.theme, { colorScheme: true, logo: true, brandColor: true, buttonText: true }, 'theme')
}
