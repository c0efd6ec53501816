/** What may happen to a database while people sign in: it goes away, hangs, deadlocks, is full, holds nonsense. */
import { createClient } from '@libsql/client'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { useOp } from '../_op/journey.ts'
import { createHost, createPerson } from './_journeys.ts'
import { reachable, servers } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openSql, type SqlSpec, openOutside } from './_stores.ts'

const server = { postgres: await reachable('postgres'), mysql: await reachable('mysql') }

describe.skipIf(!server.postgres)('PostgreSQL', () => {
  const op = useOp()
  let spec: SqlSpec
  let outside: pg.Client
  // Activity is a snapshot within a transaction, which `outside` is often in.
  let watcher: pg.Client
  beforeAll(async () => {
    spec = await newDatabase('postgres')
    const url = new URL(servers.postgres)
    url.pathname = spec.name
    outside = new pg.Client({ connectionString: url.href, application_name: 'test' })
    watcher = new pg.Client({ connectionString: url.href, application_name: 'test' })
    await Promise.all([outside.connect(), watcher.connect()])
  })
  afterAll(async () => {
    await Promise.all([outside.end(), watcher.end()])
    await dropStore(spec)
  })
  const count = async (table: string): Promise<number> => Number((await outside.query(`select count(*) as n from ${table}`)).rows[0].n)
  const endConnections = (): Promise<unknown> =>
    watcher.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name <> 'test'`, [spec.name])
  /** Waits until a connection waits for a lock. */
  const untilBlocked = async (): Promise<void> => {
    const waiting = `select 1 from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`
    while ((await watcher.query(waiting, [spec.name])).rows.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }

  it('a restart between requests: the process lives, and the next request works', async () => {
    const adapter = openSql(openDatabase(spec))
    const host = createHost(adapter, op(), 'database')
    const browser = host.client()
    await host.signIn(browser, createPerson())
    await endConnections()
    expect(await browser.session()).not.toBeNull()
    expect(host.errors).toEqual([])
    await adapter.close()
  })

  it('it goes away while a sign-in reads: the sign-in completes', async () => {
    const adapter = openSql(openDatabase(spec))
    const host = createHost(adapter, op(), 'database')
    await adapter.getUser('1')
    const browser = host.client()
    await outside.query('begin; lock table accounts in access exclusive mode')
    const end = host.signIn(browser, createPerson())
    await untilBlocked()
    await endConnections()
    await outside.query('rollback')
    expect(await end).toMatch(/3000\/?$/)
    expect(host.errors).toEqual([])
    await adapter.close()
  })

  it('it goes away in the middle of a sign-up: an error page, one log entry, no user half-made, and the retry signs in', async () => {
    const adapter = openSql(openDatabase(spec))
    const host = createHost(adapter, op(), 'database')
    const ada = createPerson()
    const browser = host.client()
    await outside.query('begin; lock table accounts in share mode')
    const end = host.signIn(browser, ada)
    await untilBlocked()
    await endConnections()
    await outside.query('rollback')
    expect(await end).toContain('error=Configuration')
    expect(host.errors.map(({ name }) => name)).toEqual(['AdapterError'])
    expect(await adapter.getUserByEmail(ada.email)).toBeNull()
    expect(await host.signIn(browser, ada)).toMatch(/3000\/?$/)
    expect(await browser.session()).toMatchObject({ user: { email: ada.email } })
    await adapter.close()
  })

  it('a query that hangs ends at its deadline, and what it does later is not half a person', async () => {
    const adapter = openSql(openDatabase(spec))
    await adapter.getUser('1')
    const host = createHost(adapter, op(), 'database', { deadlines: { store: 300 } })
    const ada = createPerson()
    const browser = host.client()
    await outside.query('begin; lock table accounts in share mode')
    expect(await host.signIn(browser, ada)).toContain('error=Configuration')
    expect(host.errors[0]).toMatchObject({ name: 'AdapterError', message: expect.stringContaining('300 ms') })
    await outside.query('rollback')
    expect(await host.signIn(browser, ada)).toMatch(/3000\/?$/)
    expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: ada.id })).toMatchObject({ email: ada.email })
    await adapter.close()
  })

  it('a deadlock is tried again', async () => {
    const adapter = openSql(openDatabase(spec))
    const { userId: _none, ...account } = newAccount('')
    const user = await adapter.createUserWithAccount(newUser(), account)
    await outside.query('begin')
    await outside.query('update accounts set scope = $2 where "userId" = $1', [user.id, 'x'])
    const deleted = adapter.deleteUser(user.id)
    await untilBlocked()
    // Each now waits for the other: the server ends one of the two.
    await outside.query('select 1 from users where id = $1 for update', [user.id]).catch(() => {})
    await outside.query('rollback')
    expect(await deleted).toMatchObject({ id: user.id })
    expect(await adapter.getUserByEmail(user.email)).toBeNull()
    await adapter.close()
  })

  it('a row that was changed by hand is an error that names the column, and others are served', async () => {
    const adapter = openSql(openDatabase(spec))
    const host = createHost(adapter, op(), 'database')
    const [broken, whole] = [host.client(), host.client()]
    const ada = createPerson()
    await host.signIn(broken, ada)
    await host.signIn(whole, createPerson())
    const { id } = (await adapter.getUserByEmail(ada.email))!
    await outside.query(`update sessions set expires = 'infinity' where "userId" = $1`, [id])
    const response = await broken.get('/session')
    expect(response.status).toBe(503)
    expect(rootOf(host.errors[0]).message).toMatch(/column expires .* not a date/)
    expect(await whole.session()).not.toBeNull()
    await adapter.close()
  })

  it('no user of all these tests is without an account', async () => {
    expect(await count(`users where not exists (select 1 from accounts where "userId" = users.id) and email like 'ada-%'`)).toBe(0)
  })
})

describe.skipIf(!server.mysql)('MariaDB', () => {
  it('a restart between requests: the process lives, and the next request works', async () => {
    const spec = await newDatabase('mysql')
    const db = openOutside(spec)
    const adapter = openSql({ db })
    const user = await adapter.createUser(newUser())
    await Promise.all([1, 2, 3].map(() => adapter.getUser(user.id)))
    const outside = openOutside(spec)
    const { rows } = await sql<{
      id: number
    }>`select id from information_schema.processlist where db = ${spec.name} and id <> connection_id()`.execute(outside)
    for (const { id } of rows) await sql.raw(`kill ${Number(id)}`).execute(outside)
    expect(rows.length).toBeGreaterThan(0)
    expect(await adapter.getUser(user.id)).toMatchObject({ email: user.email })
    expect(await adapter.updateUser({ id: user.id, name: 'Countess' })).toMatchObject({ name: 'Countess' })
    await Promise.all([adapter.close(), outside.destroy()])
    await dropStore(spec)
  })
})

describe('SQLite', () => {
  it('a full disk: the sign-up fails whole, and works when there is room again', async () => {
    const spec = await newDatabase('libsql')
    // One connection: the limit is the connection's.
    const client = createClient({ url: `file:${spec.name}`, concurrency: 1 })
    const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: libsqlDialect({ client: client as never }) })
    const adapter = sqlAdapter(db, { migrate: true })
    await adapter.createUser(newUser())
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db)
    await sql.raw(`pragma max_page_count = ${rows[0]!.page_count}`).execute(db)
    const big = 'x'.repeat(100_000)
    const { userId: _none, ...account } = newAccount('', { access_token: big })
    const user = newUser()
    await expect(adapter.createUserWithAccount(user, account)).rejects.toThrow(/full/i)
    expect(await adapter.getUserByEmail(user.email)).toBeNull()
    await sql.raw('pragma max_page_count = 100000').execute(db)
    expect(await adapter.createUserWithAccount(user, account)).toMatchObject({ email: user.email })
    await adapter.close()
    await dropStore(spec)
  })

  it('nonsense in a row is an error that names the column', async () => {
    const spec = await newDatabase('libsql')
    const db = openOutside(spec)
    const adapter = openSql({ db })
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id)
    await adapter.createSession(session)
    await sql`update sessions set expires = 'tomorrow'`.execute(db)
    await expect(adapter.getSessionAndUser(session.sessionToken)).rejects.toThrow(/column expires .* not a date/)
    await sql`update users set "emailVerified" = 'yes'`.execute(db)
    await expect(adapter.getUser(user.id)).rejects.toThrow(/column emailVerified/)
    await adapter.close()
    await dropStore(spec)
  })
})

/** The error that caused all others. */
function rootOf(error: Error | undefined): Error {
  const cause = (error?.cause as { err?: Error } | undefined)?.err
  return cause ? rootOf(cause) : error!
}
