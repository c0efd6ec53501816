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

/** The sender is told `code` and the message, with status 400. */
export class SignalRefused extends AuthError {
  static override type = 'SignalRefused'
  static override row: ErrorRow = { page: 'error', status: 400 }
  readonly code: SignalErrorCode
  constructor(code: SignalErrorCode, message: string, err?: Error) {
    super(message, { cause: { code, ...(err && { err }) } })
    this.code = code
  }
}
