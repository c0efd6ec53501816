/** The contract of the services `once` and `limit`, for stores that bring shared ones. */
import type { Awaitable, Limit, Once } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from './runner.ts'
import { unique } from './adapter-subject.ts'

/** What `testServices` needs. */
export interface TestServicesOptions {
  /** Makes the services, once; `now` is the clock they must follow, in milliseconds. */
  services(now: () => number): Awaitable<{ once: Once; limit: Limit }>
  /** What `once.shared` must say; default true. */
  shared?: boolean
  /** Runs after the last test. */
  close?(): Awaitable<unknown>
}

/** Defines a suite over a shared `once` and `limit`: exactly one taker, expiry, windows, refunds, hostile and long keys, races. */
export function testServices(name: string, options: TestServicesOptions): void {
  describe(`service contract: ${name}`, () => {
    let services: { once: Once; limit: Limit }
    // Stores with a time to live of their own count real time, so the clock only ever stands still or runs ahead.
    let ahead = 0
    beforeAll(async () => {
      services = await options.services(() => Date.now() + ahead)
    })
    afterAll(async () => {
      await options.close?.()
    })

    it('D35: one of many takers gets it', async () => {
      const { once } = services
      const key = unique()
      expect(await once.taken(key)).toBe(false)
      const answers = await Promise.all([...Array(20).keys()].map(() => once.take(key, 600)))
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await once.taken(key)).toBe(true)
      expect(await once.take(key, 600)).toBe(false)
      expect(await once.take(unique(), 600)).toBe(true)
      expect(once.shared).toBe(options.shared ?? true)
    })

    it('D35: what was taken is free again after its time', async () => {
      const { once } = services
      const key = unique()
      expect(await once.take(key, 60)).toBe(true)
      ahead += 61_000
      expect(await once.taken(key)).toBe(false)
      const answers = await Promise.all([...Array(10).keys()].map(() => once.take(key, 60)))
      expect(answers.filter(Boolean)).toHaveLength(1)
    })

    it('keys that differ are different, however long and strange', async () => {
      const { once, limit } = services
      const base = unique('Key')
      const long = 'x'.repeat(2_000)
      const keys = [
        base,
        base.toUpperCase(),
        `${base} `,
        `${base}é`,
        `${base}:a/b?c..`,
        `${base}'; --`,
        `${base}${long}a`,
        `${base}${long}b`,
        `${base}\0`,
      ]
      for (const key of keys) expect(await once.take(key, 600), JSON.stringify(key.slice(0, 60))).toBe(true)
      for (const key of keys) expect(await once.take(key, 600)).toBe(false)
      for (const key of keys) expect(await limit.take(key, { max: 1, seconds: 600 })).toEqual({ allowed: true, retryAfter: 0 })
    })

    it('D54: no more than max attempts in a window, also at once', async () => {
      const { limit } = services
      const key = unique()
      const rule = { max: 5, seconds: 600 }
      const answers = await Promise.all([...Array(15).keys()].map(() => limit.take(key, rule)))
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(5)
      const refused = await limit.take(key, rule)
      expect(refused.allowed).toBe(false)
      expect(refused.retryAfter).toBeGreaterThan(0)
      expect(refused.retryAfter).toBeLessThanOrEqual(600)
      expect(await limit.take(unique(), rule)).toEqual({ allowed: true, retryAfter: 0 })
      ahead += 601_000
      expect(await limit.take(key, rule)).toEqual({ allowed: true, retryAfter: 0 })
    })

    it('D54: refund gives one attempt back', async () => {
      const { limit } = services
      const key = unique()
      const rule = { max: 2, seconds: 600 }
      await limit.refund(key)
      for (const _time of [1, 2, 3, 4]) {
        expect((await limit.take(key, rule)).allowed).toBe(true)
        await limit.refund(key)
      }
      expect((await limit.take(key, rule)).allowed).toBe(true)
      expect((await limit.take(key, rule)).allowed).toBe(true)
      expect((await limit.take(key, rule)).allowed).toBe(false)
    })

    it('a rule of zero attempts allows none', async () => {
      expect((await services.limit.take(unique(), { max: 0, seconds: 60 })).allowed).toBe(false)
    })
  })
}
