/** What the store does for its operations: failures name the operation, calls end in time, and an answer that is none is a failure. */
import { type Awaitable, failedCall, lateCall, withTimeout } from 'authkernel/kernel'

// Nonsense would be read as "not used before", or as a refusal without an end.
const fits = {
  boolean: (answer: unknown): boolean => typeof answer === 'boolean',
  verdict: (answer: unknown): boolean => {
    const { allowed, retryAfter } = (answer ?? {}) as { allowed?: unknown; retryAfter?: unknown }
    return typeof allowed === 'boolean' && Number.isFinite(retryAfter)
  },
  anything: (): boolean => true,
}

/** Calls a service of the data layer. Throws AdapterError. */
export async function guarded<T>(name: string, deadline: number, work: () => Awaitable<T>, kind: keyof typeof fits): Promise<T> {
  try {
    const answer = work()
    const value = await (answer instanceof Promise ? withTimeout(answer as Promise<T>, deadline, () => lateCall(name, deadline)) : answer)
    if (fits[kind](value)) return value
    throw new Error(`${name}() answered neither yes nor no.`)
  } catch (error) {
    throw failedCall(name, error)
  }
}
