/** Records of plugins in tables of a database. */
import type { RecordStore, StoredQuery, StoredRow } from 'authkernel/kernel'
import { type QueryResult, sql } from 'kysely'
import { type Database, openDatabase, type Runner, type SqlOptions } from './database.ts'
import { migrate, type MigrationReport } from './migrate.ts'
import { commit, ended } from './record-commit.ts'
import { modelOf, type RecordModel } from './record-model.ts'
import { createRecords, indexesOf, planRecords } from './record-plan.ts'
import { all, equal, finding, live, matching, ordered, type Part, read, run } from './record-query.ts'
import { column, type RecordTable, recordTable, tableName, toRow } from './record-table.ts'
import { erase } from './record-write.ts'
import { Slot } from './statements.ts'
import type { DialectName, Sql, SqlDatabase } from './types.ts'

/** What `sqlRecords` makes. */
export interface SqlRecords extends RecordStore {
  missing(): Promise<readonly string[]>
  /** Makes missing tables, columns and indexes of the declared records; a dry run unless `apply` is true. */
  migrate(options?: { apply?: boolean }): Promise<MigrationReport>
  /** The tables as models, and the statements that make them: for `npx authkernel schema`. */
  describe(): Promise<{ dialect: DialectName; models: readonly RecordModel[]; statements: readonly string[] }>
  close(): Promise<void>
}
/** The same over a database that the adapter has open. */
export interface OwnRecords extends SqlRecords {
  tables(): readonly RecordTable[]
  /** What deletes the rows that a person owns, in the transaction that deletes the person. */
  eraser(): Promise<(runner: Runner, userId: string) => Promise<void>>
}

/**
 * Records in tables `auth_<record>` of a database, for `recordsPlugin`, where the adapter is a published one. Tables of anything else are
 * neither read nor changed. `close` ends the connections of `db`.
 */
export function sqlRecords(db: SqlDatabase, options: SqlOptions = {}): SqlRecords {
  const { tables: _tables, eraser: _eraser, ...records } = recordsOf(openDatabase(db, options), options)
  return records
}

export function recordsOf(database: Database, { migrate: automatic = false }: Pick<SqlOptions, 'migrate'>): OwnRecords {
  const tables = new Map<string, RecordTable>()
  let made: Promise<unknown> | undefined
  const tableOf = (record: string): RecordTable => {
    const table = tables.get(record)
    if (!table) throw new Error(`[sql] The record "${record}" was not declared.`)
    return table
  }
  const plan = () => planRecords(database.db, database, [...tables.values()])
  async function ready(): Promise<void> {
    if (!automatic) return
    made ??= database.retry(() => migrate(database.db, plan, { apply: true }))
    await made.catch((error: unknown) => {
      made = undefined
      throw error
    })
  }
  async function asking<T>(record: string, work: (table: RecordTable) => Promise<T>): Promise<T> {
    const table = tableOf(record)
    await ready()
    try {
      return await work(table)
    } catch (error) {
      throw isMissing(error) ? missingTable(table, error) : error
    }
  }
  return {
    shared: true,
    // Several kernels may share the store, and each declares what it knows.
    define(declared) {
      const { dialect, names, schema } = database
      for (const stored of declared) {
        const known = tables.get(stored.name)
        // Compiled again: statements stay, and what was looked at stays so.
        if (known && JSON.stringify(known.stored) === JSON.stringify(stored)) continue
        tables.set(stored.name, recordTable(stored, dialect, names, schema))
        made = undefined
      }
    },
    get: (record, ns, key, now) =>
      asking(record, (table) =>
        database.repeat(() => read(database, database.db, table, all(equal(table, { ns, ...key }, 'key.'), live(table, now)))),
      ),
    find: (record, query, now) => asking(record, (table) => find(database, table, query, now)),
    count: (record, query, now) => asking(record, (table) => count(database, table, query, now)),
    write: (writes, now) => asking(writes[0]?.table ?? '', () => commit(database, tableOf, writes, now)),
    deleteWhere: (record, query, now) => asking(record, (table) => deleteWhere(database, table, query, now)),
    deleteExpired: (record, now, limit) => asking(record, (table) => deleteExpired(database, table, now, limit)),
    async missing() {
      await ready()
      return (await plan()).lacks
    },
    migrate: ({ apply = false } = {}) => migrate(database.db, plan, { apply }),
    async describe() {
      const all = [...tables.values()]
      return {
        dialect: database.dialect,
        models: all.map((table) => modelOf(table, indexesOf(table))),
        statements: await createRecords(database.db, database, all),
      }
    },
    close: () => database.close(),
    tables: () => [...tables.values()],
    async eraser() {
      await ready()
      return async (runner, userId) => {
        for (const table of tables.values()) {
          const { owner } = table.stored
          if (owner === undefined) continue
          await erase(database, runner, table, equal(table, { [owner]: userId }, 'owner.')).catch((error: unknown) => {
            throw isMissing(error) ? missingTable(table, error) : error
          })
        }
      }
    },
  }
}

async function find(database: Database, table: RecordTable, query: StoredQuery, now: number): Promise<StoredRow[]> {
  const condition = matching(table, query, now)
  const build = (): Sql => finding(table, query, condition)
  const { rows } = await database.repeat((): Promise<QueryResult<unknown>> =>
    run(database, database.db, table, `find ${query.by} ${query.order} ${condition.key}`, build, {
      ...condition.values,
      limit: query.limit,
    }),
  )
  return rows.map((row) => toRow(table, row))
}

async function count(database: Database, table: RecordTable, query: StoredQuery, now: number): Promise<number> {
  const condition = matching(table, query, now)
  const { rows } = await database.repeat(() =>
    run<{ n: unknown }>(
      database,
      database.db,
      table,
      `count ${condition.key}`,
      () =>
        sql`select count(*) as n from (select 1 as one from ${tableName(table)} where ${condition.sql()} limit ${new Slot('limit')}) as found`,
      { ...condition.values, limit: query.limit },
    ),
  )
  return Number(rows[0]?.n ?? 0)
}

async function deleteWhere(database: Database, table: RecordTable, query: StoredQuery, now: number): Promise<number> {
  const condition = matching(table, query, now)
  const limit = { key: `first ${query.limit} ${query.by} ${query.order}`, sql: () => sql``, values: {} }
  const order = ordered(table, query)
  if (table.dialect === 'mysql')
    return database.retry(() =>
      erase(
        database,
        database.db,
        table,
        { ...condition, key: `${condition.key} ${limit.key}` },
        () => sql` ${order} limit ${sql.lit(query.limit)}`,
      ),
    )
  const lock = table.dialect === 'postgres' ? sql`for update` : sql``
  return database.retry(() => eraseFound(database, table, condition, limit.key, sql`${order} limit ${sql.lit(query.limit)} ${lock}`))
}

async function deleteExpired(database: Database, table: RecordTable, now: number, limit: number): Promise<number> {
  const { expires } = table.stored
  if (expires === undefined) return 0
  const condition = ended(table, expires, now)
  const end = sql`order by ${column(table, expires)} limit ${sql.lit(limit)}`
  if (table.dialect === 'mysql')
    return database.retry(() => erase(database, database.db, table, { ...condition, key: `ended ${limit}` }, () => sql` ${end}`))
  return database.retry(() =>
    eraseFound(database, table, condition, `ended ${limit}`, table.dialect === 'postgres' ? sql`${end} for update skip locked` : end),
  )
}

/** Deletes rows that a part of the statement found. PostgreSQL is told where they lie: without figures it may look through the table for each. */
function eraseFound(database: Database, table: RecordTable, condition: Part, key: string, end: Sql): Promise<number> {
  const keys = sql`${column(table, 'ns')}, ${column(table, 'id')}`
  const found = (what: Sql): Sql => sql`select ${what} from ${tableName(table)} where ${condition.sql()} ${end}`
  return erase(database, database.db, table, {
    key: `${key} ${condition.key}`,
    sql: () => (table.dialect === 'postgres' ? sql`ctid = any(array(${found(sql`ctid`)}))` : sql`(${keys}) in (${found(keys)})`),
    values: condition.values,
  })
}

/** No such table or column. PostgreSQL: 42P01, 42703. MySQL: 1146, 1054. SQLite says it in words. */
function isMissing(error: unknown): boolean {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown }
  return (
    code === '42P01' ||
    code === '42703' ||
    errno === 1146 ||
    errno === 1054 ||
    /no such (table|column)|has no column named/i.test(String(message))
  )
}

function missingTable({ name, stored }: RecordTable, cause: unknown): Error {
  return new Error(
    `[sql] The table ${name} of the record "${stored.name}" is missing, or lacks a column. Run \`npx authkernel migrate --apply\`.`,
    { cause },
  )
}
