/** How many hashes are computed at once: each needs much memory, so a crowd of sign-ins must not take all of it. */
import { HttpError } from 'authkernel/kernel'

const maxWaiting = 64

/** Runs work when it is its turn. Throws HttpError 503 when the line is full. */
export interface Line {
  run<T>(work: () => Promise<T>): Promise<T>
}

/** At most four at once, or as many as there are cores; 64 wait. */
export function createLine(places: Promise<number> = cores()): Line {
  let busy = 0
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (waiting.length >= maxWaiting)
        throw new HttpError(503, 'Too many sign-ins at once. Try again in a moment.', { 'Retry-After': '2' })
      const max = await places
      if (busy < max) busy++
      else {
        if (waiting.length >= maxWaiting)
          throw new HttpError(503, 'Too many sign-ins at once. Try again in a moment.', { 'Retry-After': '2' })
        // Whoever leaves hands the place on.
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else busy--
      }
    },
  }
}

async function cores(): Promise<number> {
  const { availableParallelism } = await import('node:os')
  return Math.min(4, availableParallelism())
}
