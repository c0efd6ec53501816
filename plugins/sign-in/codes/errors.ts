/** Why a code was rejected, as users and logs read it. */
import { SignInError } from 'authkernel/errors'

/** A wrong, used or old code, or one that another browser asked for. */
export class WrongCode extends SignInError {
  static override type = 'WrongCode'
  static override row = { page: 'signIn' as const, status: 401, visible: true }
}
/** Too many wrong codes: a new message is needed. */
export class TooManyCodes extends SignInError {
  static override type = 'TooManyCodes'
  static override row = { page: 'signIn' as const, status: 429, visible: true }
}
/** What was typed is no address, or no number that messages go to. */
export class UnknownRecipient extends SignInError {
  static override type = 'UnknownRecipient'
  static override row = { page: 'signIn' as const, status: 400, visible: true }
}
