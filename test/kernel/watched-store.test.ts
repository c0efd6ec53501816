/** Who leaves: events at the store border, rows of plugins that go along, and lists of users of one tenant. */
import { type Adapter, createKernel, createStore, type JobContext, type Plugin, type RecordStore } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData, memoryRecords, type RecordData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const user = { id: 'u', email: 'a@example.com', emailVerified: null }

function make({ adapter, records = memoryRecords() }: { adapter: Adapter; records?: RecordStore }) {
  const plugin: Plugin<{ run<T>(work: (ctx: JobContext) => Promise<T>): Promise<T> }> = {
    name: 'p',
    setup(kernel) {
      kernel.records('kept', { fields: { userId: { type: 'string' } }, owner: 'user' })
      return { run: (work) => kernel.job({ job: 'test' }, work) }
    },
  }
  return createKernel(baseConfig()).use(jwtSessionPlugin()).use(adapterPlugin(adapter)).use(recordsPlugin(records)).use(plugin)
}

it('deleteUser and unlinkAccount are told with whom they are about, once, and not without a user', async () => {
  const auth = make({ adapter: memoryAdapter() })
  const told: unknown[] = []
  auth.on('deleteUser', ({ userId, facts }) => void told.push([userId, facts.job]))
  auth.on('unlinkAccount', ({ userId, account }) => void told.push([userId, account]))
  await auth.run(async ({ store }) => {
    await store!.createUser(user)
    await store!.linkAccount({ userId: 'u', type: 'oidc', provider: 'acme', providerAccountId: '1', access_token: 'secret' })
    for (let times = 0; times < 2; times++) await store!.unlinkAccount({ provider: 'acme', providerAccountId: '1' })
    for (let times = 0; times < 2; times++) await store!.deleteUser('u')
  })
  expect(told).toEqual([
    ['u', { provider: 'acme', providerAccountId: '1' }],
    ['u', 'test'],
  ])
})

it('rows in a store of records that is not the adapter go after the user, and a crash is noted', async () => {
  const data: RecordData = new Map()
  const people = memoryData()
  const adapter = memoryAdapter(people)
  const records = memoryRecords(data)
  let broken = true
  const auth = make({
    adapter,
    records: {
      ...records,
      deleteWhere(...args) {
        if (broken) throw new Error('killed')
        return records.deleteWhere(...args)
      },
    },
  })
  await auth.run(async (ctx) => {
    await ctx.store!.createUser(user)
    for (const userId of ['u', 'u', 'v']) await ctx.records('kept' as never).create({ userId } as never)
    await expect(ctx.store!.deleteUser('u')).rejects.toThrow('deleteWhere')
    expect([people.users.size, data.get('kept')!.size, data.get('erasure')!.size]).toEqual([0, 3, 1])
    broken = false
    await ctx.store!.deleteUser('u')
  })
  expect([[...data.get('kept')!.values()].map((row) => row['userId']), data.get('erasure')!.size]).toEqual([['v'], 0])
})

it('lists of users show one tenant, whole pages of them', async () => {
  const store = createStore(memoryAdapter())
  const acme = store.namespaced('acme')
  for (let at = 0; at < 9; at++) await (at % 3 === 0 ? store : acme).createUser({ ...user, id: `${at}`, email: `p${at}@example.com` })
  expect((await store.listUsers({ limit: 2 })).map(({ id, email }) => [id, email])).toEqual([
    ['0', 'p0@example.com'],
    ['3', 'p3@example.com'],
  ])
  expect((await acme.listUsers({ limit: 4, after: '2' })).map(({ email }) => email)).toEqual([4, 5, 7, 8].map((at) => `p${at}@example.com`))
  expect((await acme.listUsers({ email: 'p7', limit: 4 })).map(({ id }) => id)).toEqual(['7'])
  expect((await acme.getUsers(['0', '1', '2'])).map(({ id }) => id)).toEqual(['1', '2'])
})

it('a search shows one tenant, and its name is no part of what is searched', async () => {
  const store = createStore(memoryAdapter())
  const acme = store.namespaced('acme')
  for (let at = 0; at < 4; at++) await (at % 2 === 0 ? store : acme).createUser({ ...user, id: `${at}`, email: `p${at}@example.com` })
  await acme.linkAccount({ userId: '1', provider: 'idp', providerAccountId: 'x', type: 'oidc' })
  const search = async (of: typeof store, query: object): Promise<unknown> => {
    const { users, total } = await of.searchUsers({ limit: 9, ...query })
    return [users.map(({ id, email }) => `${id} ${email}`), total]
  }
  expect(await search(store, {})).toEqual([['0 p0@example.com', '2 p2@example.com'], 2])
  expect(await search(acme, {})).toEqual([['1 p1@example.com', '3 p3@example.com'], 2])
  expect(await search(acme, { text: 'acme' })).toEqual([[], 0])
  expect(await search(acme, { text: 'P3@' })).toEqual([['3 p3@example.com'], 1])
  expect([await search(acme, { provider: 'idp' }), await search(store, { provider: 'idp' })]).toEqual([
    [['1 p1@example.com'], 1],
    [[], 0],
  ])
})

it('an adapter without getUsers, listAccountOwners and deleteSessions is asked for each', async () => {
  const { getUsers: _users, listAccountOwners: _owners, deleteSessions: _sessions, listUsers: _list, ...adapter } = memoryAdapter()
  const store = createStore(adapter)
  await store.createUser(user)
  await store.createSession({ sessionToken: 's', userId: 'u', expires: new Date(Date.now() + 1000) })
  expect([store.supports('getUsers'), store.supports('deleteSessions'), store.supports('listUsers')]).toEqual([true, true, false])
  expect((await store.getUsers(['x', 'u'])).map(({ id }) => id)).toEqual(['u'])
  await store.deleteSessions(['x', 's'])
  expect(await store.getSessionAndUser('s')).toBeNull()
  const key = { provider: 'acme', providerAccountId: '1' }
  await store.linkAccount({ ...key, type: 'oidc', userId: 'u' })
  expect(await store.listAccountOwners([{ ...key, providerAccountId: '2' }, key])).toMatchObject([{ ...key, userId: 'u' }])
})

it('accounts of other tenants have no owner', async () => {
  const store = createStore(memoryAdapter())
  const [acme, key] = [store.namespaced('acme'), { provider: 'acme', providerAccountId: '1' }]
  const { id } = await acme.createUser({ ...user, id: 'a', email: 'a@example.com' })
  await acme.linkAccount({ ...key, type: 'oidc', userId: id })
  expect(await acme.listAccountOwners([key])).toEqual([{ ...key, userId: id }])
  expect([await store.listAccountOwners([key]), await store.namespaced('other').listAccountOwners([key])]).toEqual([[], []])
})
