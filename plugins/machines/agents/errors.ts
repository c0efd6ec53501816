/** Errors that the host app receives. */
import { SignInError } from 'authkernel/errors'

/** The proof of the session is older than `proofAge`: `auth.stepUp.require(request)`, or a new sign-in, renews it. */
export class StepUpRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}
