/** Marks: rows of which one attempt of many gets each. */
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isConflict } from './dialect.ts'
import { columnOf, ref } from './refs.ts'
import { counting, countOf, find, insert, into, remove } from './rows.ts'
import type { Sql, SqlExpression, Table } from './types.ts'
import { writing } from './values.ts'

/** A row of the table of verification tokens. */
export interface Mark {
  identifier: string
  token: string
  expires: Date
  /** Random value of the attempt that has the mark. */
  attempt?: string
}

/**
 * Whether this attempt has the mark now: nobody had it, or who had it had it until before `now`, in milliseconds. When the answer of the
 * statement is lost with its connection, the repetition finds its own value in the row and is accepted.
 */
export async function place(database: Database, rows: Table, mark: Mark, now: number): Promise<boolean> {
  const { repeat, retry, transaction } = database
  const target = rows.unique.find((list) => list.every((field) => field === 'identifier' || field === 'token'))
  const given = { ...mark, attempt: crypto.randomUUID(), id: crypto.randomUUID() }
  // Without a column for it the repetition could not know itself: the failure is told.
  const again = rows.columns.has('attempt') ? repeat : retry
  if (!target) return again(() => transaction((tx) => slowly(database, tx, rows, given, now), true))
  return again(() => (database.dialect === 'mysql' ? replace(database, rows, given, now) : upsert(database, rows, target, given, now)))
}

async function upsert(database: Database, rows: Table, target: readonly string[], mark: Required<Mark>, now: number): Promise<boolean> {
  const result = await database.run(database.db, rows, 'mark', () => placing(database, rows, target), { ...mark, now: new Date(now) })
  return countOf(database, result) > 0
}

function placing(database: Database, rows: Table, target: readonly string[]): Sql {
  const fields = fieldsOf(rows)
  const { head, values } = into(database, rows, fields, 'm')
  const fresh = (field: string): SqlExpression => ref(rows, field, 'excluded')
  const changed = fields.filter((field) => field === 'expires' || field === 'attempt')
  const own = fields.includes('attempt') ? sql` or ${ref(rows, 'attempt', 'm')} = ${fresh('attempt')}` : sql``
  return counting(
    database,
    sql`${head} values (${values}) on conflict (${sql.join(target.map((field) => ref(rows, field)))})
      do update set ${sql.join(changed.map((field) => sql`${ref(rows, field)} = ${fresh(field)}`))}
      where ${ref(rows, 'expires', 'm')} <= ${writing(database.dialect, columnOf(rows, 'expires'), 'now')}${own}`,
  )
}

/** MySQL has no condition on the conflict and does not say which of the two happened: the value in the row does. */
async function replace(database: Database, rows: Table, mark: Required<Mark>, now: number): Promise<boolean> {
  const { db, run } = database
  if (!rows.columns.has('attempt')) {
    return slowly(database, db, rows, mark, now).catch((error: unknown) => {
      if (isConflict(error)) return false
      throw error
    })
  }
  await run(db, rows, 'mark', () => replacing(database, rows), { ...mark, now: new Date(now) })
  const { identifier, token, attempt } = mark
  const [found] = await find<Mark>(database, db, rows, { identifier, token })
  return found?.attempt === attempt
}

function replacing(database: Database, rows: Table): Sql {
  const { head, values } = into(database, rows, fieldsOf(rows))
  const [attempt, expires] = [ref(rows, 'attempt'), ref(rows, 'expires')]
  const now = writing(database.dialect, columnOf(rows, 'expires'), 'now')
  // In this order: the second assignment sees the first.
  return sql`${head} values (${values}) on duplicate key update
    ${attempt} = if(${expires} <= ${now} or ${attempt} = values(${attempt}), values(${attempt}), ${attempt}),
    ${expires} = if(${attempt} = values(${attempt}), values(${expires}), ${expires})`
}

/** For schemas in which no index keeps marks apart, in a serializable transaction; and for those without a column for the attempt. */
async function slowly(database: Database, db: Runner, rows: Table, mark: Required<Mark>, now: number): Promise<boolean> {
  const { identifier, token, attempt } = mark
  const match = { identifier, token }
  const found = await find<Mark>(database, db, rows, match)
  const live = found.find(({ expires }) => expires.getTime() > now)
  if (live) return live.attempt === attempt
  if (found.length > 0) {
    const expires = columnOf(rows, 'expires')
    const ended = {
      key: 'ended',
      sql: () => sql`and ${ref(rows, 'expires')} <= ${writing(database.dialect, expires, 'now')}`,
      values: { now: new Date(now) },
    }
    await remove(database, db, rows, match, ended)
  }
  await insert(database, db, rows, mark, match)
  return true
}

function fieldsOf(rows: Table): string[] {
  return ['identifier', 'token', 'expires', 'attempt', 'id'].filter(
    (field) => rows.columns.has(field) && (field !== 'id' || !columnOf(rows, 'id').filled),
  )
}
