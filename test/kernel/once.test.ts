/** The services `once` and `limit` of one process (D35, D54). */
import { describe, expect, it } from 'vitest'
import { createLimit, createOnce, setBounded, createShared } from '../../src/runtime/shared.ts'
import { fakeRuntime } from '../_setup.ts'

describe('once', () => {
  it('true for exactly one caller until its time is over', () => {
    const clock = fakeRuntime()
    const once = createOnce(clock, createShared())
    expect(once.taken('a')).toBe(false)
    expect([once.take('a', 60), once.take('a', 60), once.take('b', 60)]).toEqual([true, false, true])
    expect(once.taken('a')).toBe(true)
    clock.advance(59_999)
    expect(once.take('a', 60)).toBe(false)
    clock.advance(1)
    expect(once.taken('a')).toBe(false)
    expect(once.take('a', 60)).toBe(true)
  })

  it('two kernels over one Shared see each other; two Shared do not', () => {
    const clock = fakeRuntime()
    const shared = createShared()
    expect([createOnce(clock, shared).take('a', 60), createOnce(clock, shared).take('a', 60)]).toEqual([true, false])
    expect(createOnce(clock, createShared()).take('a', 60)).toBe(true)
  })

  it('forgets what has ended while new keys come', () => {
    const clock = fakeRuntime()
    const shared = createShared()
    const once = createOnce(clock, shared)
    for (let i = 0; i < 1000; i++) once.take(`old ${i}`, 1)
    clock.advance(1000)
    for (let i = 0; i < 1000; i++) once.take(`new ${i}`, 60)
    expect(shared.cache('once').size).toBe(1000)
  })

  it('names of Object.prototype are keys like others', () => {
    const once = createOnce(fakeRuntime(), createShared())
    for (const key of ['__proto__', 'constructor', '']) expect([once.take(key, 60), once.take(key, 60)]).toEqual([true, false])
  })
})

describe('limit', () => {
  it('allows max in a window that begins with the first, and says when the next begins', () => {
    const clock = fakeRuntime()
    const limit = createLimit(clock, createShared())
    const rule = { max: 2, seconds: 60 }
    expect([limit.take('a', rule), limit.take('a', rule)]).toEqual([
      { allowed: true, retryAfter: 0 },
      { allowed: true, retryAfter: 0 },
    ])
    clock.advance(20_500)
    expect(limit.take('a', rule)).toEqual({ allowed: false, retryAfter: 40 })
    expect(limit.take('b', rule)).toMatchObject({ allowed: true })
    clock.advance(39_500)
    expect(limit.take('a', rule)).toMatchObject({ allowed: true })
  })

  it('a refund gives one attempt back, and never more than were taken', () => {
    const limit = createLimit(fakeRuntime(), createShared())
    const rule = { max: 1, seconds: 60 }
    limit.refund('a')
    limit.take('a', rule)
    limit.refund('a')
    limit.refund('a')
    limit.refund('a')
    expect([limit.take('a', rule), limit.take('a', rule)]).toMatchObject([{ allowed: true }, { allowed: false }])
  })

  it('max 0 allows nothing', () => {
    expect(createLimit(fakeRuntime(), createShared()).take('a', { max: 0, seconds: 30 })).toEqual({ allowed: false, retryAfter: 30 })
  })

  it('forgets windows that have ended', () => {
    const clock = fakeRuntime()
    const shared = createShared()
    const limit = createLimit(clock, shared)
    for (let i = 0; i < 500; i++) limit.take(`old ${i}`, { max: 1, seconds: 1 })
    clock.advance(1000)
    for (let i = 0; i < 500; i++) limit.take(`new ${i}`, { max: 1, seconds: 1 })
    expect(shared.cache('limit').size).toBe(500)
  })
})

describe('shared', () => {
  it('setBounded drops the oldest, and writing again makes young', () => {
    const map = new Map<string, number>()
    for (const key of ['a', 'b', 'a', 'c']) setBounded(map, key, 1, 2)
    expect([...map.keys()]).toEqual(['a', 'c'])
  })

  it('flight runs once for callers at the same time, and again afterwards; a failure reaches all and is not kept', async () => {
    const shared = createShared()
    let runs = 0
    const work = async () => ++runs
    expect(await Promise.all([shared.flight('k', work), shared.flight('k', work), shared.flight('other', work)])).toEqual([1, 1, 2])
    expect(await shared.flight('k', work)).toBe(3)
    const fail = () => Promise.reject(new Error('down'))
    const both = await Promise.allSettled([shared.flight('k', fail), shared.flight('k', fail)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await shared.flight('k', work)).toBe(4)
  })
})
