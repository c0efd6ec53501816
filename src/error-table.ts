/** The one table that says what becomes of an error over HTTP (rows 269 to 272). */

/** `error` goes to the error page, `signIn` to the sign-in page (row 271). */
export type ErrorKind = 'error' | 'signIn'

/** Identifies an error in logs and, when visible, in the `error` query parameter. */
export type ErrorType =
  | 'AccessDenied'
  | 'AccountNotLinked'
  | 'AdapterError'
  | 'CallbackRouteError'
  | 'CredentialsSignin'
  | 'DuplicateConditionalUI'
  | 'EmailSignInError'
  | 'ErrorPageLoop'
  | 'EventError'
  | 'ExperimentalFeatureNotEnabled'
  | 'InvalidCallbackUrl'
  | 'InvalidCheck'
  | 'InvalidEndpoints'
  | 'InvalidProvider'
  | 'JWTSessionError'
  | 'MissingAdapter'
  | 'MissingAdapterMethods'
  | 'MissingAuthorize'
  | 'MissingCSRF'
  | 'MissingSecret'
  | 'MissingWebAuthnAutocomplete'
  | 'OAuthAccountNotLinked'
  | 'OAuthCallbackError'
  | 'OAuthProfileParseError'
  | 'OAuthSignInError'
  | 'SessionTokenError'
  | 'SignOutError'
  | 'UnknownAction'
  | 'UnsupportedStrategy'
  | 'UntrustedHost'
  | 'Verification'
  | 'WebAuthnVerificationError'

/** What becomes of one type of error over HTTP. */
export interface ErrorRow {
  kind: ErrorKind
  /** Whether the browser may see the type; others show as `Configuration` (row 270). */
  visible?: true
  /** Status where no page answers, and of the error page. */
  status: number
}

/** type -> page, visibility, status (rows 269 to 272). */
export const errorTable: Readonly<Record<ErrorType, ErrorRow>> = {
  AccessDenied: { kind: 'error', visible: true, status: 403 },
  AccountNotLinked: { kind: 'signIn', visible: true, status: 403 },
  AdapterError: { kind: 'error', status: 503 },
  CallbackRouteError: { kind: 'error', status: 500 },
  CredentialsSignin: { kind: 'signIn', visible: true, status: 401 },
  DuplicateConditionalUI: { kind: 'error', status: 500 },
  EmailSignInError: { kind: 'signIn', status: 500 },
  ErrorPageLoop: { kind: 'error', status: 500 },
  EventError: { kind: 'error', status: 500 },
  ExperimentalFeatureNotEnabled: { kind: 'error', status: 500 },
  InvalidCallbackUrl: { kind: 'error', status: 400 },
  InvalidCheck: { kind: 'error', status: 400 },
  InvalidEndpoints: { kind: 'error', status: 500 },
  InvalidProvider: { kind: 'error', status: 400 },
  JWTSessionError: { kind: 'error', status: 500 },
  MissingAdapter: { kind: 'error', status: 500 },
  MissingAdapterMethods: { kind: 'error', status: 500 },
  MissingAuthorize: { kind: 'error', status: 500 },
  MissingCSRF: { kind: 'signIn', visible: true, status: 403 },
  MissingSecret: { kind: 'error', status: 500 },
  MissingWebAuthnAutocomplete: { kind: 'error', status: 500 },
  OAuthAccountNotLinked: { kind: 'signIn', visible: true, status: 403 },
  OAuthCallbackError: { kind: 'signIn', visible: true, status: 400 },
  OAuthProfileParseError: { kind: 'error', status: 502 },
  OAuthSignInError: { kind: 'signIn', status: 502 },
  SessionTokenError: { kind: 'error', status: 503 },
  SignOutError: { kind: 'error', status: 503 },
  UnknownAction: { kind: 'error', status: 400 },
  UnsupportedStrategy: { kind: 'error', status: 500 },
  UntrustedHost: { kind: 'error', status: 500 },
  Verification: { kind: 'error', visible: true, status: 403 },
  WebAuthnVerificationError: { kind: 'error', visible: true, status: 400 },
}

/** What an `AuthError` subclass says of itself when it is not in the table. */
export function rowOf(type: string): ErrorRow {
  return (errorTable as Record<string, ErrorRow>)[type] ?? { kind: 'error', status: 500 }
}
