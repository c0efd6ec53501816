/** Why an ID token was rejected, as apps and logs read it. */
import { SignInError } from 'authkernel/errors'

/** The ID token, its nonce or the verifier is wrong, old, used, or of another app. `message` says which; the answer does not. */
export class InvalidIdToken extends SignInError {
  static override type = 'InvalidIdToken'
  static override row = { page: 'signIn' as const, status: 401, visible: true }
}
