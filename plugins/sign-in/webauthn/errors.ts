/** Errors that browsers are told. */
import { AuthError } from 'authkernel/kernel'
import { SignInError } from 'authkernel/errors'

/** The passkey that a browser brought is not stored here: it was removed, and the password manager still offers it. */
export class UnknownPasskey extends AuthError {
  static override type = 'UnknownPasskey'
  static override row = { page: 'signIn' as const, status: 401, visible: true }
}

/** The proof of the session is too old to add or remove a passkey. A new sign-in renews it. */
export class StepUpRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}
