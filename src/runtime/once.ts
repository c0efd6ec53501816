/** One-time use and attempt counting in one process: the defaults of the services `once` and `limit` (D35, D54). */
import type { Runtime, Shared } from '../contract/runtime.ts'
import type { Limit, Once } from '../contract/services.ts'
import { setBounded } from './shared.ts'

const maxKeys = 100_000

/** Remembers what was taken until it would have expired anyway. */
export function createOnce(runtime: Runtime, shared: Shared): Once {
  const used = shared.cache<number>('once')
  const taken = (key: string): boolean => (used.get(key) ?? 0) > runtime.now()
  return {
    take(key, ttlSeconds) {
      if (taken(key)) return false
      sweep(used, (until) => until <= runtime.now())
      setBounded(used, key, runtime.now() + ttlSeconds * 1000, maxKeys)
      return true
    },
    taken,
  }
}

/** Windows that slide: each attempt counts for `seconds`, and a refused one does not count. */
export function createLimit(runtime: Runtime, shared: Shared): Limit {
  const windows = shared.cache<number[]>('limit')
  return {
    take(key, { max, seconds }) {
      const now = runtime.now()
      const counted = windows.get(key)?.filter((until) => until > now) ?? []
      if (counted.length >= max) return { allowed: false, retryAfter: Math.ceil(((counted[0] ?? now + seconds * 1000) - now) / 1000) }
      sweep(windows, (untils) => (untils.at(-1) ?? 0) <= now)
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
function sweep<T>(map: Map<string, T>, ended: (value: T) => boolean): void {
  let left = 8
  for (const [key, value] of map) {
    if (left-- === 0 || !ended(value)) return
    map.delete(key)
  }
}
