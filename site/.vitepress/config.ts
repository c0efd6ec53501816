/** VitePress over docs/. The pages, their order and what is checked are in ../pages.ts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress'
import { searchOptions } from '../search.ts'
import { hrefOf, llmsTxt, markdownOf, orphans, readPages, repository, sidebar, slug } from '../pages.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const docs = resolve(process.env.DOCS_DIR ?? join(root, 'docs'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
// `npm run docs release` builds each version to a folder of its own below DOCS_ROOT, where versions.json lists them.
const base = process.env.DOCS_BASE ?? '/'
const versions = { root: process.env.DOCS_ROOT ?? base, version: process.env.DOCS_VERSION ?? `v${version}` }

/**
 * What the search knows of a page. Names of the API are in reference/exports, so that the pages of TypeDoc need not be in the index, which a reader waits for.
 * Of a provider's page it has title and first paragraph, which differ.
 */
function searchable(src: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  if (/^(api\/|rows\.md|licenses\.md)/.test(env.relativePath)) return ''
  if (/^providers\/(?!index|README)/.test(env.relativePath))
    return md.render(src.split('\n## ', 1)[0]!.replace(/^```[\s\S]*?^```/gm, ''), env)
  return md.render(src.replace(/^```[\s\S]*?^```/gm, ''), env)
}

/** A phone shows each row of a table as a block: the stylesheet takes the names of the columns from here. */
function labelCells(tokens: readonly { type: string; tag: string; content: string; attrSet(name: string, value: string): void }[]): void {
  let titles: string[] = []
  let column = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'thead_open') titles = []
    else if (token.type === 'th_open') titles.push(tokens[index + 1]!.content.replaceAll('`', ''))
    else if (token.type === 'tr_open') column = 0
    else if (token.type === 'td_open' && titles[column++]) token.attrSet('data-label', titles[column - 1]!)
  }
}

export default defineConfig({
  title: 'authkernel',
  description: 'A plugin-based authentication kernel for TypeScript servers',
  lang: 'en',
  base,
  srcDir: docs,
  outDir: process.env.DOCS_OUT ?? join(root, 'site/dist'),
  cacheDir: join(root, 'site/.vitepress/cache'),
  rewrites: (id) => id.replace(/README\.md$/, 'index.md'),
  cleanUrls: false,
  lastUpdated: false,
  vite: {
    build: { chunkSizeWarningLimit: 4_000 },
  },
  markdown: {
    // The pages are plain Markdown: a type such as `Plugin<T>` in a text is no element.
    html: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    languageAlias: { mts: 'ts', cts: 'ts' },
    anchor: { slugify: slug },
    config(md) {
      // Comments in Markdown are for people who edit a page.
      md.core.ruler.before('block', 'comments', (state) => {
        state.src = state.src.replace(/^<!--[^\n]*-->$/gm, '')
      })
      md.core.ruler.after('inline', 'authkernel', ({ tokens, env }) => {
        for (const [index, { type, tag }] of tokens.entries())
          // Headings of columns may be left out in Markdown; an empty heading of a table says nothing to a screen reader.
          if (type === 'inline' && tokens[index]!.content === '' && tokens[index - 1]?.tag === 'th' && tag === '')
            tokens[index - 1]!.tag = tokens[index + 1]!.tag = 'td'
        labelCells(tokens)
        for (const { children } of tokens)
          for (const token of children ?? []) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null
            if (href !== null) token.attrSet('href', hrefOf(href, String((env as { path: string }).path), docs))
          }
      })
    },
  },
  themeConfig: {
    versions,
    search: { provider: 'local', options: { _render: searchable, miniSearch: { searchOptions } } },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Compare', link: '/comparison' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Changes', link: `${repository}/CHANGELOG.md` },
      { text: 'llms.txt', link: `${base}llms.txt`, target: '_blank' },
    ],
    sidebar: sidebar(docs),
    socialLinks: [{ icon: 'github', link: 'https://github.com/authkernel/authkernel' }],
  },
  buildEnd({ outDir }) {
    const pages = readPages(docs)
    const lost = orphans(pages, sidebar(docs))
    if (lost.length > 0) throw new Error(`No page leads to: ${lost.join(', ')}. Link it from a page, or list it in site/pages.ts.`)
    writeFileSync(join(outDir, 'llms.txt'), llmsTxt(pages, base))
    writeFileSync(join(outDir, 'llms-full.txt'), markdownOf(pages))
    if (!existsSync(join(outDir, 'index.html'))) throw new Error('docs/index.md is missing: the site has no start page.')
  },
})
