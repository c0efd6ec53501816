/** Users, accounts, sessions, tokens and authenticators in SQLite, PostgreSQL, MySQL or MariaDB, through Kysely. */
import {
  type Adapter,
  type AdapterTables,
  AuthError,
  type CleanUpOptions,
  type ExpiredRows,
  type HealedFault,
  type Limit,
  type Once,
  type RecordStore,
} from 'authkernel/kernel'
import { accountMethods, authenticatorMethods } from './accounts.ts'
import { type Database, openDatabase, type SqlOptions } from './database.ts'
import { deleteExpired } from './expire.ts'
import { buildConcurrently, describeLock } from './index-locks.ts'
import { type MigrationReport, planTables, runMigration } from './migrate.ts'
import { missingTables } from './missing-tables.ts'
import { planRecords } from './record-plan.ts'
import { createRecordStore } from './record-store.ts'
import { readFromReplica } from './replica.ts'
import { searchMethods } from './search-users.ts'
import { findServerFaults } from './server-faults.ts'
import { createLimit, createOnce } from './services.ts'
import { sessionMethods } from './sessions.ts'
import { tokenMethods } from './tokens.ts'
import type { SqlDatabase } from './types.ts'
import { userBatchMethods } from './user-batch.ts'
import { userMethods } from './users.ts'

export { type LibsqlClient, libsqlDialect, type LibsqlOptions } from './libsql.ts'
export type { MigrationReport } from './migrate.ts'
export { type NodeSqliteDatabase, nodeSqliteDialect } from './in-process.ts'
export { type PgliteClient, pgliteDialect } from './in-process.ts'
export type { RecordModel } from './record-model.ts'
export { type SqlRecords, sqlRecords } from './record-store.ts'
export type { SqlOptions } from './database.ts'
export type { SqlConnection, SqlPool } from './pool.ts'
export type { Form as SqlForm } from './types.ts'
export type { DialectName, SqlDatabase, SqlMapping, SqlNames, TableName } from './types.ts'

/** Options of `sqlAdapter`. */
export interface SqlAdapterOptions extends SqlOptions {
  /** Clock of the services in milliseconds; default `Date.now`. */
  now?: () => number
  /**
   * A Kysely instance: the replica that answers lists of users; sessions, one-time values, accounts and all else are read from the primary. `true`: the one
   * Kysely instance sends reads to replicas itself; a session that is not found keeps its cookie then. Default false. See `docs/adapters.md`.
   */
  replica?: boolean | SqlDatabase
  /** Seconds that the replica may be behind; the primary answers when it is more. PostgreSQL alone. Default: the lag is not looked at. */
  maxLag?: number
}

/** An adapter with the shared services of its database. */
export interface SqlAdapter extends Required<Adapter>, Required<Omit<AdapterTables, 'encryptsTokens'>> {
  /** Replay protection holds between processes. */
  readonly atomic: true
  readonly once: Once
  readonly limit: Limit
  /** Tables of plugins. */
  readonly records: RecordStore
  /** Removes what ended before `now`, in statements of a thousand rows. Rows that are being changed are left for the next time. */
  deleteExpired(now?: Date, options?: CleanUpOptions): Promise<ExpiredRows>
  /** Calls `listener` for each fault of the database that was overcome by trying again; the answer ends that. */
  onHealed(listener: (fault: HealedFault) => void): () => void
  /**
   * Makes missing tables, columns and indexes; a dry run unless `apply` is true. `concurrently`: on PostgreSQL every index is built while rows are written, also those
   * of tables that are not ours. Such an index takes longer. Default false: those of records alone.
   */
  migrate(options?: { apply?: boolean; concurrently?: boolean }): Promise<MigrationReport>
  /** What a statement of a migration locks, in words: `blocks writes to the table, not reads, until the index is built`. */
  lockOf(statement: string): string
}

/**
 * Keeps everything in the tables that Auth.js documents, whatever they are called: an existing Auth.js database works as it is. Uniqueness
 * holds by the database's own indexes, or by serializable transactions where a schema lacks them.
 */
export function sqlAdapter(db: SqlDatabase, options: SqlAdapterOptions = {}): SqlAdapter {
  const { now = Date.now, replica, maxLag } = options
  if (maxLag !== undefined && typeof replica !== 'object')
    throw new AuthError('sqlAdapter: `maxLag` needs the option `replica` with the Kysely instance of the replica.')
  const database = openDatabase(db, options)
  const { close: _shared, tables, eraser, ...records } = createRecordStore(database, options)
  const plans = async (concurrently: boolean) => {
    const [own, ofPlugins] = [await planTables(database.db, database), await planRecords(database.db, database, tables())]
    const plan = { statements: [...own.statements, ...ofPlugins.statements], notes: [...own.notes, ...ofPlugins.notes] }
    return concurrently ? buildConcurrently(database.db, database.dialect, plan) : plan
  }
  const close = (): Promise<void> => database.close()
  return {
    ...userMethods(database, eraser),
    ...userBatchMethods(database),
    ...searchMethods(database),
    ...accountMethods(database),
    ...sessionMethods(database),
    ...tokenMethods(database),
    ...authenticatorMethods(database),
    deleteExpired: (until = new Date(now()), limits) => deleteExpired(database, until, limits),
    keepsCreatedAt: true,
    nullableEmail: true,
    replica: replica === true,
    onHealed: (listener) => database.onHealed(listener),
    additionalFields: options.additionalFields ?? {},
    async missingTables(operations) {
      const lists = await Promise.all([missingTables(database, operations), findServerFaults(database)])
      return lists.flat()
    },
    close,
    ...(typeof replica === 'object' &&
      readFromReplica({ ...createLists(database, eraser), close }, replica, options, {
        maxLag,
        now,
        create: (copy) => createLists(copy, eraser),
      })),
    atomic: true,
    once: createOnce(database, now),
    limit: createLimit(database, now),
    records: { ...records, erases: true },
    lockOf: (statement) => describeLock(database.dialect, statement),
    migrate: ({ apply = false, concurrently = false } = {}) =>
      runMigration(database.db, () => plans(concurrently), { apply }).finally(() => database.forget()),
  }
}

function createLists(database: Database, eraser: Parameters<typeof userMethods>[1]): Pick<Required<Adapter>, 'listUsers' | 'searchUsers'> {
  const { listUsers } = userMethods(database, eraser)
  return { listUsers, ...searchMethods(database) }
}

/** Makes missing tables, columns and indexes of a database; a dry run unless `apply` is true. Drops nothing, and may be repeated. */
export function migrateSql(db: SqlDatabase, options: SqlOptions & { apply?: boolean } = {}): Promise<MigrationReport> {
  const { apply = false, ...own } = options
  const database = openDatabase(db, { ...own, migrate: false, prepare: false }, 'migrateSql')
  return runMigration(database.db, () => planTables(database.db, database), { apply })
}
