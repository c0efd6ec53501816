/** Writes of administrators under races and faults: addresses, invitations, roles and deletions. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Adapter, AdapterUser, AuthConfig, Context } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminOptions, adminPlugin } from 'authkernel/plugins/admin'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'

const [reason, root] = ['ticket 7', { userId: 'root' }]
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A store without a unique key for addresses, which answers a moment later. */
function keyless() {
  const data = memoryData()
  const store = memoryAdapter(data)
  const faults = { updateUser: 0, getUser: 0, send: 0 }
  const reads = { users: 0 }
  const adapter: Adapter = {
    ...store,
    async getUsers(ids) {
      reads.users += ids.length
      return store.getUsers(ids)
    },
    async getUserByEmail(email) {
      await pause()
      return store.getUserByEmail(email)
    },
    async getUser(id) {
      reads.users++
      if (faults.getUser-- > 0) throw new Error('The database is gone.')
      return store.getUser(id)
    },
    async createUser(user) {
      await pause()
      data.users.set(user.id, { ...user })
      return user
    },
    async updateUser(change) {
      await pause()
      if (faults.updateUser-- > 0) throw new Error('The database is gone.')
      const user = { ...data.users.get(change.id), ...change } as AdapterUser
      data.users.set(user.id, user)
      return user
    },
  }
  return { data, adapter, faults, reads }
}

async function world(options: Partial<AdminOptions> = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy: 'database' },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const { data, adapter, faults, reads } = keyless()
  const mails: string[] = []
  const send = async ({ to }: { to: unknown }): Promise<void> => {
    if (faults.send-- > 0) throw new Error('The mail server is gone.')
    mails.push(String(to))
  }
  let writer: Context['users'] | undefined
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(mailPlugin({ transport: { send } }))
    .use(adminPlugin({ roles: true, administrators: ['root'], ...options }))
    .use({
      name: 'writer',
      setup: (kernel) => kernel.route({ method: 'GET', path: '/writer', handler: (ctx) => ((writer = ctx.users), new Response('ok')) }),
    })
  await auth.ready({ warm: true })
  for (const id of ['root', 'ada', 'eve']) data.users.set(id, { id, email: `${id}@example.com`, name: id, emailVerified: null })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  await new Client(auth).get('/writer')
  return { auth, base, data, faults, mails, browser, users: writer!, reads, runtime: base.runtime }
}
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { type?: string; status?: number }) => error.status ?? error.type,
  )

it('an address goes to one user, whatever writes it at the same moment', async () => {
  const { auth, data, users } = await world()
  const email = 'one@example.com'
  const works = Array.from({ length: 30 }, (_, index) =>
    [
      () => auth.admin.createUser(root, { email, reason }),
      () => auth.admin.inviteUser(root, { email, reason }),
      () => auth.admin.updateUser(root, index % 2 ? 'ada' : 'eve', { email, reason }),
      () => users.create({ email, emailVerified: null }),
      () => users.update({ id: index % 2 ? 'ada' : 'eve', email }),
    ][index % 5]!(),
  )
  const outcomes = await Promise.all(works.map(outcome))
  expect([...data.users.values()].filter((user) => user.email === email)).toHaveLength(1)
  expect(new Set(outcomes)).toEqual(new Set(['done', 409]))
})

it('a new address ends the sessions, also when the store fails', async () => {
  const { auth, data, faults, browser } = await world()
  const ada = await browser('ada')
  expect(await ada.session()).not.toBeNull()
  faults.updateUser = 1
  expect(await outcome(auth.admin.updateUser(root, 'ada', { email: 'new@example.com', reason }))).toBe(503)
  expect(data.users.get('ada')?.email).toBe('ada@example.com')
  expect(await ada.session()).toBeNull()
  const other = await browser('ada')
  await auth.admin.updateUser(root, 'ada', { email: 'new@example.com', reason })
  expect([await other.session(), data.users.get('ada')?.email]).toEqual([null, 'new@example.com'])
  // An address that is taken ends nothing.
  const eve = await browser('eve')
  expect(await outcome(auth.admin.updateUser(root, 'eve', { email: 'new@example.com', reason }))).toBe(409)
  expect(await eve.session()).not.toBeNull()
})

it('a fault of the store is no refusal of the console', async () => {
  let calls = 0
  const roleOf = () => {
    calls++
    throw new TypeError('The directory is gone.')
  }
  const { auth } = await world({ administrators: [], roleOf })
  await expect(auth.admin.getRights(root)).rejects.toThrow('The directory is gone.')
  expect(calls).toBe(1)
})

it('a user who never signed in is invited again, for a mail that was not sent', async () => {
  const { auth, data, faults, mails, browser } = await world()
  const email = 'new@example.com'
  faults.send = 1
  await expect(auth.admin.inviteUser(root, { email, reason })).rejects.toThrow()
  const { id } = await auth.admin.inviteUser(root, { email, reason })
  expect((await auth.admin.inviteUser(root, { email, reason })).id).toBe(id)
  expect(mails).toEqual([email, email])
  expect([...data.users.values()].filter((user) => user.email === email)).toHaveLength(1)
  // A user who has signed in, and one who was verified.
  await browser(id)
  expect(await outcome(auth.admin.inviteUser(root, { email, reason }))).toBe(409)
  await auth.admin.createUser(root, { email: 'known@example.com', verified: true, reason })
  expect(await outcome(auth.admin.inviteUser(root, { email: 'known@example.com', reason }))).toBe(409)
})

it('sign-ins of one moment are written together, and soon', async () => {
  const { auth, browser, runtime, reads } = await world()
  await browser('root')
  const before = reads.users
  for (const user of ['ada', 'eve', 'ada', 'eve']) await browser(user)
  // The sign-ins themselves read the user; the counts add none.
  const perSignIn = (reads.users - before) / 4
  const seen = async (id: string) => (await auth.admin.list(root)).users.find((user) => user.id === id)?.lastSeen
  expect([await seen('ada'), await seen('eve')]).toEqual([new Date(runtime.now()), new Date(runtime.now())])
  runtime.advance(5_001)
  const start = reads.users
  await browser('eve')
  expect(reads.users - start).toBeGreaterThan(perSignIn)
  expect((await auth.admin.getOverview(root)).totals.signIns).toBe(6)
})

it('what waits for one tenant is written by the sign-ins of another', async () => {
  const base = baseConfig({
    session: { strategy: 'jwt', revocable: true },
    providers: [{ id: 'credentials', name: 'Password', type: 'credentials', authorize: () => ({ id: 'ada', name: 'Ada' }) }],
  })
  const data = memoryData()
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter(data)))
    .use(tenantsPlugin({ settings: ({ url }) => ({ namespace: new URL(url).hostname.split('.')[0]! }) }))
    .use(adminPlugin({ can: () => true }))
  await auth.ready()
  const signInAt = (tenant: string) => new Client(auth, `http://${tenant}.example`).post('/callback/credentials', { user: 'ada' })
  const counted = () =>
    JSON.stringify(
      [...data.records!.values()].flatMap((rows) => [...rows.values()]),
      null,
      0,
    ).match(/"count":\d+/g)
  for (let times = 0; times < 3; times++) await signInAt('one')
  expect(counted()).toEqual(['"count":1'])
  base.runtime.advance(5_001)
  await signInAt('two')
  expect(counted()?.toSorted()).toEqual(['"count":1', '"count":3'])
})
