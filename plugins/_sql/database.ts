/** A database with its layout, found at first use, and transactions that survive deadlocks and busy files. */
import type { Kysely, Transaction } from 'kysely'
import { dialectOf, isConnectionLost, isTransient } from './dialect.ts'
import { introspect, type Scope } from './introspect.ts'
import { migrate } from './migrate.ts'
import { defaultTables } from './names.ts'
import type { AnyDatabase, Db, DialectName, Layout, SqlDatabase, SqlNames, Table, TableName } from './types.ts'

/** Options of whatever works on a database. */
export interface SqlOptions {
  /** Names of the host's own tables and columns. */
  names?: SqlNames
  /** PostgreSQL schema; default: the search path. */
  schema?: string
  /** Default: what the Kysely instance says. */
  dialect?: DialectName
  /** Makes missing tables, columns and indexes at the first operation; default false. For embedded databases, demos and tests. */
  migrate?: boolean
}

/** One database. */
export interface Database extends Scope {
  readonly db: Kysely<AnyDatabase>
  /** A table, or an error that says how to make it. */
  table(name: TableName): Promise<Table>
  /** A table, if it is there. */
  maybe(name: TableName): Promise<Table | undefined>
  /** Tries again what a deadlock or a busy file stopped. */
  retry<T>(work: () => Promise<T>): Promise<T>
  /** The same for what only reads, which a broken connection does not stop either: after a restart a pool hands out dead ones. */
  read<T>(work: () => Promise<T>): Promise<T>
  /** All or nothing. `serializable` where no unique index guards what `work` checks. */
  transaction<T>(work: (tx: Transaction<AnyDatabase>) => Promise<T>, serializable?: boolean): Promise<T>
  close(): Promise<void>
}

// Milliseconds; less than the deadline of a store call, so that the database's own error is what is told.
const patience = 4_000
// As many as a pool may have.
const deadConnections = 10

export function openDatabase(given: SqlDatabase, options: SqlOptions = {}): Database {
  // Plugins of the host (camel case, schemas) would change the names that were found.
  const db = (given as unknown as Kysely<AnyDatabase>).withoutPlugins()
  const scope: Scope = { dialect: dialectOf(given, options.dialect), names: options.names ?? {}, schema: options.schema }
  let known: Promise<Layout> | undefined

  async function look(): Promise<Layout> {
    if (options.migrate) await migrate(db, scope, { apply: true })
    return (await introspect(db, scope)).layout
  }
  async function maybe(name: TableName): Promise<Table | undefined> {
    known ??= (options.migrate ? retry : read)(look)
    const layout = await known.catch((error: unknown) => {
      known = undefined
      throw error
    })
    // Looked up again: somebody may be migrating.
    if (!layout[name]) known = undefined
    return layout[name]
  }
  async function retry<T>(work: () => Promise<T>): Promise<T> {
    const end = Date.now() + patience
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (Date.now() > end || !isTransient(error)) throw error
        // Spread, so that those who met do not meet again; a busy file is free for moments only, so it is looked at often.
        const spread = scope.dialect === 'sqlite' ? 4 : 5 * Math.min(attempt, 20)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * spread))
      }
    }
  }
  async function read<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await retry(work)
      } catch (error) {
        if (attempt > deadConnections || !isConnectionLost(error)) throw error
      }
    }
  }
  return {
    ...scope,
    db,
    maybe,
    retry,
    read,
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
