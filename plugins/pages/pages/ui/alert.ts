/** What a page says about an error code. A code is printed only when it is known: nothing from the URL is echoed. */
import type { ErrorType } from 'authkernel/kernel'
import { type Html, markup } from './html.ts'
import { icons } from './icons.ts'
import type { Language } from './languages.ts'

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

/** The box with the text of an error code, which screen readers announce; `detail` is the `code` of CredentialsSignin. */
export function drawAlert(language: Language, code: string, detail?: string): Html {
  const { text } = errorText(language, code, detail)
  // Being asked to sign in is no failure.
  const notice = code === 'SessionRequired'
  const icon = notice ? icons.key : icons.alert
  return markup`<div class="error${notice && ' notice'}" role="${notice ? 'status' : 'alert'}">${icon}<p>${text}</p></div>`
}

/**
 * Text of an error code; `detail` is the `code` of CredentialsSignin, `seconds` how long to wait. A host's `error.<code>.<detail>` and `error.<code>` come before
 * the text of the code's family, and that before the default.
 */
export function errorText(language: Language, wanted: string, detail = '', seconds = 60): ErrorText {
  const code = /^\w{1,64}$/.test(wanted) ? wanted : 'default'
  const values = { duration: language.duration(seconds) }
  const own = language.find(`error.${code}`, values)
  const family = Object.hasOwn(families, code) ? (families[code] as string) : 'default'
  const special = /^[\w-]{1,64}$/.test(detail) && detail !== 'heading' ? language.find(`error.${code}.${detail}`, values) : undefined
  const heading =
    language.find(`error.${code}.heading`) ?? language.find(`error.${family}.heading`) ?? language.find('error.default.heading')
  return {
    heading: heading ?? '',
    text: special ?? own ?? language.find(`error.${family}`, values) ?? '',
    code: code !== 'default' && (own !== undefined || Object.hasOwn(families, code)) ? code : undefined,
  }
}
