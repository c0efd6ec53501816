/** No answer of the 500 kind, no throw, no secret in an answer or a log, no polluted prototype, no way off the origin. */
import { expect, it } from 'vitest'
import { createDice, fuzz } from './_fuzz.ts'

it('the dice fall the same way for one seed, and another way for the next', () => {
  const throws = (seed: number) => Array.from({ length: 8 }, (_, i) => createDice(seed + i)(1000))
  expect(throws(1)).toEqual(throws(1))
  expect(throws(1)).not.toEqual(throws(100))
})

it.each([
  ['jwt', 1],
  ['database', 2],
] as const)('1,500 spoilt requests under the %s strategy', { timeout: 120_000 }, async (strategy, seed) => {
  expect(await fuzz(strategy, seed, 1500)).toEqual([])
})

it('the same at debug level, behind a proxy that is trusted', { timeout: 120_000 }, async () => {
  expect(await fuzz('database', 3, 500, { debug: true, trustProxy: 1, allowedHosts: ['localhost:3000'] })).toEqual([])
})
