/** What stands between the adapter and its database changes: a pooler, a fail-over, an outage. */
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { askMysql, installed, type OwnServer, startMariadb, startPgBouncer } from './_own-servers.ts'
import { reachable, servers, uniqueName } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openOutside, openSql, type SqlSpec } from './_stores.ts'
import { startSwitch } from './_switch.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql') }

describe.skipIf(!there.postgres || !installed('pgbouncer'))('PgBouncer in transaction mode', () => {
  let [bouncer, spec]: [OwnServer, SqlSpec] = [undefined as never, undefined as never]
  beforeAll(async () => {
    bouncer = await startPgBouncer()
    spec = await newDatabase('postgres')
  })
  afterAll(async () => {
    await bouncer.stop()
    await dropStore(spec)
  })

  it('every one of many concurrent operations is done, whichever meets the first prepared statement', async () => {
    const made = openSql(openDatabase(spec))
    const user = await made.createUser(newUser())
    const session = newSession(user.id)
    await made.createSession(session)
    await made.close()
    const url = new URL(bouncer.url)
    url.pathname = spec.name
    const pool = new pg.Pool({ connectionString: url.href, max: 10 })
    const healed: string[] = []
    const adapter = openSql({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), pool }, { migrate: false })
    adapter.onHealed(({ code }) => void healed.push(String(code)))
    await adapter.getUser('1')
    const reads = [...Array(320).keys()].map((n) =>
      n % 2 === 0 ? adapter.getSessionAndUser(session.sessionToken) : adapter.getUser(user.id),
    )
    const writes = [...Array(40).keys()].map(() => adapter.createSession(newSession(user.id)))
    const ends = await Promise.allSettled([...reads, ...writes])
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([])
    expect((await Promise.all(reads)).every((found) => found !== null)).toBe(true)
    expect(await adapter.listSessionsByUserId(user.id)).toHaveLength(41)
    // Else the pooler gave every client its own connection, and nothing was proved.
    expect(healed.some((code) => code === '42P05' || code === '26000')).toBe(true)
    await adapter.close()
  })
})

describe.skipIf(!there.postgres)('PostgreSQL that takes no writes', () => {
  let [spec, role]: [SqlSpec, string] = [undefined as never, '']
  const outside = new pg.Pool({ connectionString: servers.postgres, max: 1 })
  beforeAll(async () => {
    spec = await newDatabase('postgres')
    role = uniqueName()
    await outside.query(`create role ${role} superuser login password 'x'`)
    const made = openSql(openDatabase(spec))
    await made.getUser('1')
    await made.close()
  })
  afterAll(async () => {
    await dropStore(spec)
    await outside.query(`drop role ${role}`)
    await outside.end()
  })
  // The setting counts for connections that begin later: those of before stay read-only, as after a fail-over.
  const turnReadOnly = (on: boolean) => outside.query(`alter role ${role} ${on ? 'set default_transaction_read_only = on' : 'reset all'}`)
  function open(prepare: boolean) {
    const url = new URL(servers.postgres)
    url.pathname = spec.name
    ;[url.username, url.password] = [role, 'x']
    const pool = new pg.Pool({ connectionString: url.href, max: 5 })
    return openSql({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), pool }, { migrate: false, prepare })
  }

  it.each([true, false])('after a fail-over the connections are replaced, and every write is done (prepared: %s)', async (prepare) => {
    await turnReadOnly(true)
    const adapter = open(prepare)
    await Promise.all([...Array(5).keys()].map(() => adapter.getUser('1')))
    await turnReadOnly(false)
    const users = await Promise.all([...Array(20).keys()].map(() => adapter.createUser(newUser())))
    await Promise.all(users.map(({ id }) => adapter.updateUser({ id, name: 'Countess' })))
    for (const { id } of users) expect(await adapter.deleteUser(id)).toMatchObject({ id })
    await adapter.close()
  })

  it('while it is read-only reads are served, and a write says why it fails', async () => {
    await turnReadOnly(true)
    const adapter = open(true)
    await expect(adapter.createUser(newUser())).rejects.toMatchObject({ code: '25006' })
    expect(await adapter.getUserByEmail('nobody@example.com')).toBeNull()
    await turnReadOnly(false)
    expect(await adapter.createUser(newUser())).toMatchObject({ name: expect.anything() })
    await adapter.close()
  })
})

describe.skipIf(!there.mysql || !installed('mariadbd'))('MariaDB that takes no writes', () => {
  it('after a fail-over the connections are replaced, and every write is done', async () => {
    const [former, spec] = [await startMariadb('--read-only=1'), await newDatabase('mysql')]
    const user = uniqueName()
    const grant = [`create user ${user} identified by 'x'`, `grant all on ${spec.name}.* to ${user}`]
    const rootOf = (server: string): string => new URL(`/${spec.name}`, server).href
    await askMysql(former.url, `create database ${spec.name}`, ...grant)
    await askMysql(servers.mysql, ...grant)
    for (const server of [former.url, servers.mysql]) {
      const made = openSql({ db: new Kysely({ dialect: new MysqlDialect({ pool: createPool(rootOf(server)) }) }) })
      await made.getUser('1')
      await made.close()
    }
    const way = await startSwitch(former.url)
    const url = new URL(rootOf(way.url))
    ;[url.username, url.password] = [user, 'x']
    const adapter = openSql(
      { db: new Kysely({ dialect: new MysqlDialect({ pool: createPool({ uri: url.href, connectionLimit: 5 }) }) }) },
      { migrate: false },
    )
    await Promise.all([...Array(5).keys()].map(() => adapter.getUser('1')))
    await expect(adapter.createUser(newUser())).rejects.toMatchObject({ errno: 1290 })
    await Promise.all([...Array(5).keys()].map(() => adapter.getUser('1')))
    way.lead(servers.mysql)
    const users = await Promise.all([...Array(20).keys()].map(() => adapter.createUser(newUser())))
    await Promise.all(users.map(({ id }) => adapter.updateUser({ id, name: 'Countess' })))
    const outside = openOutside(spec)
    expect(await outside.selectFrom('users').selectAll().execute()).toHaveLength(20)
    await Promise.all([adapter.close(), outside.destroy()])
    await way.close()
    await askMysql(servers.mysql, `drop user ${user}`)
    await Promise.all([former.stop(), dropStore(spec)])
  })
})

describe.each(['postgres', 'mysql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])(
    'reads wait for a server that is away for a second; a write that may have been done is not repeated',
    async () => {
      const spec = await newDatabase(kind)
      const way = await startSwitch(servers[kind])
      const adapter = openSql(openDatabase(spec, way.url))
      const user = await adapter.createUser(newUser())
      const session = newSession(user.id)
      await adapter.createSession(session)
      await Promise.all([...Array(5).keys()].map(() => adapter.getUser(user.id)))
      await way.stop()
      const reads = [...Array(20).keys()].map((n) =>
        n % 2 === 0 ? adapter.getSessionAndUser(session.sessionToken) : adapter.getUser(user.id),
      )
      const write = adapter.updateUser({ id: user.id, name: 'Countess' })
      const failed = Promise.resolve(write).then(
        () => false,
        () => true,
      )
      const back = new Promise<void>((resolve) => setTimeout(() => resolve(way.start()), 1_000))
      expect((await Promise.all(reads)).every((found) => found !== null)).toBe(true)
      await back
      expect(await failed).toBe(true)
      await adapter.close()
      await way.close()
      await dropStore(spec)
    },
  )
})
