import { join } from 'node:path'
import { type NodeSqliteDatabase, nodeSqliteDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { testAdapter } from 'authkernel/testing'
import { Kysely } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { dropStore, newDatabase } from './_stores.ts'

const name = 'node:sqlite'
const sqlite = (await import(/* @vite-ignore */ name).catch(() => undefined)) as
  | { DatabaseSync: new (file: string) => NodeSqliteDatabase }
  | undefined
const [major] = process.versions.node.split('.')

async function contract(): Promise<void> {
  const spec = await newDatabase('libsql')
  afterAll(() => dropStore(spec))
  testAdapter('sql, node:sqlite', {
    adapter: () => {
      const database = new sqlite!.DatabaseSync(join(spec.name, '../node.db'))
      return sqlAdapter(new Kysely({ dialect: nodeSqliteDialect(database) }), { migrate: true })
    },
  })
}

function absence(): void {
  it('node:sqlite tells the columns of a statement since Node 22.16; the contract runs on Node 24', () => {
    expect(Number(major)).toBeLessThan(24)
  })
}

await (sqlite && Number(major) >= 24 ? contract() : absence())
