/** The timer of the clean-up: one process of all works, and nothing is lost when it fails. */
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { cleanupPlugin } from 'authkernel/plugins/cleanup'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { baseConfig } from '../_setup.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

/** Processes over one store, with the clock of the timers. */
function processes(count: number, every: number) {
  const data = memoryData()
  const store = memoryAdapter(data)
  const runs: number[] = []
  let down = false
  const deleteExpired = store.deleteExpired!.bind(store)
  store.deleteExpired = (...given) => {
    if (down) throw new Error('planted: the store is away')
    runs.push(Date.now())
    return deleteExpired(...given)
  }
  const all = Array.from({ length: count }, () => {
    const base = baseConfig({ session: { strategy: 'database' } })
    const auth = createAuth({ ...base, runtime: { ...base.runtime, now: () => Date.now() } })
      .use(adapterPlugin(store))
      .use(cleanupPlugin({ every }))
    return { auth, logger: base.logger }
  })
  return { all, store, data, runs, fail: (fails: boolean) => void (down = fails) }
}

describe('cleanupPlugin', () => {
  it('one of four processes removes what has ended, once in every interval', async () => {
    const { all, store, data, runs } = processes(4, 3600)
    await Promise.all(all.map(({ auth }) => auth.cleanup()))
    runs.length = 0
    const user = await store.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
    await store.createSession!({ sessionToken: 'old', userId: user.id, expires: new Date(Date.now() - 1000) })
    await vi.advanceTimersByTimeAsync(600_000)
    expect([runs.length, data.sessions.size]).toEqual([1, 0])
    await vi.advanceTimersByTimeAsync(24 * 3_600_000)
    expect(runs.length).toBeGreaterThanOrEqual(20)
    expect(runs.length).toBeLessThanOrEqual(26)
    const gaps = runs.slice(1).map((at, index) => at - runs[index]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0.94 * 3_600_000)
    await Promise.all(all.map(({ auth }) => auth.close()))
    const before = runs.length
    await vi.advanceTimersByTimeAsync(24 * 3_600_000)
    expect(runs).toHaveLength(before)
  })

  it('a failure is logged, and the work is done at the next look', async () => {
    const { all, runs, fail } = processes(1, 3600)
    await all[0]!.auth.cleanup()
    runs.length = 0
    fail(true)
    await vi.advanceTimersByTimeAsync(600_000)
    expect(all[0]!.logger.errors.map(({ name }) => name)).toContain('AdapterError')
    fail(false)
    await vi.advanceTimersByTimeAsync(1_000_000)
    expect(runs).toHaveLength(1)
    await all[0]!.auth.close()
  })

  it.each([0, 59, -1, Number.NaN, Infinity])('refuses every: %s', (every) => {
    expect(() => cleanupPlugin({ every })).toThrow('`every` must be 60 to')
  })
})
