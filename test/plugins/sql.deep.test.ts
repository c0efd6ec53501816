/** sqlAdapter: names, columns, migrations. The contract and the servers are under `test/adapters`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { createAuth } from 'authkernel'
import { libsqlDialect, migrateSql, sqlAdapter, type SqlNames } from 'authkernel/plugins/sql'
import { testAdapter } from 'authkernel/testing'
import { CamelCasePlugin, Kysely, sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'

const folder = mkdtempSync(join(tmpdir(), 'authkernel-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0
const freshUrl = (): string => `file:${join(folder, `${made++}.db`)}`
const open = (url = freshUrl()): Kysely<Record<string, Record<string, unknown>>> => new Kysely({ dialect: libsqlDialect({ url }) })

testAdapter('sql, libsql in memory', { adapter: () => sqlAdapter(open('file::memory:'), { migrate: true }) })

describe('migrateSql', () => {
  it('shows the statements and does nothing unless told to', async () => {
    const db = open()
    const plan = await migrateSql(db)
    expect(plan.applied).toBe(false)
    expect(plan.statements.filter((statement) => statement.startsWith('create table'))).toHaveLength(5)
    expect(await db.introspection.getTables()).toEqual([])
    expect(await migrateSql(db, { apply: true })).toEqual({ ...plan, applied: true })
    expect(await migrateSql(db, { apply: true })).toEqual({ statements: [], notes: [], applied: true })
    await db.destroy()
  })

  it('auth.close() ends the database that it was given', async () => {
    const db = open()
    const auth = createAuth({ ...baseConfig(), adapter: sqlAdapter(db, { migrate: true }) })
    await auth.ready()
    await auth.close()
    await expect(db.selectNoFrom(sql`1`.as('one')).execute()).rejects.toThrow(/destroyed/)
  })

  it('may run in several processes at once', async () => {
    const url = freshUrl()
    const all = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const db = open(url)
        const adapter = sqlAdapter(db, { migrate: true })
        const user = await adapter.createUser(newUser())
        await adapter.close()
        return user.id
      }),
    )
    expect(new Set(all).size).toBe(4)
  })

  it('says which duplicates stand in the way of a unique index, and leaves them', async () => {
    const db = open()
    await sql`create table users (id text primary key, name text, email text, "emailVerified" text, image text)`.execute(db)
    for (const id of ['1', '2', '3']) await sql`insert into users (id, email) values (${id}, 'ada@example.com')`.execute(db)
    await sql`insert into users (id, email) values ('4', null), ('5', null)`.execute(db)
    const { statements, notes } = await migrateSql(db, { apply: true })
    expect(notes).toEqual([expect.stringMatching(/users: values of \(email\) that occur more than once: 1/)])
    expect(statements.join('\n')).not.toContain('users_email_key')
    await sql`delete from users where id in ('2', '3')`.execute(db)
    expect((await migrateSql(db, { apply: true })).statements).toEqual(['create unique index "users_email_key" on "users" ("email")'])
    await db.destroy()
  })

  it('leaves a table of the same name that is something else alone', async () => {
    const db = open()
    await sql`create table "user" (uid integer, login text)`.execute(db)
    const { statements } = await migrateSql(db)
    expect(statements[0]).toContain('"users"')
    expect(statements.join('\n')).not.toContain('"user" ')
    await db.destroy()
  })

  it('says which table of something else stands where one of ours would be made', async () => {
    const db = open()
    await sql`create table sessions (sid text primary key, data text, expires text)`.execute(db)
    const complaint = /There is a table sessions without a column for sessionToken, userId.*names\.sessions/
    await expect(migrateSql(db)).rejects.toThrow(complaint)
    await expect(migrateSql(db, { apply: true })).rejects.toThrow(complaint)
    expect((await db.introspection.getTables()).map(({ name }) => name)).toEqual(['sessions'])
    const { statements } = await migrateSql(db, { apply: true, names: { sessions: 'auth_sessions' } })
    expect(statements.join('\n')).toContain('"auth_sessions"')
    await db.destroy()
  })
})

describe('a database without foreign keys', () => {
  it.each([false, true])('an account whose user an operator deleted by hand makes room for the person (migrated: %s)', async (migrated) => {
    const db = open()
    await sql`create table users (id text primary key, name text, email text, "emailVerified" text, image text)`.execute(db)
    await sql`create table accounts (id integer primary key, "userId" text not null, type text not null, provider text not null, "providerAccountId" text not null)`.execute(
      db,
    )
    if (migrated) await migrateSql(db, { apply: true })
    const adapter = sqlAdapter(db)
    const { userId: _none, ...account } = newAccount('')
    const gone = await adapter.createUserWithAccount(newUser(), account)
    await sql`delete from users where id = ${gone.id}`.execute(db)
    const again = await adapter.createUserWithAccount(newUser({ email: gone.email }), account)
    expect(await adapter.getUserByAccount(account as never)).toMatchObject({ id: again.id })
    await expect(adapter.linkAccount({ ...account, userId: again.id } as never)).rejects.toThrow(/account is already taken/)
    expect((await sql`select * from accounts`.execute(db)).rows).toHaveLength(1)
    await adapter.close()
  })
})

describe('names', () => {
  const names: SqlNames = {
    users: { table: 'people', columns: { id: 'person_id', email: 'mail', emailVerified: 'mail_verified_at', name: 'full_name' } },
    accounts: { table: 'logins', columns: { userId: 'person', providerAccountId: 'subject' } },
    sessions: 'web_sessions',
    tokens: { columns: { identifier: 'who' } },
  }

  it("of tables and columns are the host's to choose, for migrations and for the adapter", async () => {
    const db = open()
    const adapter = sqlAdapter(db, { names, migrate: true })
    const { userId: _none, ...account } = newAccount('')
    const user = await adapter.createUserWithAccount(newUser({ emailVerified: new Date('2026-01-02T03:04:05.678Z') }), account)
    await adapter.createSession(newSession(user.id))
    expect((await sql`select person_id, mail, full_name from people`.execute(db)).rows).toEqual([
      { person_id: user.id, mail: user.email, full_name: 'Ada' },
    ])
    expect((await sql`select person, subject from logins`.execute(db)).rows).toEqual([
      { person: user.id, subject: account.providerAccountId },
    ])
    expect((await sql`select count(*) as n from web_sessions`.execute(db)).rows).toEqual([{ n: 1 }])
    expect(await adapter.getUserByEmail(user.email)).toEqual(user)
    expect(await adapter.once.take('k', 60)).toBe(true)
    expect((await sql`select who from verification_token`.execute(db)).rows).toEqual([{ who: expect.stringMatching(/^once:/) }])
    expect((await adapter.migrate()).statements).toEqual([])
    await adapter.close()
  })

  it('that do not fit are named in the error', async () => {
    const db = open()
    await sql`create table people (id text, mail text)`.execute(db)
    const adapter = sqlAdapter(db, { names: { users: 'people' } })
    await expect(adapter.getUser('1')).rejects.toThrow(/people has no column for email, emailVerified.*names\.users\.columns/)
    await db.destroy()
  })

  it('a missing table says how to make it, and is found once it is made', async () => {
    const db = open()
    const adapter = sqlAdapter(db)
    await expect(adapter.getUser('1')).rejects.toThrow(/no table for users.*authkernel migrate --apply/)
    await adapter.migrate({ apply: true })
    expect(await adapter.getUser('1')).toBeNull()
    await db.destroy()
  })

  it("plugins of the host's Kysely do not change them", async () => {
    const db = open().withPlugin(new CamelCasePlugin())
    const adapter = sqlAdapter(db, { migrate: true })
    const user = await adapter.createUser(newUser())
    expect(await adapter.getUser(user.id)).toEqual(user)
    await db.destroy()
  })
})

describe('columns', () => {
  it("of the host's own are written and read; what has no column is left out", async () => {
    const db = open()
    await migrateSql(db, { apply: true })
    await sql`alter table users add column role text default 'member'`.execute(db)
    await sql`alter table users add column settings text`.execute(db)
    await sql`alter table users add column admin integer`.execute(db)
    const adapter = sqlAdapter(db)
    const given = { ...newUser(), role: 'editor', settings: { theme: 'dark' }, admin: true, nobodyKnows: 'this' }
    const user = await adapter.createUser(given)
    expect(user).toMatchObject({ role: 'editor', settings: '{"theme":"dark"}', admin: 1 })
    expect(user).not.toHaveProperty('nobodyKnows')
    expect(await adapter.updateUser(Object.assign({ id: user.id }, { role: 'owner' }))).toMatchObject({ role: 'owner', email: user.email })
    expect(await adapter.createUser(newUser())).toMatchObject({ role: 'member' })
    // GitHub and others send fields of their own with the tokens.
    await adapter.linkAccount({ ...newAccount(user.id), refresh_token_expires_in: 15_897_600 })
    await adapter.close()
  })

  it('D53: tokens are stored as Auth.js stores them', async () => {
    const db = open()
    const adapter = sqlAdapter(db, { migrate: true })
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id)
    await adapter.createSession(session)
    await adapter.linkAccount(newAccount(user.id, { access_token: 'plain' }))
    expect((await sql`select "sessionToken", expires from sessions`.execute(db)).rows).toEqual([
      { sessionToken: session.sessionToken, expires: session.expires.toISOString() },
    ])
    expect((await sql`select access_token from accounts`.execute(db)).rows).toEqual([{ access_token: 'plain' }])
    await adapter.close()
  })
})

describe('sqlAdapter', () => {
  it('refuses a dialect that it does not know', () => {
    class Other {
      readonly name = 'other'
    }
    const db = { getExecutor: () => ({ adapter: new Other() }), withoutPlugins: () => db } as never
    expect(() => sqlAdapter(db)).toThrow(/dialect behind Other is not known/)
  })

  it('listens to the errors of a pool, and of each connection once', () => {
    const listening: string[] = []
    const pool = {
      listeners: {} as Record<string, (argument: never) => void>,
      on(event: string, listener: (argument: never) => void) {
        listening.push(event)
        this.listeners[event] = listener
      },
    }
    sqlAdapter(open(), { pool })
    const connection = { on: (event: string) => listening.push(`connection ${event}`) }
    pool.listeners.acquire!(connection as never)
    pool.listeners.acquire!(connection as never)
    expect(listening).toEqual(['error', 'acquire', 'connection error'])
  })

  it('is atomic, shares its services, and keeps createdAt', () => {
    const adapter = sqlAdapter(open())
    expect(adapter).toMatchObject({ atomic: true, keepsCreatedAt: true })
    expect(adapter.once.shared).toBe(true)
  })
})

describe('libsqlDialect', () => {
  it('an independent write survives the rollback of a transaction beside it', async () => {
    const client = createClient({ url: freshUrl() })
    const db = new Kysely<{ t: { n: number } }>({ dialect: libsqlDialect({ client: client as never }) })
    await sql`create table t (n integer)`.execute(db)
    const failing = db.transaction().execute(async (tx) => {
      await tx.insertInto('t').values({ n: 1 }).execute()
      throw new Error('rolled back')
    })
    const beside = db.insertInto('t').values({ n: 2 }).execute()
    await expect(failing).rejects.toThrow('rolled back')
    await beside
    expect(await db.selectFrom('t').selectAll().execute()).toEqual([{ n: 2 }])
    await db.destroy()
    expect(client.closed).toBe(true)
  })

  it('needs a url or a client', async () => {
    const db = new Kysely({ dialect: libsqlDialect({}) })
    await expect(sql`select 1`.execute(db)).rejects.toThrow(/url or a client/)
  })
})
