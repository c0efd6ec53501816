import { testAdapter, testServices } from 'authkernel/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
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
})
