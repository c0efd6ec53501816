/** Waiting for what others do, but not for ever (D31). */
import type { ErrorRow } from './base.ts'
import { Overloaded } from './overloaded.ts'

/** Something that was waited for did not come in time. */
export class RequestTimeout extends Overloaded {
  static override type = 'RequestTimeout'
  // A sign-in that ends on the error page says no more than with Auth.js.
  static override row: ErrorRow = { page: 'error', status: 503 }
}

/** Returns the result of `work`, or rejects with `late()` after the given milliseconds. A later rejection of `work` is ignored. */
export function withTimeout<T>(work: PromiseLike<T>, milliseconds: number, late: () => Error): Promise<T> {
  // One promise: `Promise.race` makes four, and every request and every call of a store waits here.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
