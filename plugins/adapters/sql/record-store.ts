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
import { createPlaces, namePlace, type Places } from './row-places.ts'
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
  const { tables: _tables, eraser: _eraser, ...records } = recordsOf(openDatabase(db, options, 'sqlRecords'), options)
  return records
}

export function recordsOf(database: Database, { migrate: automatic = false }: Pick<SqlOptions, 'migrate'>): OwnRecords {
  const tables = new Map<string, RecordTable>()
  const places = createPlaces(database)
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
      throw isMissing(table, error) ? missingTable(table, error) : error
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
    deleteWhere: (record, query, now) => asking(record, (table) => deleteWhere(database, places, table, query, now)),
    deleteExpired: (record, now, limit) => asking(record, (table) => deleteExpired(database, places, table, now, limit)),
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
            throw isMissing(table, error) ? missingTable(table, error) : error
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

async function deleteWhere(database: Database, places: Places, table: RecordTable, query: StoredQuery, now: number): Promise<number> {
  const condition = matching(table, query, now)
  const key = `first ${query.limit} ${query.by} ${query.order}`
  const first = sql`${ordered(table, query)} limit ${sql.lit(query.limit)}`
  return eraseFirst(database, places, table, condition, { key, first, lock: sql`for update` })
}

async function deleteExpired(database: Database, places: Places, table: RecordTable, now: number, limit: number): Promise<number> {
  const { expires } = table.stored
  if (expires === undefined) return 0
  const first = sql`order by ${column(table, expires)} limit ${sql.lit(limit)}`
  return eraseFirst(database, places, table, ended(table, expires, now), {
    key: `ended ${limit}`,
    first,
    lock: sql`for update skip locked`,
  })
}

/** Which rows of a condition go: how many, in which order, and how PostgreSQL locks them. */
interface First {
  key: string
  first: Sql
  lock: Sql
}

/** Deletes the first rows of a condition. */
async function eraseFirst(
  database: Database,
  places: Places,
  table: RecordTable,
  condition: Part,
  { key, first, lock }: First,
): Promise<number> {
  if (table.dialect === 'mysql')
    return database.retry(() => erase(database, database.db, table, { ...condition, key: `${key} ${condition.key}` }, () => sql` ${first}`))
  const end = table.dialect === 'postgres' ? sql`${first} ${lock}` : first
  for (;;) {
    const place = await places.of(table)
    const rows = chosen(table, condition, end, place.placed)
    try {
      return await database.retry(() => erase(database, database.db, table, { ...rows, key: `${key} ${rows.key}` }))
    } catch (error) {
      if (!places.refused(table, error)) throw isMissing(table, error) ? error : namePlace(table.name, place, error)
    }
  }
}

/**
 * Rows that a part of the statement found, and for which the condition holds where they are deleted too: a row that was changed meanwhile, or
 * that has the address of a found one, stays. PostgreSQL is told where rows lie, if that names one row: without figures it may look through the table for
 * each key. `is true` keeps it from going by an index of the condition instead, and comparing all that it finds there. Keys are
 * found once: a planner may run the search again for each row, and `limit` would hold for none of them.
 */
function chosen(table: RecordTable, condition: Part, end: Sql, placed: boolean): Part {
  const found = (what: Sql): Sql => sql`select ${what} from ${tableName(table)} where ${condition.sql()} ${end}`
  const keys = sql`${column(table, 'ns')}, ${column(table, 'id')}`
  const once = (search: Sql): Sql =>
    table.dialect === 'postgres' ? sql`with gone as materialized (${search}) select ${keys} from gone` : search
  return {
    key: `${placed ? 'place' : 'key'} ${condition.key}`,
    sql: () =>
      placed
        ? sql`ctid = any(array(${found(sql`ctid`)})) and (${condition.sql()}) is true`
        : sql`(${keys}) in (${once(found(keys))}) and ${condition.sql()}`,
    values: condition.values,
  }
}

/** No such table or column: of the record, not of a trigger behind it. PostgreSQL: 42P01, 42703. MySQL: 1146, 1054. SQLite says it in words. */
function isMissing({ name, columns }: RecordTable, error: unknown): boolean {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown }
  const text = String(message)
  const absent =
    code === '42P01' || code === '42703' || errno === 1146 || errno === 1054 || /no such (table|column)|has no column named/i.test(text)
  return absent && (text.includes(name) || [...columns.values()].some((each) => new RegExp(`\\b${each.name}\\b`).test(text)))
}

function missingTable({ name, stored }: RecordTable, cause: unknown): Error {
  return new Error(
    `[sql] The table ${name} of the record "${stored.name}" is missing, or lacks a column. Run \`npx authkernel migrate --apply\`.`,
    { cause },
  )
}
