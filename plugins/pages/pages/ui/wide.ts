/** The frame of wide pages: a header with logo and account menu, links at the side, the content beside them. */
import type { User } from 'authkernel/kernel'
import { type Content, type Html, markup } from './html.ts'
import { siteTile } from './icons.ts'
import { drawLogo } from './look.ts'
import type { Page, Sheet } from './sheet.ts'
import { createControls } from './parts-controls.ts'
import { drawAvatar } from './parts.ts'

/** The body of a wide page. `person` is undefined for a page that signed-out visitors see. */
export function drawWide(sheet: Sheet, page: Page): Html {
  const { language, parts } = sheet
  const { navigation, person } = page
  return markup`<a class="ui-skip" href="#content">${language.say('ui.skip')}</a>
<header class="ui-bar">
${navigation && markup`<button class="ui-burger" type="button" popovertarget="ui-nav"><i></i><span class="ui-hidden">${navigation.label}</span></button>`}
${drawHome(sheet)}
${person && drawAccountMenu(sheet, person)}
</header>
<div class="ui-page${navigation ? '' : ' ui-alone'} ${page.kind}">
${navigation && drawNavigation(sheet, navigation)}
<main id="content">
<div class="ui-head"><h1>${page.heading}</h1>${page.lead && markup`<p>${page.lead}</p>`}</div>
${parts.head}${page.body}${parts.foot}
</main>
</div>`
}

function drawHome(sheet: Sheet): Html {
  const { look, origin, site } = sheet
  const mark = look.logo ? drawLogo(look.logo, sheet) : markup`${siteTile(site)}<b>${site}</b>`
  return origin === undefined ? markup`<span class="ui-home">${mark}</span>` : markup`<a class="ui-home" href="${origin}/">${mark}</a>`
}

// A popover needs no script, closes with Escape and by a press elsewhere. On a wide window the links are always there.
function drawNavigation(sheet: Sheet, { label, items }: NonNullable<Page['navigation']>): Html {
  const { navigationLink } = createControls(sheet)
  return markup`<nav class="ui-nav" id="ui-nav" popover aria-label="${label}"><ul>${items.map((item) => markup`<li>${navigationLink(item)}</li>`)}</ul></nav>`
}

function drawAccountMenu({ base, language, origin }: Sheet, { name, email, image }: User): Html {
  const shown = name || email || ''
  return markup`<button class="ui-me" type="button" popovertarget="ui-me">${drawAvatar(
    { name: shown, picture: image, size: 'small' },
    origin,
  )}<span>${shown}</span></button>
<div class="ui-menu" id="ui-me" popover><p><bdi>${shown}</bdi>${name && email && markup`<small><bdi>${email}</bdi></small>`}</p><ul>${links(base, language)}</ul></div>`
}

function links(base: string, language: Sheet['language']): Content {
  return [['account.title', '/account'] as const, ['signOut.submit', '/signout'] as const].map(
    ([key, path]) => markup`<li><a href="${base}${path}">${language.say(key)}</a></li>`,
  )
}
