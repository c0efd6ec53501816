/** The sign-in page as text with gaps: drawn once for a language and an address, and filled in by each request. */
import type { Provider } from 'authkernel/kernel'
import type { Language } from './ui/languages.ts'

/** What a request fills in. */
export type Gap = 'nonce' | 'csrfToken' | 'callbackUrl' | 'alert'
/** Where forms of the page lead. */
export interface Leads {
  /** Providers to whose pages a form may lead. */
  away: readonly Provider[]
  /** The page asks for an address or a name first. */
  asks: boolean
}
/** One page without what belongs to a request. */
export interface PreparedPage extends Leads {
  providers: readonly Provider[]
  /** Text, gap, text, and so on. */
  pieces: readonly string[]
  hasScript: boolean
}

// Of a private use area: no escaping changes it, and no text has it.
const edge = '\uE0F0'
/** Stands for a gap while the page is drawn. */
export const gaps: Readonly<Record<Gap, string>> = {
  nonce: `${edge}nonce${edge}`,
  csrfToken: `${edge}csrfToken${edge}`,
  callbackUrl: `${edge}callbackUrl${edge}`,
  alert: `${edge}alert${edge}`,
}
const pattern = new RegExp(`${edge}(${Object.keys(gaps).join('|')})${edge}`)
// A Host header that is believed makes an address; there must not be a page for each of them.
const maxPages = 50

/** A language belongs to one snapshot, and so do its pages. */
const pagesByLanguage = new WeakMap<Language, Map<string, PreparedPage>>()

/** The page of a key, drawn again when there are other providers. */
export async function prepareOnce(
  language: Language,
  key: string,
  providers: readonly Provider[],
  draw: () => Promise<Leads & { text: string; hasScript: boolean }>,
): Promise<PreparedPage> {
  const known = pagesByLanguage.get(language) ?? new Map<string, PreparedPage>()
  pagesByLanguage.set(language, known)
  const existing = known.get(key)
  if (existing && isSameList(existing.providers, providers)) return existing
  const { text, ...rest } = await draw()
  const page = { providers, pieces: text.split(pattern), ...rest }
  if (known.size >= maxPages) known.clear()
  known.set(key, page)
  return page
}

/** The whole text. `values` are markup already. */
export function fillGaps({ pieces }: PreparedPage, values: Readonly<Record<Gap, string>>): string {
  let text = pieces[0] ?? ''
  for (let at = 1; at < pieces.length; at += 2) text += values[pieces[at] as Gap] + (pieces[at + 1] ?? '')
  return text
}

function isSameList(a: readonly Provider[], b: readonly Provider[]): boolean {
  return a.length === b.length && a.every((provider, at) => provider === b[at])
}
