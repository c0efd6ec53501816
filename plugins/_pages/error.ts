/** The error page: what happened in plain words, and the way back. */
import { errorText } from './errors.ts'
import { markup } from './html.ts'
import { icons } from './icons.ts'
import { draw, type Sheet } from './layout.ts'

// WIRE section 12; anything else is 200.
const statuses: Readonly<Record<string, number>> = { Configuration: 500, AccessDenied: 403, Verification: 403 }

/** Draws the page of an error code. */
export function errorPage(sheet: Sheet, error = 'default'): Response {
  const { speaker, base } = sheet
  const { heading, text, code } = errorText(speaker, error)
  return draw(sheet, {
    kind: 'error',
    title: speaker.say('error.title'),
    heading,
    tile: markup`<div class="tile alarm">${icons.alert}</div>`,
    body: markup`<div class="message"><p>${text}</p></div>
<div class="actions"><a class="button primary" href="${base}/signin"><span class="label">${speaker.say('error.signIn')}</span></a></div>
${code !== undefined && markup`<p class="code">${speaker.say('error.code', { code })}</p>`}`,
    status: Object.hasOwn(statuses, error) ? (statuses[error] ?? 200) : 200,
    foot: true,
  })
}
