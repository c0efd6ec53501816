/** The built-in pages: what people see. HTML and CSS only; what a provider looks like comes from its type's `form()`. */
import {
  AuthError,
  type Context,
  type Messages,
  type PageParts,
  type Pages,
  type PageTools,
  type Plugin,
  type PluginPage,
  type Theme,
} from 'authkernel/kernel'
import { registerAccount } from './account/index.ts'
import { parseColor } from './color.ts'
import { errorPage, refusalPage } from './error.ts'
import { maxIdentifier } from './identifier.ts'
import { createSheet, type Sheet } from './layout.ts'
import { createSpeakers, type Speaker, speakersOf } from './locale.ts'
import { pluginPage } from './plugin-page.ts'
import { signInPage } from './signin.ts'
import { signOutPage } from './signout.ts'
import { drawSlots } from './slots.ts'
import { createTools } from './tools.ts'
import { keepTyped, typedCookie } from './typed.ts'
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
  const snapshots = new WeakMap<PageParts, { speak: ReturnType<typeof createSpeakers>; theme: Theme }>()
  return {
    name: 'pages',
    setup(kernel) {
      kernel.provide('pages', { render })
      registerAccount(kernel)
      kernel.cookie(typedCookie)
      // The answer is the page itself: what was typed stays out of addresses.
      kernel.route({
        method: 'POST',
        path: '/identifier',
        async handler(ctx) {
          const { identifier } = await ctx.body()
          const text = typeof identifier === 'string' ? identifier.trim() : ''
          const usable = text !== '' && text.length <= maxIdentifier && ctx.app.config.pages.signIn === undefined
          return usable ? ctx.render('signIn', { identifier: text }) : ctx.page('signIn')
        },
      })
      kernel.hook('failure', async ({ error, ctx }) => {
        const refusal = refusalPage(ctx, error, () => prepare(ctx, 'error'))
        if (!refusal) await keepTyped(ctx, error)
        return refusal
      })
    },
  }

  async function render(...[name, ctx, params]: Parameters<Pages['render']>): Promise<Response> {
    const sheet = prepare(ctx, name)
    const tools = createTools(sheet)
    // While the configuration is wrong, nobody but us is asked.
    if (!ctx.app.fault) sheet.parts = { head: await drawSlots(sheet, tools, 'head'), foot: await drawSlots(sheet, tools, 'foot') }
    switch (name) {
      case 'signIn':
        return signInPage(sheet, params, options.formAction, tools)
      case 'signOut':
        return signOutPage(sheet, options.formAction)
      case 'verifyRequest':
        return verifyRequestPage(sheet, params['provider'])
      case 'verifyConfirm':
        return verifyConfirmPage(sheet, params, options.formAction)
      case 'error':
        return errorPage(sheet, params['error'], params['status'])
      default:
        return pluginPage(sheet, pageOf(ctx, name), params, options.formAction, tools)
    }
  }

  function prepare(ctx: Context, page: string): Sheet {
    const { config, parts } = ctx.app
    const known = snapshots.get(parts)
    const { speak, theme } = known ?? {
      speak: createSpeakers(combine(config.messages, options.messages), parts.texts),
      theme: { ...config.theme, ...options.theme },
    }
    const sheet = createSheet(page, ctx, speak(language(ctx)), theme)
    if (!known) {
      snapshots.set(parts, { speak, theme })
      complain(sheet, theme)
    }
    return sheet
  }

  function language({ app, request }: Context): Speaker['lang'] | null {
    const choose = options.locale ?? app.config.locale
    return choose ? choose(request) : request.headers.get('accept-language')
  }
}

function pageOf({ app }: Context, name: string): PluginPage {
  const page = app.parts.pages.get(name)
  if (page) return page
  throw new AuthError(`No plugin draws the page "${name}": declare it with kernel.page, or provide a service "pages" that knows it.`)
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

/** The tools of a page, for a service `pages` of one's own: `ctx.app.parts.pages.get(name)?.draw(ctx, pageTools(ctx, name), params)`. */
export function pageTools(ctx: Context, page: string): PageTools {
  const { config } = ctx.app
  const wanted = config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')
  return createTools(createSheet(page, ctx, speakersOf(ctx.app)(wanted), config.theme))
}
