/** What all pages share: the document around a card, and the headers of the answer. */
import { type Context, isLoopback, type Theme, toBase64 } from 'authkernel/kernel'
import { type Content, type Html, markup, scriptText, styleText } from './html.ts'
import type { Language } from './languages.ts'
import { createLook, type Logo, type Look } from './look.ts'
import { contentSecurityPolicy, createNeeds, type Needs, type Permissions } from './policy.ts'
import { siteName } from './site.ts'
import { styleSheet } from './style.ts'

// What a script draws is not there without it, and neither is the "or" after it.
const withoutScript = styleText('.needs-script,.needs-script:first-child+.provider>.divider{display:none}')

/** One page being drawn. */
export interface Sheet {
  /** Name of the page. */
  readonly page: string
  readonly needs: Needs
  /** What plugins put above and below the content. */
  parts: { head: Content; foot: Content }
  readonly ctx: Context
  readonly language: Language
  readonly look: Look
  /** Own origin; undefined when the host is not trusted, which is what the error page then has to say. */
  readonly origin: string | undefined
  /** Name of the site. */
  readonly site: string
  /** What links and forms start with. */
  readonly base: string
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

/** The page as a response. */
export function drawPage(sheet: Sheet, page: Page): Response {
  const nonce = createNonce(sheet)
  return respondWith(sheet, page, documentOf(sheet, page, nonce), nonce, scriptsOf(sheet, page).length > 0)
}

/** 144 bits, fresh in every answer. */
export function createNonce({ ctx }: Sheet): string {
  return toBase64(ctx.runtime.random(18))
}

function scriptsOf({ needs }: Sheet, { scripts = [] }: Page): string[] {
  return [...new Set([...scripts, ...needs.scripts])]
}

/** The document as text. */
export function documentOf(sheet: Sheet, page: Page, nonce: string): string {
  const { language, look, parts } = sheet
  const scripts = scriptsOf(sheet, page)
  const hasScript = scripts.length > 0
  return markup`<!DOCTYPE html>
<html lang="${language.lang}" dir="${language.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title}</title>
${look.logo && markup`<link rel="icon" href="${look.logo.url}">`}
<style nonce="${nonce}">${styleText(styleSheet(look, page.light, page.dark))}</style>
${hasScript && markup`<noscript><style nonce="${nonce}">${withoutScript}</style></noscript>`}
</head>
<body class="__next-auth-theme-${look.scheme}">
<main class="page">
<div class="${page.kind}">
<div class="card">
<div class="header">
${look.logo ? drawLogo(look.logo, sheet) : page.tile}
<h1>${page.heading}</h1>
${page.lead && markup`<p>${page.lead}</p>`}
</div>
${parts.head}${page.body}${parts.foot}
</div>
</div>
${page.foot && sheet.origin !== undefined && siteLink(sheet)}
</main>
${scripts.map((script) => markup`<script nonce="${nonce}">${scriptText(script)}</script>`)}
</body>
</html>
`.text
}

/** A document as a response, with the headers that all pages have. */
export function respondWith(
  { language, needs }: Sheet,
  page: Pick<Page, 'forms' | 'status' | 'headers'>,
  text: string,
  nonce: string,
  hasScript: boolean,
): Response {
  return new Response(text, {
    status: page.status ?? 200,
    headers: {
      ...page.headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': language.lang,
      'Content-Security-Policy': contentSecurityPolicy(nonce, {
        ...(page.forms && { forms: page.forms }),
        script: hasScript,
        sources: needs.sources,
      }),
      'Cache-Control': 'private, no-store',
      'Referrer-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
      // For browsers older than frame-ancestors.
      'X-Frame-Options': 'DENY',
      Vary: 'Accept-Language, Cookie',
    },
  })
}

// A drawing in one colour has a second form where that colour cannot be seen.
function drawLogo({ url, dark }: Logo, { look, site }: Sheet): Html {
  const image = markup`<img class="logo" src="${look.scheme === 'dark' ? dark : url}" alt="${site}">`
  if (dark === url || look.scheme !== 'auto') return image
  return markup`<picture><source media="(prefers-color-scheme:dark)" srcset="${dark}">${image}</picture>`
}

function siteLink({ origin, site }: Sheet): Html {
  return markup`<p class="foot"><a class="site" href="${origin}" rel="noreferrer">${site}</a></p>`
}

/** Hidden inputs; undefined values are left out. */
export function hiddenInputs(values: Readonly<Record<string, string | undefined>>): Content {
  return Object.entries(values).map(([name, value]) => value !== undefined && markup`<input type="hidden" name="${name}" value="${value}">`)
}

/** The one button of a page with one form. */
export function submitButton(label: Content): Html {
  return markup`<button class="button primary" type="submit" id="submitButton"><span class="label">${label}</span></button>`
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
