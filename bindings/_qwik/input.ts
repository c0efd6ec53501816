/** What the actions accept, and what they answer to anything else (rows 308 to 311, 377). */
import type { QwikValidator } from './types.ts'

type Check = (input: Readonly<Record<string, unknown>>) => Readonly<Record<string, string | undefined>>

/** A validator as Qwik calls it: on the server only. */
export function createValidator(check: Check): QwikValidator {
  return {
    async validate(_event, input) {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return failValidation({}, ['Expected an object'])
      const wrong = Object.entries(check(input as Readonly<Record<string, unknown>>)).filter(([, message]) => message !== undefined)
      if (wrong.length === 0) return { success: true, data: input }
      return failValidation(Object.fromEntries(wrong.map(([name, message]) => [name, [String(message)]])), [])
    },
  }
}

export function checkSignIn({
  providerId,
  redirectTo,
  options,
  authorizationParams,
}: Readonly<Record<string, unknown>>): ReturnType<Check> {
  return {
    providerId: textError(providerId),
    redirectTo: textError(redirectTo),
    options: optionsError(options),
    authorizationParams: paramsError(authorizationParams),
  }
}

export function checkSignOut({ redirectTo }: Readonly<Record<string, unknown>>): ReturnType<Check> {
  return { redirectTo: textError(redirectTo) }
}

function failValidation(fieldErrors: Record<string, string[]>, formErrors: string[]): Awaited<ReturnType<QwikValidator['validate']>> {
  return { success: false, status: 400, error: { fieldErrors, formErrors } }
}

function textError(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? undefined : 'Expected string'
}

function optionsError(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value)) return 'Expected object'
  return textError(value['redirectTo']) && 'redirectTo: Expected string'
}

function paramsError(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string' || value instanceof URLSearchParams) return undefined
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : 'Expected string, URLSearchParams or map of strings'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
