import { PGlite } from '@electric-sql/pglite'
import { pgliteDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { testAdapter, testServices } from 'authkernel/testing'
import { Kysely } from 'kysely'

function open(): Kysely<Record<string, never>> {
  return new Kysely({ dialect: pgliteDialect(new PGlite()) })
}

testAdapter('sql, PGlite', { adapter: () => sqlAdapter(open(), { migrate: true }) })
testServices('sql, PGlite', { services: (now) => sqlAdapter(open(), { migrate: true, now }) })
