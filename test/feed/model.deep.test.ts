/** The bound of the feed, proved on random histories: regions, delays, cuts, lost answers, killed processes, clocks that differ and are set. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isFullTier } from '../_tier.ts'
import { type Act, type Counts, type History, maxSkew, runHistory } from './_histories.ts'
import { hashAtOnce } from './_world.ts'

// `.ci/run full` runs a hundred thousand.
const numRuns = isFullTier ? 100_000 : 400

const place = { wait: fc.oneof(fc.nat(50), fc.nat(2_000), fc.nat(8_000)), process: fc.nat(3) }
const number = fc.nat(7)
const read: fc.Arbitrary<Act> = fc.record({ ...place, what: fc.constant('read' as const), token: number })
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...place, what: fc.constant('signIn' as const), user: number }) },
  { weight: 8, arbitrary: read },
  {
    weight: 3,
    arbitrary: fc.record({
      ...place,
      what: fc.constant('endAll' as const),
      user: number,
      except: fc.option(fc.nat(2), { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ ...place, what: fc.constant('signOut' as const), token: number }) },
  { weight: 2, arbitrary: fc.record({ ...place, what: fc.constant('providerLogout' as const), user: number }) },
  { weight: 2, arbitrary: fc.record({ ...place, what: fc.constant('take' as const), value: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ ...place, what: fc.constant('cut' as const), region: fc.nat(1), ms: fc.nat(15_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...place,
      what: fc.constant('slow' as const),
      region: fc.nat(1),
      ms: fc.nat(15_000),
      delay: fc.nat(6_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...place, what: fc.constant('kill' as const) }) },
)
const history = (acts: fc.Arbitrary<Act>): fc.Arbitrary<History> =>
  fc.record({
    acts: fc.array(acts, { minLength: 4, maxLength: 30, size: 'max' }),
    seed: fc.nat(),
    staleness: fc.constantFrom(0, 1, 5),
    whenStale: fc.constantFrom('ask' as const, 'reject' as const),
    skew: fc.array(fc.integer({ min: -maxSkew / 2, max: maxSkew / 2 }), { minLength: 4, maxLength: 4 }),
  })

describe('the feed of revocations, as a model', () => {
  beforeAll(hashAtOnce)
  afterAll(() => void vi.restoreAllMocks())

  it(`no token is accepted later than the bound, in ${numRuns} histories`, { timeout: 7_200_000 }, async () => {
    const all: Counts = { accepted: 0, ended: 0, unknown: 0, acknowledged: 0, failed: 0 }
    const property = fc.asyncProperty(history(act), async (given) => {
      const counts = await runHistory(given)
      for (const name of Object.keys(all) as (keyof Counts)[]) all[name] += counts[name]
    })
    await fc.assert(property, { numRuns, seed: 20_261_126 })
    // Histories in which nothing happens prove nothing.
    expect(Object.entries(all).filter(([, count]) => count < numRuns / 5)).toEqual([])
  })

  it('the bound holds when clocks are set back or forward', { timeout: 3_600_000 }, async () => {
    const clock: fc.Arbitrary<Act> = fc.record({
      ...place,
      what: fc.constant('setClock' as const),
      by: fc.oneof(fc.integer({ min: -4_000, max: 4_000 }), fc.constant(-30_000)),
    })
    const calm = act.filter(({ what }) => what !== 'signIn' && what !== 'providerLogout')
    const first: Act[] = [0, 1, 2, 3].map((process) => ({ what: 'signIn', user: process, process, wait: 100 }))
    const property = fc.asyncProperty(history(fc.oneof({ weight: 1, arbitrary: clock }, { weight: 6, arbitrary: calm })), (given) =>
      // Who signs in while clocks are wrong is another matter: here sessions are there before.
      runHistory({ ...given, acts: [...first, ...given.acts] }).then(() => undefined),
    )
    await fc.assert(property, { numRuns: numRuns / 4, seed: 20_261_126 })
  })
})
