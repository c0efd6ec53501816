/** `legacyPassword` of importPlugin with a former service, and tables of a library as the source. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ImportOptions, importPlugin } from 'authkernel/plugins/import'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { luciaHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { sql } from 'kysely'
import { scryptSync } from 'node:crypto'
import { baseConfig, Client } from '../_setup.ts'
import { dropStore, newDatabase, openDatabase, type SqlSpec } from '../adapters/_stores.ts'

const typed = 'seven purple otters sing'

async function world(options: ImportOptions) {
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig({ session: { strategy: 'database' } }))
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(passwordsPlugin({ breached: false, verify: [luciaHash()] }))
    .use(importPlugin(options))
  await auth.ready()
  const signIn = async (email: string, password = typed, client = new Client(auth)) => {
    const { status } = await client.post('/callback/passwords', { email, password })
    return { client, status, user: (await client.session())?.user }
  }
  return { auth, adapter, signIn }
}

it('Cognito without hashes: the users come by the file, their passwords one by one at the sign-in', async () => {
  const asked: string[] = []
  const { auth, adapter, signIn } = await world({
    legacyPassword: ({ name, password }) => (asked.push(name), password === typed ? { emailVerified: true } : null),
  })
  const Attributes = [
    { Name: 'sub', Value: 'c-1' },
    { Name: 'email', Value: 'ada@example.com' },
    { Name: 'email_verified', Value: 'true' },
  ]
  const file = JSON.stringify({ Users: [{ Username: 'c-1', Attributes, Enabled: true, UserStatus: 'CONFIRMED' }] })
  const files = () => [
    (async function* () {
      yield new TextEncoder().encode(file)
    })(),
  ]
  const report = await auth.import.run({ from: 'cognito', files, apply: true })
  expect([report.refused, report.problems.map(({ name, level }) => [name, level])]).toEqual([[], [['passwords-by-hook', 'note']]])
  expect((await signIn('ada@example.com', 'wrong')).user).toBeUndefined()
  expect((await signIn('ada@example.com')).user?.id).toBe('c-1')
  expect((await signIn('ada@example.com')).user?.id).toBe('c-1')
  expect(asked).toEqual(['ada@example.com', 'ada@example.com'])
  // The password is removed here, for example with a stolen account: the former one must not come back.
  expect((await adapter.getUser('c-1'))?.email).toBe('ada@example.com')
  await auth.use({
    name: 'revokes',
    setup: (kernel) => void kernel.on('signInFailed', async ({ ctx }) => void (await ctx.records('password').deleteWhere({}))),
  })
  await signIn('ada@example.com', 'wrong')
  expect(await auth.passwords.has({ userId: 'c-1' })).toBe(false)
  expect([(await signIn('ada@example.com')).user, asked.length]).toEqual([undefined, 2])
})

it('a former service that hangs, fails or answers nonsense is answered with 503', async () => {
  for (const legacyPassword of [() => new Promise<never>(() => {}), () => Promise.reject(new Error('down')), () => true as never]) {
    const { adapter, signIn } = await world({ legacyPassword, legacyTimeout: 100 })
    await adapter.createUser({ id: 'u', email: 'ada@example.com', emailVerified: new Date() })
    expect((await signIn('ada@example.com')).status).toBe(503)
  }
})

let spec: SqlSpec
beforeAll(async () => {
  spec = await newDatabase('libsql')
})
afterAll(() => dropStore(spec))

it('tables of Lucia are read in pages, with their keys', async () => {
  const { db } = openDatabase(spec)
  const key = scryptSync(typed, 'k3jd92ka01mz7xq4', 64, { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }).toString('hex')
  await sql`create table auth_user (id text primary key, email_verified integer)`.execute(db)
  await sql`create table user_key (id text primary key, user_id text, hashed_password text)`.execute(db)
  for (let at = 0; at < 620; at++) {
    const id = `l${String(at).padStart(4, '0')}`
    await sql`insert into auth_user values (${id}, 1)`.execute(db)
    await sql`insert into user_key values (${`email:${id}@example.com`}, ${id}, ${`s2:k3jd92ka01mz7xq4:${key}`})`.execute(db)
  }
  const { auth, adapter, signIn } = await world({ db })
  const { kinds } = await auth.import.run({ from: 'lucia', apply: true })
  expect(kinds).toMatchObject({ users: { new: 620 }, passwords: { new: 620 } })
  expect((await adapter.getUser('l0619'))?.email).toBe('l0619@example.com')
  expect((await signIn('l0500@example.com')).user?.id).toBe('l0500')
  await db.destroy()
})
