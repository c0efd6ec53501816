/** The language of a page or a mail: chosen by Accept-Language, with the texts of the host over those of plugins over the built-in ones. */
import type { Messages } from '../contract/config.ts'
import type { Content } from '../contract/page.ts'

/** The texts of one language. `Key` names those that are there in any case. */
export interface Language<Key extends string = string> {
  /** BCP 47 tag. */
  readonly lang: string
  readonly dir: 'ltr' | 'rtl'
  /** The text with its `{placeholders}` filled in. */
  say(key: Key, values?: Readonly<Record<string, Content>>): Content
  /** A text that may not exist: error codes, and what flows and hosts write in English (`text:Company`). */
  find(key: string, values?: Readonly<Record<string, string>>): string | undefined
  /** A length of time in words, in whole minutes, hours or days. */
  duration(seconds: number): string
  /** Date and time of a moment, in UTC. */
  date(moment: Date): string
}
/** The language of an Accept-Language header or a tag. */
export type Languages<Key extends string = string> = (wanted: string | null | undefined) => Language<Key>

/** Texts that every language has, by tag and key. */
type Builtin<Key extends string> = Readonly<Record<string, Readonly<Record<Key, string>>>>

/** Chooses among all languages of `builtin`, `plugins` and `messages`; later ones win over earlier ones. English where none fits. */
export function createLanguages<Key extends string = string>(
  builtin: Builtin<Key>,
  messages: Messages = {},
  plugins: Messages = {},
): Languages<Key> {
  const byTag = new Map<string, string>()
  for (const tag of [...Object.keys(builtin), ...Object.keys(plugins), ...Object.keys(messages)])
    if (isLocale(tag)) byTag.set(tag.toLowerCase(), tag)
  const languages = new Map<string, Language<Key>>()
  return (wanted) => {
    const tag = negotiateLanguage(wanted, byTag)
    let language = languages.get(tag)
    if (!language) languages.set(tag, (language = createLanguage(tag, messages, plugins, builtin)))
    return language
  }
}

/**
 * Lookup of RFC 4647 section 3.4 over an Accept-Language header (RFC 9110 section 12.5.4) or a single tag: the first wanted language
 * of which a part is known, English otherwise. `known` maps lower-case tags to the tags themselves.
 */
export function negotiateLanguage(wanted: string | null | undefined, known: ReadonlyMap<string, string>): string {
  const ranges = (wanted ?? '')
    // A long header must not cost more than forty languages.
    .slice(0, 512)
    .split(',', 40)
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { range: range.replaceAll('_', '-'), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ range, quality }) => isTag(range) && quality > 0)
    .sort((a, b) => b.quality - a.quality)
  for (const { range } of ranges) {
    for (let part = range; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('-')))) {
      const tag = known.get(part)
      if (tag !== undefined) return tag
    }
  }
  return 'en'
}

function createLanguage<Key extends string>(tag: string, messages: Messages, plugins: Messages, builtin: Builtin<Key>): Language<Key> {
  const primary = tag.split('-')[0] as string
  // No prototype: an error code from the URL must not find `constructor`.
  const texts: Record<string, string> = Object.create(null)
  const layers = [
    ownTexts(builtin, 'en'),
    ownTexts(plugins, 'en'),
    ownTexts(messages, 'en'),
    ownTexts(builtin, primary),
    ownTexts(plugins, primary),
    ownTexts(plugins, tag),
    ownTexts(messages, primary),
    ownTexts(messages, tag),
  ]
  for (const layer of layers) {
    // The host's template counts for every provider, also for those whose text an earlier layer spells out.
    if (layer?.['signIn.submit'] !== undefined) for (const key in texts) if (key.startsWith('signIn.submit:')) delete texts[key]
    Object.assign(texts, layer)
  }
  return {
    lang: tag,
    dir: /^(ar|dv|fa|he|ps|ur|yi)$/.test(primary) ? 'rtl' : 'ltr',
    // Not an empty list for a text that is not there: callers ask whether there is one.
    say: (key, values = {}) => (texts[key] === undefined || texts[key] === '' ? '' : fillPlaceholders(String(texts[key]), values)),
    find: (key, values = {}) => (typeof texts[key] === 'string' ? fillPlaceholders(texts[key], values).join('') : undefined),
    duration: (seconds) => formatDuration(tag, seconds),
    date: (moment) => `${new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(moment)} UTC`,
  }
}

function fillPlaceholders<T>(text: string, values: Readonly<Record<string, T>>): (T | string)[] {
  return text.split(/(\{\w+\})/).map((part) => {
    const name = part.startsWith('{') ? part.slice(1, -1) : ''
    return name !== '' && Object.hasOwn(values, name) ? (values[name] as T) : part
  })
}

function formatDuration(tag: string, seconds: number): string {
  const [amount, unit] =
    seconds < 7200 ? [seconds / 60, 'minute'] : seconds < 172_800 ? [seconds / 3600, 'hour'] : [seconds / 86_400, 'day']
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }).format(Math.max(1, Math.ceil(amount)))
}

function ownTexts(
  record: Readonly<Record<string, Readonly<Record<string, string>>>>,
  key: string,
): Readonly<Record<string, string>> | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function isTag(text: string): boolean {
  return /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(text)
}

// A tag that Intl refuses would throw at the first number or date.
function isLocale(tag: string): boolean {
  try {
    return isTag(tag) && Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
