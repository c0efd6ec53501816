/** The error page: what happened in plain words, and the way back. */
import { type AuthError, type Context, CrossSiteRequest, overloadOf } from 'authkernel/kernel'
import { errorText, type ErrorText } from './errors.ts'
import { markup } from './html.ts'
import { icons } from './icons.ts'
import { draw, type Page, type Sheet } from './layout.ts'

// Statuses of Auth.js' error page; anything else is 200.
const statuses: Readonly<Record<string, number>> = { Configuration: 500, AccessDenied: 403, Verification: 403 }

/** Draws the page of an error code. `given` is the status of an answer that is no redirect to this page. */
export function errorPage(sheet: Sheet, error = 'default', given?: string): Response {
  const status = given !== undefined ? Number(given) : Object.hasOwn(statuses, error) ? (statuses[error] ?? 200) : 200
  return page(sheet, errorText(sheet.speaker, error), { status })
}

/**
 * Refusals that are no redirect, for people: 403 for a form of another site, 429 for too many attempts, 503 for a busy server. Programs (no `text/html` in Accept,
 * or X-Auth-Return-Redirect) get the kernel's JSON.
 */
export function refusalPage(ctx: Context, error: AuthError, sheet: () => Sheet): Response | undefined {
  const { headers } = ctx.request
  if (!headers.get('accept')?.includes('text/html') || headers.has('x-auth-return-redirect')) return undefined
  const busy = overloadOf(error)
  const seconds = busy ?? error.cause?.['retryAfter']
  const [code, answer, wait] =
    error instanceof CrossSiteRequest
      ? (['CrossSite', { status: 403 }] as const)
      : typeof seconds === 'number'
        ? busy !== undefined
          ? (['Overloaded', { status: 503, headers: { 'Retry-After': String(busy) } }, busy] as const)
          : (['TooManyRequests', { status: 429, headers: { 'Retry-After': String(seconds) } }, seconds] as const)
        : []
  if (!code) return undefined
  const drawn = sheet()
  return page(drawn, errorText(drawn.speaker, code, '', wait), answer)
}

function page(sheet: Sheet, { heading, text, code }: ErrorText, answer: Pick<Page, 'status' | 'headers'>): Response {
  const { speaker, base } = sheet
  return draw(sheet, {
    ...answer,
    kind: 'error',
    title: speaker.say('error.title'),
    heading,
    tile: markup`<div class="tile alarm">${icons.alert}</div>`,
    body: markup`<div class="message"><p>${text}</p></div>
<div class="actions"><a class="button primary" href="${base}/signin"><span class="label">${speaker.say('error.signIn')}</span></a></div>
${code !== undefined && markup`<p class="code">${speaker.say('error.code', { code })}</p>`}`,
    foot: true,
  })
}
