/** The pages of the documentation site: their order, where their links lead, which of them nothing leads to. Knows nothing of VitePress. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
export const repository = 'https://github.com/authkernel/authkernel/blob/main'

/** One Markdown file below docs/: its path there, title, first sentence and text. */
export interface Page {
  path: string
  title: string
  lead: string
  text: string
}

interface Item {
  text: string
  link: string
}
interface Group {
  text: string
  /** A group that folds has a page of its own to go to: without one VitePress nests a button in a button. */
  link?: string
  collapsed?: boolean
  items: Item[]
}

/** Pages whose place is not told by their folder. */
const listed: readonly [group: string, ...pages: string[]][] = [
  [
    'Tasks',
    'tasks/protect-a-route.md',
    'tasks/add-a-role.md',
    'tasks/mobile-app.md',
    'migrating-from-authjs.md',
    'migrating-from-nextauth-4.md',
    'migrating-from-better-auth.md',
    'migrating-from-services.md',
    'tasks/behind-a-proxy.md',
    'tasks/several-tenants.md',
    'tasks/test-signed-in-pages.md',
  ],
  [
    'Guide',
    'playground.md',
    'options.md',
    'hooks.md',
    'roles-and-own-fields.md',
    'errors.md',
    'client.md',
    'ui.md',
    'adapters.md',
    'cli.md',
    'testing.md',
  ],
  ['In production', 'deployment.md', 'security.md', 'runtimes.md', 'speed.md'],
]
const last: readonly [group: string, ...pages: string[]][] = [
  ['Extending', 'writing-a-plugin.md', 'writing-a-binding.md', 'writing-a-session-strategy.md', 'reference/README.md', 'api/README.md'],
  ['About', 'comparison.md', 'differences.md', 'architecture.md', 'rows.md', 'licenses.md'],
]
/** Folders of plugins, as people look for them. */
const groups: Readonly<Record<string, string>> = {
  'sign-in': 'Ways to sign in',
  sessions: 'Sessions',
  security: 'Security',
  people: 'People',
  federation: 'Federation',
  machines: 'Programs and services',
  adapters: 'Storage',
  pages: 'Pages and mails',
  evidence: 'Audit and health',
  hosting: 'Hosting and moving',
}

/** The sidebar: tasks, guide, frameworks, plugins by the folder of their code, and the rest. */
export function sidebar(docs: string): Group[] {
  const titled = (pages: readonly string[]): Item[] =>
    pages
      .filter((path) => existsSync(join(docs, path)))
      .map((path) => ({ text: shortTitle(readPage(docs, path).title), link: linkOf(path) }))
  const plugins = pluginPages(docs)
  return [
    ...listed.map(([text, ...pages]) => ({ text, items: titled(pages) })),
    { text: 'Frameworks', collapsed: true, items: titled(markdown(docs, 'bindings')) },
    ...Object.entries(groups).map(([group, text]) => ({ text, collapsed: true, items: titled(plugins[group] ?? []) })),
    { text: 'Identity providers', collapsed: true, items: titled(['providers/README.md']) },
    ...last.map(([text, ...pages]) => ({ text, collapsed: true, items: titled(pages) })),
  ]
    .filter(({ items }) => items.length > 0)
    .map((group) => ({ ...group, ...('collapsed' in group && { link: group.items[0]!.link }) }))
}

/** Pages of plugins by the group of the folder `plugins/<group>/<name>` that they describe. */
function pluginPages(docs: string): Record<string, string[]> {
  // Entries that lie in a folder of another name.
  const found: Record<string, string[]> = { 'sign-in': ['plugins/oidc.md', 'plugins/phone.md'], pages: ['plugins/mail.md'] }
  for (const group of Object.keys(groups))
    for (const { name } of readdirSync(join(root, 'plugins', group), { withFileTypes: true }))
      if (existsSync(join(docs, `plugins/${name}.md`))) (found[group] ??= []).push(`plugins/${name}.md`)
  return found
}

/** Every page below a folder. */
export function readPages(docs: string): Page[] {
  return markdown(docs, '').map((path) => readPage(docs, path))
}

function readPage(docs: string, path: string): Page {
  const text = readFileSync(join(docs, path), 'utf8')
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, '')
  const title = (/^title: (.*)$/m.exec(text.slice(0, text.length - body.length))?.[1] ?? /^# (.*)$/m.exec(body)?.[1] ?? path).replaceAll(
    '`',
    '',
  )
  const lead = /^(?![#`|<>:-])\S.*(?:\n\S.*)*/m.exec(body.replace(/^```[\s\S]*?^```/gm, ''))?.[0] ?? ''
  return { path, title, lead: lead.replaceAll('\n', ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1'), text: body }
}

/** Pages that neither the sidebar leads to, nor a link of a page that is reached from there or from the start page. */
export function orphans(pages: readonly Page[], groups: readonly Group[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const reached = new Set<string>()
  const linked = groups.flatMap(({ items }) => items.map(({ link }) => link.slice(1).replace(/^$|\/$/, '$&README') + '.md'))
  const open = ['index.md', ...linked]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const page = byPath.get(path)
    if (!page || reached.has(path)) continue
    reached.add(path)
    for (const [, target] of page.text.matchAll(/\]\(([^)\s#]+\.md)/g)) open.push(slashes(join(dirname(path), target!)))
    for (const [, target] of page.text.matchAll(/^\s*link: \/(.*)$/gm)) open.push(`${target}.md`)
  }
  return pages.map(({ path }) => path).filter((path) => !reached.has(path))
}

/** The index for language models (llmstxt.org): a line for each page. */
export function llmsTxt(pages: readonly Page[], base = '/'): string {
  const line = ({ path, title, lead }: Page): string =>
    `- [${title}](${base}${path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')})${lead ? `: ${firstSentence(lead)}` : ''}`
  const part = (heading: string, test: (path: string) => boolean): string[] => {
    const lines = pages.filter(({ path }) => path !== 'index.md' && test(path)).map(line)
    return lines.length > 0 ? [`## ${heading}`, '', ...lines, ''] : []
  }
  return [
    '# authkernel',
    '',
    '> Authentication for TypeScript servers: a small kernel and plugins. Sign-in by OpenID Connect, OAuth 2, mailed links, passwords and passkeys; sessions in a cookie or a database.',
    '',
    `The text of all pages in one file: ${base}llms-full.txt`,
    '',
    ...part('Tasks and guide', (path) => !path.includes('/') || path.startsWith('tasks/')),
    ...part('Frameworks', (path) => path.startsWith('bindings/')),
    ...part('Plugins', (path) => path.startsWith('plugins/')),
    ...part('Reference', (path) => path.startsWith('reference/')),
    ...part('API of each module', (path) => path.startsWith('api/')),
    ...part('Identity providers', (path) => path.startsWith('providers/')),
  ].join('\n')
}

/** All pages as one Markdown text, without those that TypeDoc made. */
export function markdownOf(pages: readonly Page[]): string {
  const written = pages.filter(({ path }) => !path.startsWith('api/'))
  return written.map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`).join('\n')
}

/** Where a link of a page leads on the site: files of the repository that are no pages are shown at GitHub. */
export function hrefOf(href: string, file: string, docs: string): string {
  if (/^[a-z]+:|^#/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  const target = resolve(dirname(file), path)
  if (target.startsWith(docs + sep) && path.endsWith('.md')) return path.replace(/README\.md$/, 'index.md') + suffix
  // The pages may be a copy of docs/: files of the repository are looked for from there. A dead link stays as it is, so that the build finds it.
  const real = resolve(root, 'docs', relative(docs, target))
  return existsSync(real) ? `${repository}/${slashes(relative(root, real))}${suffix}` : href
}

/** Anchors of headings, as GitHub makes them: the pages are read there too. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function markdown(docs: string, folder: string): string[] {
  if (!existsSync(join(docs, folder))) return []
  return readdirSync(join(docs, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => slashes(join(folder, path)))
    .sort()
}

// "Passwords that this server keeps: `passwordsPlugin`" is "passwordsPlugin" where there is no room.
function shortTitle(title: string): string {
  const [, name] = /: ([a-z]\w+)$/.exec(title) ?? []
  return name ?? title
}

function linkOf(path: string): string {
  return `/${path.replace(/README\.md$/, '').replace(/\.md$/, '')}`
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}
