/** The same as `properties.deep.test.ts` with 100,000 requests, 10,000 tokens and 5,000 documents. */
import { expect, it } from 'vitest'
import { anyDocument, anyRequest, anyToken } from './_properties.ts'

it.each(Array.from({ length: 10 }, (_, at) => [at % 2 === 0 ? 'jwt' : 'database', 2000 + at] as const))(
  '10,000 requests under the %s strategy, seed %i',
  { timeout: 900_000 },
  async (strategy, seed) => {
    expect((await anyRequest(strategy, seed, 10_000)).sent).toBe(10_000)
  },
)

it('10,000 session tokens', { timeout: 900_000 }, () => anyToken(2100, 10_000))

it('5,000 discovery documents', { timeout: 900_000 }, () => anyDocument(2200, 5_000))
