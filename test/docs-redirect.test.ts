/** The redirect example of docs/hooks.md, as it stands there. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

describe('the example of docs/hooks.md', () => {
  const page = readFileSync(new URL('../docs/hooks.md', import.meta.url), 'utf8')
  const [, source] = /auth\.hook\('redirect', (\([\s\S]*?\n\})\)/.exec(page) ?? []
  // The text of our own page.
  const example = new Function(`return ${source}`)() as (message: { url: string; baseUrl: string }) => string
  const baseUrl = 'https://app.example'

  it.each([
    // `ctx.redirect('/code')` of a second factor must not land on the start page.
    ['/code', 'https://app.example/code'],
    ['https://app.example/inside?a=b', 'https://app.example/inside?a=b'],
    ['https://docs.example/page', 'https://docs.example/page'],
    ['https://docs.example.evil.example/', baseUrl],
    ['//evil.example/', baseUrl],
    ['https://app.example.evil.example/', baseUrl],
  ])('%s leads to %s', (url, target) => expect(example({ url, baseUrl })).toBe(target))
})
