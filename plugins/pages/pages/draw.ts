/** Draws the pages: loaded on demand, with all languages. */
import {
  AuthError,
  type Awaitable,
  type Context,
  type Messages,
  type PageParts,
  type Pages,
  type PluginPage,
  type Theme,
} from 'authkernel/kernel'
import { parseColor } from './color.ts'
import { errorPage, refusalPage } from './error.ts'
import { createSheet, type Sheet } from './layout.ts'
import { createSpeakers, type Speaker, type Speakers } from './locale.ts'
import { pluginPage } from './plugin-page.ts'
import type { PagesPluginOptions } from './options.ts'
import { signInPage } from './signin.ts'
import { signOutPage } from './signout.ts'
import { drawSlots } from './slots.ts'
import { createTools } from './tools.ts'
import { verifyConfirmPage, verifyRequestPage } from './verify.ts'

export { accountPage } from './account/index.ts'
export { deleteAccount, deletePage } from './account/delete.ts'
export { endAll, endOne } from './account/sessions.ts'
export { identify } from './identifier.ts'
export { keepTyped } from './typed.ts'

/** Pages of one plugin, and its answers to refusals. */
export interface Drawer extends Pages {
  refusal(ctx: Context, error: AuthError): Awaitable<Response | undefined>
}

/** What was made of the options and of a snapshot is kept. */
export function createDrawer(options: PagesPluginOptions): Drawer {
  const snapshots = new WeakMap<PageParts, { speak: Speakers; theme: Theme }>()
  return { render, refusal: (ctx, error) => refusalPage(ctx, error, () => prepare(ctx, 'error')) }

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
