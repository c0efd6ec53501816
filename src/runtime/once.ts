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

/** Fixed windows that begin with their first attempt. */
export function createLimit(runtime: Runtime, shared: Shared): Limit {
  const windows = shared.cache<{ count: number; until: number }>('limit')
  return {
    take(key, rule) {
      const now = runtime.now()
      const known = windows.get(key)
      if (known && known.until > now) {
        known.count++
        return known.count <= rule.max
          ? { allowed: true, retryAfter: 0 }
          : { allowed: false, retryAfter: Math.ceil((known.until - now) / 1000) }
      }
      sweep(windows, ({ until }) => until <= now)
      setBounded(windows, key, { count: 1, until: now + rule.seconds * 1000 }, maxKeys)
      return { allowed: rule.max >= 1, retryAfter: rule.max >= 1 ? 0 : rule.seconds }
    },
    refund(key) {
      const known = windows.get(key)
      if (known && known.count > 0) known.count--
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
