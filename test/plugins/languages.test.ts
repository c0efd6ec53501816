/** Every plugin with texts speaks the five languages of the pages: generated from what plugins give to `kernel.messages`. */
import { readdirSync } from 'node:fs'
import type { Messages } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'

const languages = ['de', 'en', 'es', 'fr', 'ja']

/** Messages of a file: what it exports that has English texts, or a function that makes them. */
async function messagesOf(file: string): Promise<Messages[]> {
  const given = Object.values((await import(`${root}/${file}`)) as Record<string, unknown>)
  const made = given.map((one) => (typeof one === 'function' && one.name === 'messagesOf' ? (one as () => unknown)() : one))
  return made.filter((one): one is Messages => typeof (one as { en?: unknown } | null)?.en === 'object')
}

const files = readdirSync(`${root}/plugins`, { recursive: true, encoding: 'utf8' })
  .map((file) => `plugins/${file.replaceAll('\\', '/')}`)
  .filter((file) => /(?:messages|texts)[\w-]*\.ts$/.test(file) || /pages\/messages\/(?:mail|deleted)\.ts$/.test(file))
const all = (await Promise.all(files.map(async (file) => (await messagesOf(file)).map((messages) => ({ file, messages }))))).flat()
const plugins = [...new Set(all.map(({ file }) => file.split('/')[2] as string))].toSorted()

it('finds the plugins whose texts people read', () => {
  for (const name of ['api-keys', 'bearer', 'device-flow', 'codes', 'passwords', 'two-factor', 'organizations', 'email'])
    expect(plugins).toContain(name)
})

describe.each(plugins)('%s', (plugin) => {
  it.each(languages)('has every text in %s, with the values of the English one', (lang) => {
    for (const { file, messages } of all.filter((one) => one.file.split('/')[2] === plugin)) {
      const [own, en] = [messages[lang] ?? {}, messages['en'] ?? {}]
      const missing = Object.keys(en).filter((key) => !own[key]?.trim())
      expect([file, lang, missing]).toEqual([file, lang, []])
      const values = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()
      for (const [key, text] of Object.entries(en)) expect([key, lang, values(own[key])]).toEqual([key, lang, values(text)])
    }
  })

  it('has no text in a language that lacks some, and none in a language that pages do not speak', () => {
    for (const { file, messages } of all.filter((one) => one.file.split('/')[2] === plugin)) {
      // A sixth language would be chosen for a whole page, and the rest of the page would be English.
      expect([file, Object.keys(messages).toSorted()]).toEqual([file, languages])
      for (const [lang, texts] of Object.entries(messages))
        expect([lang, Object.keys(texts).toSorted()]).toEqual([lang, Object.keys(messages['en'] ?? {}).toSorted()])
    }
  })
})
