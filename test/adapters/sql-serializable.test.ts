/** PostgreSQL whose transactions are serializable by default: conflicts are tried again, and there is one winner. */
import { testAdapter } from 'authkernel/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openOutside, openSql, type SqlSpec } from './_stores.ts'

describe.skipIf(!(await reachable('postgres')))('sqlAdapter on PostgreSQL with serializable isolation', () => {
  let spec: SqlSpec
  beforeAll(async () => {
    spec = await newDatabase('postgres')
    const db = openOutside(spec)
    await sql`alter database ${sql.id(spec.name)} set default_transaction_isolation = 'serializable'`.execute(db)
    await db.destroy()
  })
  afterAll(() => dropStore(spec))

  testAdapter('sql, PostgreSQL, serializable', { adapter: () => openSql(openDatabase(spec)) })
  testRaces('PostgreSQL, serializable', () => spec, { rounds: 1 })
})
