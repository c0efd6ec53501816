/** Errors that visitors and administrators see. Texts are in `messages.ts`. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'
import { SignInError } from 'authkernel/errors'

/** The visitor may not become a user. One error for every reason, so that it does not say which addresses are on a list. */
export class AdmissionRefused extends SignInError {
  static override type = 'AdmissionRefused'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** The code is wrong, used up, revoked or too old. */
export class InvitationCodeInvalid extends AuthError {
  static override type = 'InvitationCodeInvalid'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}
/** A value that cannot be taken: an address, a number of uses, an end. */
export class AdmissionInput extends AuthError {
  static override type = 'AdmissionInput'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}
