/**
 * The services `once` and `limit` in the table of verification tokens: no table of their own (D35, D54). A row is a mark; that the same row
 * cannot be inserted twice is what makes one taker of many.
 */
import { type Limit, type Once, sha256, toHex } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isUnique } from './introspect.ts'
import { nameOf, ref } from './refs.ts'
import { find, insert, remove, matching } from './rows.ts'
import type { Table } from './types.ts'
import { writing } from './values.ts'

interface Mark {
  identifier: string
  token: string
  expires: Date
}

/** One-time use that all processes see. */
export function createOnce(database: Database, now: () => number): Once {
  const { db, read, retry, table } = database
  return {
    shared: true,
    async take(key, ttlSeconds) {
      const rows = await table('tokens')
      const hash = await digest(key)
      await sweep(database, rows, `once:${hash}`, now())
      return retry(() => mark(database, rows, { identifier: `once:${hash}`, token: hash, expires: new Date(now() + ttlSeconds * 1000) }))
    },
    async taken(key) {
      const rows = await table('tokens')
      const identifier = `once:${await digest(key)}`
      return (await read(() => find<Mark>(database, db, rows, { identifier }))).some(({ expires }) => expires.getTime() > now())
    },
  }
}

/** Attempts that all processes count: one row per attempt, in one of `max` places. */
export function createLimit(database: Database, now: () => number): Limit {
  const { db, read, retry, table } = database
  return {
    async take(key, { max, seconds }) {
      const rows = await table('tokens')
      const hash = await digest(key)
      const identifier = `limit:${hash}`
      await sweep(database, rows, identifier, now())
      const used = await read(() => find<Mark>(database, db, rows, { identifier }))
      const places = new Set(used.map(({ token }) => token))
      const expires = new Date(now() + seconds * 1000)
      for (let place = 0; place < max; place++) {
        const token = `${hash}:${place}`
        if (!places.has(token) && (await retry(() => mark(database, rows, { identifier, token, expires }))))
          return { allowed: true, retryAfter: 0 }
      }
      const first = Math.min(expires.getTime(), ...used.map((each) => each.expires.getTime()))
      return { allowed: false, retryAfter: Math.max(1, Math.ceil((first - now()) / 1000)) }
    },
    async refund(key) {
      const rows = await table('tokens')
      const identifier = `limit:${await digest(key)}`
      const used = await read(() => find<Mark>(database, db, rows, { identifier }))
      const latest = used.sort((a, b) => b.expires.getTime() - a.expires.getTime())[0]
      if (latest) await retry(() => remove(database, db, rows, { identifier, token: latest.token }))
    },
  }
}

/** Inserts a mark, or answers false when it is there. */
async function mark(database: Database, rows: Table, row: Mark): Promise<boolean> {
  const { db, transaction } = database
  const match = { identifier: row.identifier, token: row.token }
  const store = async (runner: Parameters<typeof find>[1]): Promise<boolean> => {
    if ((await find(database, runner, rows, match)).length > 0) return false
    await insert(database, runner, rows, row, match)
    return true
  }
  if (!isUnique(rows, 'identifier', 'token') && !isUnique(rows, 'token')) return transaction(store, true)
  try {
    return await store(db)
  } catch (error) {
    // Lost by a moment: the row is there now. Any other failure is one.
    if ((await find(database, db, rows, match)).length > 0) return false
    throw error
  }
}

/** What has ended counts no more. */
async function sweep(database: Database, rows: Table, identifier: string, now: number): Promise<void> {
  const expires = rows.columns.get('expires')!
  const ended = sql`and ${ref(rows, 'expires')} <= ${writing(database.dialect, expires, new Date(now))}`
  const query = sql`delete from ${nameOf(rows)} where ${matching(database, rows, { identifier })} ${ended}`
  await database.retry(() => query.execute(database.db))
}

// Keys may be longer than a column and hold anything.
async function digest(key: string): Promise<string> {
  return toHex(await sha256(key))
}
