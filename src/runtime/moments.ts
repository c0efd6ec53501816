/** Orders what happens in one process and, by the clock, between processes: a hybrid logical clock. */
import type { Runtime, Shared } from '../contract/runtime.ts'

/** When something happened, and in which process. */
export interface Moment {
  /** Milliseconds times 1000, counted on within one millisecond. */
  readonly at: number
  readonly process: string
}

/** Gives moments that only grow. */
export interface Moments {
  /** The process, as its moments name it. */
  readonly process: string
  /** The number of the next moment. */
  next(): number
  /** Another process is ahead: later numbers are greater than its number. */
  advance(at: number): void
}

/** What the kernels of one host share. */
export function sharedMoments(shared: Shared, runtime: Runtime): Moments {
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
