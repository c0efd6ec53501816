/** The `pg` pool behind a Kysely instance: its broken connections are heard of, and statements that run again are prepared under a name. */
import { isReadOnly } from './dialect.ts'

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

/** An opened pool. */
interface OpenPool {
  /** Whether a connection to a server that takes no writes is closed. */
  readonly leaves: boolean
  /** Gives a text a name. */
  add(text: string): void
  /** Whether an error is one of prepared statements, and is gone when the statement runs again. */
  heal(error: unknown): boolean
}

type Query = (text: unknown, ...rest: unknown[]) => unknown
/** Beyond the public part: older types of `pg` do not have the event. */
interface Releasing {
  on(event: 'release', listener: (error: unknown, connection: object) => void): unknown
}
interface Ending {
  end(): unknown
}

// A server keeps each of them for each connection.
const limit = 1_000

// Milliseconds in which the connections of a pool are replaced once.
const spell = 1_000

/**
 * Listens to a pool, and gives the statements that were added a name on each of its connections. Closes connections to a PostgreSQL server that takes no writes, because the next ones may reach the new primary.
 */
export function openPool(pool: SqlPool, { postgres, prepare }: { postgres: boolean; prepare: boolean }): OpenPool {
  const names = new Map<string, string>()
  let [prefix, generation, naming] = ['', 0, prepare]
  // When a connection was opened, and when one of them last refused to write: those of the same server came before.
  const openedAt = new WeakMap<object, number>()
  const stale = new WeakSet<object>()
  let [refusal, clock] = [{ at: 0, time: -spell }, 0]
  const refuse = (connection: object, error: unknown): void => {
    if (!isReadOnly(error)) return
    stale.add(connection)
    const time = performance.now()
    if (time - refusal.time >= spell) refusal = { at: ++clock, time }
  }
  pool.on('error', () => {})
  pool.on('acquire', (connection) => {
    if (openedAt.has(connection)) return
    openedAt.set(connection, ++clock)
    connection.on('error', () => {})
    const query = connection.query as Query | undefined
    if (!query || !postgres) return
    const runNamed: Query = (text, ...rest) => {
      const name = typeof text === 'string' && naming ? names.get(text) : undefined
      const answer = query.call(connection, name === undefined ? text : { name: `${name}_${generation}`, text }, ...rest)
      if (answer instanceof Promise) answer.catch((error: unknown) => refuse(connection, error))
      return answer
    }
    Object.defineProperty(connection, 'query', { value: runNamed, configurable: true, writable: true })
  })
  // Not before: a transaction still rolls back.
  if (postgres)
    // Kysely types a pool without the event `release`, which pools of `pg` have.
    (pool as unknown as Releasing).on('release', (_error, connection) => {
      if (!stale.has(connection) && (openedAt.get(connection) ?? 0) >= refusal.at) return
      void Promise.resolve((connection as Ending).end()).catch(() => {})
    })
  return {
    leaves: postgres,
    add(text) {
      if (!prepare) return
      // Random: a second copy of this module may share the connection, and a name is one text there.
      prefix ||= `authkernel_${crypto.randomUUID().slice(0, 8)}`
      if (names.size < limit && !names.has(text)) names.set(text, `${prefix}_${names.size}`)
    },
    heal(error) {
      const { code, message } = error as { code?: unknown; message?: unknown }
      if (!prepare) return false
      // `migrate` gave a column another type: PostgreSQL plans it anew under another name.
      if (code === '0A000' && /cached plan/.test(String(message))) generation++
      // A pooler between us and the server hands each statement to another connection: 26000 not there, 42P05 there already. Several statements may
      // be under way by their names when the first of them fails.
      else if (code === '26000' || code === '42P05') naming = false
      else return false
      return true
    },
  }
}
