/** Errors that the host app and the client receive. */
import { SignInError } from 'authkernel/errors'

/** The proof of the session is older than five minutes: `client.user.prove()`, or a new sign-in, renews it. */
export class StepUpRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}
export { LastAccount } from 'authkernel/kernel/users'
