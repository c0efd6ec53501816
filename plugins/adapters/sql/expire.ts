/** Deletes rows that have ended in statements of a thousand: none holds a lock for long, and memory does not grow with the number of rows. */
import { type CleanUpOptions, type ExpiredRows } from 'authkernel/kernel'
import { isDate } from 'authkernel/kernel/stores'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { batchSize, inList, valuesOfList } from './rows.ts'
import { columnOf, columnRef, Slot, tableRef, type Values } from './statements.ts'
import type { Sql, SqlExpression, Table, UniqueIndex } from './types.ts'
import { decoderOf, readExpression, writeExpression } from './values.ts'

// Milliseconds between two statements: SQLite lets others write only then, and its drivers may let nothing else of the process run.
const pause = 5

type Row = Record<string, unknown>

/** Where the next batch begins, and the identifiers of the rows that this one deleted. */
interface Batch {
  deleted: readonly unknown[]
  /** Undefined: there is nothing left. */
  next: Readonly<Record<string, unknown>> | undefined
}

const day = 86_400_000

/** Deletes sessions, links and marks that ended before `now`, and counts them. */
export async function deleteExpired(
  database: Database,
  now: Date,
  { max = Number.POSITIVE_INFINITY, onProgress }: CleanUpOptions = {},
): Promise<ExpiredRows> {
  const counts = { sessions: 0, tokens: 0, once: 0, limit: 0 }
  let left = max
  for (const kind of ['sessions', 'tokens'] as const) {
    const rows = await database.table(kind)
    const isText = ['iso', 'ms-text'].includes(columnOf(rows, 'expires').kind)
    for (let from: Batch['next'] = {}; from !== undefined && left > 0;) {
      const begin: Readonly<Record<string, unknown>> = from
      const size = Math.min(batchSize, left)
      const { deleted, next }: Batch = await database.repeat(() =>
        (isText ? deleteTextBatch : deleteBatch)(database, rows, now, begin, size),
      )
      for (const identifier of deleted) counts[counterOf(kind, identifier)]++
      left -= deleted.length
      from = next
      if (deleted.length > 0) onProgress?.({ ...counts })
      if (next) await new Promise((resolve) => setTimeout(resolve, database.dialect === 'sqlite' ? pause : 0))
    }
  }
  return counts
}

function counterOf(kind: 'sessions' | 'tokens', identifier: unknown): keyof ExpiredRows {
  const [, service] = (kind === 'tokens' && /^(once|limit):/.exec(String(identifier))) || []
  return (service as 'once' | 'limit' | undefined) ?? kind
}

/** One batch of a table whose dates the database can compare. The next one begins where this one ended; what it skipped is locked by another transaction. */
async function deleteBatch(
  database: Database,
  table: Table,
  now: Date,
  from: Readonly<Record<string, unknown>>,
  size: number,
): Promise<Batch> {
  const order = orderFieldOf(table)
  const read = decoderOf(columnOf(table, order)) ?? ((value: unknown) => value)
  const rows = await (database.dialect === 'mysql' ? lockAndDelete : deleteAtOnce)(database, table, now, from, size)
  const last = rows.map((row) => read(row[order]) as string | Date).reduce(laterOf, undefined)
  return { deleted: rows.map((row) => row[labelFieldOf(table)]), next: last === undefined ? undefined : { [order]: last } }
}

function laterOf(a: string | Date | undefined, b: string | Date): string | Date {
  return a === undefined || b > a ? b : a
}

async function deleteAtOnce(
  database: Database,
  table: Table,
  now: Date,
  from: Readonly<Record<string, unknown>>,
  size: number,
): Promise<Row[]> {
  const postgres = database.dialect === 'postgres'
  const { rows } = await database.run<Row>(
    database.db,
    table,
    `expired ${Object.keys(from).join()} ${size}`,
    () => {
      const found = selectEnded(database, table, from, size, postgres && table.placed ? sql`t.ctid` : undefined)
      // A session that is being extended at this moment is left to the request that extends it.
      const chosen = postgres ? sql`${found} for update skip locked` : found
      return sql`${deleteChosen(table, chosen, postgres)} and ${endedCondition(database, table)} returning ${sql.join(columnsToRead(table))}`
    },
    batchValues(now, from),
  )
  return rows
}

/** `delete … where` it is one of those that were chosen: by place where a row that is locked has one, which costs a fourth of another look by key. */
function deleteChosen(table: Table, chosen: Sql, postgres: boolean): Sql {
  const name = tableRef(table)
  if (postgres && table.placed) return sql`delete from ${name} where ctid = any (array (${chosen}))`
  const key = rowKeyOf(table)
  return sql`with gone as ${postgres ? sql`materialized` : sql``} (${chosen})
    delete from ${name} where (${sql.join(key.map((field) => columnRef(table, field)))}) in (select ${sql.join(key.map((field) => sql.id(field)))} from gone)`
}

/** MySQL deletes no rows that a part of the same statement has locked. Under `read committed` nothing between them is locked. */
async function lockAndDelete(
  database: Database,
  table: Table,
  now: Date,
  from: Readonly<Record<string, unknown>>,
  size: number,
): Promise<Row[]> {
  return database.db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (tx) => {
      const { rows } = await database.run<Row>(
        tx,
        table,
        `expired ${Object.keys(from).join()} ${size}`,
        () => sql`${selectEnded(database, table, from, size)} for update skip locked`,
        batchValues(now, from),
      )
      if (rows.length === 0) return rows
      const key = rowKeyOf(table)
      await database.run(
        tx,
        table,
        'delete expired',
        () => {
          // A planner that goes through a small table instead would wait for rows that another transaction has locked.
          const index = key.name === undefined ? sql`` : sql`force index (${sql.id(key.name)})`
          return sql`delete t from ${tableRef(table)} as t ${index} where ${inList('mysql', table, key)} and ${endedCondition(database, table)}`
        },
        { ...valuesOfList(key, rows), now },
      )
      return rows
    })
}

/**
 * `select … where expires < now`, from a place on, in the order of an index. The number of rows stands in the text: PostgreSQL plans a
 * prepared statement without its values, and would get ready for a tenth of the table.
 */
function selectEnded(
  database: Database,
  table: Table,
  from: Readonly<Record<string, unknown>>,
  size: number,
  columns: SqlExpression = sql.join(columnsToRead(table, 't')),
): Sql {
  const order = columnOf(table, orderFieldOf(table))
  const by = columnRef(table, order.field, 't')
  const begin = order.field in from ? sql`${by} >= ${writeExpression(database.dialect, order, `from.${order.field}`)} and ` : sql``
  // With the table's name: without it the order would be that of what is made of the column.
  return sql`select ${columns} from ${tableRef(table)} as t where ${begin}${endedCondition(database, table, 't')}
    order by ${by} limit ${sql.lit(size)}`
}

function endedCondition(database: Database, table: Table, alias?: string): SqlExpression {
  return sql`${columnRef(table, 'expires', alias)} < ${writeExpression(database.dialect, columnOf(table, 'expires'), 'now')}`
}

function columnsToRead(table: Table, alias?: string): SqlExpression[] {
  const fields = new Set([...rowKeyOf(table), orderFieldOf(table), labelFieldOf(table)])
  return [...fields].map((field) => sql`${readExpression(columnOf(table, field), columnRef(table, field, alias))} as ${sql.id(field)}`)
}

function batchValues(now: Date, from: Readonly<Record<string, unknown>>): Row {
  return { now, ...Object.fromEntries(Object.entries(from).map(([field, value]) => [`from.${field}`, value])) }
}

/** Reads a batch in the order of its keys, and deletes those of it that have ended by one statement. */
async function deleteTextBatch(database: Database, table: Table, now: Date, from: Values, size: number): Promise<Batch> {
  const { db, run } = database
  const expires = columnOf(table, 'expires')
  // ISO texts begin with the day, in some zone or other: what ends two days later has not ended.
  const hasBound = expires.kind === 'iso'
  const order = [...(hasBound && table.indexed.has('expires') ? ['expires'] : []), ...rowKeyOf(table)]
  const fields = [...new Set([...order, 'expires', labelFieldOf(table)])]
  const bound = new Date(now.getTime() + 2 * day).toISOString().slice(0, 10)
  const { rows } = await run<Row>(
    db,
    table,
    `texts ${Object.keys(from).join()}`,
    () => {
      const conditions = [
        ...(hasBound ? [sql`${columnRef(table, 'expires')} < ${new Slot('bound')}`] : []),
        ...(Object.keys(from).length > 0 ? [afterPlace(table, order)] : []),
      ]
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
      const columns = sql.join(order.map((field) => columnRef(table, field)))
      return sql`select ${sql.join(fields.map((field) => sql`${columnRef(table, field)} as ${sql.id(field)}`))}
        from ${tableRef(table)} ${where} order by ${columns} limit ${sql.lit(batchSize)}`
    },
    { bound, ...Object.fromEntries(order.map((field) => [`from.${field}`, from[field]])) },
  )
  const read = decoderOf(expires)!
  const rowsToDelete = rows.filter((row) => isBefore(now, () => read(row.expires))).slice(0, size)
  if (rowsToDelete.length > 0) {
    const key = rowKeyOf(table)
    await run(
      db,
      table,
      'delete texts',
      // A row whose date has been changed meanwhile has none of these texts: all of them stand for dates that have passed. Cast, so that
      // the rows are found by their key.
      () => {
        const text = sql`cast(${columnRef(table, 'expires')} as ${database.dialect === 'mysql' ? sql`char` : sql`text`})`
        const texts = sql.join([...Array(batchSize).keys()].map((at) => sql`${new Slot(`expires.${at}`)}`))
        return sql`delete from ${tableRef(table)} where ${inList(database.dialect, table, key)} and ${text} in (${texts})`
      },
      valuesOfList([...key, 'expires'], rowsToDelete),
    )
  }
  return { deleted: rowsToDelete.map((row) => row[labelFieldOf(table)]), next: rows.length < batchSize ? undefined : rows.at(-1) }
}

// A date that cannot be read is not deleted.
function isBefore(now: Date, read: () => unknown): boolean {
  try {
    const date = read()
    return isDate(date) && date < now
  } catch {
    return false
  }
}

/** `(a, b) > (1, 2)`, in the form that every planner takes for a range of an index. */
function afterPlace(table: Table, order: readonly string[]): SqlExpression {
  const value = (field: string): SqlExpression => sql`${new Slot(`from.${field}`)}`
  const alternatives = order.map((field, at) =>
    sql.join(
      [
        ...order.slice(0, at).map((before) => sql`${columnRef(table, before)} = ${value(before)}`),
        sql`${columnRef(table, field)} > ${value(field)}`,
      ],
      sql` and `,
    ),
  )
  const first = order[0]!
  return sql`${columnRef(table, first)} >= ${value(first)} and (${sql.join(alternatives, sql` or `)})`
}

// The order of an index, so that no batch looks at what an earlier one has seen: expired rows first, where there is one for that.
function orderFieldOf(table: Table): string {
  return table.indexed.has('expires') ? 'expires' : rowKeyOf(table)[0]!
}

/** Fields that tell rows apart: what the database itself keeps unique, where there is something. */
function rowKeyOf(table: Table): UniqueIndex {
  const natural = table.kind === 'sessions' ? ['sessionToken'] : ['identifier', 'token']
  const unique = (fields: readonly string[]): UniqueIndex | undefined =>
    table.unique.find((list) => list.every((field) => fields.includes(field)))
  return unique(natural) ?? unique(['id']) ?? natural
}

/** The field that tells what a deleted row was. */
function labelFieldOf(table: Table): string {
  return table.kind === 'sessions' ? 'sessionToken' : 'identifier'
}
