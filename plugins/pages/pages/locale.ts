/** The languages of the pages. */
import type { App, Messages, PageParts } from 'authkernel/kernel'
import { de } from './messages/de.ts'
import { en } from './messages/en.ts'
import { es } from './messages/es.ts'
import { fr } from './messages/fr.ts'
import { ja } from './messages/ja.ts'
import { type Builtin, makeSpeakers, type Speakers } from './speaker.ts'

export { negotiate } from './speaker.ts'
export type { Speaker, Speakers, TextKey } from './speaker.ts'

const builtin: Builtin = { en, de, fr, es, ja }

const made = new WeakMap<PageParts, Speakers>()

/** Speakers of pages: the host's messages over those of plugins over the built-in ones. */
export function createSpeakers(messages?: Messages, plugins?: Messages): Speakers {
  return makeSpeakers(builtin, messages, plugins)
}

/** Those of a snapshot. */
export function speakersOf({ config, parts }: App): Speakers {
  const speakers = made.get(parts) ?? createSpeakers(config.messages, parts.texts)
  made.set(parts, speakers)
  return speakers
}
