/** The papers of the project: examples compile, links lead somewhere, the page of rows is what the tests say. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { referencePages } from '../scripts/reference.ts'
import { rowNumbers, rowsPage } from '../scripts/rows.ts'
import { checkSnippets, readSnippets } from '../scripts/snippets.ts'
import { list, root } from './_sources.ts'
import { sampleCases } from './_tier.ts'

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...list('docs', '.md')]

describe('examples', () => {
  it('every TypeScript example compiles', { timeout: 300_000 }, () => {
    const { count, errors } = checkSnippets({ sample: (alone) => sampleCases(alone, 3) })
    expect(errors).toEqual([])
    expect(count).toBeGreaterThan(5)
  })

  it('a block that is continued is one example, other languages are none', () => {
    const page = ['```ts', 'const a = 1', '```', '```sh', 'ls', '```', '```ts continued', 'export const b = a', '```'].join('\n')
    expect(readSnippets('x.md', page)).toMatchObject([{ code: 'const a = 1\nexport const b = a' }])
  })
})

describe('files', () => {
  // A line that is nothing but `path/of/a/file`: and a block: the block is in that file, word for word.
  const named = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^`((?:playground|test)\/[^`]+)`:\n\n```(?!diff)\w+\n([\s\S]*?)^```/gm)].map(
      ([, file, code]) => [page, file!, code!.trim()] as const,
    ),
  )

  it.each(named)('%s shows %s as it is', (_page, file, code) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(code)
  })

  it('every page of a framework with a playground shows files of it', () => {
    // Express is the playground itself. Hosts run elsewhere, procedures are no pages, and the others are tested without a playground.
    const without = /\/(?:astro|express|edge|elysia|lambda|live|nest|react-router|rpc)\.md$/
    const frameworks = list('docs/bindings', '.md').filter((page) => !without.test(page))
    const shows = (page: string): boolean => named.some(([other]) => other === page)
    // A small server is one file: its page links to it.
    const links = (page: string): boolean =>
      readFileSync(join(root, page), 'utf8').includes(`(../../playground/small/${basename(page, '.md')}.ts)`)
    expect(frameworks.filter((page) => !shows(page) && !links(page))).toEqual([])
  })
})

describe('links', () => {
  it.each(pages)('%s links to files and headings that exist', (page) => {
    const text = withoutCode(readFileSync(join(root, page), 'utf8'))
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target) && !leads(page, target))
    expect(broken).toEqual([])
  })

  it('every page is reached from README.md', () => {
    const reached = new Set<string>()
    const open = ['README.md']
    for (let page = open.pop(); page !== undefined; page = open.pop()) {
      if (reached.has(page)) continue
      reached.add(page)
      const targets = [...withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/\]\(([^)\s#]+\.md)/g)].map(([, target]) => target!)
      open.push(...targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => join(dirname(page!), target)))
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([])
  })

  function leads(page: string, target: string): boolean {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? join(root, page) : resolve(root, dirname(page), path)
    if (!existsSync(file)) return false
    return !anchor || !file.endsWith('.md') || anchors(readFileSync(file, 'utf8')).includes(anchor)
  }
})

describe('reference', () => {
  it('docs/reference is what the types and their comments say: npm run reference', () => {
    for (const [name, page] of Object.entries(referencePages()))
      expect(readFileSync(join(root, 'docs/reference', name), 'utf8'), name).toBe(page)
  })
})

describe('rows', () => {
  it('docs/rows.md is what the names of the tests say: npm run rows', () => {
    expect(readFileSync(join(root, 'docs/rows.md'), 'utf8')).toBe(rowsPage())
  })

  it('numbers are read from titles', () => {
    expect(rowNumbers('row 5: a')).toEqual([5])
    expect(rowNumbers('rows 5, 7 and 9 to 11: b')).toEqual([5, 7, 9, 10, 11])
    expect(rowNumbers('rows 3-4, row 400, tomorrow 5')).toEqual([3, 4])
  })
})

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

/** Anchors of headings, as the common Markdown renderers make them. */
function anchors(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}
