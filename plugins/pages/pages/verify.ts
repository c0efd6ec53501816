/** The two pages around a mailed link: "look into your mail", and the question before the link is used (D17). */
import type { Context } from 'authkernel/kernel'
import { markup } from './html.ts'
import { icons } from './icons.ts'
import { draw, emphasis, hidden, type Sheet, submitButton } from './layout.ts'
import { ownTargets } from './policy.ts'

/** Draws the page after a link was asked for. It never says whether the address is known. */
export async function verifyRequestPage(sheet: Sheet, provider: string | undefined): Promise<Response> {
  const { ctx, speaker, base } = sheet
  const seconds = await lifetime(ctx, provider)
  const again = markup`<a href="${base}/signin">${speaker.say('verifyRequest.again')}</a>`
  return draw(sheet, {
    kind: 'verify-request',
    title: speaker.say('verifyRequest.title'),
    heading: speaker.say('verifyRequest.heading'),
    tile: markup`<div class="tile">${icons.mail}</div>`,
    body: markup`<p class="message">${speaker.say('verifyRequest.text', { site: emphasis(sheet.site) })}</p>
${seconds !== undefined && markup`<p class="message">${speaker.say('verifyRequest.expires', { duration: speaker.duration(seconds) })}</p>`}
<p class="hint">${speaker.say('verifyRequest.hint', { again })}</p>`,
    foot: true,
  })
}

/** Draws the question: mail scanners open links, they do not press buttons. `params` but `action` travel back as hidden inputs. */
export async function verifyConfirmPage(
  sheet: Sheet,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
): Promise<Response> {
  const { ctx, speaker, base } = sheet
  const { action = '', ...sent } = params
  const target = action.startsWith(`${ctx.base}/`) ? base + action.slice(ctx.base.length) : action
  return draw(sheet, {
    kind: 'verify-request verify-confirm',
    title: speaker.say('verifyConfirm.title'),
    heading: speaker.say('verifyConfirm.heading'),
    lead: speaker.say('verifyConfirm.text', { site: emphasis(sheet.site) }),
    tile: markup`<div class="tile">${icons.person}</div>`,
    body: markup`${sent['email'] && markup`<p class="who"><bdi>${sent['email']}</bdi></p>`}
<form action="${target}" method="post">${hidden({ ...sent, csrfToken: await ctx.csrfToken() })}${submitButton(speaker.say('verifyConfirm.submit'))}</form>
<p class="hint">${speaker.say('verifyConfirm.notYou')}</p>`,
    forms: await ownTargets(ctx, [...(params['callbackUrl'] === undefined ? [] : [params['callbackUrl']]), ...(targets ?? [])]),
  })
}

async function lifetime(ctx: Context, id: string | undefined): Promise<number | undefined> {
  const provider = (await ctx.providers()).find((candidate) => candidate.id === id && candidate.type === 'email')
  return provider && ((provider as { maxAge?: number }).maxAge ?? 600)
}
