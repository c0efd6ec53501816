/** The same as `fuzz.deep.test.ts` with 30,000 requests. */
import { expect, it } from 'vitest'
import { fuzz } from './_fuzz.ts'

it.each(Array.from({ length: 10 }, (_, i) => [i % 2 === 0 ? 'jwt' : 'database', 1000 + i] as const))(
  '3,000 spoilt requests under the %s strategy, seed %i',
  { timeout: 600_000 },
  async (strategy, seed) => {
    expect(await fuzz(strategy, seed, 3000)).toEqual([])
  },
)
