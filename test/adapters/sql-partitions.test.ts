/** Deleting from tables that are no ordinary ones: partitioned, inherited from, views. A place names several rows there, or none. */
import type { RecordStore, StoredQuery, StoredTable } from 'authkernel/kernel'
import { sqlRecords } from 'authkernel/plugins/sql'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inHours, newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, openDatabase, openSql, type SqlSpec } from './_stores.ts'

type Db = Kysely<Record<string, Record<string, unknown>>>

const ticket: StoredTable = {
  name: 'ticket',
  fields: [
    { name: 'topic', type: 'string', max: 64, optional: false, default: undefined },
    { name: 'made', type: 'date', max: 64, optional: false, default: undefined },
    { name: 'until', type: 'date', max: 64, optional: true, default: undefined },
  ],
  unique: [],
  index: [['topic', 'made']],
  owner: undefined,
  expires: 'until',
}
const columns = sql`ns text collate "C" not null, id text collate "C" not null, topic text collate "C" not null, made timestamptz(3) not null, until timestamptz(3)`
const query: StoredQuery = { ns: '', where: {}, by: undefined, index: [], range: {}, order: 'asc', limit: 1_000, after: undefined }

async function partition(db: Db, table: string): Promise<void> {
  for (let part = 0; part < 4; part++)
    await sql`create table ${sql.id(`${table}_${part}`)} partition of ${sql.id(table)} for values with (modulus 4, remainder ${sql.lit(part)})`.execute(
      db,
    )
}

/** Tables of records that hold 30 live rows and 10 ended ones, in parts whose places are the same. */
const shapes: Record<string, (db: Db) => Promise<void>> = {
  'four partitions': async (db) => {
    await sql`create table auth_ticket (${columns}, primary key (ns, id)) partition by hash (id)`.execute(db)
    await partition(db, 'auth_ticket')
  },
  'a table that others inherit from': async (db) => {
    await sql`create table auth_ticket (${columns}, primary key (ns, id))`.execute(db)
    for (const part of [0, 1, 2, 3])
      await sql`create table ${sql.id(`auth_ticket_${part}`)} (primary key (ns, id)) inherits (auth_ticket)`.execute(db)
    const parts = [0, 1, 2, 3].map((part) => `when ${part} then insert into auth_ticket_${part} values (new.*);`).join(' ')
    await sql
      .raw(
        `create function route() returns trigger language plpgsql as $$ begin case abs(hashtext(new.id)) % 4 ${parts} end case; return null; end $$`,
      )
      .execute(db)
    await sql`create trigger route before insert on auth_ticket for each row execute function route()`.execute(db)
  },
  'a view': async (db) => {
    await sql`create table tickets (${columns}, primary key (ns, id))`.execute(db)
    await sql`create view auth_ticket as select * from tickets`.execute(db)
  },
  'an ordinary table': async (db) => {
    await sql`create table auth_ticket (${columns}, primary key (ns, id))`.execute(db)
  },
}

describe.skipIf(!(await reachable('postgres')))('PostgreSQL', () => {
  describe.each(Object.keys(shapes))('records in %s', (shape) => {
    let spec: SqlSpec
    let db: Db
    let records: RecordStore
    const now = Date.now()
    beforeAll(async () => {
      spec = await newDatabase('postgres')
      db = new Kysely({ dialect: dialectOf(spec).dialect })
      await shapes[shape]!(db)
      records = sqlRecords(db)
      records.define([ticket])
    })
    afterAll(async () => {
      await db.destroy()
      await dropStore(spec)
    })
    beforeEach(async () => {
      await sql`delete from auth_ticket`.execute(db)
      const rows = [...Array(40).keys()].map(
        (n) => sql`('', ${`t${n}`}, ${n % 4 === 0 ? 'gone' : 'kept'}, now(), ${new Date(now + (n % 4 === 0 ? -1 : 1) * 3_600_000)})`,
      )
      await sql`insert into auth_ticket values ${sql.join(rows)}`.execute(db)
    })
    async function left(): Promise<{ live: number; ended: number }> {
      const { rows } = await sql<{ live: string; ended: string }>`
        select count(*) filter (where until > ${new Date(now)}) as live, count(*) filter (where until <= ${new Date(now)}) as ended from auth_ticket`.execute(
        db,
      )
      return { live: Number(rows[0]!.live), ended: Number(rows[0]!.ended) }
    }

    it('clean-up deletes the ended rows and no live one, and counts them', async () => {
      expect(await left()).toEqual({ live: 30, ended: 10 })
      expect(await records.deleteExpired('ticket', now, 1_000)).toBe(10)
      expect(await left()).toEqual({ live: 30, ended: 0 })
      expect(await records.deleteExpired('ticket', now, 1_000)).toBe(0)
    })

    it('clean-up deletes no more rows than it was asked for', async () => {
      expect(await records.deleteExpired('ticket', now, 4)).toBe(4)
      expect(await left()).toEqual({ live: 30, ended: 6 })
    })

    it('`deleteWhere` deletes the live rows of its condition alone, the first of them where it has a limit', async () => {
      const asked = { ...query, where: { topic: 'kept' }, by: 'made', index: ['topic', 'made'] }
      expect(await records.deleteWhere('ticket', { ...asked, limit: 7 }, now)).toBe(7)
      expect(await left()).toEqual({ live: 23, ended: 10 })
      expect(await records.deleteWhere('ticket', { ...asked, where: { topic: 'gone' } }, now)).toBe(0)
      expect(await records.deleteWhere('ticket', asked, now)).toBe(23)
      expect(await left()).toEqual({ live: 0, ended: 10 })
    })

    it('a row that is renewed during clean-up stays', async () => {
      const { rows: renewed } = await db.transaction().execute(async (tx) => {
        const found = await sql<{ id: string }>`update auth_ticket set until = ${new Date(now + 3_600_000)}
          where id in ('t0', 't4', 't8', 't12') returning id`.execute(tx)
        // Locked: clean-up waits for no lock.
        expect(await records.deleteExpired('ticket', now, 1_000)).toBe(6)
        return found
      })
      expect(renewed).toHaveLength(4)
      expect(await left()).toEqual({ live: 34, ended: 0 })
      expect(await records.deleteExpired('ticket', now, 1_000)).toBe(0)
    })

    it('renewals that race with clean-up end with the row renewed or gone, never renewed and gone', async () => {
      const ids = [...Array(10).keys()].map((n) => `t${n * 4}`)
      const renewals = ids.map(async (id) => {
        const { rows } = await sql`update auth_ticket set until = ${new Date(now + 3_600_000)} where id = ${id} returning id`.execute(db)
        return rows.length
      })
      const cleaned = await Promise.all([0, 1, 2].map(() => records.deleteExpired('ticket', now, 3)))
      const kept = (await Promise.all(renewals)).reduce((sum, count) => sum + count, 0)
      const gone = cleaned.reduce((sum, count) => sum + count, 0)
      const { live, ended } = await left()
      expect({ live, all: live + ended }).toEqual({ live: 30 + kept, all: 40 - gone })
    })
  })

  describe('tables of the adapter in four partitions', () => {
    let spec: SqlSpec
    beforeAll(async () => {
      spec = await newDatabase('postgres')
      const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: dialectOf(spec).dialect })
      await sql`create table sessions (id text not null default gen_random_uuid()::text, "sessionToken" text not null, "userId" text not null,
        expires timestamptz(3) not null, "createdAt" timestamptz(3), primary key ("sessionToken")) partition by hash ("sessionToken")`.execute(
        db,
      )
      await partition(db, 'sessions')
      await sql`create table verification_token (identifier text not null, token text not null, expires timestamptz(3) not null, attempt text,
        primary key (identifier, token)) partition by hash (identifier)`.execute(db)
      await partition(db, 'verification_token')
      await db.destroy()
    })
    afterAll(() => dropStore(spec))

    it('sessions, links and marks that ended go, and live ones stay', async () => {
      const adapter = openSql(openDatabase(spec))
      const user = await adapter.createUser(newUser())
      const live = [...Array(30).keys()].map(() => newSession(user.id, { expires: inHours(1) }))
      for (const session of live) await adapter.createSession(session)
      for (let n = 0; n < 10; n++) await adapter.createSession(newSession(user.id, { expires: inHours(-1) }))
      for (let n = 0; n < 30; n++)
        await adapter.createVerificationToken({ identifier: `live-${n}@example.com`, token: `token-${n}`, expires: inHours(1) })
      for (let n = 0; n < 10; n++)
        await adapter.createVerificationToken({ identifier: `ended-${n}@example.com`, token: `token-${n}`, expires: inHours(-1) })
      for (let n = 0; n < 12; n++) await adapter.once.take(`mark ${n}`, 7_200)
      for (let n = 0; n < 9; n++) await adapter.limit.take(`key ${n}`, { max: 3, seconds: 7_200 })
      expect(await adapter.deleteExpired(new Date())).toEqual({ sessions: 10, tokens: 10, once: 0, limit: 0 })
      const tokens = (await adapter.listSessionsByUserId(user.id)).map(({ sessionToken }) => sessionToken)
      expect(tokens.toSorted()).toEqual(live.map(({ sessionToken }) => sessionToken).toSorted())
      expect(await adapter.once.take('mark 3', 60)).toBe(false)
      expect(await adapter.deleteExpired(inHours(3))).toEqual({ sessions: 30, tokens: 30, once: 12, limit: 9 })
      await adapter.close()
    })
  })

  it('the tables of the adapter behind views are cleaned by their keys', async () => {
    const spec = await newDatabase('postgres')
    const made = openSql(openDatabase(spec))
    const user = await made.createUser(newUser())
    const live = newSession(user.id)
    await made.createSession(live)
    for (let n = 0; n < 3; n++) await made.createSession(newSession(user.id, { expires: inHours(-1) }))
    const { db } = openDatabase(spec)
    await sql`alter table sessions rename to web_sessions`.execute(db)
    await sql`create view sessions as select * from web_sessions`.execute(db)
    const adapter = openSql(openDatabase(spec), { migrate: false })
    expect(await adapter.deleteExpired()).toMatchObject({ sessions: 3 })
    expect(await adapter.getSessionAndUser(live.sessionToken)).not.toBeNull()
    await Promise.all([adapter.close(), made.close(), db.destroy()])
    await dropStore(spec)
  })

  it('a table that rows cannot be deleted from is named with what it is, and not called missing', async () => {
    const spec = await newDatabase('postgres')
    const { db } = openDatabase(spec)
    await sql`create table tickets (${columns}, primary key (ns, id))`.execute(db)
    await sql`create view auth_ticket as select distinct * from tickets`.execute(db)
    const records = sqlRecords(db)
    records.define([ticket])
    const failure = Promise.resolve(records.deleteExpired('ticket', Date.now(), 10))
    await expect(failure).rejects.toThrow(/auth_ticket, which is a view, could not be deleted/)
    await expect(failure).rejects.not.toThrow(/migrate/)
    await db.destroy()
    await dropStore(spec)
  })

  it('a database that refuses `ctid` is asked by keys from then on', async () => {
    const spec = await newDatabase('postgres')
    const queries: string[] = []
    const { dialect } = dialectOf(spec)
    // As YugabyteDB says it, whose catalog has the column.
    const refusing = {
      ...dialect,
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db: Kysely<never>) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver() {
        const driver = dialect.createDriver()
        const acquire = driver.acquireConnection.bind(driver)
        driver.acquireConnection = async () => {
          const connection = await acquire()
          const execute = connection.executeQuery.bind(connection)
          return Object.assign(Object.create(connection) as typeof connection, {
            executeQuery: (compiled: Parameters<typeof execute>[0]) => {
              queries.push(compiled.sql)
              if (/\bctid = /.test(compiled.sql))
                throw Object.assign(new Error('System column "ctid" is not supported yet'), { code: '0A000' })
              return execute(compiled)
            },
          })
        }
        const release = driver.releaseConnection.bind(driver)
        driver.releaseConnection = (connection) => release(Object.getPrototypeOf(connection) as typeof connection)
        return driver
      },
    }
    const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: refusing as never })
    await shapes['an ordinary table']!(db)
    const records = sqlRecords(db)
    records.define([ticket])
    await sql`insert into auth_ticket values ('', 'a', 't', now(), now() - interval '1 hour'), ('', 'b', 't', now(), now() + interval '1 hour')`.execute(
      db,
    )
    expect(await records.deleteExpired('ticket', Date.now(), 10)).toBe(1)
    queries.length = 0
    expect(await records.deleteExpired('ticket', Date.now(), 10)).toBe(0)
    expect(queries.filter((text) => text.includes('ctid'))).toEqual([])
    await db.destroy()
    await dropStore(spec)
  })

  it('`migrate` indexes a partitioned table too', async () => {
    const spec = await newDatabase('postgres')
    const { db } = openDatabase(spec)
    await shapes['four partitions']!(db)
    const records = sqlRecords(db)
    records.define([ticket])
    const { statements } = await records.migrate({ apply: true })
    expect(statements.filter((text) => /^create index/.test(text))).toHaveLength(2)
    expect(await records.missing()).toEqual([])
    await db.destroy()
    await dropStore(spec)
  })
})
