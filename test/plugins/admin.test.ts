/** Administrators: who may, what a ban ends, and what is told. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, EventMessage } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminQuestion, adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'

const reason = 'abuse report 7'

async function world(config: AuthConfig = {}, { keys = true } = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const asked: string[] = []
  const admins = new Set(['root'])
  const can = ({ admin, act, user }: AdminQuestion): boolean => {
    asked.push(`${admin.id} ${act} ${user?.id ?? '-'}`)
    return admins.has(admin.id ?? '')
  }
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(adminPlugin({ can }))
    .use(apiKeysPlugin())
    .use(auditPlugin({ sink: recordsSink() }))
  if (!keys) auth.remove('api-keys')
  const told: EventMessage<'adminAct'>[] = []
  auth.on('adminAct', (message) => void told.push(message))
  await auth.ready()
  for (const id of ['root', 'ada', 'eve']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: null })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const asks = (client: Client) => new Request('http://localhost:3000/admin', { headers: { cookie: client.cookieHeader() } })
  return { auth, store, asked, admins, told, browser, asks, runtime: base.runtime }
}
const type = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { type?: string; status?: number }) => error.type ?? error.status,
  )

describe.each(['jwt', 'database'] as const)('administrators, %s', (strategy) => {
  const start = (more?: { keys?: boolean }) => world({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } }, more)

  it('a ban ends every session, key and sign-in until its end', async () => {
    const { auth, browser, asks, told, runtime } = await start()
    const [root, ada, phone] = [asks(await browser('root')), await browser('ada'), await browser('ada')]
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const byKey = new Request('http://localhost:3000/', { headers: { 'x-api-key': key } })
    expect(await auth.session(byKey)).not.toBeNull()
    const until = new Date(runtime.now() + 3_600_000)
    await auth.admin.ban(root, 'ada', { reason, until })
    expect([await ada.session(), await phone.session(), await auth.session(byKey)]).toEqual([null, null, null])
    expect(await (await browser('ada')).session()).toBeNull()
    expect((await auth.session(root))?.user?.name).toBe('root')
    expect(await (await browser('eve')).session()).not.toBeNull()
    expect(await auth.admin.get(root, 'ada')).toMatchObject({ id: 'ada', ban: { reason, by: 'root', until } })
    expect(told).toMatchObject([{ admin: { id: 'root' }, act: 'ban', user: { id: 'ada' }, reason }])
    runtime.advance(3_600_001)
    expect(await (await browser('ada')).session()).not.toBeNull()
    expect(await auth.session(byKey)).not.toBeNull()
  })

  it('a ban without an end lasts until it is lifted, and the log has both', async () => {
    const { auth, browser, runtime } = await start({ keys: false })
    await auth.admin.ban({ userId: 'root' }, 'ada', { reason })
    runtime.advance(40 * 86_400_000)
    expect(await (await browser('ada')).session()).toBeNull()
    expect(await auth.admin.unban({ userId: 'root' }, 'ada', { reason: 'appeal' })).toBe(true)
    expect(await auth.admin.unban({ userId: 'root' }, 'ada', { reason: 'appeal' })).toBe(false)
    expect(await (await browser('ada')).session()).not.toBeNull()
    await auth.audit.flush()
    const { records } = await auth.audit.list({})
    expect(records.find(({ name }) => name === 'user.banned')).toMatchObject({ actor: { type: 'admin', id: 'root' }, target: { reason } })
    expect(records.some(({ name }) => name === 'user.unbanned')).toBe(true)
  })

  it('a session that is issued while the ban is written does not live', async () => {
    const { auth, browser } = await start()
    auth.on('signIn', ({ user }) => (user.id === 'ada' ? auth.admin.ban({ userId: 'root' }, 'ada', { reason }) : undefined))
    expect(await (await browser('ada')).session()).toBeNull()
  })

  it('force sign-out ends sessions and nothing else', async () => {
    const { auth, browser, asks } = await start()
    const [root, ada] = [await browser('root'), await browser('ada')]
    await auth.admin.signOut(asks(root), 'ada', { reason })
    expect([await ada.session(), (await root.session())?.user?.['name']]).toEqual([null, 'root'])
    expect(await (await browser('ada')).session()).not.toBeNull()
  })

  it('a visitor, a key, a user without the right, and an administrator of before are refused, whatever the act', async () => {
    const { auth, browser, asks, admins, asked, store, told } = await start()
    const root = asks(await browser('root'))
    const { key } = await auth.apiKeys.create({ userId: 'root' }, { name: 'k' })
    admins.add('eve')
    const former = asks(await browser('eve'))
    admins.delete('eve')
    const nobody = new Request('http://localhost:3000/')
    const byKey = new Request('http://localhost:3000/', { headers: { 'x-api-key': key } })
    for (const who of [nobody, byKey, former, { userId: 'eve' }, { userId: 'gone' }])
      for (const work of [
        auth.admin.list(who),
        auth.admin.get(who, 'ada'),
        auth.admin.ban(who, 'ada', { reason }),
        auth.admin.unban(who, 'ada', { reason }),
        auth.admin.signOut(who, 'ada', { reason }),
        auth.admin.newFactor(who, 'nobody', { reason }),
        auth.admin.verifyAddress(who, 'ada', { reason }),
      ])
        expect(await type(work)).toBe('AccessDenied')
    expect(asked).toContain('eve ban ada')
    expect((await store.getUser('ada'))?.emailVerified).toBeNull()
    expect(told).toEqual([])
    admins.add('eve')
    await auth.admin.ban({ userId: 'eve' }, 'root', { reason })
    expect(await type(auth.admin.list(root))).toBe('AccessDenied')
    expect(await type(auth.admin.list({ userId: 'root' }))).toBe('AccessDenied')
  })
})

describe('finding users', () => {
  it('by the beginning of the address, in pages', async () => {
    const { auth, store } = await world({ session: { strategy: 'database' } })
    for (let i = 0; i < 5; i++)
      await store.createUser({ id: `u${i}`, email: `team-${i}@example.com`, name: null, emailVerified: null } as never)
    const by = { userId: 'root' }
    const first = await auth.admin.list(by, { email: ' TEAM-', limit: 3 })
    expect(first.users.map(({ id }) => id)).toEqual(['u0', 'u1', 'u2'])
    const second = await auth.admin.list(by, { email: 'team-', limit: 3, after: first.next })
    expect([second.users.map(({ id }) => id), second.next]).toEqual([['u3', 'u4'], undefined])
    expect(Object.keys(first.users[0]!).sort()).toEqual(['ban', 'email', 'emailVerified', 'id', 'image', 'name'])
    for (const bad of [{ limit: 0 }, { limit: 1e9 }, { email: ['a'] }, { after: {} }])
      expect(await type(auth.admin.list(by, bad as never))).toBe(400)
  })

  it('says what is wrong with an order', async () => {
    const { auth, store, runtime } = await world({ session: { strategy: 'database' } })
    const by = { userId: 'root' }
    for (const bad of ['', ' ', 'x'.repeat(501), 7, undefined])
      expect(await type(auth.admin.ban(by, 'ada', { reason: bad as never }))).toBe(400)
    for (const until of [new Date(runtime.now()), new Date('x'), 'tomorrow', new Date(8.64e15)])
      expect(await type(auth.admin.ban(by, 'ada', { reason, until: until as never }))).toBe(400)
    expect(await type(auth.admin.ban(by, 'root', { reason }))).toBe(400)
    expect(await type(auth.admin.ban(by, 'gone', { reason }))).toBe(404)
    await auth.admin.verifyAddress(by, 'ada', { reason })
    expect((await store.getUser('ada'))?.emailVerified).toEqual(new Date(runtime.now()))
    await auth.admin.ban(by, 'ada', { reason })
    await store.deleteUser('ada')
    await store.createUser({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: null })
    expect((await auth.admin.get(by, 'ada'))?.ban).toBeNull()
  })
})

describe('a new factor', () => {
  it('needs a plugin that keeps factors, and leaves none', async () => {
    const { auth } = await world({ session: { strategy: 'database' } })
    expect(await type(auth.admin.newFactor({ userId: 'root' }, 'ada', { reason }))).toBe('AuthError')
    const more = auth.use(mailPlugin({ transport: { send: () => undefined } } as never)).use(twoFactorPlugin())
    await more.ready()
    const reset: unknown[] = []
    more.on('factorsReset', (message) => void reset.push({ user: message.user.id, by: message.admin.id, why: message.reason }))
    await more.admin.newFactor({ userId: 'root' }, 'ada', { reason })
    expect(reset).toEqual([{ user: 'ada', by: 'root', why: reason }])
  })
})

it('mistakes in the configuration name plugin and option', async () => {
  expect(() => adminPlugin({} as never)).toThrow('Plugin "admin": the option `can` is missing')
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(adminPlugin({ can: () => true }))
  await expect(auth.ready()).rejects.toThrow(/admin/)
  // As published adapters are.
  const { listUsers: _, ...published } = memoryAdapter()
  const without = createAuth(baseConfig({ session: { strategy: 'database' } }))
    .use(adapterPlugin(published))
    .use(adminPlugin({ can: () => true }))
  await expect(without.ready()).rejects.toThrow(/"admin".*listUsers/)
})
