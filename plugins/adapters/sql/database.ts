/** A database with its layout, found at first use, and transactions that survive deadlocks and busy files. */
import { type AdditionalFields, assertOptions, type HealedFault } from 'authkernel/kernel'
import { type Kysely, sql, type Transaction } from 'kysely'
import { dialectOf, isAway, isConnectionLost, isDeadlock, isReadOnly, isTransient } from './dialect.ts'
import { readLayout, type Scope } from './introspect.ts'
import { planTables, runMigration } from './migrate.ts'
import { openPool, type SqlPool } from './pool.ts'
import { defaultTables } from './schema.ts'
import { createStatements, type Run } from './statements.ts'
import type { AnyDatabase, Db, DialectName, Layout, SqlDatabase, SqlMapping, SqlNames, Table, TableName } from './types.ts'

/** Options of whatever works on a database. */
export interface SqlOptions {
  /** Names of the host's own tables and columns. */
  names?: SqlNames
  /** Columns of users beyond those of Auth.js, which `migrate` adds. */
  additionalFields?: AdditionalFields
  /** PostgreSQL schema; default: the search path. */
  schema?: string
  /** Default: what the Kysely instance says. */
  dialect?: DialectName
  /** Makes missing tables, columns and indexes at the first operation; default false. For embedded databases, demos and tests. */
  migrate?: boolean
  /**
   * The `pg` pool behind the Kysely instance. The adapter listens to its errors and to those of its connections: one that breaks ends a
   * process without a listener. And it prepares its statements by name on them.
   */
  pool?: SqlPool
  /** False: statements are not prepared by name on the connections of `pool`; default true. */
  prepare?: boolean
}

/** One database. */
export interface Database extends Scope {
  readonly db: Kysely<AnyDatabase>
  /** Runs a statement that is compiled once. */
  readonly run: Run
  /** A table, or an error that says how to make it. */
  table(name: TableName): Promise<Table>
  /** Looks at the layout again before the next operation: it was changed. */
  forget(): void
  /** A table, if it is there. */
  maybe(name: TableName): Promise<Table | undefined>
  /** Tries again what a deadlock or a busy file stopped, or a server that takes no writes, whose connection is closed. */
  retry<T>(work: () => Promise<T>): Promise<T>
  /**
   * The same for what may be done twice: reads, and writes that know themselves again. A broken connection does not stop these: after a
   * restart a pool hands out dead ones. Nor does a server that is away for a moment. `again` says that an earlier attempt may have been done without
   * its answer arriving.
   */
  repeat<T>(work: (again: boolean) => Promise<T>): Promise<T>
  /** Calls `listener` for each fault that was overcome; the answer ends that. */
  onHealed(listener: (fault: HealedFault) => void): () => void
  /** All or nothing. `serializable` where no unique index guards what `work` checks. */
  transaction<T>(work: (tx: Transaction<AnyDatabase>) => Promise<T>, serializable?: boolean): Promise<T>
  close(): Promise<void>
}

// Milliseconds; less than the deadline of a store call, so that the caller gets the database's own error.
const patience = 4_000

// As many as a pool may have.
const deadConnections = 10

// Errors of prepared statements that one operation meets, at most.
const maxHealed = 4

// Milliseconds for which reads wait for a server that is away; a restart or a fail-over of a second passes unseen.
const outage = 2_000

// Milliseconds between two tries meanwhile: the first and the longest pause.
const [firstPause, longestPause] = [20, 200]

export function openDatabase(given: SqlDatabase, options: SqlOptions = {}, who = 'sqlAdapter'): Database {
  checkSqlOptions(options, who)
  // Plugins of the host (camel case, schemas) would change the names that were found.
  const db = (given as unknown as Kysely<AnyDatabase>).withoutPlugins()
  const scope: Scope = {
    dialect: dialectOf(given, options.dialect),
    names: options.names ?? {},
    schema: options.schema,
    fields: options.additionalFields ?? {},
  }
  const postgres = scope.dialect === 'postgres'
  const pool = options.pool && openPool(options.pool, { postgres, prepare: postgres && options.prepare !== false })
  let known: Promise<Layout> | undefined

  async function look(): Promise<Layout> {
    if (options.migrate) await runMigration(db, () => planTables(db, scope), { apply: true })
    return (await readLayout(db, scope)).layout
  }
  async function maybe(name: TableName): Promise<Table | undefined> {
    known ??= (options.migrate ? retry : repeat)(look)
    const layout = await known.catch((error: unknown) => {
      known = undefined
      throw error
    })
    // Looked up again: a migration may be running.
    if (!layout[name]) known = undefined
    return layout[name]
  }
  const listeners = new Set<(fault: HealedFault) => void>()
  const retry = <T>(work: () => Promise<T>): Promise<T> => attempt(work, () => undefined)
  function repeat<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    let [broken, pauses, end]: [number, number, number | undefined] = [0, 0, undefined]
    return attempt(
      () => work(broken > 0),
      (error) => {
        if (!isConnectionLost(error) && !isAway(error)) return undefined
        end ??= Date.now() + outage
        if (++broken <= deadConnections && !isAway(error)) return 0
        // Spread: all readers wait for the same server.
        return Date.now() < end ? Math.min(longestPause, firstPause * 2 ** pauses++) * (0.5 + Math.random() / 2) : undefined
      },
    )
  }
  /** `pauseAfter` gives the milliseconds until an error is tried again; undefined: it is not. */
  async function attempt<T>(work: () => Promise<T>, pauseAfter: (error: unknown) => number | undefined): Promise<T> {
    // From the first failure on: waiting for a connection of one's own is no sign that the next try fails.
    let end: number | undefined
    let fault: unknown
    let [healed, left] = [0, 0]
    for (let attempts = 1; ; attempts++) {
      try {
        const result = await work()
        if (fault !== undefined) heal(fault, attempts)
        return result
      } catch (error) {
        const pause = pauseAfter(error)
        if (pause !== undefined || (healed < maxHealed && pool?.heal(error) && ++healed)) {
          fault = error
          if (pause) await new Promise((resolve) => setTimeout(resolve, pause))
          continue
        }
        // Nothing was done, so that everything may be tried again.
        if (isReadOnly(error) && left++ < deadConnections && (await leave())) {
          fault = error
          continue
        }
        if (!isTransient(error)) throw error
        end ??= Date.now() + patience
        if (Date.now() > end) throw error
        if (isDeadlock(error)) fault = error
        // Spread, so that those who met do not meet again; a busy file is free for moments only, so it is looked at often.
        const spread = scope.dialect === 'sqlite' ? 4 : 5 * Math.min(attempts, 20)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * spread))
      }
    }
  }
  /** Whether the connection that led to a read-only server is closed. */
  async function leave(): Promise<boolean> {
    if (scope.dialect !== 'mysql') return pool?.leaves === true
    // Drivers have no common way to close one. The second statement ends when the client knows that the connection is closed.
    await db
      .connection()
      .execute(async (connection) => {
        await sql`kill connection_id()`.execute(connection).catch(() => {})
        await sql`select 1`.execute(connection)
      })
      .catch(() => {})
    return true
  }
  function heal(fault: unknown, attempts: number): void {
    // Drivers hang the statement with its values on their errors: only what is fit to be logged goes on.
    const { message, code } = fault as { message?: unknown; code?: unknown }
    for (const listener of listeners) listener({ message: String(message ?? fault), ...(typeof code === 'string' && { code }), attempts })
  }
  return {
    ...scope,
    db,
    forget: () => void (known = undefined),
    maybe,
    run: createStatements(db, pool?.add),
    retry,
    repeat,
    onHealed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async table(name) {
      const table = await maybe(name)
      if (table) return table
      throw new Error(
        `[sql] There is no table for ${name} (${defaultTables[name]}). Make it with \`npx authkernel migrate --apply\`, or name yours.`,
      )
    },
    transaction: (work, serializable) =>
      retry(() => {
        const transaction = db.transaction()
        // SQLite knows one level only, and has one writer.
        return (serializable && scope.dialect !== 'sqlite' ? transaction.setIsolationLevel('serializable') : transaction).execute(work)
      }),
    close: () => db.destroy(),
  }
}

/** Whatever statements run on. */
export type Runner = Db

const knownNames = { users: true, accounts: true, sessions: true, tokens: true, authenticators: true, records: true } as const

/** Throws AuthError for an unknown option, and for an unknown table or member in `names`: it would be left out in silence. */
function checkSqlOptions(options: SqlOptions & { now?: unknown; replica?: unknown; maxLag?: unknown }, who: string): void {
  const own = { names: true, additionalFields: true, schema: true, dialect: true, migrate: true, pool: true, prepare: true } as const
  assertOptions(who, options, { ...own, now: true, replica: true, maxLag: true })
  assertOptions(who, options.names, knownNames, 'names')
  for (const [name, mapping] of Object.entries(options.names ?? {}))
    if (name !== 'records' && typeof mapping === 'object')
      assertOptions<SqlMapping>(
        who,
        mapping as SqlMapping,
        { table: true, columns: true, forms: true, fill: true, absent: true },
        `names.${name}`,
      )
}
