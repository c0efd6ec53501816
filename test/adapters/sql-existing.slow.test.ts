/** The whole contract on databases that Auth.js made, after `migrate`. */
import { testAdapter } from 'authkernel/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { makeDatabase, type Schema, schemas } from './_schemas.ts'
import { reachable } from './_servers.ts'
import { dropStore, openDatabase, openSql, type SqlSpec } from './_stores.ts'

const server = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), libsql: true }

describe.each(schemas.map((schema) => [schema.name, schema] as const))('%s', (name, schema) => {
  describe.skipIf(!server[schema.kind])('a database of that schema, migrated', () => {
    let spec: SqlSpec
    beforeAll(async () => {
      spec = await makeDatabase(schema)
    })
    afterAll(() => dropStore(spec))

    testAdapter(name, { adapter: () => openSql(openDatabase(spec)), gaps: gapsOf(schema) })
  })
})

/** What a schema keeps from holding, also when it has been migrated: its columns stay what they are. */
function gapsOf({ name, kind }: Schema): string[] {
  return [
    // `email` is NOT NULL there, and a column that is there is the host's.
    ...(/kysely|prisma-adapter on PostgreSQL/.test(name)
      ? ['users without an address, where the adapter says so: many, findable by id alone, and each may get one']
      : []),
    // The collation of the column is the host's: Zoë and Zoe are one address, and the second person is refused.
    ...(kind === 'mysql' ? ['addresses that differ only in accents or separators are different users'] : []),
    // `integer` ends at 2^31 - 1, and the client that was generated for it expects that.
    ...(/drizzle.*(Postgre|My)SQL|prisma/.test(name) ? ['a counter may have 32 bits'] : []),
  ]
}
