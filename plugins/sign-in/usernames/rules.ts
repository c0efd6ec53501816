/** Which names there may be (RFC 8265 section 3.3: width, case, composition; one script per name). */
import type { NameRules } from './options.ts'
import { skeletonOf } from './skeleton.ts'

/** Why a name cannot be taken; each has the message `error.<name>`. */
export type NameRefusal = 'UserNameInvalid' | 'UserNameReserved' | 'UserNameTaken'

const asciiName = /^[a-z0-9_][a-z0-9._-]{2,31}$/
const unicodeName = /^[\p{Ll}\p{Lo}\p{Nd}_][\p{Ll}\p{Lo}\p{M}\p{Nd}._-]{2,31}$/u
const scripts = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Thai',
  'Hangul',
  'Georgian',
  'Ethiopic',
] as const
const patterns = scripts.map((name) => new RegExp(`\\p{Script=${name}}`, 'u'))
// Scripts that are written together.
const japanese = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u

/** The name in its one form, or why it is none. */
export function toName(typed: unknown, { unicode: wide, reserved }: NameRules): { name: string } | { error: NameRefusal } {
  if (typeof typed !== 'string' || typed.length > 128) return { error: 'UserNameInvalid' }
  const name = typed.trim().normalize('NFKC').toLowerCase().normalize('NFC')
  // Two points in a row, and a point at the end, are read over. No "@": a name is no address.
  if (!(wide ? unicodeName : asciiName).test(name) || /[._-]{2}|[._-]$/.test(name) || !isOneScript(name))
    return { error: 'UserNameInvalid' }
  return reserved.has(skeletonOf(name)) ? { error: 'UserNameReserved' } : { name }
}

function isOneScript(name: string): boolean {
  return patterns.filter((pattern) => pattern.test(name)).length + (japanese.test(name) ? 1 : 0) <= 1
}
