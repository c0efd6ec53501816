/** The parts of pages behind the sign-in: cards, rows, facts, tags, avatars, moments. Tables and what is pressed have files of their own. */
import { type CardOptions, type RowOptions, type UIParts, type AvatarOptions } from 'authkernel/kernel'
import { type Content, type Html, markup } from './html.ts'
import type { Language } from './languages.ts'
import type { Sheet } from './sheet.ts'
import { createControls } from './parts-controls.ts'
import { drawTable } from './parts-table.ts'
import { readPicture } from './picture.ts'

// Seconds from which on a unit is used.
const momentUnits = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** The parts of one page. A page with a part in it has the style of all of them. */
export function createParts(sheet: Sheet): UIParts {
  const { language } = sheet
  const controls = createControls(sheet)
  return {
    ...controls,
    card: drawCard,
    row: drawRow,
    facts: (pairs) =>
      markup`<dl class="facts ui-facts">${pairs.map(
        ([name, value]) => hasContent(value) && markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
      )}</dl>`,
    table: (options) => drawTable(sheet, options),
    tabs: ({ label, items }) =>
      markup`<nav class="ui-tabs" aria-label="${label}"><ul>${items.map(
        (item) => markup`<li>${controls.navigationLink(item)}</li>`,
      )}</ul></nav>`,
    emptyState: ({ title, text, action }) =>
      markup`<div class="ui-empty ui-flush"><b>${title}</b>${text && markup`<p>${text}</p>`}${action && markup`<div>${action}</div>`}</div>`,
    tag: (label, tone) => markup`<span class="ui-tag${tone && ` ${tone}`}">${label}</span>`,
    avatar: (options) => drawAvatar(options, sheet.origin),
    moment: (date) => drawMoment(language, sheet.ctx.now, date),
    toast: (text) => markup`<div class="error notice ui-toast" role="status"><p>${text}</p></div>`,
    stats: (items) =>
      markup`<dl class="ui-stats">${items.map(
        ({ label, value, text }) => markup`<div><dt>${label}</dt><dd><b>${value}</b>${text && markup`<small>${text}</small>`}</dd></div>`,
      )}</dl>`,
    skeleton: (rows = 3) =>
      markup`<div class="ui-skeleton ui-flush" aria-hidden="true">${Array.from(
        { length: Math.min(rows, 50) },
        () => markup`<div><i></i><span></span></div>`,
      )}</div>`,
  }
}

function drawCard({ id, title, text, tags, picture, actions, body, danger }: CardOptions): Html {
  const named = id === undefined ? undefined : markup` id="${id}" aria-labelledby="${id}-heading"`
  return markup`<section class="ui-card${danger && ' ui-zone'}"${named}>
<header class="ui-flush">${picture}<div class="ui-main"><h2${id !== undefined && markup` id="${id}-heading"`}>${title}${tags && [' ', tags]}</h2>${
    text && markup`<p>${text}</p>`
  }</div>${hasContent(actions) && markup`<div class="ui-end">${actions}</div>`}</header>
${body}
</section>
`
}

function drawRow({ id, title, text, tags, picture, actions }: RowOptions): Html {
  const facts = (Array.isArray(text) ? (text as readonly Content[]) : [text as Content]).filter(hasContent)
  return markup`<div class="ui-row ui-flush">${picture && markup`<span class="ui-picture">${picture}</span>`}<div class="ui-main"${
    id !== undefined && markup` id="${id}"`
  }><div>${title}${tags && [' ', tags]}</div>${facts.length > 0 && markup`<small>${facts.map((fact, at) => [at > 0 && ' · ', fact])}</small>`}</div>${
    hasContent(actions) && markup`<div class="ui-end">${actions}</div>`
  }</div>
`
}

/** A picture of the own origin, else the first letters of the name. It stands beside the name, so screen readers skip it. */
export function drawAvatar({ name, picture, size }: AvatarOptions, origin: string | undefined): Html {
  const found = picture ? readPicture(picture, origin) : undefined
  const kind = `ui-avatar${size === undefined ? '' : ` ui-${size}`}`
  if (found) return markup`<img class="${kind}" src="${found.url}" alt="">`
  return markup`<span class="${kind}" aria-hidden="true">${initialsOf(name)}</span>`
}

/** "AL" of "Ada Lovelace", "A" of "ada@example.com", "?" of nothing that has a letter. */
function initialsOf(name: string): string {
  const words = (name.split('@')[0] ?? '').match(/[\p{L}\p{N}]+/gu) ?? []
  const letters = name.includes('@') ? words.slice(0, 1) : [words[0], words.length > 1 ? words.at(-1) : undefined]
  const initials = letters.map((word) => (word === undefined ? '' : ([...word][0] ?? ''))).join('')
  return initials === '' ? '?' : initials.toUpperCase()
}

/** False for everything that draws nothing. */
export function hasContent(content: Content): boolean {
  if (Array.isArray(content)) return (content as readonly Content[]).some(hasContent)
  return content !== undefined && content !== null && content !== false && content !== ''
}

/** A `<time>` element: the distance to `now` in words, the date and time in UTC as its title. */
function drawMoment(language: Language, now: Date, date: Date): Html {
  // A row of a store may have a date that is none.
  if (Number.isNaN(date.getTime())) return markup`<span>–</span>`
  return markup`<time datetime="${date.toISOString()}" title="${language.date(date)}">${distanceOf(language.lang, now, date)}</time>`
}

function distanceOf(lang: string, now: Date, date: Date): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  const words = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
  const [unit, size] = momentUnits.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  // Under a minute: "now". Older browsers and clocks differ by seconds.
  return unit === 'second' ? words.format(0, 'second') : words.format(Math.trunc(seconds / size), unit)
}
