import { testAdapter, testServices } from 'authkernel/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openSql, type SqlSpec } from './_stores.ts'

// Left out without a server on a laptop (AUTHKERNEL_TEST_POSTGRES_URL); in CI `reachable` throws instead.
describe.skipIf(!(await reachable('postgres')))('sqlAdapter on PostgreSQL', () => {
  let spec: SqlSpec
  beforeAll(async () => {
    spec = await newDatabase('postgres')
  })
  afterAll(() => dropStore(spec))

  testAdapter('sql, PostgreSQL', { adapter: () => openSql(openDatabase(spec)) })
  testServices('sql, PostgreSQL', { services: (now) => openSql(openDatabase(spec), { now }) })
  testRaces('PostgreSQL', () => spec)
})
