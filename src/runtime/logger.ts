/** Where errors, warnings and debug messages go. Tokens and secrets never do, at any level (D10). */
import { AuthError, rowOf } from '../errors/index.ts'
import type { LoggerInstance, Optional } from '../contract/data.ts'

const red = 31
const yellow = 33
const grey = 90

/** The host's levels over the console; `debug` is silent unless asked for (rows 41, 42, 342). */
export function createLogger(overrides: Optional<LoggerInstance> = {}, debug = false): LoggerInstance {
  const { error, warn, debug: detail } = overrides
  return {
    error: error ? guardMethod(error, overrides) : (failure) => logError(failure, debug),
    warn: warn ? guardMethod(warn, overrides) : logWarning,
    debug: detail ? guardMethod(detail, overrides) : debug ? logDebug : () => {},
  }
}

/** As a method of the host's object, which loggers of a class need; one that fails must not fail the request. */
function guardMethod<A extends unknown[]>(write: (...args: A) => unknown, host: object): (...args: A) => void {
  const reportFailure = (error: unknown): void => console.error(`${colourTag('[auth][error]', red)} The logger of the host failed:`, error)
  return (...args) => {
    try {
      const written = write.apply(host, args)
      if (written instanceof Promise) written.catch(reportFailure)
    } catch (error) {
      reportFailure(error)
    }
  }
}

function logError(error: Error, debug: boolean): void {
  const name = error instanceof AuthError ? error.type : error.name
  if (isEveryday(error)) {
    console.warn(`${colourTag(`[auth][warn][${name}]`, yellow)} ${oneLine(error.message)}${describeCause(error.cause)}`)
    if (debug) logStack(error)
    return
  }
  console.error(`${colourTag('[auth][error]', red)} ${name}: ${error.message}`)
  logStack(error)
}

/**
 * What users and scanners do all day: a wrong password, a link that was used, a path that does not exist. Nothing is broken, so one line will do.
 * An error that has another one as its cause is not of this kind: the code of the host threw it, or a library.
 */
function isEveryday(error: Error): boolean {
  return error instanceof AuthError && rowOf(error).status < 500 && !(error.cause?.err instanceof Error)
}

/** What else is known: what a provider answered, for one. Its message names the provider already. */
function describeCause(cause: unknown): string {
  const { provider: _provider, ...details } = (cause ?? {}) as Record<string, unknown>
  return Object.keys(details).length > 0 ? ` ${oneLine(toPrintable(details, 0))}` : ''
}

function logStack(error: Error): void {
  const cause = error.cause
  if (cause && typeof cause === 'object' && 'err' in cause && cause.err instanceof Error) {
    const { err, ...details } = cause as { err: Error }
    console.error(`${colourTag('[auth][cause]', red)}:`, err.stack ?? err.message)
    if (Object.keys(details).length > 0) console.error(`${colourTag('[auth][details]', red)}:`, toPrintable(details))
  } else if (error.stack) {
    console.error(framesOf(error.stack, error.message))
  }
}

// Without the message at its head, which was printed and may hold line breaks of a stranger.
function framesOf(stack: string, message: string): string {
  const from = message === '' ? -1 : stack.indexOf(message)
  return (from === -1 ? stack : stack.slice(from + message.length)).replace(/^.*\n?/, '')
}

function logWarning(code: string, details?: unknown): void {
  console.warn(colourTag(`[auth][warn][${code}]`, yellow), ...(details === undefined ? [] : [toPrintable(details)]))
}

function logDebug(message: string, metadata?: unknown): void {
  console.log(`${colourTag('[auth][debug]:', grey)} ${message}`, metadata === undefined ? '' : toPrintable(metadata))
}

/** In colour on a terminal, plain in a file. NO_COLOR and FORCE_COLOR decide where they are set. */
function colourTag(text: string, colour: number): string {
  return isColoured() ? `\u001B[${colour}m${text}\u001B[0m` : text
}

function isColoured(): boolean {
  if (typeof process === 'undefined') return false
  const { env, stderr } = process as { env?: Record<string, string | undefined>; stderr?: { isTTY?: boolean } }
  if (env?.['NO_COLOR']) return false
  return env?.['FORCE_COLOR'] ? env['FORCE_COLOR'] !== '0' : stderr?.isTTY === true
}

/** Messages may hold what a stranger sent: it must not look like a line of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

// Errors of drivers refer to themselves and hold big integers: a log that throws would turn a handled failure into a crash.
function toPrintable(details: unknown, indent = 2): string {
  const seen = new Set<unknown>()
  try {
    const write = (_key: string, value: unknown): unknown => {
      if (typeof value === 'bigint') return String(value)
      if (typeof value !== 'object' || value === null) return value
      if (seen.has(value)) return '[seen above]'
      seen.add(value)
      return value
    }
    return JSON.stringify(details, write, indent)
  } catch {
    return '[cannot be shown]'
  }
}
