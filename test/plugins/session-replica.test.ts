/** Sessions that are read from a replica, which does not have what was written a moment ago. */
import { createAuth } from 'authkernel'
import type { Adapter, AdapterTables } from 'authkernel/kernel'
import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { createStorage } from 'unstorage'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const name = 'authkernel.session-token'
const day = 86_400_000

interface Lag {
  /** Reads see nothing of the session. */
  blind: boolean
  /** Reads see the session as it was then. */
  shown?: Awaited<ReturnType<NonNullable<Adapter['getSessionAndUser']>>>
}

async function open({ replica, strategy = 'database' }: { replica: boolean; strategy?: 'database' | 'jwt' }) {
  const primary = memoryAdapter()
  const lag: Lag = { blind: false }
  await primary.createUser({ id: '1', name: 'Ann', email: 'ann@example.com', emailVerified: null })
  const adapter: Adapter & AdapterTables = {
    ...primary,
    replica,
    getSessionAndUser: (token) => (lag.blind ? null : (lag.shown ?? primary.getSessionAndUser(token))),
    getUser: (id) => (lag.blind ? null : primary.getUser(id)),
  }
  const providers = [
    {
      id: 'credentials',
      name: 'Password',
      type: 'credentials' as const,
      authorize: () => ({ id: '1', name: 'Ann', email: 'ann@example.com' }),
    },
  ]
  const config = baseConfig({ providers, adapter, session: { strategy } })
  const client = new Client(createAuth(config))
  await client.post('/callback/credentials')
  return { primary, lag, client, clock: config.runtime }
}

it.each(['database', 'jwt'] as const)('a session that the replica does not have yet keeps its cookie (%s)', async (strategy) => {
  const { lag, client } = await open({ replica: true, strategy })
  lag.blind = true
  const response = await client.get('/session')
  expect(response.status).toBe(200)
  expect(response.headers.getSetCookie().filter((line) => /max-age=0/i.test(line) && line.includes('session'))).toEqual([])
  if (strategy === 'database') expect(await response.json()).toBeNull()
  lag.blind = false
  expect(await client.session()).toMatchObject({ user: { email: 'ann@example.com' } })
})

it('without the declaration the cookie of a session that is gone is deleted, as before', async () => {
  const { lag, client } = await open({ replica: false })
  lag.blind = true
  expect(await client.session()).toBeNull()
  expect(client.cookies.has(name)).toBe(false)
})

it('a session that was extended is not ended because a replica still shows its former end', async () => {
  const { primary, lag, client, clock } = await open({ replica: true })
  const token = client.cookies.get(name)!
  lag.shown = structuredClone((await primary.getSessionAndUser(token))!)
  clock.advance?.(31 * day)
  await primary.updateSession({ sessionToken: token, expires: new Date(clock.now() + day) })
  expect(await client.session()).toBeNull()
  expect(await primary.getSessionAndUser(token)).not.toBeNull()
  delete lag.shown
  client.cookies.set(name, token)
  expect(await client.session()).toMatchObject({ user: { email: 'ann@example.com' } })
})

it('signing out deletes the cookie all the same', async () => {
  const { lag, client } = await open({ replica: true })
  lag.blind = true
  await client.post('/signout')
  expect(client.cookies.has(name)).toBe(false)
})

it('our adapters take the option, and what wraps an adapter keeps it', () => {
  const db = new Kysely<never>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (own) => new SqliteIntrospector(own),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  expect([sqlAdapter(db).replica, sqlAdapter(db, { replica: true }).replica]).toEqual([false, true])
  expect([unstorageAdapter(createStorage()).replica, unstorageAdapter(createStorage(), { replica: true }).replica]).toEqual([false, true])
  expect(hashSessionTokens(sqlAdapter(db, { replica: true })).replica).toBe(true)
})
