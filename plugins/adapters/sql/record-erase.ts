/** Deletes many records by one statement: those of a query, or those that have ended. PostgreSQL finds them by where they lie, if it can. */
import type { StoredQuery } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isConnectionLost, isTransient } from './dialect.ts'
import { isPlaced } from './introspect.ts'
import { type Condition, endedCondition, orderBy, queryCondition } from './record-query.ts'
import { columnName, isMissingTable, type RecordTable, tableName } from './record-table.ts'
import { eraseRows } from './record-write.ts'
import type { Sql } from './types.ts'

export async function deleteWhere(
  database: Database,
  places: Places,
  table: RecordTable,
  query: StoredQuery,
  now: number,
): Promise<number> {
  const condition = queryCondition(table, query, now)
  const key = `first ${query.limit} ${query.by} ${query.order}`
  const first = sql`${orderBy(table, query)} limit ${sql.lit(query.limit)}`
  return eraseFirst(database, places, table, condition, { key, first, lock: sql`for update` })
}

export async function deleteExpired(database: Database, places: Places, table: RecordTable, now: number, limit: number): Promise<number> {
  const { expires } = table.stored
  if (expires === undefined) return 0
  const first = sql`order by ${columnName(table, expires)} limit ${sql.lit(limit)}`
  return eraseFirst(database, places, table, endedCondition(table, expires, now), {
    key: `ended ${limit}`,
    first,
    lock: sql`for update skip locked`,
  })
}

/** Which rows of a condition go: how many, in which order, and how PostgreSQL locks them. */
interface FirstRows {
  key: string
  first: Sql
  lock: Sql
}

/** Deletes the first rows of a condition. */
async function eraseFirst(
  database: Database,
  places: Places,
  table: RecordTable,
  condition: Condition,
  { key, first, lock }: FirstRows,
): Promise<number> {
  if (table.dialect === 'mysql')
    return database.retry(() =>
      eraseRows(database, database.db, table, { ...condition, key: `${key} ${condition.key}` }, () => sql` ${first}`),
    )
  const end = table.dialect === 'postgres' ? sql`${first} ${lock}` : first
  for (;;) {
    const place = await places.of(table)
    const rows = chosenRows(table, condition, end, place.placed)
    try {
      return await database.retry(() => eraseRows(database, database.db, table, { ...rows, key: `${key} ${rows.key}` }))
    } catch (error) {
      if (!places.reportRefusal(table, error)) throw isMissingTable(table, error) ? error : namePlace(table.name, place, error)
    }
  }
}

/**
 * Rows that a part of the statement found, and for which the condition holds where they are deleted too: a row that was changed meanwhile, or
 * that has the address of a found one, stays. PostgreSQL gets the places of rows, if that names one row: without figures it may look through the table for
 * each key. `is true` keeps it from going by an index of the condition instead, and comparing all that it finds there. Keys are
 * found once: a planner may run the search again for each row, and `limit` would hold for none of them.
 */
function chosenRows(table: RecordTable, condition: Condition, end: Sql, placed: boolean): Condition {
  const selectRows = (what: Sql): Sql => sql`select ${what} from ${tableName(table)} where ${condition.sql()} ${end}`
  const keys = sql`${columnName(table, 'ns')}, ${columnName(table, 'id')}`
  const once = (search: Sql): Sql =>
    table.dialect === 'postgres' ? sql`with gone as materialized (${search}) select ${keys} from gone` : search
  return {
    key: `${placed ? 'place' : 'key'} ${condition.key}`,
    sql: () =>
      placed
        ? sql`ctid = any(array(${selectRows(sql`ctid`)})) and (${condition.sql()}) is true`
        : sql`(${keys}) in (${once(selectRows(keys))}) and ${condition.sql()}`,
    values: condition.values,
  }
}

/** A table by its name. */
type TableNameParts = Parameters<typeof tableName>[0]
/** How rows of a table are found. */
interface Place {
  /** Whether a `ctid` names one row. */
  placed: boolean
  /** What the table is, for errors: `a view`. */
  kind: string
}
/** How rows of tables are found. */
interface Places {
  of(table: TableNameParts): Promise<Place>
  /** The database rejected a `ctid` that its catalog has: rows of this table are found by their keys from now on. */
  reportRefusal(table: TableNameParts, error: unknown): boolean
}

const plain = 'an ordinary table'
const kinds: Readonly<Record<string, string>> = {
  r: 'a table without `ctid`, or one that other tables inherit from',
  p: 'a partitioned table',
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
}

/** Looks once for each table. */
export function createPlaces(database: Database): Places {
  const known = new WeakMap<object, Place>()
  return {
    async of(table) {
      const before = known.get(table)
      if (before || database.dialect !== 'postgres') return before ?? { placed: false, kind: plain }
      const name = tableName(table).compile(database.db).sql
      const { rows } = await database.repeat(() =>
        sql<{ placed: boolean; relkind: string }>`
          select ${isPlaced()} as placed, t.relkind::text as relkind from pg_class t where t.oid = to_regclass(${name})`.execute(
          database.db,
        ),
      )
      const [found] = rows
      const place = { placed: found?.placed === true, kind: (!found?.placed && kinds[found?.relkind ?? '']) || plain }
      // What is not there yet may be made.
      if (found) known.set(table, place)
      return place
    },
    reportRefusal(table, error) {
      if (!known.get(table)?.placed || !/\bctid\b/.test(String((error as Error).message))) return false
      known.set(table, { placed: false, kind: kinds['r']! })
      return true
    },
  }
}

/** The error of a deletion, with what the table is where that may be the reason. */
function namePlace(name: string, { kind }: Place, error: unknown): unknown {
  if (kind === plain || isTransient(error) || isConnectionLost(error)) return error
  const { message, code } = error as { message?: unknown; code?: unknown }
  const text = `[sql] Rows of ${name}, which is ${kind}, could not be deleted: ${String(message)}`
  return Object.assign(new Error(text, { cause: error }), typeof code === 'string' && { code })
}
