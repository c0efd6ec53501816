/** Every error of the library: what it means, where it is shown, and with which status. */
import { AuthError, type ErrorRow, SignInError } from './base.ts'

export * from './base.ts'

/** Thrown from `authorize` of a credentials provider; `code` appears in the URL, so it must not tell a secret (rows 234, 275). */
export class CredentialsSignin extends SignInError {
  static override type = 'CredentialsSignin'
  static override row: ErrorRow = { page: 'signIn', status: 401, visible: true }
  code = 'credentials'
}
/** Thrown when the `signIn` callback rejects or throws (row 137). */
export class AccessDenied extends AuthError {
  static override type = 'AccessDenied'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
}
/** Thrown when the account, or its address, belongs to another user. */
export class AccountNotLinked extends SignInError {
  static override type = 'AccountNotLinked'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** Thrown when an operation of the adapter fails, times out or returns an impossible value. */
export class AdapterError extends AuthError {
  static override type = 'AdapterError'
  static override row: ErrorRow = { page: 'error', status: 503 }
}
/** Thrown for any unexpected error in a callback; `cause.provider` is the id of the provider (row 276). */
export class CallbackRouteError extends AuthError {
  static override type = 'CallbackRouteError'
}
/** Two WebAuthn providers want the autofill of one page (row 257). */
export class DuplicateConditionalUI extends AuthError {
  static override type = 'DuplicateConditionalUI'
}
/** The mail could not be sent. */
export class EmailSignInError extends SignInError {
  static override type = 'EmailSignInError'
  static override row: ErrorRow = { page: 'error', status: 500 }
}
/** `pages.error` itself demands a sign-in (row 26). */
export class ErrorPageLoop extends AuthError {
  static override type = 'ErrorPageLoop'
}
/** An event handler failed; the flow went on (row 150). */
export class EventError extends AuthError {
  static override type = 'EventError'
}
/** An experimental feature is used without its switch (row 243). */
export class ExperimentalFeatureNotEnabled extends AuthError {
  static override type = 'ExperimentalFeatureNotEnabled'
}
/** Never thrown. It exists for apps that test for it. An unusable callback URL is ignored, with the warning `invalid-callback-url`. */
export class InvalidCallbackUrl extends AuthError {
  static override type = 'InvalidCallbackUrl'
  static override row: ErrorRow = { page: 'error', status: 400 }
}
/** state, nonce, PKCE verifier or challenge is missing, foreign, used or expired (row 191). */
export class InvalidCheck extends AuthError {
  static override type = 'InvalidCheck'
  static override row: ErrorRow = { page: 'error', status: 400 }
}
/** A provider has neither an issuer nor all of its endpoints (row 184). */
export class InvalidEndpoints extends AuthError {
  static override type = 'InvalidEndpoints'
}
/** No such provider, or not with this method (rows 7, 20). */
export class InvalidProvider extends AuthError {
  static override type = 'InvalidProvider'
  static override row: ErrorRow = { page: 'error', status: 400 }
}
/** A session token could not be opened (row 114). */
export class JWTSessionError extends AuthError {
  static override type = 'JWTSessionError'
}
/** A provider or strategy needs an adapter (row 159). */
export class MissingAdapter extends AuthError {
  static override type = 'MissingAdapter'
}
/** The adapter lacks operations that a provider or strategy needs (row 160). */
export class MissingAdapterMethods extends AuthError {
  static override type = 'MissingAdapterMethods'
}
/** A credentials provider without `authorize` (row 240). */
export class MissingAuthorize extends AuthError {
  static override type = 'MissingAuthorize'
}
/** The CSRF token is absent or wrong (row 66). */
export class MissingCSRF extends SignInError {
  static override type = 'MissingCSRF'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** No secret, or one that is too short (D4). */
export class MissingSecret extends AuthError {
  static override type = 'MissingSecret'
}
/** No field for the conditional UI (row 257). */
export class MissingWebAuthnAutocomplete extends AuthError {
  static override type = 'MissingWebAuthnAutocomplete'
}
/** The account, or its address, belongs to another user (row 200). */
export class OAuthAccountNotLinked extends SignInError {
  static override type = 'OAuthAccountNotLinked'
  static override row: ErrorRow = { page: 'signIn', status: 403, visible: true }
}
/** The provider answered with an error (row 192). */
export class OAuthCallbackError extends SignInError {
  static override type = 'OAuthCallbackError'
  static override row: ErrorRow = { page: 'signIn', status: 400, visible: true }
}
/** `profile()` of a provider failed (row 199). */
export class OAuthProfileParseError extends AuthError {
  static override type = 'OAuthProfileParseError'
  static override row: ErrorRow = { page: 'signIn', status: 502 }
}
/** The sign-in at a provider could not be started. */
export class OAuthSignInError extends SignInError {
  static override type = 'OAuthSignInError'
  static override row: ErrorRow = { page: 'error', status: 502 }
}
/** Thrown when a session cannot be read because the store fails (D38). */
export class SessionTokenError extends AuthError {
  static override type = 'SessionTokenError'
  static override row: ErrorRow = { page: 'error', status: 503 }
}
/** Thrown when a session cannot be ended (D38). */
export class SignOutError extends AuthError {
  static override type = 'SignOutError'
  static override row: ErrorRow = { page: 'error', status: 503 }
}
/** Thrown when a route exists, but not with this method (row 10). */
export class UnknownAction extends AuthError {
  static override type = 'UnknownAction'
  static override row: ErrorRow = { page: 'error', status: 400 }
}
/** Never thrown (D52). It exists for apps that test for it. */
export class UnsupportedStrategy extends AuthError {
  static override type = 'UnsupportedStrategy'
}
/** Thrown when the host of the request is not trusted (row 39). */
export class UntrustedHost extends AuthError {
  static override type = 'UntrustedHost'
}
/** Thrown when a magic link is wrong, used or expired (row 222). */
export class Verification extends AuthError {
  static override type = 'Verification'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
}
/** Thrown when a WebAuthn answer fails verification (row 252). */
export class WebAuthnVerificationError extends AuthError {
  static override type = 'WebAuthnVerificationError'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}
