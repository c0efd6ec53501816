/** Rows that have ended where dates are texts: these compare wrongly by hours, and in some formats wholly, so each one is read. */
import { isDate } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { type Batch, batchSize, keyOf, labelOf, listed, listValues, type Row } from './expire-batch.ts'
import { columnOf, nameOf, ref } from './refs.ts'
import { Slot, type Values } from './statements.ts'
import type { SqlExpression, Table } from './types.ts'
import { decoderOf } from './values.ts'

const day = 86_400_000

/** Reads a batch in the order of its keys, and deletes those of it that have ended by one statement. */
export async function textBatch(database: Database, table: Table, now: Date, from: Values, size: number): Promise<Batch> {
  const { db, run } = database
  const expires = columnOf(table, 'expires')
  // ISO texts begin with the day, in some zone or other: what ends two days later has not ended.
  const bounded = expires.kind === 'iso'
  const order = [...(bounded && table.indexed.has('expires') ? ['expires'] : []), ...keyOf(table)]
  const fields = [...new Set([...order, 'expires', labelOf(table)])]
  const bound = new Date(now.getTime() + 2 * day).toISOString().slice(0, 10)
  const { rows } = await run<Row>(
    db,
    table,
    `texts ${Object.keys(from).join()}`,
    () => {
      const conditions = [
        ...(bounded ? [sql`${ref(table, 'expires')} < ${new Slot('bound')}`] : []),
        ...(Object.keys(from).length > 0 ? [beyond(table, order)] : []),
      ]
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
      const columns = sql.join(order.map((field) => ref(table, field)))
      return sql`select ${sql.join(fields.map((field) => sql`${ref(table, field)} as ${sql.id(field)}`))}
        from ${nameOf(table)} ${where} order by ${columns} limit ${sql.lit(batchSize)}`
    },
    { bound, ...Object.fromEntries(order.map((field) => [`from.${field}`, from[field]])) },
  )
  const read = decoderOf(expires)!
  const ended = rows.filter((row) => isBefore(now, () => read(row.expires))).slice(0, size)
  if (ended.length > 0) {
    const key = keyOf(table)
    await run(
      db,
      table,
      'delete texts',
      // A row whose date has been changed meanwhile has none of these texts: all of them stand for dates that have passed. Cast, so that
      // the rows are found by their key.
      () => {
        const text = sql`cast(${ref(table, 'expires')} as ${database.dialect === 'mysql' ? sql`char` : sql`text`})`
        const texts = sql.join([...Array(batchSize).keys()].map((at) => sql`${new Slot(`expires.${at}`)}`))
        return sql`delete from ${nameOf(table)} where ${listed(database.dialect, table, key)} and ${text} in (${texts})`
      },
      listValues([...key, 'expires'], ended),
    )
  }
  return { deleted: ended.map((row) => row[labelOf(table)]), next: rows.length < batchSize ? undefined : rows.at(-1) }
}

// What nobody can read is not deleted.
function isBefore(now: Date, read: () => unknown): boolean {
  try {
    const date = read()
    return isDate(date) && date < now
  } catch {
    return false
  }
}

/** `(a, b) > (1, 2)`, in the form that every planner takes for a range of an index. */
function beyond(table: Table, order: readonly string[]): SqlExpression {
  const value = (field: string): SqlExpression => sql`${new Slot(`from.${field}`)}`
  const alternatives = order.map((field, at) =>
    sql.join(
      [...order.slice(0, at).map((before) => sql`${ref(table, before)} = ${value(before)}`), sql`${ref(table, field)} > ${value(field)}`],
      sql` and `,
    ),
  )
  const first = order[0]!
  return sql`${ref(table, first)} >= ${value(first)} and (${sql.join(alternatives, sql` or `)})`
}
