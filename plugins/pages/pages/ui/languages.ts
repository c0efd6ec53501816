/** The languages of the pages: the five built-in ones, and what plugins and the host add. */
import { type App, type Language as AnyLanguage, type Languages, type Messages, type PageParts } from 'authkernel/kernel'
import { createLanguages } from 'authkernel/kernel/mail'
import { de } from '../messages/de.ts'
import { en, type Texts } from '../messages/en.ts'
import { es } from '../messages/es.ts'
import { fr } from '../messages/fr.ts'
import { ja } from '../messages/ja.ts'

/** Name of a text that every language has. */
export type TextKey = keyof Texts
/** The texts of one language. */
export type Language = AnyLanguage<TextKey>
/** Chooses the language for an Accept-Language header or a tag. */
export type PageLanguages = Languages<TextKey>

const builtin: Readonly<Record<string, Texts>> = { en, de, fr, es, ja }
const languagesByParts = new WeakMap<PageParts, PageLanguages>()

/** The host's messages over those of plugins over the built-in ones. */
export function createPageLanguages(messages?: Messages, plugins?: Messages): PageLanguages {
  return createLanguages(builtin, messages, plugins)
}

/** The languages of a snapshot, created once for it. */
export function languagesOf({ config, parts }: App): PageLanguages {
  const languages = languagesByParts.get(parts) ?? createPageLanguages(config.messages, parts.texts)
  languagesByParts.set(parts, languages)
  return languages
}
