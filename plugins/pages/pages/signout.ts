/** The page that asks before signing out (row 266): a GET must not end a session. */
import { markup } from './html.ts'
import { icons } from './icons.ts'
import { draw, emphasis, hidden, type Sheet, submitButton } from './layout.ts'
import { isNobody } from './person.ts'
import { ownTargets, providerTargets } from './policy.ts'

/** Draws the page. */
export async function signOutPage(sheet: Sheet, targets: readonly string[] | undefined): Promise<Response> {
  const { ctx, speaker, base } = sheet
  if (await isNobody(ctx)) return nobodyPage(sheet)
  // Posted to where it came from: a callbackUrl of the query goes along.
  const { search } = ctx.url
  // Somebody who answers `signOut` sends people on to sign out at their provider.
  const away = ctx.has('hook', 'signOut') ? providerTargets(await ctx.providers(), targets) : []
  return draw(sheet, {
    kind: 'signout',
    title: speaker.say('signOut.title'),
    heading: speaker.say('signOut.heading'),
    lead: speaker.say('signOut.text', { site: emphasis(sheet.site) }),
    tile: markup`<div class="tile">${icons.leave}</div>`,
    body: markup`<div class="actions">
<form action="${base}/signout${search}" method="post">${hidden({ csrfToken: await ctx.csrfToken() })}${submitButton(speaker.say('signOut.submit'))}</form>
<a class="button quiet" href="${sheet.origin}"><span class="label">${speaker.say('signOut.cancel')}</span></a>
</div>`,
    forms: [...(await ownTargets(ctx, targets)), ...away],
  })
}

function nobodyPage(sheet: Sheet): Response {
  const { speaker, base } = sheet
  return draw(sheet, {
    kind: 'signout',
    title: speaker.say('signOut.title'),
    heading: speaker.say('signOut.nobody.heading'),
    lead: speaker.say('signOut.nobody'),
    tile: markup`<div class="tile">${icons.leave}</div>`,
    body: markup`<div class="actions"><a class="button primary" href="${base}/signin"><span class="label">${speaker.say('signIn.heading')}</span></a></div>`,
    foot: true,
  })
}
