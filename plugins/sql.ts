/** Users, accounts, sessions, tokens and authenticators in SQLite, PostgreSQL, MySQL or MariaDB, through Kysely. */
import type { Adapter, Limit, Once } from 'authkernel/kernel'
import { accounts, authenticators } from './_sql/accounts.ts'
import { openDatabase, type SqlOptions } from './_sql/database.ts'
import { migrate, type MigrationReport } from './_sql/migrate.ts'
import { createLimit, createOnce } from './_sql/services.ts'
import { sessions, tokens } from './_sql/sessions.ts'
import type { SqlDatabase } from './_sql/types.ts'
import { users } from './_sql/users.ts'

export { type LibsqlClient, libsqlDialect, type LibsqlOptions } from './_sql/libsql.ts'
export type { MigrationReport } from './_sql/migrate.ts'
export { type NodeSqliteDatabase, nodeSqliteDialect } from './_sql/node-sqlite.ts'
export { type PgliteClient, pgliteDialect } from './_sql/pglite.ts'
export type { SqlOptions } from './_sql/database.ts'
export type { DialectName, SqlDatabase, SqlNames, TableName } from './_sql/types.ts'

/** The part of a `pg` pool that is used. */
export interface SqlPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'acquire', listener: (connection: { on(event: 'error', listener: (error: Error) => void): unknown }) => void): unknown
}

/** Options of `sqlAdapter`. */
export interface SqlAdapterOptions extends SqlOptions {
  /** Clock of the services in milliseconds; default `Date.now`. */
  now?: () => number
  /**
   * The `pg` pool behind the Kysely instance. A connection that breaks is told as an `error` event, to the pool while it is idle and to the
   * connection while it is used, and ends the process where nobody listens: a restart of the database would. The adapter listens to both;
   * queries of that moment fail, later ones connect again.
   */
  pool?: SqlPool
}

/** An adapter with the shared services of its database. */
export interface SqlAdapter extends Required<Adapter> {
  /** What is done once is done once between processes. */
  readonly atomic: true
  readonly once: Once
  readonly limit: Limit
  /** Makes missing tables, columns and indexes; a dry run unless `apply` is true. */
  migrate(options?: { apply?: boolean }): Promise<MigrationReport>
}

/**
 * Keeps everything in the tables that Auth.js documents, whatever they are called: an existing Auth.js database works as it is. Uniqueness
 * holds by the database's own indexes, or by serializable transactions where a schema lacks them.
 */
export function sqlAdapter(db: SqlDatabase, options: SqlAdapterOptions = {}): SqlAdapter {
  const { now = Date.now, pool } = options
  const database = openDatabase(db, options)
  if (pool) listen(pool)
  return {
    ...users(database),
    ...accounts(database),
    ...sessions(database),
    ...tokens(database),
    ...authenticators(database),
    keepsCreatedAt: true,
    close: () => database.close(),
    atomic: true,
    once: createOnce(database, now),
    limit: createLimit(database, now),
    migrate: ({ apply = false } = {}) => migrate(database.db, database, { apply }),
  }
}

/** Makes missing tables, columns and indexes of a database; a dry run unless `apply` is true. Drops nothing, and may be repeated. */
export function migrateSql(db: SqlDatabase, options: SqlOptions & { apply?: boolean } = {}): Promise<MigrationReport> {
  const database = openDatabase(db, { ...options, migrate: false })
  return migrate(database.db, database, { apply: options.apply ?? false })
}

function listen(pool: SqlPool): void {
  const known = new WeakSet<object>()
  pool.on('error', () => {})
  pool.on('acquire', (connection) => {
    if (known.has(connection)) return
    known.add(connection)
    connection.on('error', () => {})
  })
}
