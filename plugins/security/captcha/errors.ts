/** Errors of the requests that need a captcha. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** A captcha was asked for, and no right token came. */
export class CaptchaRequired extends AuthError {
  static override type = 'CaptchaRequired'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** The service that checks tokens does not answer. */
export class CaptchaUnavailable extends AuthError {
  static override type = 'CaptchaUnavailable'
  static override row: ErrorRow = { page: 'signIn', status: 503, visible: true }
}
