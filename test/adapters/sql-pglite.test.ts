import { PGlite } from '@electric-sql/pglite'
import { pgliteDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { testAdapter, testRecords, testServices } from 'authkernel/testing'
import { Kysely } from 'kysely'

function open(): Kysely<Record<string, never>> {
  return new Kysely({ dialect: pgliteDialect(new PGlite()) })
}

testAdapter('sql, PGlite', { adapter: () => sqlAdapter(open(), { migrate: true }) })
testServices('sql, PGlite', { services: (now) => sqlAdapter(open(), { migrate: true, now }) })

const adapter = sqlAdapter(open(), { migrate: true })
testRecords('sql, PGlite', { create: () => adapter.records, adapter: () => adapter, rows: 1_000, close: () => adapter.close() })
