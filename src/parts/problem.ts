/** What went wrong, in words for users, and beside which field. */
import { AuthClientError, type FlowResult } from 'authkernel/client'
import { fillText } from './texts.ts'

/** A message for the user. `field`: name of the input that it is about. */
export interface Problem {
  readonly text: string
  readonly field?: string | undefined
}

type Table = Readonly<Record<string, string>>

/** Errors that are about one field of a form. */
const fields: Table = {
  CredentialsSignin: 'password',
  PasswordTooShort: 'password',
  PasswordTooLong: 'password',
  PasswordUnusable: 'password',
  PasswordBreached: 'password',
  PasswordWrong: 'current',
  PasswordAddress: 'email',
  EmailSignInError: 'email',
  WrongCode: 'code',
  TooManyCodes: 'code',
  WrongSecondFactor: 'code',
  OrganizationTaken: 'slug',
  AlreadyMember: 'text',
}
const byStatus: Readonly<Record<number, string>> = {
  401: 'SignedOut',
  403: 'AccessDenied',
  409: 'Conflict',
  429: 'TooManyRequests',
  503: 'Unavailable',
}
const byName: Table = {
  NotAllowedError: 'cancelled',
  AbortError: 'cancelled',
  InvalidStateError: 'known',
  NotSupportedError: 'unsupported',
}

/** Of what was thrown: a rejection of the server, an exception of the browser, or an outage. */
export function problemOf(error: unknown, texts: Table, own: Table = {}): Problem {
  if (error instanceof AuthClientError) {
    const [issue] = error.issues as readonly { path?: readonly unknown[] }[]
    const field = error.error === 'InvalidInput' && typeof issue?.path?.[0] === 'string' ? issue.path[0] : undefined
    return { ...problemOfType(error.error, error.code, texts, own, byStatus[error.status]), ...(field !== undefined && { field }) }
  }
  return { text: find(texts, own, [`error.${byName[(error as Error | undefined)?.name ?? '']}`]) }
}

/** Of a sign-in that the server rejected. */
export function problemOfResult({ error, code, status }: FlowResult, texts: Table, own: Table = {}): Problem {
  return problemOfType(error, code, texts, own, byStatus[status])
}

/** Whether an action has to wait for a fresh proof. */
export function needsProof(error: unknown): boolean {
  return error instanceof AuthClientError && (error.error === 'StepUpRequired' || error.error === 'ProofTooOld')
}

/** Of the type of an error, and of its code. `otherwise`: a type whose text stands in for one without a text. */
export function problemOfType(
  type: string | undefined,
  code: string | undefined,
  texts: Table,
  own: Table = {},
  otherwise?: string,
): Problem {
  const field = fields[type ?? '']
  return { text: find(texts, own, [`error.${type}.${code}`, `error.${type}`, `error.${otherwise}`]), ...(field !== undefined && { field }) }
}

function find(texts: Table, own: Table, keys: readonly string[]): string {
  const all: Table = { ...texts, ...own }
  return fillText(all, keys.find((key) => key in all) ?? 'error.failed')
}
