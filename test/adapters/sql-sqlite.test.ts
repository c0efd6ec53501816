import { testAdapter, testServices } from 'authkernel/testing'
import { afterAll, describe } from 'vitest'
import { testRaces } from './_races.ts'
import { testStoreRecords } from './_records.ts'
import { dropStore, newDatabase, openDatabase, openSql } from './_stores.ts'

describe('sqlAdapter on SQLite (libsql)', async () => {
  const spec = await newDatabase('libsql')
  afterAll(() => dropStore(spec))

  testAdapter('sql, libsql', { adapter: () => openSql(openDatabase(spec)) })
  testServices('sql, libsql', { services: (now) => openSql(openDatabase(spec), { now }) })
  testRaces('SQLite', () => spec)
  testStoreRecords('sql, libsql', () => spec)
})
