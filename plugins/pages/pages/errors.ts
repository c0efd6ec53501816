/** Texts of error codes. A code is printed only when it is known: nothing from the URL is echoed. */
import type { ErrorType } from 'authkernel/kernel'
import type { Speaker } from './locale.ts'

// Which text serves a code. The second group are codes of Auth.js' own clients and pages.
const families: Readonly<Record<ErrorType, string> & Record<string, string>> = {
  AccessDenied: 'AccessDenied',
  AccountNotLinked: 'OAuthAccountNotLinked',
  AdapterError: 'Unavailable',
  CallbackRouteError: 'default',
  CredentialsSignin: 'CredentialsSignin',
  DuplicateConditionalUI: 'Configuration',
  EmailSignInError: 'EmailSignInError',
  ErrorPageLoop: 'Configuration',
  EventError: 'Configuration',
  ExperimentalFeatureNotEnabled: 'Configuration',
  InvalidCallbackUrl: 'InvalidLink',
  InvalidCheck: 'InvalidCheck',
  InvalidEndpoints: 'Configuration',
  InvalidProvider: 'InvalidLink',
  JWTSessionError: 'Unavailable',
  MailNotSent: 'EmailSignInError',
  MissingAdapter: 'Configuration',
  MissingAdapterMethods: 'Configuration',
  MissingAuthorize: 'Configuration',
  MissingCSRF: 'MissingCSRF',
  MissingSecret: 'Configuration',
  MissingWebAuthnAutocomplete: 'Configuration',
  OAuthAccountNotLinked: 'OAuthAccountNotLinked',
  OAuthCallbackError: 'Retry',
  OAuthProfileParseError: 'Retry',
  OAuthSignInError: 'OAuthSignInError',
  SessionTokenError: 'Unavailable',
  SignOutError: 'SignOutError',
  UnknownAction: 'InvalidLink',
  UnsupportedStrategy: 'Configuration',
  UntrustedHost: 'Configuration',
  Verification: 'Verification',
  WebAuthnVerificationError: 'WebAuthnVerificationError',

  Callback: 'Retry',
  Configuration: 'Configuration',
  CredentialsSignIn: 'CredentialsSignin',
  EmailCreateAccount: 'Retry',
  EmailSignin: 'EmailSignInError',
  OAuthCallback: 'Retry',
  OAuthCreateAccount: 'Retry',
  OAuthSignin: 'Retry',
  SessionRequired: 'SessionRequired',
  Signin: 'Retry',

  AccessEnded: 'AccessEnded',

  // Answers that are no redirect to a page: `refusalPage` draws them in place.
  CrossSite: 'CrossSite',
  TooManyRequests: 'TooManyRequests',
  Overloaded: 'Overloaded',
  RequestTimeout: 'Overloaded',
}

/** What a page says about a code. */
export interface ErrorText {
  heading: string
  text: string
  /** The code, when it is a known one. */
  code: string | undefined
}

/**
 * Text of an error code; `detail` is the `code` of CredentialsSignin, `seconds` how long to wait. A host's `error.<code>.<detail>` and `error.<code>` come before
 * the text of the code's family, and that before the default.
 */
export function errorText(speaker: Speaker, wanted: string, detail = '', seconds = 60): ErrorText {
  const code = /^\w{1,64}$/.test(wanted) ? wanted : 'default'
  const values = { duration: speaker.duration(seconds) }
  const own = speaker.find(`error.${code}`, values)
  const family = Object.hasOwn(families, code) ? (families[code] as string) : 'default'
  const special = /^[\w-]{1,64}$/.test(detail) && detail !== 'heading' ? speaker.find(`error.${code}.${detail}`, values) : undefined
  const heading = speaker.find(`error.${code}.heading`) ?? speaker.find(`error.${family}.heading`) ?? speaker.find('error.default.heading')
  return {
    heading: heading ?? '',
    text: special ?? own ?? speaker.find(`error.${family}`, values) ?? '',
    code: code !== 'default' && (own !== undefined || Object.hasOwn(families, code)) ? code : undefined,
  }
}
