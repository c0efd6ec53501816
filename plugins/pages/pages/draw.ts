/** Renders the pages: loaded by the first request for one, with all languages. */
import {
  AuthError,
  type Awaitable,
  type Context,
  type Messages,
  type PageParts,
  type PageView,
  type Pages,
  type PluginPage,
  type Theme,
} from 'authkernel/kernel'
import { personOf } from './account/profile.ts'
import { errorPage, refusalPage } from './error.ts'
import type { PageReplacement, PagesPluginOptions } from './options.ts'
import { drawSignInPage } from './signin.ts'
import { signOutPage } from './signout.ts'
import { parseColor } from './ui/color.ts'
import { siteTile } from './ui/icons.ts'
import { hasUnusableToken } from './ui/look.ts'
import { createPageLanguages, type PageLanguages } from './ui/languages.ts'
import { drawPage } from './ui/layout.ts'
import { createSheet, type Sheet } from './ui/sheet.ts'
import { noteNeeds, ownTargets, providerTargets, providersOfProof } from './ui/policy.ts'
import { drawSlots, toolsOf } from './ui/tools.ts'
import { verifyConfirmPage, verifyRequestPage } from './verify.ts'

export { accountPage } from './account/index.ts'
export { answerFeatures } from './features.ts'
export { deleteAccount, deletePage } from './account/delete.ts'
export { disconnectMethod } from './account/methods.ts'
export { endAll, endOne } from './account/sessions.ts'
export { continueWithIdentifier } from './identifier.ts'
export { keepTyped } from './typed-fields.ts'

/** The service `pages`, and its responses to errors that are no redirect to a page. */
export interface PageRenderer extends Pages {
  refusal(ctx: Context, error: AuthError): Awaitable<Response | undefined>
}

/** Languages and theme are worked out once for each snapshot. */
export function createRenderer(options: PagesPluginOptions): PageRenderer {
  const snapshots = new WeakMap<PageParts, { languages: PageLanguages; theme: Theme }>()
  return { render, refusal: (ctx, error) => refusalPage(ctx, error, () => prepare(ctx, 'error')) }

  async function render(...[name, ctx, params]: Parameters<Pages['render']>): Promise<Response> {
    const sheet = prepare(ctx, name, params?.['ui_locales'])
    sheet.replacements = options.parts
    // While the configuration is wrong, plugins draw nothing.
    if (!ctx.app.fault) sheet.parts = { head: await drawSlots(sheet, 'head'), foot: await drawSlots(sheet, 'foot') }
    switch (name) {
      case 'signIn':
        return drawSignInPage(sheet, params, options.formAction)
      case 'signOut':
        return signOutPage(sheet, options.formAction)
      case 'verifyRequest':
        return verifyRequestPage(sheet, params['provider'], options.formAction)
      case 'verifyConfirm':
        return verifyConfirmPage(sheet, params, options.formAction)
      case 'error':
        return errorPage(sheet, params['error'], params['status'])
      default:
        return drawPluginPage(sheet, replacePage(findPluginPage(ctx, name), options.pages?.[name]), params, options.formAction)
    }
  }

  function prepare(ctx: Context, page: string, wish?: string): Sheet {
    const { config, parts } = ctx.app
    const known = snapshots.get(parts)
    const { languages, theme } = known ?? {
      languages: createPageLanguages(mergeMessages(config.messages, options.messages), parts.texts),
      theme: { ...config.theme, ...options.theme },
    }
    const sheet = createSheet(page, ctx, languages(wantedLanguage(ctx, wish)), theme)
    if (!known) {
      snapshots.set(parts, { languages, theme })
      warnOfTheme(sheet, theme)
    }
    return sheet
  }

  /** `wish`: tags with blanks between them, by which an app asks for a language (OpenID Connect Core section 3.1.2.1). The host's own choice stands. */
  function wantedLanguage({ app, request }: Context, wish: string | undefined): string | null {
    const choose = options.locale ?? app.config.locale
    if (choose) return choose(request)
    const accepted = request.headers.get('accept-language')
    return wish === undefined ? accepted : [...wish.split(' ').filter(Boolean), accepted ?? ''].join(',')
  }
}

/** A page of a plugin, in the frame of the built-in ones. `targets` are what the host listed for `form-action`. */
async function drawPluginPage(
  sheet: Sheet,
  page: PluginPage,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
): Promise<Response> {
  if (sheet.ctx.request.method === 'POST' && params['error'] !== undefined) sheet.refused = await sheet.ctx.body()
  const view = await page.draw(sheet.ctx, toolsOf(sheet), params)
  if (isResponse(view)) return view
  const { title, heading = title, lead, body, status, forms = [], layout, navigation } = view
  const wide = layout === 'wide'
  noteNeeds(sheet.needs, view, `The page "${page.name}" of plugin "${page.plugin}"`)
  const more = await drawSlots(sheet, 'account')
  const person = wide ? ((await personOf(sheet.ctx)) ?? undefined) : undefined
  const hasForm = sheet.needs.form || forms.length > 0
  const away = hasForm ? [...sheet.needs.away, ...(await providersOfProof(sheet.ctx))] : []
  return drawPage(sheet, {
    kind: `plugin page-${page.name.replace(/[^\w-]/g, '')}`,
    title,
    heading,
    lead,
    tile: siteTile(sheet.site),
    body: [body, more],
    wide,
    navigation,
    person,
    ...(status !== undefined && { status }),
    ...(hasForm && {
      forms: [...(await ownTargets(sheet.ctx, [...(targets ?? []), ...forms])), ...(away.length > 0 ? providerTargets(away, targets) : [])],
    }),
    foot: true,
  })
}

function replacePage(page: PluginPage, replacement: PageReplacement | undefined): PluginPage {
  if (!replacement) return page
  return { ...page, draw: (ctx, tools, params) => replacement(ctx, tools, params, () => page.draw(ctx, tools, params)) }
}

// A Response of another realm is one too.
function isResponse(view: PageView | Response): view is Response {
  return typeof (view as Response).arrayBuffer === 'function'
}

function findPluginPage({ app }: Context, name: string): PluginPage {
  const page = app.parts.pages.get(name)
  if (page) return page
  throw new AuthError(`No plugin draws the page "${name}": declare it with kernel.page, or provide a service "pages" that knows it.`)
}

function mergeMessages(...all: readonly (Messages | undefined)[]): Messages {
  const combined: Messages = {}
  for (const messages of all) for (const [tag, texts] of Object.entries(messages ?? {})) combined[tag] = { ...combined[tag], ...texts }
  return combined
}

// Once per configuration: without it a host searches for why a part of the theme is ignored.
function warnOfTheme({ ctx: { logger }, origin, look }: Sheet, theme: Theme): void {
  if (theme.logo !== undefined && origin !== undefined && !look.logo) logger.warn('theme-logo-not-shown')
  if (theme.brandColor !== undefined && !parseColor(theme.brandColor)) logger.warn('theme-brandColor-not-hex')
  if (theme.buttonText !== undefined && !parseColor(theme.buttonText)) logger.warn('theme-buttonText-not-hex')
  if (hasUnusableToken(theme)) logger.warn('theme-token-not-usable')
}
