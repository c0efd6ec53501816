/** Rejects names of options that nothing knows, for hosts without TypeScript: an option that is left out in silence may be a protection. */
import type { Theme } from '../contract/data.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider } from '../contract/provider.ts'
import { didYouMean, findNearest } from '../errors/did-you-mean.ts'
import { AuthError, InvalidProvider } from '../errors/index.ts'

type NameOf<T> = T extends unknown ? Exclude<keyof T, symbol> : never
/** The name of every option of a type, each with `true`: a record, so that the compiler finds an option without its name. */
export type OptionNames<T> = Readonly<Record<NameOf<T>, true>>
/** Options of a plugin that has none. */
export type NoOptions = Readonly<Record<string, never>>

/**
 * Throws AuthError for options that are no object, and for an option that is not in `names`, with the one that was meant. `who` begins the message:
 * `Plugin "acme"`. Call it in the factory of a plugin, before anything else. Names with the value undefined count as absent, and symbols are always
 * allowed. `at`: the option that holds these, where undefined is no fault: `assertOptions(who, options.limit, { max: true, seconds: true }, 'limit')`.
 */
export function assertOptions<T extends object>(who: string, given: T | undefined, names: OptionNames<T>, at?: string): void {
  if (at === undefined || given !== undefined) assertNames(who, given, names, at)
}

/** Without types. `remedies`: what to use instead of a name. */
export function assertNames(
  who: string,
  given: unknown,
  names: object,
  at?: string,
  remedies: Readonly<Record<string, string>> = {},
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new AuthError(`${who}: ${at === undefined ? 'its options' : `\`${at}\``} must be an object, not ${describeKind(given)}.`)
  const wrong = Object.entries(given).find(([name, value]) => value !== undefined && !Object.hasOwn(names, name))?.[0]
  if (wrong === undefined) return
  const known = Object.keys(names).sort()
  const remedy = Object.hasOwn(remedies, wrong) ? ` ${remedies[wrong]}` : didYouMean(wrong, known)
  const all = known.length === 0 ? ' It has none.' : ` Its options: ${known.join(', ')}.`
  throw new AuthError(`${who} has no option \`${at === undefined ? '' : `${at}.`}${wrong}\`.${remedy || all}`)
}

/** Without the value: it may be a secret in the wrong place. */
function describeKind(value: unknown): string {
  return value === null || value === undefined ? String(value) : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/**
 * Throws InvalidProvider for a name that is neither an option of the type nor one of the preset's own.
 * Presets and open types have further options. There, only names close to a known one are rejected.
 */
export function checkOptionNames(written: Provider, flow: ProviderFlow<Provider> | undefined): void {
  if (!flow?.options) return
  const { options, ...own } = written as Provider & { options?: object }
  const known = ['id', 'name', 'type', 'signinUrl', 'callbackUrl', 'options', ...Object.keys(flow.options)]
  const open = options !== undefined || flow.open?.(written) === true
  const names = options ? [...known, ...Object.keys(own)] : known
  for (const [name, value] of Object.entries(options ?? own)) {
    if (value === undefined || names.includes(name) || (open && findNearest(name, names, 1 / 5) === undefined)) continue
    const who = `Provider "${(options as { id?: string } | undefined)?.id ?? own.id}" (${written.type})`
    throw new InvalidProvider(`${who} has no option "${name}".${didYouMean(name, names) || ` Its options: ${sortNames(known)}.`}`)
  }
}

function sortNames(names: readonly string[]): string {
  return [...new Set(names)].sort().join(', ')
}

/** Tokens of a theme. */
export const themeNames: OptionNames<Theme> = {
  colorScheme: true,
  logo: true,
  brandColor: true,
  buttonText: true,
  radius: true,
  font: true,
  spacing: true,
  dark: true,
}
const darkNames: OptionNames<NonNullable<Theme['dark']>> = { brandColor: true, buttonText: true, logo: true }

/** Throws AuthError that names a token which does not exist, of `theme` or of `theme.dark`. `who`: the plugin, for the message. */
export function assertTheme(who: string, theme: Theme | undefined): void {
  assertOptions(who, theme, themeNames, 'theme')
  assertOptions(who, theme?.dark, darkNames, 'theme.dark')
}
