/** Sessions of the SQL adapter. */
import type { Adapter, AdapterSession, AdapterUser } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isUnique } from './introspect.ts'
import { batchSize, canExist, findRows, inList, insertOwned, matchFields, removeRows, takeRow, updateRows, valuesOfList } from './rows.ts'
import { columnRef, Slot, tableRef } from './statements.ts'
import { insertOnce } from './tokens.ts'
import type { SqlExpression } from './types.ts'
import { selectColumns, toRecord } from './values.ts'

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

export function sessionMethods(database: Database): Sessions {
  const { db, repeat, retry, table, transaction } = database
  return {
    async createSession(session) {
      const [rows, users] = [await table('sessions'), await table('users')]
      const { sessionToken, userId } = session
      if (isUnique(rows, 'sessionToken')) {
        // The token is random: a session of this token and this user is the one of this call.
        const isThere = async (): Promise<boolean> =>
          (await findRows<AdapterSession>(database, db, rows, { sessionToken })).some((found) => found.userId === userId)
        await insertOnce(database, () => insertOwned(database, db, rows, users, session), isThere)
      } else {
        await transaction(async (tx) => {
          if ((await findRows(database, tx, rows, { sessionToken })).length > 0)
            throw new Error('[sql] this session token is already taken')
          await insertOwned(database, tx, rows, users, session)
        }, true)
      }
      return session
    },
    async getSessionAndUser(sessionToken) {
      const [rows, users] = [await table('sessions'), await table('users')]
      const match = { sessionToken }
      if (!canExist(rows, match)) return null
      const build = () => sql`select ${selectColumns(rows, 's', 's_')}, ${selectColumns(users, 'u', 'u_')} from ${tableRef(rows)} as s
        join ${tableRef(users)} as u on ${columnRef(users, 'id', 'u')} = ${columnRef(rows, 'userId', 's')} where ${matchFields(database, rows, ['sessionToken'], 's')}`
      const [row] = (await repeat(() => database.run(db, rows, 'session and user', build, match))).rows
      return row ? { session: toRecord<AdapterSession>(rows, row, 's_'), user: toRecord<AdapterUser>(users, row, 'u_') } : null
    },
    async updateSession({ sessionToken, userId: _owner, ...change }) {
      const rows = await table('sessions')
      return repeat(async () => {
        await updateRows(database, db, rows, { sessionToken }, change)
        return (await findRows<AdapterSession>(database, db, rows, { sessionToken }))[0] ?? null
      })
    },
    async deleteSession(sessionToken) {
      const rows = await table('sessions')
      return retry(() => takeRow<AdapterSession>(database, db, rows, { sessionToken }))
    },
    async listSessionsByUserId(userId) {
      const rows = await table('sessions')
      return repeat(() => findRows<AdapterSession>(database, db, rows, { userId }))
    },
    async deleteSessionsByUserId(userId, except) {
      const rows = await table('sessions')
      const others = except && {
        key: 'others',
        sql: () => sql`and not (${matchFields(database, rows, ['sessionToken'], undefined, 'except.')})`,
        values: { 'except.sessionToken': except.sessionToken },
      }
      await repeat(() => removeRows(database, db, rows, { userId }, others))
    },
    async deleteSessions(sessionTokens) {
      const rows = await table('sessions')
      const { dialect } = database
      const many = sessionTokens.length > manySessions
      if (many && dialect !== 'mysql') {
        const build = () =>
          sql`delete from ${tableRef(rows)} where ${columnRef(rows, 'sessionToken')} in (${arrayElements(dialect, new Slot('tokens'))})`
        const tokens = JSON.stringify(sessionTokens)
        await repeat(() => database.run(db, rows, 'delete a list of sessions', build, { tokens }))
        return
      }
      // Three statements fit all: most users have few sessions.
      const size = many ? mostSessions : sessionTokens.length > batchSize ? manySessions : batchSize
      const build = () => sql`delete from ${tableRef(rows)} where ${inList(database.dialect, rows, ['sessionToken'], size)}`
      for (let from = 0; from < sessionTokens.length; from += size) {
        const batch = sessionTokens.slice(from, from + size).map((sessionToken) => ({ sessionToken }))
        await repeat(() => database.run(db, rows, `delete ${size} sessions`, build, valuesOfList(['sessionToken'], batch, size)))
      }
    },
  }
}

/** The texts of a JSON array: one value, however many they are. */
function arrayElements(dialect: 'postgres' | 'sqlite', list: Slot): SqlExpression {
  return dialect === 'postgres' ? sql`select json_array_elements_text(cast(${list} as json))` : sql`select value from json_each(${list})`
}
