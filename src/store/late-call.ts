/** Beside the other errors of stores, which a call that is late for its own code must not wait for. */
import { AdapterError } from '../errors/index.ts'

/** What a call of an adapter, or of a service that belongs to one, failed with when it did not answer in `deadline` milliseconds. */
export function lateCall(method: string, deadline: number): AdapterError {
  return new AdapterError(`The adapter's ${method}() did not answer within ${deadline} ms (deadlines.store).`, {
    cause: { method, deadline },
  })
}
