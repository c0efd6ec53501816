/** A token of which nothing is known: the feed of its home could not be read in time. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** 503 with `Retry-After`. The cookie stays. */
export class RevocationsUnknown extends AuthError {
  static override type = 'RevocationsUnknown'
  static override row: ErrorRow = { page: 'error', status: 503 }
  constructor(message: string, err?: unknown) {
    super(message, { cause: { retryAfter: 1, ...(err instanceof Error && { err }) } })
  }
}
