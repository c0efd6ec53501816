/** Conditions and reads of records: each is compiled once per table and shape. */
import type { StoredKey, StoredQuery, StoredRow, StoredValue } from 'authkernel/kernel'
import { type QueryResult, sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { columnName, columnOf, columnsToRead, type RecordTable, tableName, toRow, valueSlot } from './record-table.ts'
import { Slot } from './statements.ts'
import type { Sql, SqlExpression } from './types.ts'

/** A part of a statement, its values, and what tells it from others. */
export interface Condition {
  readonly key: string
  readonly sql: () => SqlExpression
  readonly values: Readonly<Record<string, unknown>>
}

/** `a = 1 and b is null`; `prefix` begins the names of the values. */
export function equalCondition(table: RecordTable, given: StoredKey, prefix: string): Condition {
  const fields = Object.entries(given)
  return {
    key: `${prefix}${fields.map(([field, value]) => (value === null ? `${field}!` : field)).join()}`,
    sql: () =>
      sql.join(
        fields.map(([field, value]) =>
          value === null
            ? sql`${columnName(table, field)} is null`
            : sql`${columnName(table, field)} = ${valueSlot(table, field, prefix + field)}`,
        ),
        sql` and `,
      ),
    values: Object.fromEntries(fields.map(([field, value]) => [prefix + field, value])),
  }
}

/** Rows whose end has not come. */
export function liveCondition(table: RecordTable, now: number): Condition {
  const { expires } = table.stored
  if (expires === undefined) return { key: '', sql: () => sql`1 = 1`, values: {} }
  const end = (): SqlExpression => sql`${columnName(table, expires)} > ${valueSlot(table, expires, 'now')}`
  const { optional } = columnOf(table, expires)
  return {
    key: 'live',
    sql: () => (optional ? sql`(${columnName(table, expires)} is null or ${end()})` : end()),
    values: { now: new Date(now) },
  }
}

/** Rows whose end has come. */
export function endedCondition(table: RecordTable, expires: string, now: number): Condition {
  return {
    key: 'ended',
    sql: () => sql`${columnName(table, expires)} <= ${valueSlot(table, expires, 'now')}`,
    values: { now: new Date(now) },
  }
}

/** Parts that must all hold; empty ones count for nothing. */
export function joinConditions(...parts: readonly Condition[]): Condition {
  const conditions = parts.filter(({ key }) => key !== '' && !key.endsWith('.'))
  return {
    key: conditions.map(({ key }) => key).join(' '),
    sql: () =>
      sql.join(
        conditions.map((part) => part.sql()),
        sql` and `,
      ),
    values: Object.assign({}, ...conditions.map(({ values }) => values)) as Record<string, unknown>,
  }
}

/** Runs a statement over the table of a record. */
export function runOnTable<R>(
  database: Database,
  runner: Runner,
  table: RecordTable,
  key: string,
  build: () => Sql,
  values: Readonly<Record<string, unknown>>,
): Promise<QueryResult<R>> {
  return database.run<R>(runner, table, key, build, values)
}

/** The row of a key, if it lives; locked until the end of the transaction where `lock` says so. */
export async function readRow(
  database: Database,
  runner: Runner,
  table: RecordTable,
  condition: Condition,
  lock = false,
): Promise<StoredRow | null> {
  const end = lock && table.dialect !== 'sqlite' ? sql` for update` : sql``
  const { rows } = await runOnTable(
    database,
    runner,
    table,
    `get ${lock} ${condition.key}`,
    () => sql`select ${columnsToRead(table)} from ${tableName(table)} where ${condition.sql()}${end}`,
    condition.values,
  )
  return rows[0] ? toRow(table, rows[0]) : null
}

/** What a query asks for, without its order: rows of a namespace, by the front of an index. */
export function queryCondition(table: RecordTable, query: StoredQuery, now: number): Condition {
  const { ns, where, by, range, after } = query
  const bounds = Object.entries(range).filter(([, value]) => value !== undefined) as [keyof typeof signs, StoredValue][]
  const ranged: Condition = {
    key: bounds.length > 0 ? `range.${by} ${bounds.map(([bound]) => bound).join()}` : '',
    sql: () =>
      sql.join(
        bounds.map(([bound]) => sql`${columnName(table, by!)} ${signs[bound]} ${valueSlot(table, by!, `range.${bound}`)}`),
        sql` and `,
      ),
    values: Object.fromEntries(bounds.map(([bound, value]) => [`range.${bound}`, value])),
  }
  const from: Condition = after
    ? {
        key: `after ${by} ${query.order} ${after.value === null}`,
        sql: () => afterRow(table, query),
        values: { 'after.value': after.value, 'after.id': after.id },
      }
    : { key: '', sql: () => sql``, values: {} }
  return joinConditions(equalCondition(table, { ns, ...where }, 'where.'), ranged, from, liveCondition(table, now))
}
const signs = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

/** Rows behind a place, in the form that every planner takes for a range of an index. Null comes before everything. */
function afterRow(table: RecordTable, { by, order, after }: StoredQuery): SqlExpression {
  const up = order === 'asc'
  const [id, idSlot] = [columnName(table, 'id'), valueSlot(table, 'id', 'after.id')]
  const sign = up ? sql`>` : sql`<`
  if (by === undefined) return sql`${id} ${sign} ${idSlot}`
  const [field, value] = [columnName(table, by), valueSlot(table, by, 'after.value')]
  const { optional } = columnOf(table, by)
  if (after!.value === null) {
    const same = sql`(${field} is null and ${id} ${sign} ${idSlot})`
    return up ? sql`(${same} or ${field} is not null)` : same
  }
  const next = sql`(${field} ${up ? sql`>=` : sql`<=`} ${value} and (${field} ${sign} ${value} or ${id} ${sign} ${idSlot}))`
  return optional && !up ? sql`(${next} or ${field} is null)` : next
}

/** `order by` in which null comes first: PostgreSQL needs it in words, and has its indexes so. */
export function orderBy(table: RecordTable, { by, order }: Pick<StoredQuery, 'by' | 'order'>): Sql {
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const nulls =
    table.dialect === 'postgres' && by !== undefined && columnOf(table, by).optional
      ? order === 'asc'
        ? sql` nulls first`
        : sql` nulls last`
      : sql``
  // With the table: a bare name is that of the selected value, a date as text for example, and no index has those in order.
  const of = (field: string): Sql => sql`${tableName(table)}.${columnName(table, field)} ${direction}`
  return by === undefined ? sql`order by ${of('id')}` : sql`order by ${of(by)}${nulls}, ${of('id')}`
}

/** Text of `find`: for the store, and to explain it manually. */
export function selectRows(table: RecordTable, query: StoredQuery, condition: Condition): Sql {
  return sql`select ${columnsToRead(table)} from ${tableName(table)} where ${condition.sql()} ${orderBy(table, query)} limit ${new Slot('limit')}`
}
