/** The built-in pages: what people see. HTML and CSS only; what a provider looks like comes from its type's `form()`. */
import type { Context, Messages, Pages, Plugin, ResolvedConfig, Theme } from 'authkernel/kernel'
import { parseColor } from './color.ts'
import { errorPage, refusalPage } from './error.ts'
import { createSheet, type Sheet } from './layout.ts'
import { createSpeakers, type Speaker } from './locale.ts'
import { signInPage } from './signin.ts'
import { signOutPage } from './signout.ts'
import { verifyConfirmPage, verifyRequestPage } from './verify.ts'

/** Options of `pagesPlugin`; each goes over the option of the same name in the configuration. */
export interface PagesPluginOptions {
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

/** Draws the sign-in, sign-out, error, verify-request and verify-confirm pages. */
export function pagesPlugin(options: PagesPluginOptions = {}): Plugin {
  const speakers = new WeakMap<ResolvedConfig, ReturnType<typeof createSpeakers>>()
  return {
    name: 'pages',
    setup(kernel) {
      kernel.provide('pages', { render })
      kernel.hook('failure', ({ error, ctx }) => refusalPage(ctx, error, () => prepare(ctx)))
    },
  }

  async function render(...[name, ctx, params]: Parameters<Pages['render']>): Promise<Response> {
    const sheet = prepare(ctx)
    switch (name) {
      case 'signIn':
        return signInPage(sheet, params, options.formAction)
      case 'signOut':
        return signOutPage(sheet, options.formAction)
      case 'verifyRequest':
        return verifyRequestPage(sheet, params['provider'])
      case 'verifyConfirm':
        return verifyConfirmPage(sheet, params, options.formAction)
      default:
        return errorPage(sheet, params['error'])
    }
  }

  function prepare(ctx: Context): Sheet {
    const { config } = ctx.app
    const theme = { ...config.theme, ...options.theme }
    const known = speakers.get(config)
    const speak = known ?? createSpeakers(combine(config.messages, options.messages))
    const sheet = createSheet(ctx, speak(language(ctx)), theme)
    if (!known) {
      speakers.set(config, speak)
      complain(sheet, theme)
    }
    return sheet
  }

  function language({ app, request }: Context): Speaker['lang'] | null {
    const choose = options.locale ?? app.config.locale
    return choose ? choose(request) : request.headers.get('accept-language')
  }
}

function combine(...all: readonly (Messages | undefined)[]): Messages {
  const combined: Messages = {}
  for (const messages of all) for (const [tag, texts] of Object.entries(messages ?? {})) combined[tag] = { ...combined[tag], ...texts }
  return combined
}

// Once per configuration: a theme that is quietly ignored costs somebody an hour.
function complain({ ctx: { logger }, origin, look }: Sheet, theme: Theme): void {
  if (theme.logo !== undefined && origin !== undefined && !look.logo) logger.warn('theme-logo-not-shown')
  if (theme.brandColor !== undefined && !parseColor(theme.brandColor)) logger.warn('theme-brandColor-not-hex')
  if (theme.buttonText !== undefined && !parseColor(theme.buttonText)) logger.warn('theme-buttonText-not-hex')
}
