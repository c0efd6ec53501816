/** Sessions of the SQL adapter. */
import type { Adapter, AdapterSession, AdapterUser } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { batchSize, listed, listValues } from './expire-batch.ts'
import { isUnique } from './introspect.ts'
import { selection, toRecord } from './records.ts'
import { nameOf, ref } from './refs.ts'
import { find, insertOwned, matching, possible, remove, take, update } from './rows.ts'
import { Slot } from './statements.ts'
import { onceMine } from './tokens.ts'
import type { SqlExpression } from './types.ts'

// Of one statement that has a place for each: SQLite binds at most 32,766 values.
const manySessions = 10_000
// Where the server sees no places.
const mostSessions = 100_000

type Sessions = Pick<
  Required<Adapter>,
  | 'createSession'
  | 'getSessionAndUser'
  | 'updateSession'
  | 'deleteSession'
  | 'listSessionsByUserId'
  | 'deleteSessionsByUserId'
  | 'deleteSessions'
>

export function sessions(database: Database): Sessions {
  const { db, repeat, retry, table, transaction } = database
  return {
    async createSession(session) {
      const [rows, people] = [await table('sessions'), await table('users')]
      const { sessionToken, userId } = session
      if (isUnique(rows, 'sessionToken')) {
        // The token is random: a session of this token and this person is the one that was asked for.
        const isThere = async (): Promise<boolean> =>
          (await find<AdapterSession>(database, db, rows, { sessionToken })).some((found) => found.userId === userId)
        await onceMine(database, () => insertOwned(database, db, rows, people, session), isThere)
      } else {
        await transaction(async (tx) => {
          if ((await find(database, tx, rows, { sessionToken })).length > 0) throw new Error('[sql] this session token is already taken')
          await insertOwned(database, tx, rows, people, session)
        }, true)
      }
      return session
    },
    async getSessionAndUser(sessionToken) {
      const [rows, people] = [await table('sessions'), await table('users')]
      const match = { sessionToken }
      if (!possible(rows, match)) return null
      const build = () => sql`select ${selection(rows, 's', 's_')}, ${selection(people, 'u', 'u_')} from ${nameOf(rows)} as s
        join ${nameOf(people)} as u on ${ref(people, 'id', 'u')} = ${ref(rows, 'userId', 's')} where ${matching(database, rows, ['sessionToken'], 's')}`
      const [row] = (await repeat(() => database.run(db, rows, 'session and user', build, match))).rows
      return row ? { session: toRecord<AdapterSession>(rows, row, 's_'), user: toRecord<AdapterUser>(people, row, 'u_') } : null
    },
    async updateSession({ sessionToken, userId: _owner, ...change }) {
      const rows = await table('sessions')
      return repeat(async () => {
        await update(database, db, rows, { sessionToken }, change)
        return (await find<AdapterSession>(database, db, rows, { sessionToken }))[0] ?? null
      })
    },
    async deleteSession(sessionToken) {
      const rows = await table('sessions')
      return retry(() => take<AdapterSession>(database, db, rows, { sessionToken }))
    },
    async listSessionsByUserId(userId) {
      const rows = await table('sessions')
      return repeat(() => find<AdapterSession>(database, db, rows, { userId }))
    },
    async deleteSessionsByUserId(userId, except) {
      const rows = await table('sessions')
      const others = except && {
        key: 'others',
        sql: () => sql`and not (${matching(database, rows, ['sessionToken'], undefined, 'except.')})`,
        values: { 'except.sessionToken': except.sessionToken },
      }
      await repeat(() => remove(database, db, rows, { userId }, others))
    },
    async deleteSessions(sessionTokens) {
      const rows = await table('sessions')
      const { dialect } = database
      const many = sessionTokens.length > manySessions
      if (many && dialect !== 'mysql') {
        const build = () =>
          sql`delete from ${nameOf(rows)} where ${ref(rows, 'sessionToken')} in (${elements(dialect, new Slot('tokens'))})`
        const tokens = JSON.stringify(sessionTokens)
        await repeat(() => database.run(db, rows, 'delete a list of sessions', build, { tokens }))
        return
      }
      // Three statements fit all: most people have few sessions.
      const size = many ? mostSessions : sessionTokens.length > batchSize ? manySessions : batchSize
      const build = () => sql`delete from ${nameOf(rows)} where ${listed(database.dialect, rows, ['sessionToken'], size)}`
      for (let from = 0; from < sessionTokens.length; from += size) {
        const batch = sessionTokens.slice(from, from + size).map((sessionToken) => ({ sessionToken }))
        await repeat(() => database.run(db, rows, `delete ${size} sessions`, build, listValues(['sessionToken'], batch, size)))
      }
    },
  }
}

/** The texts of a JSON array: one value, however many they are. */
function elements(dialect: 'postgres' | 'sqlite', list: Slot): SqlExpression {
  return dialect === 'postgres' ? sql`select json_array_elements_text(cast(${list} as json))` : sql`select value from json_each(${list})`
}
