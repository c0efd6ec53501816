/** What all pages share: the document around a card, and the headers of the answer. */
import { toBase64 } from 'authkernel/kernel'
import { type Content, type Html, markup, scriptText, styleText } from './html.ts'
import { drawLogo } from './look.ts'
import { contentSecurityPolicy } from './policy.ts'
import type { Page, Sheet } from './sheet.ts'
import { styleSheet } from './style.ts'
import { drawWide } from './wide.ts'

// What a script draws is not there without it, and neither is the "or" after it.
const withoutScript = styleText('.needs-script,.needs-script:first-child+.provider>.divider{display:none!important}')

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
  const { language, look } = sheet
  const scripts = scriptsOf(sheet, page)
  const hasScript = scripts.length > 0
  const body = page.wide ? drawWide(sheet, page) : drawNarrow(sheet, page)
  // Classes of the parts begin with it. A user's text that has it costs some bytes of style.
  const hasParts = body.text.includes('ui-')
  return markup`<!DOCTYPE html>
<html lang="${language.lang}" dir="${language.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title}</title>
${look.logo && markup`<link rel="icon" href="${look.logo.url}">`}
<style nonce="${nonce}">${styleText(styleSheet(look, page.light, page.dark, hasParts))}</style>
${hasScript && markup`<noscript><style nonce="${nonce}">${withoutScript}</style></noscript>`}
</head>
<body class="__next-auth-theme-${look.scheme}">
${body}
${scripts.map((script) => markup`<script nonce="${nonce}">${scriptText(script)}</script>`)}
</body>
</html>
`.text
}

/** One card in the middle. */
function drawNarrow(sheet: Sheet, page: Page): Html {
  const { look, parts } = sheet
  return markup`<main class="page">
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
</main>`
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

function siteLink({ origin, site }: Sheet): Html {
  return markup`<p class="foot"><a class="site" href="${origin}" rel="noreferrer">${site}</a></p>`
}

/** The one button of a page with one form. */
export function submitButton(label: Content): Html {
  return markup`<button class="button primary" type="submit" id="submitButton"><span class="label">${label}</span></button>`
}
