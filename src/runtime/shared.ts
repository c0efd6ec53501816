/** State that the kernels of one process share: caches, requests under way, replay protection, counted attempts, and the order of what happens. */
import type { Limit, Once, Runtime, SharedState } from '../contract/services.ts'

const maxKeys = 100_000

/** Values that live in this process: one object per host, or per binding whose configuration is a function. */
export function createShared(): SharedState {
  const caches = new Map<string, Map<string, unknown>>()
  const flights = new Map<string, Promise<unknown>>()
  return {
    cache<T>(name: string): Map<string, T> {
      let cache = caches.get(name)
      if (!cache) caches.set(name, (cache = new Map()))
      return cache as Map<string, T>
    },
    flight<T>(key: string, work: () => Promise<T>): Promise<T> {
      const running = flights.get(key)
      if (running) return running as Promise<T>
      const started = work().finally(() => flights.delete(key))
      flights.set(key, started)
      return started
    },
  }
}

/** Keeps a map at `max` entries by dropping the oldest: maps remember insertion order. */
export function setBounded<T>(map: Map<string, T>, key: string, value: T, max: number): T {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value as string)
  return value
}

/** The default of the service `once`: remembers what was taken until it would have expired anyway. */
export function createOnce(runtime: Runtime, shared: SharedState): Once {
  const used = shared.cache<number>('once')
  const isTaken = (key: string): boolean => (used.get(key) ?? 0) > runtime.now()
  return {
    take(key, ttlSeconds) {
      if (isTaken(key)) return false
      sweepEnded(used, (until) => until <= runtime.now())
      setBounded(used, key, runtime.now() + ttlSeconds * 1000, maxKeys)
      return true
    },
    taken: isTaken,
  }
}

/** The default of the service `limit`, with windows that slide: each attempt counts for `seconds`, and a rejected one does not count. */
export function createLimit(runtime: Runtime, shared: SharedState): Limit {
  const windows = shared.cache<number[]>('limit')
  return {
    take(key, { max, seconds }) {
      const now = runtime.now()
      const counted = windows.get(key)?.filter((until) => until > now) ?? []
      if (counted.length >= max) return { allowed: false, retryAfter: Math.ceil(((counted[0] ?? now + seconds * 1000) - now) / 1000) }
      sweepEnded(windows, (untils) => (untils.at(-1) ?? 0) <= now)
      counted.push(now + seconds * 1000)
      setBounded(windows, key, counted, maxKeys)
      return { allowed: true, retryAfter: 0 }
    },
    refund(key) {
      const counted = windows.get(key)
      counted?.pop()
      if (counted?.length === 0) windows.delete(key)
    },
  }
}

// A few per call, oldest first: memory follows use and no call pays for all.
function sweepEnded<T>(map: Map<string, T>, ended: (value: T) => boolean): void {
  let left = 8
  for (const [key, value] of map) {
    if (left-- === 0 || !ended(value)) return
    map.delete(key)
  }
}

/** When something happened, and in which process. */
export interface Moment {
  /** Milliseconds times 1000, counted on within one millisecond. */
  readonly at: number
  readonly process: string
}

/** Gives moments that only grow: a hybrid logical clock, which orders events of one process, and by the clock those of several. */
export interface Moments {
  /** The process, as its moments name it. */
  readonly process: string
  /** The number of the next moment. */
  next(): number
  /** Another process is ahead: later numbers are greater than its number. */
  advance(at: number): void
}

/** What the kernels of one host share. */
export function sharedMoments(shared: SharedState, runtime: Runtime): Moments {
  const cache = shared.cache<Moments>('moments')
  const known = cache.get('')
  if (known) return known
  let last = 0
  let process: string | undefined
  const moments: Moments = {
    get process() {
      return (process ??= Array.from(runtime.random(8), (byte) => byte.toString(16).padStart(2, '0')).join(''))
    },
    next: () => (last = Math.max(Math.floor(runtime.now()) * 1000, last + 1)),
    advance: (at) => void (last = Math.max(last, at)),
  }
  cache.set('', moments)
  return moments
}

/** Whether `one` came after `other`. Between processes only whole milliseconds tell. */
export function isAfter(one: Moment, other: Moment): boolean {
  if (one.process === other.process) return one.at > other.at
  return Math.floor(one.at / 1000) > Math.floor(other.at / 1000)
}
