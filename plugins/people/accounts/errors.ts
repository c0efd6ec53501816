/** Errors that the host app and the client receive. */
import { AuthError } from 'authkernel/kernel'
import { SignInError } from 'authkernel/errors'

/** The proof of the session is older than five minutes: `client.user.prove()`, or a new sign-in, renews it. */
export class StepUpRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}

/** The account is the last one of the user, who could not sign in again. */
export class LastAccount extends AuthError {
  static override type = 'LastAccount'
  static override row = { page: 'error' as const, status: 409, visible: true }
}
