/** Why a logout request of a provider was not accepted. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** The provider gets status 400 with `{"error":"invalid_request"}`; the reason is in the log alone. */
export class LogoutRefused extends AuthError {
  static override type = 'LogoutRefused'
  static override row: ErrorRow = { page: 'error', status: 400 }
  constructor(message: string, err?: Error) {
    super(message, err ? { cause: { err } } : undefined)
  }
}
