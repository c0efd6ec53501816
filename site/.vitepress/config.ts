/** VitePress over docs/. The pages, their order and what is checked are in ../pages.ts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress'
import { hrefOf, llmsTxt, markdownOf, orphans, readPages, repository, sidebar, slug } from '../pages.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const docs = resolve(process.env.DOCS_DIR ?? join(root, 'docs'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
// `npm run docs release` builds each version to a folder of its own below DOCS_ROOT, where versions.json lists them.
const base = process.env.DOCS_BASE ?? '/'
const versions = { root: process.env.DOCS_ROOT ?? base, version: process.env.DOCS_VERSION ?? `v${version}` }

/** Of the pages of TypeDoc the search finds names and their sentences: "Parameters" and "Returns" are on each of them. */
function searchable(src: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  const html = md.render(src, env)
  if (!env.relativePath.startsWith('api/')) return html
  return html.replace(/<h[4-6][\s\S]*?(?=<h[1-3]|$)/g, '')
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
    search: { provider: 'local', options: { _render: searchable } },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/tasks/protect-a-route' },
      { text: 'Compare', link: '/comparison' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Changes', link: `${repository}/CHANGELOG.md` },
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
