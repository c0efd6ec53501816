/** The error page: what happened in plain words, and the way back. */
import { type AuthError, type Context } from 'authkernel/kernel'
import { CrossSiteRequest, overloadOf } from 'authkernel/kernel/protocols'
import { errorText, type ErrorText } from './ui/alert.ts'
import { markup } from './ui/html.ts'
import { iconTile } from './ui/icons.ts'
import { drawPage } from './ui/layout.ts'
import type { Page, Sheet } from './ui/sheet.ts'

// Statuses of Auth.js' error page; anything else is 200.
const statuses: Readonly<Record<string, number>> = { Configuration: 500, AccessDenied: 403, Verification: 403 }

/** The page of an error code. `wanted` is the status of a response that is no redirect to this page. */
export function errorPage(sheet: Sheet, error = 'default', wanted?: string): Response {
  const status = wanted !== undefined ? Number(wanted) : Object.hasOwn(statuses, error) ? (statuses[error] ?? 200) : 200
  return drawErrorPage(sheet, errorText(sheet.language, error), { status })
}

/**
 * Responses to errors that are no redirect, for browsers: 403 for a form of another site, 429 for too many attempts, 503 for a busy server. Programs (no `text/html` in Accept,
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
  const errorSheet = sheet()
  return drawErrorPage(errorSheet, errorText(errorSheet.language, code, '', wait), answer)
}

function drawErrorPage(sheet: Sheet, { heading, text, code }: ErrorText, answer: Pick<Page, 'status' | 'headers'>): Response {
  const { language, base } = sheet
  return drawPage(sheet, {
    ...answer,
    kind: 'error',
    title: language.say('error.title'),
    heading,
    tile: iconTile('alert', true),
    body: markup`<div class="message"><p>${text}</p></div>
<div class="actions"><a class="button primary" href="${base}/signin"><span class="label">${language.say('error.signIn')}</span></a></div>
${code !== undefined && markup`<p class="code">${language.say('error.code', { code })}</p>`}`,
    foot: true,
  })
}
