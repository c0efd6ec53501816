/** @auth/express with sessions in PostgreSQL, kept by @auth/pg-adapter. */
import { afterAll, beforeAll, describe } from 'vitest'
import { makeDatabase, pgSchema } from '../adapters/_schemas.ts'
import { reachable, servers } from '../adapters/_servers.ts'
import { dropStore, type SqlSpec } from '../adapters/_stores.ts'
import { testMigration } from './_journey.ts'

describe.skipIf(!(await reachable('postgres')))('a database that Auth.js fills', () => {
  let spec: SqlSpec
  beforeAll(async () => {
    spec = await makeDatabase(pgSchema)
  })
  afterAll(() => dropStore(spec))

  testMigration({
    name: 'express',
    beside: 'test/migration',
    builds: [],
    start: ['../../../../node_modules/jiti/lib/jiti-cli.mjs', 'app.ts'],
    password: false,
    env: () => ({ DATABASE_URL: new URL(`/${spec.name}`, servers.postgres).href }),
    async signIn(page) {
      await page.getByRole('link', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
    },
    async signOut(page) {
      await page.getByRole('link', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
    },
  })
})
