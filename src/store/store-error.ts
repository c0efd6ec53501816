/** Errors of calls to a store. */
import type { AdapterMethod, HealedFault } from '../contract/adapter.ts'
import { AdapterError } from '../errors/index.ts'
import { isExhausted } from '../errors/deadlines.ts'

/** What a call of an adapter, or of a service that belongs to one, failed with; `clean` makes an error fit to be read. */
export function failedCall(method: string, error: unknown, clean: (error: Error) => Error = (given) => given): AdapterError {
  if (error instanceof AdapterError) return error
  const err = clean(error instanceof Error ? error : new Error(String(error)))
  return new AdapterError(`The adapter's ${method}() failed.`, { cause: { err, method, ...(isExhausted(error) && { retryAfter: 2 }) } })
}

/** What a call failed with that did not answer in `deadline` milliseconds. */
export function lateCall(method: string, deadline: number): AdapterError {
  return new AdapterError(`The adapter's ${method}() did not answer within ${deadline} ms (deadlines.store).`, {
    cause: { method, deadline },
  })
}

/** What is logged of a failed call that did no harm: what it was to do was found done. */
export function healedFault(error: unknown): HealedFault {
  const { message, cause } = failedCall('unknown', error)
  const { err } = (cause ?? {}) as { err?: Error & { code?: unknown } }
  return { message: err ? `${message} ${err.message}` : message, ...(typeof err?.code === 'string' && { code: err.code }) }
}

/** Whether an adapter says by an error that there is nothing to change or to delete: Prisma does, where the contract has null. */
export function isAbsence(method: AdapterMethod, error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'P2025' && /^(delete|unlink|updateS)/.test(method)
}
