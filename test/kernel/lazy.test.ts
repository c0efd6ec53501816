/** What is loaded by its first call: sealers, strategies, stores, limits, mails and pages stand on it. */
import { expect, it } from 'vitest'
import { lazyObject, lazily } from 'authkernel/kernel'

interface Counter {
  next(by: number): number | Promise<number>
  reset(): void | Promise<void>
}

/** `failures`: so many imports fail before one succeeds. */
function lazyCounter(failures = 0) {
  const made: Counter[] = []
  const imports: string[] = []
  const load = lazily(async () => {
    imports.push('import')
    if (imports.length <= failures) throw new Error('no such chunk')
    return { begin: 10 }
  })
  const counter = lazyObject(['next', 'reset'], load, ({ begin }): Counter => {
    let at = begin
    const own = { next: (by: number) => (at += by), reset: () => void (at = begin), other: 'not asked for' }
    made.push(own)
    return own
  })
  return { counter, made, imports }
}

it('loads and makes nothing before the first call, and both once for all who call at once', async () => {
  const { counter, made, imports } = lazyCounter()
  expect([imports, made]).toEqual([[], []])
  expect(await Promise.all([counter.next(1), counter.next(1), counter.reset(), counter.next(5)])).toEqual([11, 12, undefined, 15])
  expect([imports.length, made.length]).toEqual([1, 1])
})

it('has the methods of the made object from then on, and leads on those that were taken before', async () => {
  const { counter, made } = lazyCounter()
  const { next } = counter
  await next(1)
  expect(counter.next).toBe(made[0]!.next)
  expect(Object.keys(counter)).toEqual(['next', 'reset'])
  expect([counter.next(1), next(1)]).toEqual([12, 13])
})

it('an import that failed is told to who called, and tried again by the next call', async () => {
  const { counter, made, imports } = lazyCounter(1)
  await expect(counter.next(1)).rejects.toThrow('no such chunk')
  expect(await counter.next(1)).toBe(11)
  expect([imports.length, made.length]).toEqual([2, 1])
})
