/** The word list of the docs: docs/style.md shows it, each row finds its example, and the words that it recommends pass. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkProse, type Word } from '../scripts/prose/check.ts'
import { checkMarkdown } from '../scripts/prose/markdown.ts'
import { checkSource } from '../scripts/prose/source.ts'
import { root } from './_sources.ts'

const words = JSON.parse(readFileSync(join(root, 'scripts/prose/words.json'), 'utf8')) as Word[]

describe('docs/style.md', () => {
  const page = readFileSync(join(root, 'docs/style.md'), 'utf8')

  it.each(words.map((word) => [word.avoid, word] as const))('shows and finds: %s', (_, { avoid, pattern, use, example }) => {
    expect(page).toContain(`| ${avoid} | ${use} | ${example} |`)
    expect(checkProse(example).some(({ message }) => message.endsWith(`write ${use}.`))).toBe(true)
    expect(use).not.toMatch(new RegExp(pattern, 'i'))
  })
})

const long = `This ${'word '.repeat(29)}end.`

describe('what is checked', () => {
  it('reads paragraphs, headings, lists and cells, but no code and no address of a link', async () => {
    const markdown = [
      '# Everyone',
      'Nobody reads `nobody` here, nor [this](https://nobody.example).',
      '- a stranger',
      '| people | x |\n|---|---|\n| a person | y |',
      '```ts\n// nobody\n```',
    ].join('\n\n')
    expect((await checkMarkdown(markdown)).map((message) => message.replace(/: .*/, ''))).toEqual([
      '1:3 Avoid "Everyone"',
      '3:1 Avoid "Nobody"',
      '5:5 Avoid "stranger"',
      '7:3 Avoid "people"',
      '9:5 Avoid "person"',
    ])
  })

  it('measures sentences and counts passives, across line breaks', async () => {
    expect(await checkMarkdown(`Short one. ${long}`)).toEqual(['1:12 A sentence of 31 words: write at most 30.'])
    expect(await checkMarkdown(long.replaceAll('word word', 'word\nword'))).toHaveLength(1)
    expect(checkProse('Ends here, e.g. `a`. And `b` begins here.')).toEqual([])
    expect(checkProse('The row is read, was changed, has been sent, is deleted and was logged.')).toEqual([
      { index: 0, message: '5 passives in one sentence: name who does it.' },
    ])
  })

  it('reads comments of exported names and of their members, and English strings', () => {
    const source = `
/** A person. */
export interface Shown {
  /** A stranger. */
  field: string
}
/** Nobody outside sees this. */
const hidden = 1
throw new Error(\`\${hidden}: the token of that person is not valid.\`)
export const messages = { en: { a: 'Only you and nobody else may see this.' }, de: { a: 'Only you and nobody else may see this.' } }
`
    expect(checkSource('a.ts', source).map((message) => message.replace(/: write.*/, ''))).toEqual([
      '2 Avoid "person"',
      '4 Avoid "stranger"',
      '9 Avoid "person"',
      '10 Avoid "nobody"',
    ])
  })
})
