/** Moments as people say them: "3 days ago", with the exact time on hover. */
import { type Html, markup } from './html.ts'
import type { Language } from './languages.ts'

// Seconds from which on a unit is used.
const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A `<time>` element: the distance to `now` in words, the date and time in UTC as its title. */
export function drawMoment(language: Language, now: Date, date: Date): Html {
  // A row of a store may have a date that is none.
  if (Number.isNaN(date.getTime())) return markup`<span>–</span>`
  return markup`<time datetime="${date.toISOString()}" title="${language.date(date)}">${distanceOf(language.lang, now, date)}</time>`
}

function distanceOf(lang: string, now: Date, date: Date): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  const words = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  // Under a minute: "now". Older browsers and clocks differ by seconds.
  return unit === 'second' ? words.format(0, 'second') : words.format(Math.trunc(seconds / size), unit)
}
