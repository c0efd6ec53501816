/** The `pg` pool behind a Kysely instance: its broken connections are heard of, and statements that run again are prepared under a name. */

/** The part of a `pg` pool that is used. */
export interface SqlPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'acquire', listener: (connection: SqlConnection) => void): unknown
}
/** The part of a `pg` connection that is used. */
export interface SqlConnection {
  on(event: 'error', listener: (error: Error) => void): unknown
  query?(...args: never[]): unknown
}

/** Names of statements. */
export interface Names {
  /** Gives a text a name. */
  add(text: string): void
  /** Whether an error is one of prepared statements, and is gone when the statement runs again. */
  heal(error: unknown): boolean
}

type Query = (text: unknown, ...rest: unknown[]) => unknown

// A server keeps each of them for each connection.
const limit = 1_000

/** Listens to a pool, and gives the statements that were added a name on each of its connections. */
export function openPool(pool: SqlPool, prepare: boolean): Names {
  const names = new Map<string, string>()
  let [prefix, generation, naming] = ['', 0, prepare]
  const known = new WeakSet<object>()
  pool.on('error', () => {})
  pool.on('acquire', (connection) => {
    if (known.has(connection)) return
    known.add(connection)
    connection.on('error', () => {})
    const query = connection.query as Query | undefined
    if (!query || !prepare) return
    const named: Query = (text, ...rest) => {
      const name = typeof text === 'string' && naming ? names.get(text) : undefined
      return query.call(connection, name === undefined ? text : { name: `${name}_${generation}`, text }, ...rest)
    }
    Object.defineProperty(connection, 'query', { value: named, configurable: true, writable: true })
  })
  return {
    add(text) {
      // Random: a second copy of this module may share the connection, and a name is one text there.
      prefix ||= `authkernel_${crypto.randomUUID().slice(0, 8)}`
      if (names.size < limit && !names.has(text)) names.set(text, `${prefix}_${names.size}`)
    },
    heal(error) {
      const { code, message } = error as { code?: unknown; message?: unknown }
      // `migrate` gave a column another type: PostgreSQL plans it anew under another name.
      if (code === '0A000' && /cached plan/.test(String(message))) generation++
      // A pooler between us and the server hands each statement to another connection: 26000 not there, 42P05 there already.
      else if (naming && (code === '26000' || code === '42P05')) naming = false
      else return false
      return true
    },
  }
}
