/** Which language a page or a mail speaks, and its texts. */
import type { Content, Messages } from 'authkernel/kernel'
import type { Texts } from './messages/en.ts'

/** Name of a text that every language has. */
export type TextKey = keyof Texts

/** One language at work. */
export interface Speaker {
  readonly lang: string
  readonly dir: 'ltr' | 'rtl'
  /** The text with its `{placeholders}` filled in. */
  say(key: TextKey, values?: Readonly<Record<string, Content>>): Content
  /** A text that may not exist: error codes, and what flows and hosts write in English (`text:Company`). */
  find(key: string, values?: Readonly<Record<string, string>>): string | undefined
  /** A length of time in words, in whole minutes, hours or days. */
  duration(seconds: number): string
  /** Date and time of a moment, in UTC. */
  date(moment: Date): string
}
/** The speaker of an Accept-Language header or a tag. */
export type Speakers = (wanted: string | null | undefined) => Speaker

/** Texts of the pages by language; mails have none of them. */
export type Builtin = Readonly<Record<string, Texts>>

/** Speakers of all languages, the host's messages over those of plugins over the built-in ones. */
export function makeSpeakers(builtin: Builtin, messages: Messages = {}, plugins: Messages = {}): Speakers {
  const byTag = new Map<string, string>()
  for (const tag of [...Object.keys(builtin), ...Object.keys(plugins), ...Object.keys(messages)])
    if (isKnown(tag)) byTag.set(tag.toLowerCase(), tag)
  const speakers = new Map<string, Speaker>()
  return (wanted) => {
    const tag = negotiate(wanted, byTag)
    let speaker = speakers.get(tag)
    if (!speaker) speakers.set(tag, (speaker = createSpeaker(tag, messages, plugins, builtin)))
    return speaker
  }
}

/**
 * Lookup of RFC 4647 section 3.4 over an Accept-Language header (RFC 9110 section 12.5.4) or a single tag: the first wanted language
 * of which a part is known, English otherwise. `known` maps lower-case tags to the tags themselves.
 */
export function negotiate(wanted: string | null | undefined, known: ReadonlyMap<string, string>): string {
  const ranges = (wanted ?? '')
    // Nobody reads forty languages; a long header must not cost more.
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

function createSpeaker(tag: string, messages: Messages, plugins: Messages, builtin: Builtin): Speaker {
  const primary = tag.split('-')[0] as string
  // No prototype: an error code from the URL must not find `constructor`.
  const texts: Record<string, string> = Object.create(null)
  const layers = [
    own(builtin, 'en'),
    own(plugins, 'en'),
    own(messages, 'en'),
    own(builtin, primary),
    own(plugins, primary),
    own(plugins, tag),
    own(messages, primary),
    own(messages, tag),
  ]
  for (const layer of layers) {
    // A template of one's own counts for every name, also for those that an earlier layer spells out.
    if (layer?.['signIn.submit'] !== undefined) for (const key in texts) if (key.startsWith('signIn.submit:')) delete texts[key]
    Object.assign(texts, layer)
  }
  return {
    lang: tag,
    dir: /^(ar|dv|fa|he|ps|ur|yi)$/.test(primary) ? 'rtl' : 'ltr',
    // Not an empty list for a text that is not there: callers ask whether there is one.
    say: (key, values = {}) => (texts[key] === undefined || texts[key] === '' ? '' : fill(String(texts[key]), values)),
    find: (key, values = {}) => (typeof texts[key] === 'string' ? fill(texts[key], values).join('') : undefined),
    duration: (seconds) => duration(tag, seconds),
    date: (moment) => `${new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(moment)} UTC`,
  }
}

function fill<T>(text: string, values: Readonly<Record<string, T>>): (T | string)[] {
  return text.split(/(\{\w+\})/).map((part) => {
    const name = part.startsWith('{') ? part.slice(1, -1) : ''
    return name !== '' && Object.hasOwn(values, name) ? (values[name] as T) : part
  })
}

function duration(tag: string, seconds: number): string {
  const [amount, unit] =
    seconds < 7200 ? [seconds / 60, 'minute'] : seconds < 172_800 ? [seconds / 3600, 'hour'] : [seconds / 86_400, 'day']
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }).format(Math.max(1, Math.ceil(amount)))
}

function own(
  record: Readonly<Record<string, Readonly<Record<string, string>>>>,
  key: string,
): Readonly<Record<string, string>> | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function isTag(text: string): boolean {
  return /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(text)
}

// What Intl does not take either is a mistake of the host's: such a language would fail on the first number.
function isKnown(tag: string): boolean {
  try {
    return isTag(tag) && Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
