/** The two pages around a magic link: "check your email", and the question before the link is used. */
import type { Context } from 'authkernel/kernel'
import { markup } from './ui/html.ts'
import { iconTile } from './ui/icons.ts'
import { drawPage, submitButton } from './ui/layout.ts'
import type { Sheet } from './ui/sheet.ts'
import { hiddenInputs } from './ui/fields.ts'
import { ownTargets } from './ui/policy.ts'
import { isolateName } from './ui/site.ts'

/** The page after a link was requested. It never says whether the address is known. */
export async function verifyRequestPage(
  sheet: Sheet,
  provider: string | undefined,
  targets: readonly string[] | undefined,
): Promise<Response> {
  const { ctx, language, base } = sheet
  const seconds = await lifetimeOfLink(ctx, provider)
  const again = markup`<a href="${base}/signin">${language.say('verifyRequest.again')}</a>`
  return drawPage(sheet, {
    kind: 'verify-request',
    title: language.say('verifyRequest.title'),
    heading: language.say('verifyRequest.heading'),
    tile: iconTile('mail'),
    body: markup`<p class="message">${language.say('verifyRequest.text', { site: isolateName(sheet.site) })}</p>
${seconds !== undefined && markup`<p class="message">${language.say('verifyRequest.expires', { duration: language.duration(seconds) })}</p>`}
<p class="hint">${language.say('verifyRequest.hint', { again })}</p>`,
    // A plugin drew a form below, which sends the mail again.
    ...(sheet.needs.form && { forms: await ownTargets(ctx, targets) }),
    foot: true,
  })
}

/** Draws the question: mail scanners open links, they do not press buttons. `params` but `action` travel back as hidden inputs. */
export async function verifyConfirmPage(
  sheet: Sheet,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
): Promise<Response> {
  const { ctx, language, base } = sheet
  const { action = '', ...sent } = params
  const target = action.startsWith(`${ctx.base}/`) ? base + action.slice(ctx.base.length) : action
  return drawPage(sheet, {
    kind: 'verify-request verify-confirm',
    title: language.say('verifyConfirm.title'),
    heading: language.say('verifyConfirm.heading'),
    lead: language.say('verifyConfirm.text', { site: isolateName(sheet.site) }),
    tile: iconTile('person'),
    body: markup`${sent['email'] && markup`<p class="who"><bdi>${sent['email']}</bdi></p>`}
<form action="${target}" method="post">${hiddenInputs({ ...sent, csrfToken: await ctx.csrfToken() })}${submitButton(language.say('verifyConfirm.submit'))}</form>
<p class="hint">${language.say('verifyConfirm.notYou')}</p>`,
    forms: await ownTargets(ctx, [...(params['callbackUrl'] === undefined ? [] : [params['callbackUrl']]), ...(targets ?? [])]),
  })
}

async function lifetimeOfLink(ctx: Context, id: string | undefined): Promise<number | undefined> {
  const provider = (await ctx.providers()).find((candidate) => candidate.id === id && candidate.type === 'email')
  return provider && ((provider as { maxAge?: number }).maxAge ?? 600)
}
