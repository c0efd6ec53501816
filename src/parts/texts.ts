/** The one message table of the parts. English is built in; the other languages are loaded when a page has them. */
import { en, type Texts } from './texts-en.ts'

/** Names of texts. */
export type TextKey = keyof typeof en
/** Texts of an app, over those of the language. Keys `error.<type>` and `error.<type>.<code>` may be named for custom error types. */
export type PartTexts = Readonly<Partial<Texts> & Record<`error.${string}` | `label.${string}`, string>>

export { en, type Texts }

const languages: Readonly<Record<string, () => Promise<Texts>>> = {
  de: async () => (await import('./texts-de.ts')).de,
  es: async () => (await import('./texts-es.ts')).es,
  fr: async () => (await import('./texts-fr.ts')).fr,
  ja: async () => (await import('./texts-ja.ts')).ja,
}

/** The texts of a language tag such as `de-AT`; English for one without texts, and where they cannot be loaded. */
export async function loadTexts(lang: string | undefined): Promise<Texts> {
  const load = languages[(lang ?? globalThis.document?.documentElement.lang ?? '').split('-')[0]?.toLowerCase() ?? '']
  return load ? load().catch(() => en) : en
}

/** One text. */
export function fillText(
  texts: Readonly<Record<string, string>>,
  key: string,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (all, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : all))
}
