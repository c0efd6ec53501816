/** Why a second factor was rejected, as users and logs read it. */
import { SignInError } from 'authkernel/errors'

/** A wrong, used or old code. */
export class WrongSecondFactor extends SignInError {
  static override type = 'WrongSecondFactor'
  static override row = { page: 'signIn' as const, status: 401, visible: true }
}
/** Too many wrong codes: the sign-in ended, or the user has to wait. */
export class TooManySecondFactors extends SignInError {
  static override type = 'TooManySecondFactors'
  static override row = { page: 'signIn' as const, status: 429, visible: true }
}
/** A method of the client was called in a browser that has no sign-in that waits. */
export class NoLoginWaits extends SignInError {
  static override type = 'NoLoginWaits'
  static override row = { page: 'signIn' as const, status: 409, visible: true }
}
/** Factors are changed after a fresh proof alone. */
export class ProofTooOld extends SignInError {
  static override type = 'ProofTooOld'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}
