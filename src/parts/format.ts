/** Dates and devices in words. */
import type { Machine } from './machine.ts'

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** "3 days ago", in the language of the part. `date`: ISO 8601. */
export function formatAgo(machine: Machine<unknown>, date: string): string {
  const seconds = (Date.parse(date) - Date.now()) / 1000
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(machine.say('lang'), { numeric: 'auto' }).format(Math.round(seconds / length), unit)
}

/** "Nov 24, 2026". `date`: ISO 8601. */
export function formatDate(machine: Machine<unknown>, date: string): string {
  return new Intl.DateTimeFormat(machine.say('lang'), { dateStyle: 'medium' }).format(new Date(date))
}

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrom(?:e|ium)\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** "Firefox, Linux"; undefined for a header that says neither. */
export function deviceOf(userAgent = ''): string | undefined {
  const find = (list: typeof browsers): string | undefined => list.find(([pattern]) => pattern.test(userAgent))?.[1]
  return [find(browsers), find(systems)].filter(Boolean).join(', ') || undefined
}
