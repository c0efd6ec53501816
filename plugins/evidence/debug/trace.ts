/** Lines of a trace, each with the request that it belongs to. */
import type { AnyContext, Facts } from 'authkernel/kernel'

/** Where lines go. */
export interface Trace {
  /** Runs work whose lines belong to `ctx`. */
  within<T>(ctx: AnyContext, work: () => T): T
  /** Whether a request or a job of this trace is under way. */
  running(): boolean
  /** Writes a line; `ctx` where it is at hand. */
  line(text: string, ctx?: AnyContext): void
  /** Writes what work answered, or that it failed, with its time. */
  timeWork<T>(what: string, work: () => T, describe?: (answer: Awaited<T>) => string, ctx?: AnyContext): T
}

/** The part of `AsyncLocalStorage` that is used. */
interface Storage {
  run<T>(ctx: AnyContext, work: () => T): T
  getStore(): AnyContext | undefined
}

/** `write` gets each line, with the facts of the request or job that it belongs to. */
export function createTrace(write: (text: string, facts: Facts | undefined) => void): Trace {
  const storage = createStorage()
  const line: Trace['line'] = (text, ctx = storage?.getStore()) => write(text, ctx?.facts)
  return {
    within: (ctx, work) => (storage ? storage.run(ctx, work) : work()),
    running: () => storage?.getStore() !== undefined,
    line,
    timeWork(what, work, describe, ctx) {
      const started = performance.now()
      const writeAnswer = <A>(answer: A): A => {
        // `answer` is what `describe` takes: a promise was awaited before.
        const description = describe?.(answer as never)
        line(`${what}${description === undefined ? '' : `: ${description}`} (${timeSince(started)})`, ctx)
        return answer
      }
      const writeFailure = (error: unknown): never => {
        line(`${what}: failed with ${errorName(error)} (${timeSince(started)})`, ctx)
        throw error
      }
      let answer: ReturnType<typeof work>
      try {
        answer = work()
      } catch (error) {
        return writeFailure(error)
      }
      return (answer instanceof Promise ? answer.then(writeAnswer, writeFailure) : writeAnswer(answer)) as typeof answer
    },
  }
}

/** Milliseconds with a unit. */
export function timeSince(started: number): string {
  const passed = performance.now() - started
  return `${passed < 10 ? passed.toFixed(1) : Math.round(passed)} ms`
}

/** Class and code of an error. Messages of drivers may quote values, so they are left to `logger.error`. */
export function errorName(error: unknown): string {
  const { type, name, code } = Object(error) as { type?: unknown; name?: unknown; code?: unknown }
  const known = [type, name].find((value) => typeof value === 'string') as string | undefined
  return `${known ?? typeof error}${typeof code === 'string' || typeof code === 'number' ? ` (${String(code).slice(0, 40)})` : ''}`
}

// Absent in runtimes without asynchronous contexts: lines then name the request only where a context is at hand.
function createStorage(): Storage | undefined {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return undefined
  const hooks = process.getBuiltinModule('node:async_hooks') as { AsyncLocalStorage?: new () => Storage } | undefined
  return hooks?.AsyncLocalStorage && new hooks.AsyncLocalStorage()
}
