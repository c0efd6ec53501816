/** The server has too much to do: 503 with `Retry-After`, for people and for programs. */
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

/** Whether a database refused a connection because too many are open, or none of a pool became free in time, as drivers say it. */
export function isExhausted(error: unknown): boolean {
  const { code, errno, message } = (error ?? {}) as { code?: unknown; errno?: unknown; message?: unknown }
  if (code === '53300' || code === 'P2024' || errno === 1040) return true
  return /timeout exceeded when trying to connect|too many (clients|connections)|queue limit reached|no connections available|timeout acquiring a connection|ConnectionAcquireTimeout/i.test(
    String(message),
  )
}
