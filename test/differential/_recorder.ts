/** What a library did during one request, in order: calls of the adapter, callbacks, events, requests to the provider, mails and log entries. */

/** One call out of the library. */
export interface Call {
  kind: 'adapter' | 'callback' | 'event' | 'fetch' | 'mail' | 'host'
  name: string
  payload: unknown
}
/** One log entry. Messages are each library's own; what a host threw is kept. */
export interface Entry {
  level: 'error' | 'warn'
  type: string
  details?: Record<string, unknown>
}

/** Collects calls and log entries until they are taken. */
export class Recorder {
  #calls: Call[] = []
  #logs: Entry[] = []

  note(kind: Call['kind'], name: string, payload: unknown): void {
    this.#calls.push({ kind, name, payload: plain(payload) })
  }

  /** A logger to give to the library. */
  readonly logger: Record<'error' | 'warn' | 'debug', (...args: never[]) => void> = {
    error: (error: Error) => void this.#logs.push(entryOf(error)),
    warn: (code: string) => void this.#logs.push({ level: 'warn', type: code }),
    debug: () => {},
  }

  take(): { calls: Call[]; logs: Entry[] } {
    const taken = { calls: this.#calls, logs: this.#logs }
    this.#calls = []
    this.#logs = []
    return taken
  }
}

function entryOf(error: Error): Entry {
  const { type = error.name, kind, code, cause } = error as Error & { type?: string; kind?: string; code?: string; cause?: unknown }
  const { err, provider } = Object(cause) as { err?: Error; provider?: string }
  const details = {
    ...(kind !== undefined && { kind }),
    ...(code !== undefined && kind === 'signIn' && { code }),
    ...(type === 'CallbackRouteError' && { provider }),
    // Only errors of the test's own host are the same on both sides, less the link that Auth.js adds (D21).
    ...(err instanceof Error && err.message.startsWith('host:') && { err: err.message.replace(/\.? Read more at .*$/s, '') }),
  }
  return { level: 'error', type, ...(Object.keys(details).length > 0 && { details }) }
}

/** A deep copy without functions and undefined fields; dates, requests and bytes become text. */
export function plain(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (value instanceof Date) return `date ${value.toISOString()}`
  if (value instanceof Request) return `request ${value.method} ${value.url}`
  if (value instanceof Uint8Array) return `bytes ${[...value].join(' ')}`
  if (value instanceof Error) return `error ${value.name}`
  if (depth > 8 || typeof value !== 'object') return undefined
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1) ?? null)
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    // A token of its own with every re-issue, which happens at other times here (D5).
    const copied = key === 'jti' ? 'jti' : plain(item, depth + 1)
    if (copied !== undefined) result[key] = copied
  }
  return result
}
