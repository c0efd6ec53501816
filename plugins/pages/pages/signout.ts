/** The page that asks before signing out: a GET must not end a session. */
import { type Context, subjectOf } from 'authkernel/kernel'
import { markup } from './ui/html.ts'
import { iconTile } from './ui/icons.ts'
import { drawPage, submitButton } from './ui/layout.ts'
import type { Sheet } from './ui/sheet.ts'
import { hiddenInputs } from './ui/fields.ts'
import { ownTargets, providerTargets } from './ui/policy.ts'
import { isolateName } from './ui/site.ts'

/** Draws the page. */
export async function signOutPage(sheet: Sheet, targets: readonly string[] | undefined): Promise<Response> {
  const { ctx, language, base } = sheet
  if (await hasNoSession(ctx)) return drawSignedOut(sheet)
  // Posted to where it came from: a callbackUrl of the query goes along.
  const { search } = ctx.url
  // A handler of `signOut` sends users on, to sign out at their provider.
  const away = ctx.has('hook', 'signOut') ? providerTargets(await ctx.providers(), targets) : []
  return drawPage(sheet, {
    kind: 'signout',
    title: language.say('signOut.title'),
    heading: language.say('signOut.heading'),
    lead: language.say('signOut.text', { site: isolateName(sheet.site) }),
    tile: iconTile('leave'),
    body: markup`<div class="actions">
<form action="${base}/signout${search}" method="post">${hiddenInputs({ csrfToken: await ctx.csrfToken() })}${submitButton(language.say('signOut.submit'))}</form>
<a class="button quiet" href="${sheet.origin}"><span class="label">${language.say('signOut.cancel')}</span></a>
</div>`,
    forms: [...(await ownTargets(ctx, targets)), ...away],
  })
}

function drawSignedOut(sheet: Sheet): Response {
  const { language, base } = sheet
  return drawPage(sheet, {
    kind: 'signout',
    title: language.say('signOut.title'),
    heading: language.say('signOut.signedOut.heading'),
    lead: language.say('signOut.signedOut'),
    tile: iconTile('leave'),
    body: markup`<div class="actions"><a class="button primary" href="${base}/signin"><span class="label">${language.say('signIn.heading')}</span></a></div>`,
    foot: true,
  })
}

/** Nothing that could be a session came with the request. Reads no store. */
async function hasNoSession(ctx: Context): Promise<boolean> {
  return !ctx.chunkedCookie(ctx.cookies.sessionToken.name) && (await subjectOf(ctx)) === null
}
