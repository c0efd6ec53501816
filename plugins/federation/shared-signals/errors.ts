/** Why a security event token was not taken. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** Error codes of RFC 8935 section 2.4. */
export type SignalErrorCode =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed'
  | 'access_denied'

/** A request for Global Token Revocation that was not followed; `code` is the status of the answer. */
export class RevocationRefused extends AuthError {
  static override type = 'RevocationRefused'
  static override row: ErrorRow = { page: 'error', status: 400 }
  readonly code: 400 | 401 | 403 | 404
  constructor(code: 400 | 401 | 403 | 404, message: string, err?: Error) {
    super(message, err ? { cause: { err } } : undefined)
    this.code = code
  }
}

/** The sender receives `code` and the message, with status 400. */
export class SignalRefused extends AuthError {
  static override type = 'SignalRefused'
  static override row: ErrorRow = { page: 'error', status: 400 }
  readonly code: SignalErrorCode
  constructor(code: SignalErrorCode, message: string, err?: Error) {
    super(message, { cause: { code, ...(err && { err }) } })
    this.code = code
  }
}
