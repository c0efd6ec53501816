/** Deletes rows that have ended in statements of a thousand: none holds a lock for long, and memory does not grow with the number of rows. */
import type { CleanUpOptions, ExpiredRows } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { type Batch, batchSize, keyOf, labelOf, listed, listValues, type Row } from './expire-batch.ts'
import { textBatch } from './expire-text.ts'
import { columnOf, nameOf, ref } from './refs.ts'
import type { Sql, SqlExpression, Table } from './types.ts'
import { decoderOf, reading, writing } from './values.ts'

// Milliseconds between two statements: SQLite lets others write only then, and its drivers may let nothing else of the process run.
const pause = 5

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
      const { deleted, next }: Batch = await database.repeat(() => (isText ? textBatch : batch)(database, rows, now, begin, size))
      for (const identifier of deleted) counts[kindOf(kind, identifier)]++
      left -= deleted.length
      from = next
      if (deleted.length > 0) onProgress?.({ ...counts })
      if (next) await new Promise((resolve) => setTimeout(resolve, database.dialect === 'sqlite' ? pause : 0))
    }
  }
  return counts
}

function kindOf(kind: 'sessions' | 'tokens', identifier: unknown): keyof ExpiredRows {
  const [, service] = (kind === 'tokens' && /^(once|limit):/.exec(String(identifier))) || []
  return (service as 'once' | 'limit' | undefined) ?? kind
}

// The order of an index, so that no batch looks at what an earlier one has seen: expired rows first, where there is one for that.
function orderOf(table: Table): string {
  return table.indexed.has('expires') ? 'expires' : keyOf(table)[0]!
}

/** One batch of a table whose dates the database can compare. The next one begins where this one ended; what it skipped is somebody's. */
async function batch(database: Database, table: Table, now: Date, from: Readonly<Record<string, unknown>>, size: number): Promise<Batch> {
  const order = orderOf(table)
  const read = decoderOf(columnOf(table, order)) ?? ((value: unknown) => value)
  const rows = await (database.dialect === 'mysql' ? lockAndDelete : deleteAtOnce)(database, table, now, from, size)
  const last = rows.map((row) => read(row[order]) as string | Date).reduce(later, undefined)
  return { deleted: rows.map((row) => row[labelOf(table)]), next: last === undefined ? undefined : { [order]: last } }
}

function later(a: string | Date | undefined, b: string | Date): string | Date {
  return a === undefined || b > a ? b : a
}

/**
 * `select … where expires < now`, from a place on, in the order of an index. The number of rows stands in the text: PostgreSQL plans a
 * prepared statement without its values, and would get ready for a tenth of the table.
 */
function expired(
  database: Database,
  table: Table,
  from: Readonly<Record<string, unknown>>,
  size: number,
  columns: SqlExpression = sql.join(selected(table, 't')),
): Sql {
  const order = columnOf(table, orderOf(table))
  const by = ref(table, order.field, 't')
  const begin = order.field in from ? sql`${by} >= ${writing(database.dialect, order, `from.${order.field}`)} and ` : sql``
  // With the table's name: without it the order would be that of what is made of the column.
  return sql`select ${columns} from ${nameOf(table)} as t where ${begin}${ended(database, table, 't')}
    order by ${by} limit ${sql.lit(size)}`
}

function ended(database: Database, table: Table, alias?: string): SqlExpression {
  return sql`${ref(table, 'expires', alias)} < ${writing(database.dialect, columnOf(table, 'expires'), 'now')}`
}

function selected(table: Table, alias?: string): SqlExpression[] {
  const fields = new Set([...keyOf(table), orderOf(table), labelOf(table)])
  return [...fields].map((field) => sql`${reading(columnOf(table, field), ref(table, field, alias))} as ${sql.id(field)}`)
}

function valuesOf(now: Date, from: Readonly<Record<string, unknown>>): Row {
  return { now, ...Object.fromEntries(Object.entries(from).map(([field, value]) => [`from.${field}`, value])) }
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
      const found = expired(database, table, from, size, postgres && table.placed ? sql`t.ctid` : undefined)
      // A session that is being extended at this moment is left to whoever extends it.
      const chosen = postgres ? sql`${found} for update skip locked` : found
      return sql`${removing(table, chosen, postgres)} and ${ended(database, table)} returning ${sql.join(selected(table))}`
    },
    valuesOf(now, from),
  )
  return rows
}

/** `delete … where` it is one of those that were chosen: by place where a row that is locked has one, which costs a fourth of another look by key. */
function removing(table: Table, chosen: Sql, postgres: boolean): Sql {
  const name = nameOf(table)
  if (postgres && table.placed) return sql`delete from ${name} where ctid = any (array (${chosen}))`
  const key = keyOf(table)
  return sql`with gone as ${postgres ? sql`materialized` : sql``} (${chosen})
    delete from ${name} where (${sql.join(key.map((field) => ref(table, field)))}) in (select ${sql.join(key.map((field) => sql.id(field)))} from gone)`
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
        () => sql`${expired(database, table, from, size)} for update skip locked`,
        valuesOf(now, from),
      )
      if (rows.length === 0) return rows
      const key = keyOf(table)
      await database.run(
        tx,
        table,
        'delete expired',
        () => {
          // A planner that goes through a small table instead would wait for rows that somebody has locked.
          const index = key.name === undefined ? sql`` : sql`force index (${sql.id(key.name)})`
          return sql`delete t from ${nameOf(table)} as t ${index} where ${listed('mysql', table, key)} and ${ended(database, table)}`
        },
        { ...listValues(key, rows), now },
      )
      return rows
    })
}
