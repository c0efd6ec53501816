/** How many hashes are computed at once: each needs much memory, so a crowd of sign-ins must not take all of it. */
import { Overloaded } from 'authkernel/kernel'

const maxWaiting = 64

/** Runs work when it is its turn. Throws Overloaded when the line is full, or its end would come too late. */
export interface Line {
  run<T>(work: () => Promise<T>): Promise<T>
}
/** How the line is kept short. */
export interface LineOptions {
  /** How much is done at once; default: as many as there are cores, and four at most. */
  places?: Promise<number>
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds of waiting after which an answer would come too late. */
  patience: number
}

/**
 * 64 wait at most, and no longer than `patience`: by what the last ones took when they come, and by the clock when it is their turn. A request that ends at its
 * deadline has been computed in vain.
 */
export function createLine({ places = countCores(), now, patience }: LineOptions): Line {
  let busy = 0
  // Milliseconds that one takes, as a mean in which the last ones count most.
  let mean = 0
  const waiting: { readonly since: number; begin(): void; refuse(error: Overloaded): void }[] = []
  const overloadAfter = (wait: number): Overloaded => {
    const text = `Plugin "passwords": ${waiting.length} hashes wait to be computed, and the next one would wait for ${Math.round(wait)} ms.`
    return new Overloaded(text, { retryAfter: Math.max(2, Math.ceil(wait / 1000)) })
  }
  const waitForPlace = (max: number): Promise<void> => {
    const wait = ((waiting.length + 1) * mean) / max
    if (waiting.length >= maxWaiting || wait > patience) throw overloadAfter(wait)
    // A job that ends hands its place on.
    return new Promise((begin, refuse) => waiting.push({ since: now(), begin, refuse }))
  }
  const handOn = (): void => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const waited = now() - next.since
      if (waited <= patience) return next.begin()
      // The first crowd after a start comes before it is known how long a hash takes.
      next.refuse(overloadAfter(waited))
    }
    busy--
  }
  return {
    async run(work) {
      const max = await places
      if (busy < max) busy++
      else await waitForPlace(max)
      const began = now()
      try {
        return await work()
      } finally {
        mean = mean === 0 ? now() - began : (mean * 3 + now() - began) / 4
        handOn()
      }
    },
  }
}

async function countCores(): Promise<number> {
  const { availableParallelism } = await import('node:os')
  return Math.min(4, availableParallelism())
}
