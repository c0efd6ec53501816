/** State that several kernels share: one-time use, derived keys, discovery documents, requests under way. One object per host, or per function-config binding. */
import type { Shared } from '../contract/runtime.ts'

/** Values that live in this process. */
export function createShared(): Shared {
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
