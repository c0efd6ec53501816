/** Errors as the client of better-auth reads them: `{ code, message }` with a status. */
import { json } from 'authkernel/kernel'
import type { Outcome } from './own-route.ts'

const errorTable: Readonly<Record<string, readonly [code: string, message: string, status: number]>> = {
  CredentialsSignin: ['INVALID_EMAIL_OR_PASSWORD', 'Invalid email or password', 401],
  AccessDenied: ['ACCESS_DENIED', 'Access denied', 403],
  PasswordAddress: ['VALIDATION_ERROR', '[body.email] Invalid email address', 400],
  PasswordTooShort: ['PASSWORD_TOO_SHORT', 'Password too short', 400],
  PasswordTooLong: ['PASSWORD_TOO_LONG', 'Password too long', 400],
  PasswordBreached: ['PASSWORD_COMPROMISED', 'The password you entered has been compromised. Please choose a different password.', 400],
  PasswordWrong: ['INVALID_PASSWORD', 'Invalid password', 400],
  PasswordUnusable: ['INVALID_PASSWORD', 'Invalid password', 400],
  NoLoginWaits: ['INVALID_TWO_FACTOR_COOKIE', 'Invalid two factor cookie', 401],
  TooManySecondFactors: ['TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE', 'Too many attempts. Please request a new code.', 400],
}

/** A rejection. */
export function refuse(code: string, message: string, status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ code, message }, status, headers)
}

/** What a route of authkernel rejected. Types that better-auth does not know become its own codes, without a detail. */
export function refusalOf({ status, error = '', retryAfter }: Outcome): Response {
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const headers = retryAfter === undefined ? {} : { 'X-Retry-After': String(retryAfter), 'Retry-After': String(retryAfter) }
    return refuse('TOO_MANY_REQUESTS', 'Too many requests. Please try again later.', status, headers)
  }
  const found = errorTable[error]
  if (found) return refuse(...found)
  // A route whose plugin is not in use.
  if (status === 400 && error === '') return refuse('NOT_SUPPORTED', 'This sign-in method is not enabled', 400)
  return refuse('INTERNAL_SERVER_ERROR', 'Internal server error', status >= 400 ? status : 500)
}
