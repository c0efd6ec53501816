/** Work that takes too long, and a server that has too much of it: 503 with `Retry-After`. */
import { AuthError, type ErrorRow, rowOf } from './base.ts'

// Seconds after which it may be tried again, where nothing is known.
const soon = 2

/** Work was not begun, or given up, because the server is busy. `cause.retryAfter` is in seconds; default 2. */
export class Overloaded extends AuthError {
  static override type = 'Overloaded'
  static override row: ErrorRow = { page: 'error', status: 503, visible: true }
  constructor(message: string, { retryAfter = soon, ...cause }: { retryAfter?: number } & Record<string, unknown> = {}) {
    super(message, { cause: { ...cause, retryAfter } })
  }
}

/** Seconds after which it may be tried again, for an error that says or was caused by overload; undefined: it is another error. */
export function overloadOf(error: unknown): number | undefined {
  for (let [each, depth] = [error, 0]; each instanceof AuthError && depth < 5; each = each.cause?.err, depth++) {
    const seconds = each.cause?.['retryAfter']
    if (typeof seconds === 'number' && rowOf(each).status === 503) return seconds
  }
  return undefined
}

/** Whether a database rejected a connection because too many are open, or none of a pool became free in time, as drivers say it. */
export function isExhausted(error: unknown): boolean {
  const { code, errno, message } = (error ?? {}) as { code?: unknown; errno?: unknown; message?: unknown }
  if (code === '53300' || code === 'P2024' || errno === 1040) return true
  return /timeout exceeded when trying to connect|too many (clients|connections)|queue limit reached|no connections available|timeout acquiring a connection|ConnectionAcquireTimeout/i.test(
    String(message),
  )
}

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

/**
 * `withTimeout` for work that can be stopped: it gets a signal that is aborted when the time is over or one of `outer` is.
 * The race decides, because work that ignores its signal must not hold the caller; the signal only frees what it holds.
 */
export function withDeadline<T>(
  milliseconds: number,
  outer: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
  late: (givenUp: boolean) => Error,
): Promise<T> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      for (const signal of outer) signal.removeEventListener('abort', givenUp)
    }
    const stop = (error: Error): void => {
      end()
      reject(error)
      controller.abort(error)
    }
    const givenUp = (): void => stop(late(true))
    const timer = setTimeout(() => stop(late(false)), milliseconds)
    for (const signal of outer) signal.addEventListener('abort', givenUp, { once: true })
    if (outer.some(({ aborted }) => aborted)) givenUp()
    work(controller.signal).then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
