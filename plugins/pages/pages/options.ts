/** Options of the plugin `pages`. */
import {
  assertOptions,
  assertTheme,
  AuthError,
  type Awaitable,
  type Context,
  type Messages,
  type PageTools,
  type PageView,
  type Theme,
  type UIParts,
} from 'authkernel/kernel'

/**
 * Draws a page instead of a plugin, or changes what the plugin drew: `draw()` returns that. `params` are what the page was given, or the query.
 */
export type PageReplacement = (
  ctx: Context,
  tools: PageTools,
  params: Readonly<Record<string, string | undefined>>,
  draw: () => Awaitable<PageView | Response>,
) => Awaitable<PageView | Response>

/** Makes parts of one's own of the built-in ones: `card: (draw) => (options) => draw({ ...options, tags: undefined })`. Values in `tools.html` are escaped. */
export type PartReplacements = { readonly [K in keyof UIParts]?: (draw: UIParts[K], tools: PageTools) => UIParts[K] }

/** Options of `pagesPlugin`; each overrides the option of the same name in the configuration. */
export interface PagesPluginOptions {
  /** Colours and logo. */
  theme?: Theme | undefined
  /** Texts by language, over the built-in ones; new languages may be added. Keys: `plugins/pages/pages/messages/en.ts`. */
  messages?: Messages | undefined
  /** Language of a request; default: its Accept-Language. */
  locale?: ((request: Request) => string) | undefined
  /**
   * Origins that a sign-in may pass through on its way (`https://login.example`). With a list, `form-action` of the
   * Content-Security-Policy names these alone instead of every https address.
   */
  formAction?: readonly string[] | undefined
  /** Replaces pages of plugins by name: `account`, `adminUsers`; `auth.inspect().pages` has the names. The pages of a sign-in are replaced by `pages` of `createAuth`. */
  pages?: Readonly<Record<string, PageReplacement>> | undefined
  /** Replaces single parts on all pages behind the sign-in. */
  parts?: PartReplacements | undefined
}

/** Throws AuthError that names an option which does not exist. */
export function checkPagesOptions(options: PagesPluginOptions): void {
  assertOptions('Plugin "pages"', options, { theme: true, messages: true, locale: true, formAction: true, pages: true, parts: true })
  assertTheme('Plugin "pages"', options.theme)
  for (const name of ['pages', 'parts'] as const)
    for (const [key, value] of Object.entries(options[name] ?? {}))
      if (typeof value !== 'function') throw new AuthError(`Plugin "pages": \`${name}.${key}\` must be a function.`)
}
