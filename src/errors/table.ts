/** The rows of all error classes, for documentation and tests; the classes are the source. */
import * as errors from './index.ts'

/** Identifies an error of the library in logs and, when visible, in the `error` query parameter. */
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

/** Type to page, status and visibility. */
export const errorTable: Readonly<Record<ErrorType, errors.ErrorRow>> = Object.fromEntries(
  Object.values(errors).flatMap((value) =>
    typeof value === 'function' && 'row' in value && Object.hasOwn(value, 'type') && value.type !== undefined
      ? [[value.type, value.row]]
      : [],
  ),
) as Record<ErrorType, errors.ErrorRow>
