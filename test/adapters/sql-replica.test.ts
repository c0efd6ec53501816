/** A real standby of PostgreSQL that is behind: lists come from it, everything that decides comes from the primary. */
import { existsSync } from 'node:fs'
import { createAuth } from 'authkernel'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signedIn } from 'authkernel/testing'
import { newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { baseConfig } from '../_setup.ts'
import { askMysql, freePort, installed, startMariadb, startStandby } from './_own-servers.ts'

const open = (url: string): { db: Kysely<never>; count(): number } => {
  const pool = new pg.Pool({ connectionString: url, max: 3 }).on('error', () => {})
  let statements = 0
  const db = new Kysely<never>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => void (event.query.sql.includes('users') && statements++),
  })
  return { db, count: () => statements }
}

describe.skipIf(!installed('psql'))('a replica that is 2 seconds behind', () => {
  let servers: Awaited<ReturnType<typeof startStandby>>
  beforeAll(async () => {
    servers = await startStandby('2s')
  })
  afterAll(async () => {
    await servers?.standby.stop()
    await servers?.primary.stop()
  })

  it('answers lists; a sign-in, its session and its end are those of the primary', async () => {
    const [primary, replica] = [open(servers.primary.url), open(servers.standby.url)]
    await sqlAdapter(primary.db, { migrate: true }).createUser(newUser())
    const adapter = sqlAdapter(primary.db, { replica: replica.db })
    // The tables come to the replica with the rows.
    await expect
      .poll(async () => (await Promise.resolve(sqlAdapter(replica.db).listUsers({ limit: 10 })).catch(() => [])).length, {
        timeout: 15_000,
      })
      .toBe(1)
    const user = await adapter.createUser(newUser())
    const session = await adapter.createSession(newSession(user.id))
    expect(await adapter.getSessionAndUser(session.sessionToken)).toMatchObject({ user: { id: user.id } })
    expect(await adapter.getUser(user.id)).not.toBeNull()
    expect(await adapter.getUsers([user.id])).toHaveLength(1)
    expect((await adapter.listUsers({ limit: 10 })).map(({ id }) => id)).not.toContain(user.id)
    expect((await adapter.searchUsers({ text: user.email, limit: 10 })).total).toBe(0)
    await adapter.deleteSession(session.sessionToken)
    expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
    expect(await adapter.listSessionsByUserId(user.id)).toEqual([])
    await expect.poll(async () => (await adapter.searchUsers({ text: user.email, limit: 10 })).total, { timeout: 15_000 }).toBe(1)
    const auth = createAuth({ ...baseConfig(), adapter, session: { strategy: 'database' } })
    const cookie = await signedIn(auth, { id: user.id, email: user.email })
    const response = await auth.handler(new Request('http://localhost:3000/auth/session', { headers: { cookie } }))
    expect([(await response.json()).user.email, response.headers.getSetCookie().some((line) => /Max-Age=0/i.test(line))]).toEqual([
      user.email,
      false,
    ])
    await auth.close()
    await expect(replica.db.selectNoFrom(sql`1`.as('one')).execute()).rejects.toThrow(/destroyed/)
  })

  it('one that is further behind than `maxLag` is left alone, and so is one that is away', async () => {
    const [primary, replica, gone] = [
      open(servers.primary.url),
      open(servers.standby.url),
      open('postgres://postgres@127.0.0.1:9/postgres'),
    ]
    const user = await sqlAdapter(primary.db).createUser(newUser())
    for (const adapter of [sqlAdapter(primary.db, { replica: replica.db, maxLag: 0.5 }), sqlAdapter(primary.db, { replica: gone.db })])
      expect((await adapter.searchUsers({ text: user.email, limit: 10 })).total).toBe(1)
    expect(replica.count()).toBe(0)
    const near = sqlAdapter(primary.db, { replica: replica.db, maxLag: 3600 })
    await expect.poll(async () => (await near.searchUsers({ text: user.email, limit: 10 })).total, { timeout: 15_000 }).toBe(1)
    expect(replica.count()).toBeGreaterThan(0)
    await Promise.all([primary.db.destroy(), replica.db.destroy(), gone.db.destroy()])
  })

  it('is refused at start in the place of the primary', async () => {
    const { db } = open(servers.standby.url)
    const auth = createAuth({ ...baseConfig(), adapter: sqlAdapter(db) })
    await expect(auth.ready()).rejects.toThrow(/takes writes \(it is a standby\).*Connect to the primary/s)
    await auth.close()
  })

  it('mistakes name the option', () => {
    const { db } = open(servers.primary.url)
    expect(() => sqlAdapter(db, { maxLag: 1 })).toThrow(/`maxLag` needs the option `replica`/)
    expect(() => sqlAdapter(db, { replica: db, maxLag: 0 })).toThrow(/seconds above 0/)
    expect(() => sqlAdapter(db, { replica: db, maxLag: 1, dialect: 'mysql' })).toThrow(/`maxLag` needs PostgreSQL/)
  })
})

const galera = '/usr/lib/galera/libgalera_smm.so'

describe.skipIf(!installed('mariadbd') || !existsSync(galera))('a node of Galera', () => {
  it('is refused at start while its reads may be old, and taken with wsrep_sync_wait', async () => {
    const [port, folder] = [await freePort(), '--wsrep-cluster-address=gcomm://']
    const listen = `gmcast.listen_addr=tcp://127.0.0.1:${port};ist.recv_addr=127.0.0.1:${await freePort()}`
    const node = [
      '--wsrep-on=ON',
      `--wsrep-provider=${galera}`,
      folder,
      '--wsrep-node-address=127.0.0.1',
      `--wsrep-provider-options=${listen}`,
    ]
    const server = await startMariadb(...node, '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2')
    await askMysql(server.url, 'create database auth')
    const pool = createPool({ uri: server.url.replace('/mysql', '/auth'), connectionLimit: 3 })
    const adapter = sqlAdapter(new Kysely<never>({ dialect: new MysqlDialect({ pool }) }), { migrate: true })
    await adapter.createUser(newUser())
    const auth = createAuth({ ...baseConfig(), adapter })
    await expect(auth.ready()).rejects.toThrow(/wsrep_sync_wait.*another node/s)
    await askMysql(server.url, 'set global wsrep_sync_wait = 1')
    const other = createAuth({
      ...baseConfig(),
      adapter: sqlAdapter(
        new Kysely<never>({ dialect: new MysqlDialect({ pool: createPool({ uri: server.url.replace('/mysql', '/auth') }) }) }),
      ),
    })
    await other.ready()
    await Promise.all([auth.close(), other.close()])
    await server.stop()
  })
})
