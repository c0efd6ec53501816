/** Pages, slots, sections, texts and mails of plugins: collected at a compilation, rejected when they clash. */
import type { Messages } from '../contract/config.ts'
import type { MailTemplate } from '../contract/mail.ts'
import type { AccountSection, PageDraw, PageParts, PluginPage, Slot } from '../contract/page.ts'
import { AuthError } from '../errors/index.ts'

// The kernel and the pages plugin draw these; a plugin that has a page has another name.
const builtin = new Set(['signIn', 'signOut', 'error', 'verifyRequest', 'verifyConfirm', 'newUser'])

export class PageRegistry {
  readonly #pages: Map<string, PluginPage> = new Map()
  readonly #slots: Slot[] = []
  readonly #sections: (AccountSection & { order: number; plugin: string; given: AccountSection })[] = []
  readonly #texts: Record<string, Record<string, string>> = {}
  readonly #given: { owner: string; texts: Messages }[] = []
  readonly #templates: Map<string, { template: MailTemplate; owner: string }> = new Map()

  page(name: string, draw: PageDraw, path: string | undefined, plugin: string): void {
    if (builtin.has(name)) throw new AuthError(`The page "${name}" of plugin "${plugin}" is a built-in one. Give it another name.`)
    const other = this.#pages.get(name)
    // The same function again, of another use of one plugin, is the same page.
    if (other && (other.draw !== draw || other.plugin === plugin))
      throw new AuthError(`The page "${name}" of plugin "${plugin}" is also one of plugin "${other.plugin}". Give it another name.`)
    this.#pages.set(name, { name, draw, path, plugin })
  }

  slot(slot: Slot): void {
    this.#slots.push(slot)
  }

  section(section: AccountSection, plugin: string): void {
    const { id } = section
    if (!/^[a-z][a-z0-9-]*$/i.test(id))
      throw new AuthError(`The account section ${JSON.stringify(id)} of plugin "${plugin}" needs an \`id\` of letters, digits and dashes.`)
    const other = this.#sections.find((known) => known.id === id)
    // The same object again, of another use of one plugin, is the same section.
    if (other?.given === section && other.plugin !== plugin) return
    if (other)
      throw new AuthError(`The account section "${id}" of plugin "${plugin}" is also one of plugin "${other.plugin}". Give it another id.`)
    const { draw, order = 500 } = section
    this.#sections.push({ id, order, draw: (ctx, tools) => draw.call(section, ctx, tools), plugin, given: section })
  }

  messages(texts: Messages, owner: string): void {
    const { en = {} } = texts
    for (const [lang, entries] of Object.entries(texts)) {
      const known = (this.#texts[lang] ??= Object.create(null) as Record<string, string>)
      for (const [key, text] of Object.entries(entries)) {
        if (!isOwn(key, owner))
          throw new AuthError(
            `The message "${key}" of plugin "${owner}" must begin with its name ("${base(owner)}."), or be an "error.<type>" or a "text:<label>".`,
          )
        if (typeof en[key] !== 'string')
          throw new AuthError(
            `The message "${key}" of plugin "${owner}" has a text for "${lang}" and none for "en", which is the fallback.`,
          )
        // Labels are shared: the first plugin has translated them.
        if (key.startsWith('text:') && known[key] !== undefined) continue
        if (known[key] !== undefined && known[key] !== text)
          throw new AuthError(`The message "${key}" of plugin "${owner}" is also one of another plugin. Give it another key.`)
        known[key] = text
      }
    }
    this.#given.push({ owner, texts })
  }

  /** The same object again is the same template. */
  template(name: string, template: MailTemplate, owner: string): void {
    const other = this.#templates.get(name)
    if (other?.template === template) return
    if (other) throw new AuthError(`The mail "${name}" of plugin "${owner}" is also one of plugin "${other.owner}". Give it another name.`)
    if (!isOwn(name, owner))
      throw new AuthError(`The mail "${name}" of plugin "${owner}" must begin with its name: "${base(owner)}.${name}".`)
    this.#templates.set(name, { template, owner })
  }

  /** What requests read. */
  parts(): PageParts {
    const byOrder = <T extends { order: number }>(list: readonly T[]): T[] => list.toSorted((a, b) => a.order - b.order)
    return { pages: this.#pages, slots: byOrder(this.#slots), sections: byOrder(this.#sections), texts: this.#texts }
  }

  templates(): ReadonlyMap<string, MailTemplate> {
    return new Map([...this.#templates].map(([name, { template }]) => [name, template]))
  }

  /** Throws for a mail without texts. `own` are the messages of the host. */
  check(own: Messages = {}): void {
    for (const [name, { template, owner }] of this.#templates) {
      const { subject, heading = subject, lines, after = [], button, note = subject } = template
      const missing = [subject, heading, ...lines, ...after, ...(button ? [button.text] : []), note].find(
        (key) => this.#texts['en']?.[key] === undefined && own['en']?.[key] === undefined,
      )
      if (missing !== undefined)
        throw new AuthError(
          `The mail "${name}" of plugin "${owner}" names the message "${missing}", which has no English text: give it to kernel.messages.`,
        )
    }
  }

  /** Texts that a plugin lacks in a language that plugins speak, beside what the host says itself. */
  gaps(own: Messages = {}): { plugin: string; lang: string; keys: string[] }[] {
    return Object.keys(this.#texts).flatMap((lang) =>
      this.#given.flatMap(({ owner, texts }) => {
        const keys = Object.keys(texts['en'] ?? {}).filter(
          (key) => this.#texts[lang]?.[key] === undefined && own[lang]?.[key] === undefined,
        )
        return keys.length > 0 ? [{ plugin: owner, lang, keys }] : []
      }),
    )
  }
}

/** `two-factor` of `two-factor:work`. */
function base(plugin: string): string {
  return plugin.split(':')[0] as string
}

/** `two-factor.title` and `twoFactor.title` are keys of `two-factor`. */
function isOwn(key: string, plugin: string): boolean {
  const plain = (text: string): string => text.replace(/[^a-z0-9]/gi, '').toLowerCase()
  return /^(?:error\.[A-Za-z]|text:.)/.test(key) || (key.includes('.') && plain(key.split('.')[0] as string) === plain(base(plugin)))
}
