/**
 * Every error of the library. A message says what is wrong, who asked and what to do;
 * it is for the server's log and never for the browser.
 */
import { type ErrorKind, rowOf } from './error-table.ts'

export type { ErrorKind, ErrorType } from './error-table.ts'

/** Where further facts of an error are kept: the causing error and details for the log. */
export interface ErrorCause extends Record<string, unknown> {
  err?: Error
}

/**
 * Base class of all errors of the library (SPEC, "Errors"). Takes a message, an error, options, or a message and one of them:
 * `new AuthError('text', { cause: { err } })` (row 277).
 */
export class AuthError extends Error {
  /** Row of `errorTable`, or the name of a third party's error. */
  type: string
  /** Of the page that a framework's own error handling makes of an error in server code; `statusCode` is the same for Fastify and h3. */
  declare status: number
  declare statusCode: number
  kind: ErrorKind = 'error'
  override cause?: ErrorCause

  constructor(message?: string | Error | ErrorOptions, options?: Error | ErrorOptions) {
    super(typeof message === 'string' ? message : message instanceof Error ? message.message : undefined)
    const detail = typeof message === 'string' || message instanceof Error ? options : (message ?? options)
    // Auth.js writes details beside an error without a `cause` around them: `new CallbackRouteError(error, { provider: 'acme' })`.
    const facts = detail instanceof Error ? { err: detail } : toCause(detail?.cause ?? (message instanceof Error ? detail : undefined))
    const cause = message instanceof Error ? { ...facts, err: message } : facts
    if (cause) {
      this.cause = cause
      if (this.message === '' && cause.err) this.message = cause.err.message
    }
    this.type = new.target.type ?? new.target.name
    // A class of somebody's own is named in logs and keeps the type, and so the page, of its parent.
    this.name = Object.hasOwn(new.target, 'type') ? this.type : new.target.name
    this.kind = rowOf(this.type).kind
    Error.captureStackTrace?.(this, new.target)
  }

  /** Survives minifiers, which rename classes. */
  static type?: string
}

/** Name that a browser may see (row 270). */
export function visibleType(error: Error): string {
  return error instanceof AuthError && rowOf(error.type).visible ? error.type : 'Configuration'
}

function toCause(cause: unknown): ErrorCause | undefined {
  if (cause === undefined || cause === null) return undefined
  if (cause instanceof Error) return { err: cause }
  return typeof cause === 'object' ? (cause as ErrorCause) : { detail: cause }
}

/** Base of errors that end on the sign-in page. */
export class SignInError extends AuthError {
  override kind: ErrorKind = 'signIn'
}

/** A request that is wrong before any flow began: the status and body to answer, and what to write into the log, if anything. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  readonly reason: AuthError | undefined
  constructor(status: number, message: string, headers: Record<string, string> = {}, reason?: AuthError) {
    super(message)
    this.status = status
    this.headers = headers
    this.reason = reason
  }
}

/** Thrown from `authorize` of a credentials provider; `code` appears in the URL, so it must not tell a secret (rows 234, 275). */
export class CredentialsSignin extends SignInError {
  static override type = 'CredentialsSignin'
  code = 'credentials'
}
/** The `signIn` callback said no, or threw (row 137). */
export class AccessDenied extends AuthError {
  static override type = 'AccessDenied'
}
/** The account, or its address, belongs to another user. */
export class AccountNotLinked extends SignInError {
  static override type = 'AccountNotLinked'
}
/** An operation of the adapter failed, timed out or answered nonsense. */
export class AdapterError extends AuthError {
  static override type = 'AdapterError'
}
/** Anything unforeseen in a callback; `cause.provider` says whose (row 276). */
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
/** A callback URL is not an http(s) URL. */
export class InvalidCallbackUrl extends AuthError {
  static override type = 'InvalidCallbackUrl'
}
/** state, nonce, PKCE verifier or challenge is missing, foreign, used or expired (row 191). */
export class InvalidCheck extends AuthError {
  static override type = 'InvalidCheck'
}
/** A provider has neither an issuer nor all of its endpoints (row 184). */
export class InvalidEndpoints extends AuthError {
  static override type = 'InvalidEndpoints'
}
/** No such provider, or not with this method (rows 7, 20). */
export class InvalidProvider extends AuthError {
  static override type = 'InvalidProvider'
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
}
/** The provider answered with an error (row 192). */
export class OAuthCallbackError extends SignInError {
  static override type = 'OAuthCallbackError'
}
/** `profile()` of a provider failed (row 199). */
export class OAuthProfileParseError extends AuthError {
  static override type = 'OAuthProfileParseError'
}
/** The sign-in at a provider could not be started. */
export class OAuthSignInError extends SignInError {
  static override type = 'OAuthSignInError'
}
/** A session could not be read because the store failed (D38). */
export class SessionTokenError extends AuthError {
  static override type = 'SessionTokenError'
}
/** A session could not be ended (D38). */
export class SignOutError extends AuthError {
  static override type = 'SignOutError'
}
/** The route exists, not with this method (row 10). */
export class UnknownAction extends AuthError {
  static override type = 'UnknownAction'
}
/** Kept for hosts that test for it; never thrown here (D52). */
export class UnsupportedStrategy extends AuthError {
  static override type = 'UnsupportedStrategy'
}
/** The host of the request is not trusted (row 39). */
export class UntrustedHost extends AuthError {
  static override type = 'UntrustedHost'
}
/** A mailed link is wrong, used or expired (row 222). */
export class Verification extends AuthError {
  static override type = 'Verification'
}
/** A WebAuthn answer failed verification (row 252). */
export class WebAuthnVerificationError extends AuthError {
  static override type = 'WebAuthnVerificationError'
}

// On the prototype: frameworks write their own over it, and logs do not show it.
function answersWith(status: number, ...classes: readonly (typeof AuthError)[]): void {
  for (const { prototype } of classes) Object.assign(prototype, { status, statusCode: status })
}
answersWith(500, AuthError)
answersWith(401, CredentialsSignin)
answersWith(403, AccessDenied)
answersWith(503, AdapterError, SessionTokenError, SignOutError)
