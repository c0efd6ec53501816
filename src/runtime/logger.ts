/** Where errors, warnings and debug messages go. Tokens and secrets never do, at any level (D10). */
import { AuthError } from '../errors/index.ts'
import type { LoggerInstance, Optional } from '../contract/data.ts'

const red = '\u001B[31m'
const yellow = '\u001B[33m'
const grey = '\u001B[90m'
const reset = '\u001B[0m'

/** The host's levels over the console; `debug` is silent unless asked for (rows 41, 42, 342). */
export function createLogger(overrides: Optional<LoggerInstance> = {}, debug = false): LoggerInstance {
  const { error, warn, debug: detail } = overrides
  return {
    error: error ? guarded(error, overrides) : logError,
    warn: warn ? guarded(warn, overrides) : logWarning,
    debug: detail ? guarded(detail, overrides) : debug ? logDebug : () => {},
  }
}

/** As a method of the host's object, which loggers of a class need; one that fails must not fail the request. */
function guarded<A extends unknown[]>(write: (...args: A) => unknown, host: object): (...args: A) => void {
  const failed = (error: unknown): void => console.error(`${red}[auth][error]${reset} The logger of the host failed:`, error)
  return (...args) => {
    try {
      const written = write.apply(host, args)
      if (written instanceof Promise) written.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

function logError(error: Error): void {
  const name = error instanceof AuthError ? error.type : error.name
  console.error(`${red}[auth][error]${reset} ${name}: ${error.message}`)
  const cause = error.cause
  if (cause && typeof cause === 'object' && 'err' in cause && cause.err instanceof Error) {
    const { err, ...details } = cause as { err: Error }
    console.error(`${red}[auth][cause]${reset}:`, err.stack ?? err.message)
    if (Object.keys(details).length > 0) console.error(`${red}[auth][details]${reset}:`, printable(details))
  } else if (error.stack) {
    console.error(error.stack.replace(/^.*\n?/, ''))
  }
}

function logWarning(code: string, details?: unknown): void {
  console.warn(`${yellow}[auth][warn][${code}]${reset}`, ...(details === undefined ? [] : [printable(details)]))
}

function logDebug(message: string, metadata?: unknown): void {
  console.log(`${grey}[auth][debug]:${reset} ${message}`, metadata === undefined ? '' : printable(metadata))
}

// Errors of drivers refer to themselves and hold big integers: a log that throws would turn a handled failure into a crash.
function printable(details: unknown): string {
  const seen = new Set<unknown>()
  try {
    const write = (_key: string, value: unknown): unknown => {
      if (typeof value === 'bigint') return String(value)
      if (typeof value !== 'object' || value === null) return value
      if (seen.has(value)) return '[seen above]'
      seen.add(value)
      return value
    }
    return JSON.stringify(details, write, 2)
  } catch {
    return '[cannot be shown]'
  }
}
