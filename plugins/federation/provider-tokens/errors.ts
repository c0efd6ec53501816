/** Why there is no provider token. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** The user has to sign in at the provider again: the refresh token is gone, or may have been used up. `cause.reason` says why. */
export class TokensExpired extends AuthError {
  static override type = 'TokensExpired'
  static override row: ErrorRow = { page: 'signIn', status: 401 }
}

/** The tokens are in a cookie and must change, and the answer to this request cannot carry it. Nothing was sent to the provider. */
export class TokensNotWritable extends AuthError {
  static override type = 'TokensNotWritable'
  static override row: ErrorRow = { page: 'error', status: 500 }
}

/** Not now: another request refreshes, or the provider does not answer. Try again after `retryAfter` seconds. */
export class TokensBusy extends AuthError {
  static override type = 'TokensBusy'
  static override row: ErrorRow = { page: 'error', status: 503 }
  readonly retryAfter: number
  constructor(message: string, retryAfter: number, err?: unknown) {
    super(message, { cause: { retryAfter, ...(err instanceof Error && { err }) } })
    this.retryAfter = retryAfter
  }
}
