/** What a page is drawn from: the request, its language and look, and what the parts of the page need. */
import { type Context, isLoopback, type Navigation, type PageTools, type Theme, type User } from 'authkernel/kernel'
import type { PartReplacements } from '../options.ts'
import type { Content, Html } from './html.ts'
import type { Language } from './languages.ts'
import { createLook, type Look } from './look.ts'
import { createNeeds, type Needs, type Permissions } from './policy.ts'
import { siteName } from './site.ts'

/** One page being drawn. */
export interface Sheet {
  /** Name of the page. */
  readonly page: string
  readonly needs: Needs
  /** What plugins put above and below the content. */
  parts: { head: Content; foot: Content }
  /** Fields of the rejected form that the page responds to. */
  refused?: Readonly<Record<string, unknown>>
  /** What parts are drawn with, once there is one: `toolsOf`. */
  tools?: PageTools
  readonly ctx: Context
  readonly language: Language
  readonly look: Look
  /** Own origin; undefined when the host is not trusted, which is what the error page then has to say. */
  readonly origin: string | undefined
  /** Name of the site. */
  readonly site: string
  /** What links and forms start with. */
  readonly base: string
  /** Parts that the host draws in its own way. */
  replacements?: PartReplacements | undefined
}
/** What a page puts into the layout. */
export interface Page extends Pick<Permissions, 'forms'> {
  /** Class around the card: `signin`, `signout`, `error`, `verify-request`. */
  kind: string
  title: Content
  heading: Content
  /** Under the heading. */
  lead?: Content
  /** Above the heading when the theme has no logo. */
  tile: Html
  body: Content
  /** Default 200. */
  status?: number
  headers?: Readonly<Record<string, string>>
  /** Link to the site under the card. */
  foot?: boolean
  /** The wide frame, with room for cards and tables. Default: one card in the middle. */
  wide?: boolean
  /** Links beside a wide page. */
  navigation?: Navigation | undefined
  /** Whose account menu a wide page has. */
  person?: User | undefined
  light?: string
  dark?: string
  scripts?: readonly string[]
}

/** Gathers what a page is drawn from. Never throws, so that an error page can say that the host is not trusted. */
export function createSheet(page: string, ctx: Context, language: Language, theme: Theme): Sheet {
  const origin = readOrUndefined(() => ctx.origin)
  const site = siteName(ctx.app.config, origin)
  return {
    page,
    needs: createNeeds(),
    parts: { head: undefined, foot: undefined },
    ctx,
    language,
    look: createLook(theme, origin),
    origin,
    site,
    base: baseOf(ctx, origin),
  }
}

// Browsers send Sec-Fetch headers over https and to loopback only: with them on a plain http origin, TLS ends in front of us without our being
// told, and an absolute http address would be a mixed form that the CSP stops.
function baseOf(ctx: Context, origin: string | undefined): string {
  if (origin === undefined) return ctx.basePath
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !isLoopback(hostname) && ctx.request.headers.has('sec-fetch-site') ? ctx.basePath : ctx.base
}

function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
