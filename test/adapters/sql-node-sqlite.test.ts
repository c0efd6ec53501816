import { join } from 'node:path'
import { nodeSqliteDialect, sqlAdapter, type NodeSqliteDatabase } from 'authkernel/plugins/sql'
import { testAdapter } from 'authkernel/testing'
import { Kysely } from 'kysely'
import { afterAll, describe } from 'vitest'
import { dropStore, newDatabase } from './_stores.ts'

const name = 'node:sqlite'
const sqlite = (await import(/* @vite-ignore */ name).catch(() => undefined)) as
  | { DatabaseSync: new (file: string) => NodeSqliteDatabase }
  | undefined

// Node 22.16 and later; the runtimes tier runs this there.
describe.skipIf(!sqlite)('sqlAdapter on node:sqlite', async () => {
  const spec = await newDatabase('libsql')
  afterAll(() => dropStore(spec))
  testAdapter('sql, node:sqlite', {
    adapter: () => {
      const database = new sqlite!.DatabaseSync(join(spec.name, '../node.db'))
      return sqlAdapter(new Kysely({ dialect: nodeSqliteDialect(database) }), { migrate: true })
    },
  })
})
