/**
 * A `limit` that never fails: while the service behind it does, attempts are counted in this process, and what could not be given back is
 * given back later. Without it a store that is away for seconds would reject all requests, or none.
 */
import type { LoggerInstance } from '../contract/data.ts'
import type { Limit } from '../contract/services.ts'
import { AuthError } from '../errors/index.ts'
import { withTimeout } from '../errors/deadlines.ts'
import { setBounded } from '../runtime/shared.ts'

/** What stands behind a service that may fail. */
export interface LimitFallback {
  /** Counts in this process. */
  local: Limit
  logger: LoggerInstance
  /** Milliseconds until a call counts as failed. */
  deadline: number
}

const maxKeys = 100_000
// Milliseconds: the first pause before something is given back again, and the longest one.
const firstPause = 250
const longestPause = 30_000
const maxRounds = 40
// Milliseconds for which a service that did not answer in time is left alone: each call to it would cost a deadline.
const restTime = 2_000

/** One error is logged when the service begins to fail, and the next one only after it has worked again. */
export function steadyLimit(limit: Limit, { local, logger, deadline }: LimitFallback): Limit {
  // How many attempts of a key were counted in this process, and how many the service has yet to be told of.
  const lent = new Map<string, number>()
  const owed = new Map<string, number>()
  let failing = false
  let restUntil = 0
  let waiting = false

  async function ask<T>(work: () => T | PromiseLike<T>): Promise<T> {
    try {
      const answer = work()
      const late = (): Error => {
        restUntil = performance.now() + restTime
        return new AuthError(`The service "limit" did not answer within ${deadline} ms (deadlines.store).`)
      }
      const value = await (answer instanceof Promise ? withTimeout<T>(answer, deadline, late) : answer)
      failing = false
      return value
    } catch (error) {
      const err = error instanceof Error ? error : new Error(String(error))
      if (!failing) {
        const text = `The service "limit" fails: ${err.message} Until it works again, attempts are counted in this process.`
        logger.error(new AuthError(text, { cause: { err } }))
      }
      failing = true
      throw err
    }
  }

  async function payRefunds(round = 0): Promise<void> {
    for (const [key, count] of owed) {
      try {
        await ask(() => limit.refund(key))
      } catch {
        if (round < maxRounds) return payRefundsAfterPause(round)
        owed.clear()
        break
      }
      addCount(owed, key, -1)
      if (count > 1) return payRefunds(round)
    }
    waiting = false
  }
  function payRefundsAfterPause(round: number): void {
    waiting = true
    const timer = setTimeout(() => void payRefunds(round + 1), Math.min(longestPause, firstPause * 2 ** round))
    // A process that has nothing else to do may end.
    if (typeof timer === 'object') timer.unref?.()
  }

  return {
    async take(key, rule) {
      if (performance.now() >= restUntil) {
        try {
          return await ask(() => limit.take(key, rule))
        } catch {
          // Counted here, below.
        }
      }
      const answer = await local.take(key, rule)
      if (answer.allowed) addCount(lent, key, 1)
      return answer
    },
    async refund(key) {
      if ((lent.get(key) ?? 0) > 0) {
        addCount(lent, key, -1)
        return local.refund(key)
      }
      try {
        if (performance.now() < restUntil) throw new AuthError('The service "limit" is left alone.')
        await ask(() => limit.refund(key))
      } catch {
        addCount(owed, key, 1)
        if (!waiting) payRefundsAfterPause(0)
      }
    },
  }
}

function addCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) setBounded(counts, key, count, maxKeys)
  else counts.delete(key)
}
