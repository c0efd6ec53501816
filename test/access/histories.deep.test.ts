/** After access was ended, nothing that began before gives access: random histories of two processes, interleaved at each call of the store. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { isFullTier } from '../_tier.ts'
import { type Act, endings, runHistory } from './_histories.ts'
import { accessHost, enter, opens, signedIn, waysIn } from './_host.ts'

// `.ci/run full` runs many times as many.
const numRuns = isFullTier ? 10_000 : 30

const act = fc.record({ what: fc.constantFrom(...waysIn, ...waysIn, ...endings), process: fc.constantFrom(0 as const, 1 as const) })
const ending: fc.Arbitrary<Act> = fc.record({ what: fc.constantFrom(...endings), process: fc.constantFrom(0 as const, 1 as const) })

describe.each(['jwt', 'database'] as const)('histories under the %s strategy', (strategy) => {
  it.each(waysIn)('without an ending, %s opens something: the histories are not empty', async (what) => {
    const adapter = memoryAdapter()
    await adapter.createUser({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: new Date(0) } as never)
    const auth = accessHost(adapter, strategy)
    const credential = await enter[what](auth, await signedIn(auth))
    expect(credential && (await opens(auth, credential))).toBe(true)
  })

  it(`nothing begun before an ending opens anything after it, in ${numRuns} histories with faults`, { timeout: 3_000_000 }, async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(act, { minLength: 2, maxLength: 6 }),
      ending,
      fc.array(fc.nat(200), { maxLength: 2 }),
      async (scheduler, acts, last, faults) => {
        expect(await runHistory(strategy, [...acts, last], { scheduler, faults })).toBeUndefined()
      },
    )
    await fc.assert(property, { numRuns, seed: 20_261_123 })
  })
})
