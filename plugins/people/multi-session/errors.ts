/** What users learn of a rejection. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** The browser has no such account, or its session has ended. */
export class AccountGone extends AuthError {
  static override type = 'AccountGone'
  static override row: ErrorRow = { page: 'error', status: 404, visible: true }
}
/** The browser has as many accounts as it may have. */
export class TooManyAccounts extends AuthError {
  static override type = 'TooManyAccounts'
  static override row: ErrorRow = { page: 'error', status: 409, visible: true }
}
