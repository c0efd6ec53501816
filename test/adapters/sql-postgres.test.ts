import type { HealedFault } from 'authkernel/kernel'
import type { SqlAdapterOptions } from 'authkernel/plugins/sql'
import { testAdapter, testServices } from 'authkernel/testing'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { testRaces } from './_races.ts'
import { testStoreRecords } from './_records.ts'
import { reachable, servers } from './_servers.ts'
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
  testStoreRecords('sql, PostgreSQL', () => spec)

  describe('statements that are prepared by name', () => {
    /** An adapter over one connection, whose statements can be looked at. */
    async function prepared(options: SqlAdapterOptions = {}): Promise<{
      adapter: ReturnType<typeof openSql>
      pool: pg.Pool
      names(): Promise<string[]>
      healed: HealedFault[]
      sessionToken: string
    }> {
      const url = new URL(servers.postgres)
      url.pathname = spec.name
      const pool = new pg.Pool({ connectionString: url.href, max: 1 })
      const adapter = openSql({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), pool }, options)
      const user = await adapter.createUser(newUser())
      const session = newSession(user.id)
      await adapter.createSession(session)
      const healed: HealedFault[] = []
      adapter.onHealed((fault) => healed.push(fault))
      const names = async (): Promise<string[]> =>
        (await pool.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(({ name }) => name)
      return { adapter, pool, names, healed, sessionToken: session.sessionToken }
    }

    it('are prepared once, and only ours', async () => {
      const { adapter, names, sessionToken } = await prepared()
      const before = await names()
      for (let n = 0; n < 5; n++) expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()
      const after = await names()
      expect(after.filter((name) => !before.includes(name))).toEqual([expect.stringMatching(/^authkernel_/)])
      expect(after.every((name) => name.startsWith('authkernel_'))).toBe(true)
      await adapter.close()
    })

    it('are not, where the host says so', async () => {
      const { adapter, names, sessionToken } = await prepared({ prepare: false })
      expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()
      expect(await names()).toEqual([])
      await adapter.close()
    })

    it('outlive a column that gets another type while the app runs', async () => {
      const { adapter, pool, healed, sessionToken } = await prepared()
      await adapter.getSessionAndUser(sessionToken)
      await pool.query('alter table users alter column name type varchar(300)')
      await Promise.all([1, 2, 3].map(async () => expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()))
      expect(healed.length).toBeGreaterThan(0)
      expect(healed[0]).toMatchObject({ code: '0A000', message: expect.stringContaining('cached plan') })
      healed.length = 0
      expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()
      expect(healed).toEqual([])
      await pool.query('alter table users alter column name type text')
      await adapter.close()
    })

    it('are given up behind a pooler that hands each statement to another connection', async () => {
      const { adapter, pool, names, healed, sessionToken } = await prepared()
      await adapter.getSessionAndUser(sessionToken)
      await pool.query('deallocate all')
      expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()
      expect(healed).toMatchObject([{ code: '26000', attempts: 2 }])
      // In a transaction too, which the error ends.
      expect(await adapter.createUserWithAccount(newUser(), { ...newAccount(''), userId: undefined } as never)).toMatchObject({
        name: 'Ada',
      })
      expect(await names()).toEqual([])
      await adapter.close()
    })
  })
})
