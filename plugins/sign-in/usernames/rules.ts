/** Which names there may be (RFC 8265 section 3.3: width, case, composition; one script per name). */
import { assertOptions, AuthError } from 'authkernel/kernel'
import { skeletonOf } from './skeleton.ts'

/** What `usernamesPlugin` takes. */
export interface UsernamesOptions {
  /** `ascii` (default): `[a-z0-9_][a-z0-9._-]{2,31}` in small letters. `unicode`: letters, marks and digits of all scripts, one script per name. */
  characters?: 'ascii' | 'unicode'
  /** Names that nobody gets, beside the built-in ones (`admin`, `root`, `support` …). */
  reserved?: readonly string[]
}
/** Why a name cannot be taken; each has the message `error.<name>`. */
export type NameRefusal = 'UserNameInvalid' | 'UserNameReserved' | 'UserNameTaken'
/** Resolved once. */
export interface NameRules {
  unicode: boolean
  /** Skeletons: what looks like a reserved name is one. */
  reserved: ReadonlySet<string>
}

// Roles that people trust, addresses of RFC 2142, and words of paths.
const builtin = (
  'abuse account admin administrator anonymous api auth billing contact dev everyone guest help helpdesk hostmaster info login logout mail me ' +
  'moderator news nobody noreply no-reply null official owner postmaster privacy root sales security settings signin signout signup staff ' +
  'status superuser support sysadmin system team test undefined user webmaster www'
).split(' ')
const ascii = /^[a-z0-9_][a-z0-9._-]{2,31}$/
const unicode = /^[\p{Ll}\p{Lo}\p{Nd}_][\p{Ll}\p{Lo}\p{M}\p{Nd}._-]{2,31}$/u
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
// Written together by people.
const japanese = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u

/** Throws AuthError that names the option. */
export function resolveRules(options: UsernamesOptions): NameRules {
  assertOptions('Plugin "usernames"', options, { characters: true, reserved: true })
  const { characters = 'ascii', reserved = [] } = options
  if (characters !== 'ascii' && characters !== 'unicode')
    throw new AuthError("Plugin \"usernames\": `characters` must be 'ascii' or 'unicode'.")
  if (!Array.isArray(reserved) || reserved.some((one) => typeof one !== 'string'))
    throw new AuthError('Plugin "usernames": `reserved` must be a list of names.')
  return { unicode: characters === 'unicode', reserved: new Set([...builtin, ...reserved].map((name) => skeletonOf(name.toLowerCase()))) }
}

/** The name in its one form, or why it is none. */
export function toName(typed: unknown, { unicode: wide, reserved }: NameRules): { name: string } | { error: NameRefusal } {
  if (typeof typed !== 'string' || typed.length > 128) return { error: 'UserNameInvalid' }
  const name = typed.trim().normalize('NFKC').toLowerCase().normalize('NFC')
  // Two points in a row, and a point at the end, are read over. No "@": a name is nobody's address.
  if (!(wide ? unicode : ascii).test(name) || /[._-]{2}|[._-]$/.test(name) || !isOneScript(name)) return { error: 'UserNameInvalid' }
  return reserved.has(skeletonOf(name)) ? { error: 'UserNameReserved' } : { name }
}

function isOneScript(name: string): boolean {
  return patterns.filter((pattern) => pattern.test(name)).length + (japanese.test(name) ? 1 : 0) <= 1
}
