/** What the SQL adapter asks of a database: how many queries a sign-in costs, and that each of them finds its rows by an index. */
import { Kysely, type LogEvent, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inHours, newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { useOp } from '../_op/journey.ts'
import { createHost, createPerson } from './_journeys.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, openOutside, openSql, type SqlSpec } from './_stores.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }
// A dialect without RETURNING reads again what it wrote.
const budgets = { postgres: [5, 3, 1], libsql: [9, 5, 1], mysql: [12, 5, 1] } as const

type Db = Kysely<Record<string, Record<string, unknown>>>
type Query = LogEvent['query']

describe.each(['postgres', 'libsql', 'mysql'] as const)('%s', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    const op = useOp()
    let spec: SqlSpec
    let [db, outside]: Db[] = []
    let adapter: ReturnType<typeof openSql>
    let queries: Query[] = []
    beforeAll(async () => {
      spec = await newDatabase(kind)
      const { dialect, pool } = dialectOf(spec)
      db = new Kysely({ dialect, log: ({ query }) => void queries.push(query) })
      outside = openOutside(spec)
      adapter = openSql({ db, pool })
      // The layout is found by the first operation.
      await adapter.getUser('1')
    })
    afterAll(async () => {
      await adapter.close()
      await outside!.destroy()
      await dropStore(spec)
    })
    const queriesOf = async (work: () => unknown): Promise<Query[]> => {
      queries = []
      await work()
      return queries
    }

    it('an OIDC sign-up takes at most 9 queries, 5 on PostgreSQL; a return 5, and 3 there; a session read 1', async () => {
      // After 20 ms what was read is read again: a loaded machine must not change the count.
      const now = Date.now()
      const host = createHost(adapter, op(), 'database', { runtime: { now: () => now } })
      const ada = createPerson()
      const browser = host.client()
      const signUp = await queriesOf(() => host.signIn(host.client(), ada))
      const back = await queriesOf(() => host.signIn(browser, ada))
      const read = await queriesOf(() => browser.session())
      expect(host.errors).toEqual([])
      const counts = [signUp, back, read].map(({ length }) => length)
      // Else the log was not asked.
      expect(Math.min(...counts)).toBeGreaterThan(0)
      counts.forEach((count, at) =>
        expect(count, [signUp, back, read][at]!.map((query) => query.sql).join('\n')).toBeLessThanOrEqual(budgets[kind][at]!),
      )
    })

    it('a mark of `once` is one statement', async () => {
      const taking = await queriesOf(() => adapter.once.take('one statement', 60))
      expect(taking[0]!.sql).toMatch(/^insert into/)
      expect(taking).toHaveLength(kind === 'mysql' ? 2 : 1)
    })

    it('statements are compiled once: the same operation is the same text', async () => {
      const texts = async (): Promise<string[]> => (await queriesOf(() => everything())).map((query) => query.sql)
      expect(await texts()).toEqual(await texts())
    })

    it('each query finds its rows by an index', async () => {
      await fill()
      const asked = new Map((await queriesOf(() => everything())).map((query) => [query.sql, query]))
      const scans: string[] = []
      for (const { sql: text, parameters } of asked.values()) {
        if (/^(begin|commit|rollback|start|set|savepoint)/i.test(text)) continue
        const plan = await explain(text, parameters)
        if (plan.some(isScan)) scans.push([text.slice(0, 300), ...plan].join('\n  '))
      }
      expect(asked.size).toBeGreaterThan(25)
      expect(scans).toEqual([])
    })

    it('a table without that index is noticed', async () => {
      expect((await explain(`select * from users where name = 'nobody'`, [])).some(isScan)).toBe(true)
    })

    /** Every operation, with rows to find. */
    async function everything(): Promise<void> {
      const { userId: _none, ...account } = newAccount('')
      const key = { provider: account.provider, providerAccountId: account.providerAccountId as string }
      const user = await adapter.createUserWithAccount(newUser(), account)
      const other = await adapter.createUser(newUser())
      await adapter.getUser(user.id)
      await adapter.getUserByEmail(user.email)
      await adapter.getUserByAccount(key)
      await adapter.updateUser({ id: user.id, name: 'Countess' })
      const second = newAccount(user.id)
      await adapter.linkAccount(second)
      await adapter.updateAccount({ ...second, scope: 'openid' })
      await adapter.getAccount(second.providerAccountId as string, second.provider)
      await adapter.listAccountsByUserId(user.id)
      await adapter.unlinkAccount(second)
      const session = newSession(user.id)
      await adapter.createSession(session)
      await adapter.getSessionAndUser(session.sessionToken)
      await adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(9) })
      await adapter.listSessionsByUserId(user.id)
      await adapter.deleteSessionsByUserId(user.id, { sessionToken: session.sessionToken })
      await adapter.deleteSession(session.sessionToken)
      const token = newToken()
      await adapter.createVerificationToken(token)
      await adapter.useVerificationToken(token)
      await adapter.deleteVerificationTokens(token.identifier)
      const authenticator = newAuthenticator(user.id)
      await adapter.createAuthenticator(authenticator)
      await adapter.getAuthenticator(authenticator.credentialID)
      await adapter.listAuthenticatorsByUserId(user.id)
      await adapter.updateAuthenticatorCounter(authenticator.credentialID, 1_000_000)
      await adapter.deleteAuthenticator(authenticator.credentialID)
      await adapter.once.take(user.id, 60)
      await adapter.once.taken(user.id)
      await adapter.limit.take(user.id, { max: 3, seconds: 60 })
      await adapter.limit.refund(user.id)
      for (const expires of [inHours(-3), inHours(-2)]) {
        await adapter.createSession(newSession(user.id, { expires }))
        await adapter.createVerificationToken(newToken({ expires }))
      }
      await adapter.deleteExpired()
      await adapter.deleteUser(user.id)
      await adapter.deleteUser(other.id)
    }

    /** So many rows that a database rather takes an index. */
    async function fill(): Promise<void> {
      const numbers = [...Array(3_000).keys()]
      const date = (hours: number): string => (kind === 'mysql' ? inHours(hours).toISOString().slice(0, 19) : inHours(hours).toISOString())
      const insert = async (table: string, columns: string[], row: (n: number) => unknown[]): Promise<void> => {
        for (let at = 0; at < numbers.length; at += 300) {
          const rows = numbers.slice(at, at + 300).map((n) => sql`(${sql.join(row(n))})`)
          await sql`insert into ${sql.id(table)} (${sql.join(columns.map((name) => sql.id(name)))}) values ${sql.join(rows)}`.execute(
            outside!,
          )
        }
      }
      await insert('users', ['id', 'email'], (n) => [`id-${n}`, `filler-${n}@example.com`])
      await insert('accounts', ['id', 'userId', 'type', 'provider', 'providerAccountId'], (n) => [
        `id-${n}`,
        `id-${n}`,
        'oidc',
        'filler',
        `${n}`,
      ])
      await insert('sessions', ['id', 'sessionToken', 'userId', 'expires'], (n) => [`id-${n}`, `filler-${n}`, `id-${n}`, date(100 + n)])
      await insert('verification_token', ['identifier', 'token', 'expires'], (n) => [`filler-${n}`, `${n}`, date(100 + n)])
      await insert(
        'authenticators',
        ['credentialID', 'userId', 'providerAccountId', 'credentialPublicKey', 'counter', 'credentialDeviceType', 'credentialBackedUp'],
        (n) => [`filler-${n}`, `id-${n}`, `${n}`, 'key', 0, 'singleDevice', kind === 'libsql' ? 1 : true],
      )
      const tables = 'users, accounts, sessions, verification_token, authenticators'
      // SQLite takes a table for a big one until it is told otherwise.
      if (kind !== 'libsql') await sql.raw(`analyze ${kind === 'mysql' ? 'table ' : ''}${tables}`).execute(outside!)
    }

    /** The plan of a statement, by lines. PostgreSQL soon plans a prepared one without its values: that plan is the one to look at. */
    async function explain(text: string, parameters: readonly unknown[]): Promise<string[]> {
      if (kind === 'postgres')
        return outside!.connection().execute(async (connection) => {
          const values = parameters.map((value) =>
            value === null ? 'null' : `'${String(value instanceof Date ? value.toISOString() : value).replaceAll("'", "''")}'`,
          )
          await sql.raw(`set plan_cache_mode = force_generic_plan`).execute(connection)
          await sql.raw(`prepare looked_at as ${text}`).execute(connection)
          const { rows } = await sql
            .raw<Record<string, unknown>>(`explain execute looked_at ${values.length > 0 ? `(${values.join()})` : ''}`)
            .execute(connection)
          await sql.raw('deallocate looked_at').execute(connection)
          return rows.map((row) => String(row['QUERY PLAN']))
        })
      const how = kind === 'libsql' ? 'explain query plan' : 'explain'
      const compiled = { ...sql.raw(`${how} ${text}`).compile(outside!), parameters }
      const { rows } = await outside!.executeQuery<Record<string, unknown>>(compiled)
      return rows.map((row) => (kind === 'mysql' ? JSON.stringify(row) : String(row.detail)))
    }

    /** A line of a plan that goes through a whole table, or sorts what an index could give in order. */
    function isScan(line: string): boolean {
      if (kind === 'postgres') return /Seq Scan|Sort/.test(line)
      if (kind === 'libsql')
        return /^SCAN (?!gone\b|\d+ CONSTANT ROWS)(?!.*USING (COVERING )?INDEX)/.test(line) || line === 'USE TEMP B-TREE FOR ORDER BY'
      // An insert has a line of its own, without rows to look at.
      const { type, rows, Extra } = JSON.parse(line) as { type: string | null; rows: number | null; Extra: string | null }
      return (type === 'ALL' && rows !== null) || /filesort/.test(Extra ?? '')
    }
  })
})
