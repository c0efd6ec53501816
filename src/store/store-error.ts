/** Errors of stores. Those of drivers become fit to be logged: many repeat a statement with its parameters, and some of these are session tokens. */

import type { AdapterMethod, HealedFault } from '../contract/adapter.ts'
import { AdapterError } from '../errors/index.ts'
import { isExhausted } from '../errors/deadlines.ts'
import { redactError } from '../errors/redact.ts'
import { AuthError, type ErrorRow } from '../errors/base.ts'

const tokenFields = ['sessionToken', 'access_token', 'refresh_token', 'id_token', 'dpop_key', 'token']
const methodsByToken: ReadonlySet<AdapterMethod> = new Set(['getSessionAndUser', 'deleteSession'])
// Shorter ones are words.
const minLength = 8

/** What a call of an adapter, or of a service that belongs to one, failed with; `clean` makes an error fit to be read. */
export function failedCall(method: string, error: unknown, clean: (error: Error) => Error = (given) => given): AdapterError {
  if (error instanceof AdapterError) return error
  const err = clean(error instanceof Error ? error : new Error(String(error)))
  return new AdapterError(`The adapter's ${method}() failed.`, { cause: { err, method, ...(isExhausted(error) && { retryAfter: 2 }) } })
}

/** What a call failed with that did not answer in `deadline` milliseconds. */
export function lateCall(method: string, deadline: number): AdapterError {
  return new AdapterError(`The adapter's ${method}() did not answer within ${deadline} ms (deadlines.store).`, {
    cause: { method, deadline },
  })
}

/** What is logged of a failed call that did no harm: what it was to do was found done. */
export function healedFault(error: unknown): HealedFault {
  const { message, cause } = failedCall('unknown', error)
  const { err } = (cause ?? {}) as { err?: Error & { code?: unknown } }
  return { message: err ? `${message} ${err.message}` : message, ...(typeof err?.code === 'string' && { code: err.code }) }
}

/** Whether an adapter says by an error that there is nothing to change or to delete: Prisma does, where the contract has null. */
export function isAbsence(method: AdapterMethod, error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'P2025' && /^(delete|unlink|updateS)/.test(method)
}

/** The error itself when it names no token that it was called with, else a copy of what is fit to be read: name, message, stack and code. */
export function withoutTokens(error: Error, method: AdapterMethod, args: readonly unknown[]): Error {
  const tokens = tokensOf(method, args)
  const told = tokens.length > 0 ? collectTexts(error, 0) : ''
  if (!tokens.some((token) => told.includes(token))) return error
  return redactError(error, tokens)
}

function tokensOf(method: AdapterMethod, args: readonly unknown[]): string[] {
  const values = args.flatMap((arg, at): unknown[] => {
    if (typeof arg === 'string') return at === 0 && methodsByToken.has(method) ? [arg] : []
    if (Array.isArray(arg)) return arg
    return typeof arg === 'object' && arg !== null ? tokenFields.map((name) => (arg as Record<string, unknown>)[name]) : []
  })
  const tokens = values.filter((value): value is string => typeof value === 'string' && value.length >= minLength)
  // A part of one would leave the rest of it behind.
  return tokens.sort((a, b) => b.length - a.length)
}

/** Everything that a logger could print of an error. */
function collectTexts(error: Error, depth: number): string {
  const inner = error.cause instanceof Error && depth < 4 ? collectTexts(error.cause, depth + 1) : ''
  let facts = ''
  try {
    facts = JSON.stringify(Object.values(error))
  } catch {
    // A client or a socket among them: a driver that shows these is beyond help here.
  }
  return [error.message, error.stack, facts, inner].join(' ')
}

/** Thrown when an id, or the values of a unique key, belong to another row. */
export class RecordConflict extends AuthError {
  static override type = 'RecordConflict'
  static override row: ErrorRow = { page: 'error', status: 409 }
  readonly record: string
  /** The fields of the key; `id` alone for the id. */
  readonly fields: readonly string[]

  constructor(record: string, fields: readonly string[]) {
    super(`A row of the record "${record}" with the same ${fields.join(' and ')} exists.`, { cause: { record, fields } })
    this.record = record
    this.fields = fields
  }
}
