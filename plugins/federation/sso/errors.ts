/** Errors that users and administrators of an organization see. Texts are in `messages.ts`. */
import { AccessDenied, AuthError, type ErrorRow } from 'authkernel/kernel'
import { SignInError } from 'authkernel/errors'

/** A value of a connection or a policy that cannot be taken. The message names it. */
export class SsoInput extends AuthError {
  static override type = 'SsoInput'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}
/** There is no such connection for the caller. */
export class NoSuchConnection extends AuthError {
  static override type = 'NoSuchConnection'
  static override row: ErrorRow = { page: 'error', status: 404, visible: true }
}
/** The identity provider of a company named a user whom it may not sign in. */
export class SsoRefused extends SignInError {
  static override type = 'SsoRefused'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** The organization of the user demands its own sign-in. */
export class SsoRequired extends AccessDenied {
  static override type = 'SsoRequired'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** The proof of the session is older than `proofAge`: `auth.stepUp.require(request)`, or a new sign-in, renews it. */
export class SsoStepUp extends SignInError {
  static override type = 'SsoStepUp'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
