/** The pages of the documentation that come with the package, and a search over them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { packageRoot } from '../package.ts'
import { UsageError } from '../report.ts'

/** One page. */
export interface Page {
  /** Below `docs/`, without `.md`: `plugins/api-keys`. */
  name: string
  title: string
  text: string
}
/** A page that was found. */
export interface SearchResult {
  name: string
  title: string
  /** The heading of the part that fits best; empty: the beginning. */
  heading: string
  /** The first lines of this part, at most 400 characters. */
  excerpt: string
}
/** A plugin, and the options of its page. */
export interface PluginOptions {
  page: string
  title: string
  options: readonly { name: string; meaning: string }[]
}

let pageCache: Page[] | undefined

/** All pages, read once. Throws UsageError where the package has none. */
export function readPages(): readonly Page[] {
  if (pageCache) return pageCache
  const folder = new URL('docs/', packageRoot())
  if (!existsSync(folder)) throw new UsageError(`${folder.pathname} is missing: install authkernel again.`)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'))
  pageCache = files
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8')
      return { name: file.slice(0, -'.md'.length), title: plainText(/^# (.+)$/m.exec(text)?.[1] ?? file), text }
    })
  return pageCache
}

/** Throws UsageError for a name that no page has. */
export function readPage(name: string): Page {
  const wanted = name.replace(/^\/?(?:docs\/)?/, '').replace(/\.(?:md|html)$/, '')
  const page = readPages().find((one) => one.name === wanted)
  if (!page) throw new UsageError(`There is no page "${name.slice(0, 100)}". Search for it first.`)
  return page
}

/** The pages that fit a question best, at most `limit`. */
export function searchPages(query: string, limit: number): SearchResult[] {
  const terms = termsOf(query)
  const scored = readPages().flatMap((page) => {
    const parts = partsOf(page)
    const [best] = parts.map((part) => ({ part, score: scoreOf(part.heading, part.body, terms) })).sort((a, b) => b.score - a.score)
    const score = scoreOf(page.title, page.text, terms) + (best?.score ?? 0)
    // What no page but the reference names is there; a guide goes before it otherwise.
    const rank = /^(?:reference|licenses|rows|conformance)/.test(page.name) ? 0.3 : 1
    return best && score > 0 ? [{ page, part: best.part, score: score * rank }] : []
  })
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ page, part }) => ({ name: page.name, title: page.title, heading: part.heading, excerpt: part.body.trim().slice(0, 400) }))
}

/** Plugins with the options of their pages; `name`: one plugin, such as `apiKeysPlugin` or `api-keys`. */
export function listPlugins(name?: string): PluginOptions[] {
  const pages = readPages().filter((page) => page.name.startsWith('plugins/') && !page.name.endsWith('README'))
  const wanted = name === undefined ? pages : pages.filter((page) => page.name === `plugins/${name}` || page.title.includes(name))
  return wanted.map((page) => ({ page: page.name, title: page.title, options: readOptions(page.text) }))
}

/** Rows of the tables whose first column is `option`. */
function readOptions(text: string): { name: string; meaning: string }[] {
  const lines = text.split('\n')
  const found: { name: string; meaning: string }[] = []
  for (const [at, line] of lines.entries()) {
    if (!/^\| *option/i.test(line)) continue
    for (const row of lines.slice(at + 2)) {
      if (!row.startsWith('|')) break
      const [, option = '', ...cells] = row.split(/(?<!\\)\|/)
      found.push({ name: plainText(option), meaning: plainText(cells.filter((cell) => cell.trim() !== '').join('; ')) })
    }
  }
  return found
}

function partsOf({ text }: Page): { heading: string; body: string }[] {
  return text.split(/^(?=## )/m).map((part) => {
    const [first = '', ...rest] = part.split('\n')
    return first.startsWith('## ') ? { heading: plainText(first.slice(3)), body: rest.join('\n') } : { heading: '', body: part }
  })
}

// Words that mean the same in the questions of developers and in the docs.
const synonyms: Readonly<Record<string, readonly string[]>> = {
  mfa: ['2fa', 'two-factor'],
  totp: ['2fa', 'two-factor'],
  rbac: ['roles', 'permissions'],
  sso: ['saml', 'single sign-on'],
  login: ['sign-in', 'signin'],
  logout: ['sign-out', 'signout'],
  register: ['sign-up', 'signup'],
  passwordless: ['magic link', 'passkey'],
  gdpr: ['erase', 'export'],
}

function termsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_.-]{2,40}/gu) ?? []
  return [...new Set(words.slice(0, 20).flatMap((word) => [word, ...(synonyms[word] ?? [])]))]
}

function scoreOf(heading: string, body: string, terms: readonly string[]): number {
  const [title, text] = [heading.toLowerCase(), body.toLowerCase()]
  let score = 0
  for (const term of terms) {
    const count = text.split(term).length - 1
    // The tenth time that a word occurs says little.
    score += (title.includes(term) ? 6 : 0) + Math.log2(1 + count)
  }
  return score
}

function plainText(text: string): string {
  return text
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('\\|', '|')
    .trim()
}
