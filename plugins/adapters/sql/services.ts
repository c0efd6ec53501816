/** The services `once` and `limit` in the table of verification tokens. A row is a mark: the same row cannot be inserted twice, so one caller of many gets it. */
import { type Limit, type Once, sha256, toHex } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isConflict } from './dialect.ts'
import { countingQuery, countAffectedRows, findRows, insertInto, insertRow, removeRows } from './rows.ts'
import { columnOf, columnRef } from './statements.ts'
import type { Sql, SqlExpression, Table } from './types.ts'
import { writeExpression } from './values.ts'

/** Replay protection that all processes see. */
export function createOnce(database: Database, now: () => number): Once {
  const { db, repeat, table } = database
  return {
    shared: true,
    async take(key, ttlSeconds) {
      const rows = await table('tokens')
      const token = await digestKey(key)
      return placeMark(database, rows, { identifier: `once:${token}`, token, expires: new Date(now() + ttlSeconds * 1000) }, now())
    },
    async taken(key) {
      const rows = await table('tokens')
      const token = await digestKey(key)
      const marks = await repeat(() => findRows<Mark>(database, db, rows, { identifier: `once:${token}`, token }))
      return marks.some(({ expires }) => expires.getTime() > now())
    },
  }
}

/** Attempts that all processes count: one row per attempt, in one of `max` places. */
export function createLimit(database: Database, now: () => number): Limit {
  const { db, repeat, table } = database
  return {
    async take(key, { max, seconds }) {
      const rows = await table('tokens')
      const hash = await digestKey(key)
      const identifier = `limit:${hash}`
      const live = (marks: readonly Mark[]): Mark[] => marks.filter(({ expires }) => expires.getTime() > now())
      const used = live(await repeat(() => findRows<Mark>(database, db, rows, { identifier })))
      const places = new Set(used.map(({ token }) => token))
      const expires = new Date(now() + seconds * 1000)
      // From anywhere: those who come at the same moment would all want the first free place.
      const start = Math.floor(Math.random() * max)
      for (let step = 0; step < max; step++) {
        const token = `${hash}:${(start + step) % max}`
        if (!places.has(token) && (await placeMark(database, rows, { identifier, token, expires }, now())))
          return { allowed: true, retryAfter: 0 }
      }
      const first = Math.min(expires.getTime(), ...used.map((each) => each.expires.getTime()))
      return { allowed: false, retryAfter: Math.max(1, Math.ceil((first - now()) / 1000)) }
    },
    async refund(key) {
      const rows = await table('tokens')
      const identifier = `limit:${await digestKey(key)}`
      const used = await repeat(() => findRows<Mark>(database, db, rows, { identifier }))
      // The latest that no other caller takes away in the same moment.
      for (const { token, attempt } of used.sort((a, b) => b.expires.getTime() - a.expires.getTime())) {
        let tries = 0
        // This mark, not one that took its place meanwhile.
        const count = await repeat(() => {
          tries++
          return removeRows(database, db, rows, { identifier, token, ...(attempt && { attempt }) })
        })
        // A statement whose answer was lost may have removed it: a second mark must not go for one refund.
        if (count > 0 || tries > 1) return
      }
    },
  }
}

// Keys may be longer than a column and hold anything.
async function digestKey(key: string): Promise<string> {
  return toHex(await sha256(key))
}

/** A row of the table of verification tokens. */
interface Mark {
  identifier: string
  token: string
  expires: Date
  /** Random value of the attempt that has the mark. */
  attempt?: string
}

/**
 * Whether this attempt has the mark now: it was free, or its former holder had it until before `now`, in milliseconds. When the answer of the
 * statement is lost with its connection, the repetition finds its own value in the row and is accepted.
 */
async function placeMark(database: Database, rows: Table, mark: Mark, now: number): Promise<boolean> {
  const { repeat, retry, transaction } = database
  const target = rows.unique.find((list) => list.every((field) => field === 'identifier' || field === 'token'))
  const attempt = { ...mark, attempt: crypto.randomUUID(), id: crypto.randomUUID() }
  // Without a column for it the repetition could not know itself: the failure is thrown.
  const again = rows.columns.has('attempt') ? repeat : retry
  if (!target) return again(() => transaction((tx) => placeByReading(database, tx, rows, attempt, now), true))
  return again(() =>
    database.dialect === 'mysql' ? replaceMark(database, rows, attempt, now) : upsertMark(database, rows, target, attempt, now),
  )
}

async function upsertMark(database: Database, rows: Table, target: readonly string[], mark: Required<Mark>, now: number): Promise<boolean> {
  const result = await database.run(database.db, rows, 'mark', () => upsertStatement(database, rows, target), {
    ...mark,
    now: new Date(now),
  })
  return countAffectedRows(database, result) > 0
}

function upsertStatement(database: Database, rows: Table, target: readonly string[]): Sql {
  const fields = markFieldsOf(rows)
  const { head, values } = insertInto(database, rows, fields, 'm')
  const fresh = (field: string): SqlExpression => columnRef(rows, field, 'excluded')
  const changed = fields.filter((field) => field === 'expires' || field === 'attempt')
  const own = fields.includes('attempt') ? sql` or ${columnRef(rows, 'attempt', 'm')} = ${fresh('attempt')}` : sql``
  return countingQuery(
    database,
    sql`${head} values (${values}) on conflict (${sql.join(target.map((field) => columnRef(rows, field)))})
      do update set ${sql.join(changed.map((field) => sql`${columnRef(rows, field)} = ${fresh(field)}`))}
      where ${columnRef(rows, 'expires', 'm')} <= ${writeExpression(database.dialect, columnOf(rows, 'expires'), 'now')}${own}`,
  )
}

/** MySQL has no condition on the conflict and does not say which of the two happened: the value in the row does. */
async function replaceMark(database: Database, rows: Table, mark: Required<Mark>, now: number): Promise<boolean> {
  const { db, run } = database
  if (!rows.columns.has('attempt')) {
    return placeByReading(database, db, rows, mark, now).catch((error: unknown) => {
      if (isConflict(error)) return false
      throw error
    })
  }
  await run(db, rows, 'mark', () => replaceStatement(database, rows), { ...mark, now: new Date(now) })
  const { identifier, token, attempt } = mark
  const [found] = await findRows<Mark>(database, db, rows, { identifier, token })
  return found?.attempt === attempt
}

function replaceStatement(database: Database, rows: Table): Sql {
  const { head, values } = insertInto(database, rows, markFieldsOf(rows))
  const [attempt, expires] = [columnRef(rows, 'attempt'), columnRef(rows, 'expires')]
  const now = writeExpression(database.dialect, columnOf(rows, 'expires'), 'now')
  // In this order: the second assignment sees the first.
  return sql`${head} values (${values}) on duplicate key update
    ${attempt} = if(${expires} <= ${now} or ${attempt} = values(${attempt}), values(${attempt}), ${attempt}),
    ${expires} = if(${attempt} = values(${attempt}), values(${expires}), ${expires})`
}

/** For schemas in which no index keeps marks apart, in a serializable transaction; and for those without a column for the attempt. */
async function placeByReading(database: Database, db: Runner, rows: Table, mark: Required<Mark>, now: number): Promise<boolean> {
  const { identifier, token, attempt } = mark
  const match = { identifier, token }
  const found = await findRows<Mark>(database, db, rows, match)
  const live = found.find(({ expires }) => expires.getTime() > now)
  if (live) return live.attempt === attempt
  if (found.length > 0) {
    const expires = columnOf(rows, 'expires')
    const endedGuard = {
      key: 'ended',
      sql: () => sql`and ${columnRef(rows, 'expires')} <= ${writeExpression(database.dialect, expires, 'now')}`,
      values: { now: new Date(now) },
    }
    await removeRows(database, db, rows, match, endedGuard)
  }
  await insertRow(database, db, rows, mark, match)
  return true
}

function markFieldsOf(rows: Table): string[] {
  return ['identifier', 'token', 'expires', 'attempt', 'id'].filter(
    (field) => rows.columns.has(field) && (field !== 'id' || !columnOf(rows, 'id').filled),
  )
}
