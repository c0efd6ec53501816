/** Errors of drivers fit to be logged: many repeat a statement with its parameters, and some of these are session tokens. */
import type { AdapterMethod } from '../contract/adapter.ts'
import { redactError } from '../errors/redact.ts'

const tokenFields = ['sessionToken', 'access_token', 'refresh_token', 'id_token', 'dpop_key', 'token']
const methodsByToken: ReadonlySet<AdapterMethod> = new Set(['getSessionAndUser', 'deleteSession'])
// Shorter ones are words.
const minLength = 8

/** The error itself when it names no token that it was called with, else a copy of what is fit to be read: name, message, stack and code. */
export function withoutTokens(error: Error, method: AdapterMethod, args: readonly unknown[]): Error {
  const tokens = tokensOf(method, args)
  const texts = tokens.length > 0 ? collectTexts(error, 0) : ''
  if (!tokens.some((token) => texts.includes(token))) return error
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
