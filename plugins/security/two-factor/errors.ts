/** Why a second factor was refused, as people and logs read it. */
import { SignInError } from 'authkernel/kernel'

/** A wrong, used or old code. */
export class WrongSecondFactor extends SignInError {
  static override type = 'WrongSecondFactor'
  static override row = { page: 'signIn' as const, status: 401, visible: true }
}
/** Too many wrong codes: the sign-in ended, or the person has to wait. */
export class TooManySecondFactors extends SignInError {
  static override type = 'TooManySecondFactors'
  static override row = { page: 'signIn' as const, status: 429, visible: true }
}
