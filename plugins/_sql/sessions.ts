/** Sessions and verification tokens of the SQL adapter. */
import type { Adapter, AdapterSession, AdapterUser, VerificationToken } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isUnique } from './introspect.ts'
import { nameOf, ref } from './refs.ts'
import { find, insert, insertOwned, matching, possible, remove, selection, take, toRecord, update } from './rows.ts'
import { writing } from './values.ts'

type Sessions = Pick<
  Required<Adapter>,
  | 'createSession'
  | 'getSessionAndUser'
  | 'updateSession'
  | 'deleteSession'
  | 'listSessionsByUserId'
  | 'deleteSessionsByUserId'
  | 'deleteExpired'
>
type Tokens = Pick<Required<Adapter>, 'createVerificationToken' | 'useVerificationToken' | 'deleteVerificationTokens'>

export function sessions(database: Database): Sessions {
  const { db, dialect, read, retry, table, transaction } = database
  return {
    async createSession(session) {
      const [rows, people] = [await table('sessions'), await table('users')]
      if (isUnique(rows, 'sessionToken')) await retry(() => insertOwned(database, db, rows, people, session))
      else {
        await transaction(async (tx) => {
          const { sessionToken } = session
          if ((await find(database, tx, rows, { sessionToken })).length > 0) throw new Error('[sql] this session token is already taken')
          await insertOwned(database, tx, rows, people, session)
        }, true)
      }
      return session
    },
    async getSessionAndUser(sessionToken) {
      const [rows, people] = [await table('sessions'), await table('users')]
      if (!possible(rows, { sessionToken })) return null
      const query = sql`select ${selection(rows, 's', 's_')}, ${selection(people, 'u', 'u_')} from ${nameOf(rows)} as s
        join ${nameOf(people)} as u on ${ref(people, 'id', 'u')} = ${ref(rows, 'userId', 's')} where ${matching(database, rows, { sessionToken }, 's')}`
      const [row] = (await read(() => query.execute(db))).rows
      return row ? { session: toRecord<AdapterSession>(rows, row, 's_'), user: toRecord<AdapterUser>(people, row, 'u_') } : null
    },
    async updateSession({ sessionToken, userId: _owner, ...change }) {
      const rows = await table('sessions')
      return retry(async () => {
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
      return read(() => find<AdapterSession>(database, db, rows, { userId }))
    },
    async deleteSessionsByUserId(userId, except) {
      const rows = await table('sessions')
      const others = except ? sql`and not (${matching(database, rows, { sessionToken: except.sessionToken })})` : sql``
      await retry(() => remove(database, db, rows, { userId }, others))
    },
    async deleteExpired(now) {
      for (const kind of ['sessions', 'tokens'] as const) {
        const rows = await table(kind)
        const expires = rows.columns.get('expires')!
        const query = sql`select ${selection(rows)} from ${nameOf(rows)} where ${ref(rows, 'expires')} < ${writing(dialect, expires, now)}`
        // Dates that are text compare as text, which some formats do wrongly by hours: each one is looked at.
        const found = (await read(() => query.execute(db))).rows.map((row) =>
          toRecord<Record<string, unknown> & { expires: Date }>(rows, row),
        )
        for (const row of found.filter((each) => each.expires < now)) {
          const { sessionToken, identifier, token } = row
          await retry(() => remove(database, db, rows, kind === 'sessions' ? { sessionToken } : { identifier, token }))
        }
      }
    },
  }
}

export function tokens(database: Database): Tokens {
  const { db, retry, table } = database
  return {
    async createVerificationToken(token) {
      const rows = await table('tokens')
      await retry(() => insert(database, db, rows, token, { identifier: token.identifier, token: token.token }))
      return token
    },
    async useVerificationToken({ identifier, token }) {
      const rows = await table('tokens')
      return retry(() => take<VerificationToken>(database, db, rows, { identifier, token }))
    },
    async deleteVerificationTokens(identifier) {
      const rows = await table('tokens')
      await retry(() => remove(database, db, rows, { identifier }))
    },
  }
}
