/** Errors that a browser can meet. */
import { AuthError } from 'authkernel/kernel'

/** The app or its redirect URI is unknown: the browser is led nowhere. */
export class AppRequestRefused extends AuthError {
  static override type = 'AppRequestRefused'
  static override row = { page: 'error' as const, status: 400, visible: true }
}
