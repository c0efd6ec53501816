/** What a sign-in, a link or an approval fails with when access ended after it began. */
import { AuthError, type ErrorRow } from '../errors/index.ts'

/**
 * Access ended after a sign-in, a link or an approval began: by a sign-out everywhere, a new password, a ban, a logout at the provider. Signing in again
 * works, unless a hook refuses it.
 */
export class AccessEnded extends AuthError {
  static override type = 'AccessEnded'
  static override row: ErrorRow = { page: 'signIn', status: 401, visible: true }
}
