/** Requests, tokens and discovery documents that fast-check makes up. 100,000 requests are in the full tier. */
import { expect, it } from 'vitest'
import { anyDocument, anyRequest, anyToken } from './_properties.ts'

it.each([
  ['jwt', 11],
  ['database', 12],
] as const)('any request under the %s strategy', { timeout: 120_000 }, async (strategy, seed) => {
  expect((await anyRequest(strategy, seed, 600)).sent).toBe(600)
})

it('any session token', { timeout: 120_000 }, () => anyToken(13, 400))

it('any discovery document and token answer', { timeout: 120_000 }, () => anyDocument(14, 150))
