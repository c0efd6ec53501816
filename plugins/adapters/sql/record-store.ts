/** Records of plugins in tables of a database. */
import type { RecordStore, StoredQuery, StoredRow } from 'authkernel/kernel'
import { type QueryResult, sql } from 'kysely'
import { type Database, openDatabase, type Runner, type SqlOptions } from './database.ts'
import { type MigrationReport, runMigration } from './migrate.ts'
import { commitWrites } from './record-commit.ts'
import { createPlaces, deleteExpired, deleteWhere } from './record-erase.ts'
import { indexesOf, modelOf, type RecordModel } from './record-model.ts'
import { createRecords, planRecords } from './record-plan.ts'
import { equalCondition, joinConditions, liveCondition, queryCondition, readRow, runOnTable, selectRows } from './record-query.ts'
import {
  columnName,
  columnsToRead,
  isMissingTable,
  missingTableError,
  type RecordTable,
  recordTable,
  tableName,
  toRow,
  valueSlot,
} from './record-table.ts'
import { eraseRows } from './record-write.ts'
import { lookUpEach, Slot } from './statements.ts'
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
interface OwnRecords extends SqlRecords {
  tables(): readonly RecordTable[]
  /** Deletes the rows that a user owns, in the transaction that deletes the user. */
  eraser(): Promise<(runner: Runner, userId: string) => Promise<void>>
}

/**
 * Records in tables `auth_<record>` of a database, for `recordsPlugin`, where the adapter is a published one. Tables of anything else are
 * neither read nor changed. `close` ends the connections of `db`.
 */
export function sqlRecords(db: SqlDatabase, options: SqlOptions = {}): SqlRecords {
  const { tables: _tables, eraser: _eraser, ...records } = createRecordStore(openDatabase(db, options, 'sqlRecords'), options)
  return records
}

export function createRecordStore(database: Database, { migrate: automatic = false }: Pick<SqlOptions, 'migrate'>): OwnRecords {
  const tables = new Map<string, RecordTable>()
  const places = createPlaces(database)
  let migration: Promise<unknown> | undefined
  const tableOf = (record: string): RecordTable => {
    const table = tables.get(record)
    if (!table) throw new Error(`[sql] The record "${record}" was not declared.`)
    return table
  }
  const plan = () => planRecords(database.db, database, [...tables.values()])
  async function ready(): Promise<void> {
    if (!automatic) return
    migration ??= database.retry(() => runMigration(database.db, plan, { apply: true }))
    await migration.catch((error: unknown) => {
      migration = undefined
      throw error
    })
  }
  async function asking<T>(record: string, work: (table: RecordTable) => Promise<T>): Promise<T> {
    const table = tableOf(record)
    await ready()
    try {
      return await work(table)
    } catch (error) {
      throw isMissingTable(table, error) ? missingTableError(table, error) : error
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
        migration = undefined
      }
    },
    get: (record, ns, key, now) =>
      asking(record, (table) =>
        database.repeat(() =>
          readRow(database, database.db, table, joinConditions(equalCondition(table, { ns, ...key }, 'key.'), liveCondition(table, now))),
        ),
      ),
    getMany: (record, ns, ids, now) => asking(record, (table) => readMany(database, table, ns, ids, now)),
    find: (record, query, now) => asking(record, (table) => findRecordRows(database, table, query, now)),
    count: (record, query, now) => asking(record, (table) => countRecordRows(database, table, query, now)),
    write: (writes, now) => asking(writes[0]?.table ?? '', () => commitWrites(database, tableOf, writes, now)),
    deleteWhere: (record, query, now) => asking(record, (table) => deleteWhere(database, places, table, query, now)),
    deleteExpired: (record, now, limit) => asking(record, (table) => deleteExpired(database, places, table, now, limit)),
    async missing() {
      await ready()
      return (await plan()).lacks
    },
    migrate: ({ apply = false } = {}) => runMigration(database.db, plan, { apply }),
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
          await eraseRows(database, runner, table, equalCondition(table, { [owner]: userId }, 'owner.')).catch((error: unknown) => {
            throw isMissingTable(table, error) ? missingTableError(table, error) : error
          })
        }
      }
    },
  }
}

// Ids of one statement. Fewer are filled up with the last one, so that there is one text to compile.
const idsAtOnce = 100
// Of a whole page of an import.
const idsOfPage = 500

async function readMany(database: Database, table: RecordTable, ns: string, ids: readonly string[], now: number): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  const most = ids.length === idsOfPage ? idsOfPage : idsAtOnce
  for (let at = 0; at < ids.length; at += most) {
    const size = ids.length - at === 1 ? 1 : most
    const values: Record<string, string> = {}
    for (let n = 0; n < size; n++) values[`id.${n}`] = ids[Math.min(at + n, ids.length - 1)]!
    const live = liveCondition(table, now)
    const build = (): Sql => {
      const places = [...Array(size).keys()].map((n) => valueSlot(table, 'id', `id.${n}`))
      const from = sql`select ${columnsToRead(table)} from ${tableName(table)}
        where ${columnName(table, 'ns')} = ${valueSlot(table, 'ns', 'ns')} and ${live.sql()} and ${columnName(table, 'id')}`
      return table.dialect === 'postgres' && size > 1 ? lookUpEach(from, places) : sql`${from} in (${sql.join(places)})`
    }
    const { rows: found } = await database.repeat(() =>
      runOnTable(database, database.db, table, `many get ${size} ${live.key}`, build, { ...live.values, ...values, ns }),
    )
    rows.push(...found.map((row) => toRow(table, row)))
  }
  return rows
}

async function findRecordRows(database: Database, table: RecordTable, query: StoredQuery, now: number): Promise<StoredRow[]> {
  const condition = queryCondition(table, query, now)
  const build = (): Sql => selectRows(table, query, condition)
  const { rows } = await database.repeat((): Promise<QueryResult<unknown>> =>
    runOnTable(database, database.db, table, `find ${query.by} ${query.order} ${condition.key}`, build, {
      ...condition.values,
      limit: query.limit,
    }),
  )
  return rows.map((row) => toRow(table, row))
}

async function countRecordRows(database: Database, table: RecordTable, query: StoredQuery, now: number): Promise<number> {
  const condition = queryCondition(table, query, now)
  const { rows } = await database.repeat(() =>
    runOnTable<{ n: unknown }>(
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
