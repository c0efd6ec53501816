import { sqlAdapter } from 'authkernel/plugins/sql'
import { testAdapter, testServices } from 'authkernel/testing'
import { Kysely, MysqlDialect } from 'kysely'
import { createPool } from 'mysql2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { testRaces } from './_races.ts'
import { testStoreRecords } from './_records.ts'
import { reachable, servers } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openSql, type SqlSpec } from './_stores.ts'

// Left out without a server on a laptop (AUTHKERNEL_TEST_MYSQL_URL); in CI `reachable` throws instead.
describe.skipIf(!(await reachable('mysql')))('sqlAdapter on MariaDB', () => {
  let spec: SqlSpec
  beforeAll(async () => {
    spec = await newDatabase('mysql')
  })
  afterAll(() => dropStore(spec))

  testAdapter('sql, MariaDB', { adapter: () => openSql(openDatabase(spec)) })
  testServices('sql, MariaDB', { services: (now) => openSql(openDatabase(spec), { now }) })
  testRaces('MariaDB', () => spec)
  testStoreRecords('sql, MariaDB', () => spec)

  it.each([
    ['counts only the rows that it changed', { flags: ['-FOUND_ROWS'] }],
    ['speaks latin1', { charset: 'latin1' }],
  ])('works over a connection that %s', async (_how, options) => {
    const url = new URL(servers.mysql)
    url.pathname = spec.name
    const adapter = sqlAdapter(new Kysely({ dialect: new MysqlDialect({ pool: createPool({ uri: url.href, ...options }) }) }), {
      migrate: true,
    })
    const user = await adapter.createUser(newUser({ name: 'Zoë' }))
    expect(await adapter.updateUser({ id: user.id, name: 'Zoë' })).toEqual(user)
    await expect(adapter.updateUser({ id: 'nobody', name: 'Zoë' })).rejects.toThrow(/no user has this id/)
    const session = newSession(user.id, { sessionToken: `é${user.id}` })
    await adapter.createSession(session)
    expect(await adapter.updateSession(session)).toMatchObject(session)
    expect(await adapter.updateSession({ ...session, sessionToken: `e${user.id}` })).toBeNull()
    const account = newAccount(user.id, { providerAccountId: `é${user.id}` })
    await adapter.linkAccount(account)
    expect(await adapter.updateAccount(account)).toMatchObject(account)
    await adapter.close()
  })
})
