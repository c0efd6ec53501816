/** The services of a data layer with the rules of the store: failures name the operation, calls end in time, and a wrong kind of answer is a failure. */
import { type Awaitable, type Limit, type Once, withTimeout } from 'authkernel/kernel'
import { failedCall, lateCall } from 'authkernel/kernel/stores'

/** `once` with the deadline of a store call. */
export function onceWithDeadline(once: Once, deadline: number): Once {
  return {
    shared: once.shared === true,
    take: (key, seconds) => callService('once.take', deadline, () => once.take(key, seconds), 'boolean'),
    taken: (key) => callService('once.taken', deadline, () => once.taken(key), 'boolean'),
  }
}

/** `limit` with the deadline of a store call. */
export function limitWithDeadline(limit: Limit, deadline: number): Limit {
  return {
    take: (key, rule) => callService('limit.take', deadline, () => limit.take(key, rule), 'verdict'),
    refund: (key) => callService('limit.refund', deadline, () => limit.refund(key), 'anything'),
  }
}

// Nonsense would be read as "not used before", or as a refusal without an end.
const isFitting = {
  boolean: (answer: unknown): boolean => typeof answer === 'boolean',
  verdict: (answer: unknown): boolean => {
    const { allowed, retryAfter } = (answer ?? {}) as { allowed?: unknown; retryAfter?: unknown }
    return typeof allowed === 'boolean' && Number.isFinite(retryAfter)
  },
  anything: (): boolean => true,
}

/** Calls a service of the data layer. Throws AdapterError. */
async function callService<T>(name: string, deadline: number, work: () => Awaitable<T>, kind: keyof typeof isFitting): Promise<T> {
  try {
    const answer = work()
    const value = await (answer instanceof Promise ? withTimeout(answer as Promise<T>, deadline, () => lateCall(name, deadline)) : answer)
    if (isFitting[kind](value)) return value
    throw new Error(`${name}() answered neither yes nor no.`)
  } catch (error) {
    throw failedCall(name, error)
  }
}
