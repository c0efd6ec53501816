/**
 * The services `once` and `limit` in the table of verification tokens: no table of their own (D35, D54). A row is a mark; that the same row
 * cannot be inserted twice is what makes one taker of many.
 */
import { type Limit, type Once, sha256, toHex } from 'authkernel/kernel'
import type { Database } from './database.ts'
import { type Mark, place } from './marks.ts'
import { find, remove } from './rows.ts'

/** One-time use that all processes see. */
export function createOnce(database: Database, now: () => number): Once {
  const { db, repeat, table } = database
  return {
    shared: true,
    async take(key, ttlSeconds) {
      const rows = await table('tokens')
      const token = await digest(key)
      return place(database, rows, { identifier: `once:${token}`, token, expires: new Date(now() + ttlSeconds * 1000) }, now())
    },
    async taken(key) {
      const rows = await table('tokens')
      const token = await digest(key)
      const marks = await repeat(() => find<Mark>(database, db, rows, { identifier: `once:${token}`, token }))
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
      const hash = await digest(key)
      const identifier = `limit:${hash}`
      const live = (marks: readonly Mark[]): Mark[] => marks.filter(({ expires }) => expires.getTime() > now())
      const used = live(await repeat(() => find<Mark>(database, db, rows, { identifier })))
      const places = new Set(used.map(({ token }) => token))
      const expires = new Date(now() + seconds * 1000)
      // From anywhere: those who come at the same moment would all want the first free place.
      const start = Math.floor(Math.random() * max)
      for (let step = 0; step < max; step++) {
        const token = `${hash}:${(start + step) % max}`
        if (!places.has(token) && (await place(database, rows, { identifier, token, expires }, now())))
          return { allowed: true, retryAfter: 0 }
      }
      const first = Math.min(expires.getTime(), ...used.map((each) => each.expires.getTime()))
      return { allowed: false, retryAfter: Math.max(1, Math.ceil((first - now()) / 1000)) }
    },
    async refund(key) {
      const rows = await table('tokens')
      const identifier = `limit:${await digest(key)}`
      const used = await repeat(() => find<Mark>(database, db, rows, { identifier }))
      // The latest that nobody else takes away in the same moment.
      for (const { token, attempt } of used.sort((a, b) => b.expires.getTime() - a.expires.getTime())) {
        let tries = 0
        // This mark, not one that took its place meanwhile.
        const removed = await repeat(() => {
          tries++
          return remove(database, db, rows, { identifier, token, ...(attempt && { attempt }) })
        })
        // A statement whose answer was lost may have removed it: a second mark must not go for one refund.
        if (removed > 0 || tries > 1) return
      }
    },
  }
}

// Keys may be longer than a column and hold anything.
async function digest(key: string): Promise<string> {
  return toHex(await sha256(key))
}
