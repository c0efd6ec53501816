/** A world in which time is counted: calls of a store take their time, links are cut, clocks differ and are set, processes are killed. */
import { createHash } from 'node:crypto'
import type { RecordStore } from 'authkernel/kernel'
import { vi } from 'vitest'

/** A source of numbers between 0 and 1 that a seed repeats. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Hashes answer in the same turn, so that a history repeats itself. */
export function hashAtOnce(): void {
  vi.spyOn(globalThis.crypto.subtle, 'digest').mockImplementation((_name, data) => {
    const hash = createHash('sha256')
      .update(data as Uint8Array)
      .digest()
    return Promise.resolve(hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength) as ArrayBuffer)
  })
}

export interface World {
  /** True time in milliseconds. */
  readonly time: number
  after(ms: number): Promise<void>
  /** Lets time pass until nothing waits any more. */
  run(): Promise<void>
}

export function createWorld(): World {
  const events: { at: number; order: number; resolve: () => void }[] = []
  let time = 1_700_000_000_000
  let order = 0
  const comesFirst = (one: (typeof events)[number], other: (typeof events)[number]): number => one.at - other.at || one.order - other.order
  return {
    get time() {
      return time
    },
    after: (ms) =>
      new Promise((resolve) => {
        events.push({ at: time + ms, order: order++, resolve })
      }),
    async run() {
      for (;;) {
        // All that can go on without time goes on first.
        await new Promise((resolve) => setImmediate(resolve))
        let next = 0
        for (let at = 1; at < events.length; at++) if (comesFirst(events[at]!, events[next]!) < 0) next = at
        const [event] = events.splice(next, 1)
        if (!event) return
        time = Math.max(time, event.at)
        event.resolve()
      }
    },
  }
}

/** The way from a process to a store. */
export interface Link {
  /** Whether messages arrive now. */
  isUp(): boolean
  /** Milliseconds that one message takes. */
  delay(): number
  /** A process that was killed hears nothing any more. */
  isAlive(): boolean
}

// As `deadlines.store`.
const deadline = 2_000

/** A store at the other end of a link: what is cut on the way there is not done, what is cut on the way back is done and not known. */
export function distantStore(store: RecordStore, world: World, link: Link): RecordStore {
  const never = new Promise<never>(() => {})
  const far =
    (operation: (...args: never[]) => unknown) =>
    async (...args: unknown[]): Promise<unknown> => {
      const lost = async (): Promise<never> => {
        await world.after(deadline)
        if (!link.isAlive()) return never
        throw new Error('cut')
      }
      if (!link.isAlive()) return never
      await world.after(link.delay())
      if (!link.isUp()) return lost()
      // What was sent before a process was killed is done all the same.
      let answer: unknown
      let failure: unknown
      try {
        answer = await operation(...(args as never[]))
      } catch (error) {
        failure = error
      }
      await world.after(link.delay())
      if (!link.isAlive()) return never
      if (!link.isUp()) return lost()
      if (failure !== undefined) throw failure
      return answer
    }
  const methods = ['get', 'find', 'count', 'write', 'deleteWhere', 'deleteExpired'] as const
  return {
    ...store,
    ...Object.fromEntries(methods.map((name) => [name, far(store[name] as (...args: never[]) => unknown)])),
  } as RecordStore
}
