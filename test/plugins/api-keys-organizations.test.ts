/** Keys for one organization: what they reach, and how they end with the membership of their owner. */
import { describe, expect, it } from 'vitest'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { adminPlugin, type AdminApi } from 'authkernel/plugins/admin'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig } from '../_setup.ts'
import { type, world } from './_organizations.ts'

const sys = { system: true } as const
const withKey = (key: string, more: Record<string, string> = {}) =>
  new Request('http://localhost:3000/', { headers: { 'x-api-key': key, ...more } })

describe.each(['database', 'jwt'] as const)('a key for an organization, strategy %s', (strategy) => {
  it('names it in the session, and has no permission in another one of its owner', async () => {
    const of = await world(strategy)
    const [one, two] = [await of.found({ bob: 'member' }), await of.found({ bob: 'member' }, 'cy')]
    const made = await of.auth.apiKeys.create({ userId: 'bob' }, { name: 'k', scopes: ['project:update'], organization: one })
    expect(made.organization).toBe(one)
    const session = await of.auth.session(withKey(made.key))
    expect(session).toMatchObject({ user: { id: 'bob' }, apiKey: { organization: one }, organization: { id: one, role: 'member' } })
    const may = (organization?: string) =>
      of.auth.can(withKey(made.key), 'project:update', organization === undefined ? {} : { organization })
    expect([await may(), await may(one), await may(two)]).toEqual([true, true, false])
    const next = await of.auth.apiKeys.rotate({ userId: 'bob' }, made.id)
    expect(next?.organization).toBe(one)
  })

  it('is refused from the moment its owner is removed or leaves, beside a cookie too, and stays so when the person comes back', async () => {
    const of = await world(strategy)
    const id = await of.found({ bob: 'member', cy: 'member' })
    const keyOf = async (userId: string) => (await of.auth.apiKeys.create({ userId }, { name: 'k', organization: id })).key
    const [bob, cy, other] = [await keyOf('bob'), await keyOf('cy'), (await of.auth.apiKeys.create({ userId: 'bob' }, { name: 'own' })).key]
    const cookie = (await of.browser('bob')).cookieHeader()
    await of.auth.organizations.remove(sys, id, 'bob')
    expect([await of.auth.session(withKey(bob, { cookie })), await of.auth.apiKeys.verify(withKey(''), bob)]).toEqual([null, null])
    expect((await of.auth.session(withKey(cy)))?.user?.id).toBe('cy')
    // A key for no organization is that of the person alone.
    expect((await of.auth.session(withKey(other)))?.user?.id).toBe('bob')
    await of.auth.organizations.add(sys, id, 'bob', 'member')
    expect(await of.auth.session(withKey(bob))).toBeNull()
    await of.auth.organizations.delete({ userId: 'ada' }, id)
    expect(await of.auth.session(withKey(cy))).toBeNull()
  })

  it('is made by members alone, for a person, and where a plugin knows organizations', async () => {
    const of = await world(strategy)
    const id = await of.found()
    const make = (owner: { userId: string } | { service: string }, organization: unknown) =>
      type(of.auth.apiKeys.create(owner, { name: 'k', organization: organization as string }))
    expect([await make({ userId: 'bob' }, id), await make({ userId: 'ada' }, 'unknown'), await make({ service: 'ci' }, id)]).toEqual([
      403, 403, 400,
    ])
    expect(await make({ userId: 'ada' }, 7)).toBe(400)
    const auth = createAuth(baseConfig()).use(adapterPlugin(memoryAdapter())).use(apiKeysPlugin())
    expect(await type(auth.apiKeys.create({ userId: 'ada' }, { name: 'k', organization: id }))).toBe(400)
  })
})

it('verify() refuses the key of a banned owner, and gives the scopes that the owner has now', async () => {
  const store = memoryAdapter()
  const lost = new Set<string>()
  const auth = createAuth(baseConfig({ session: { strategy: 'database' } }))
    .use(adapterPlugin(store))
    .use(adminPlugin({ can: () => true }))
    .use(apiKeysPlugin({ can: ({ scope }) => !lost.has(scope) }))
  await auth.ready()
  for (const id of ['ada', 'root']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: null })
  const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes: ['read', 'write'] })
  const scopes = async () => (await auth.apiKeys.verify(withKey(''), key))?.scopes
  expect(await scopes()).toEqual(['read', 'write'])
  lost.add('write')
  expect(await scopes()).toEqual(['read'])
  await (auth as unknown as AdminApi).admin.ban({ userId: 'root' }, 'ada', { reason: 'spam' })
  expect(await scopes()).toBeUndefined()
  expect(await auth.apiKeys.verify(withKey(''), 7 as never)).toBeNull()
})

it('organizationsPlugin needs no plugin of keys', async () => {
  const postbox = {
    name: 'postbox',
    setup: (kernel: import('authkernel/kernel').Kernel) => kernel.provide('mailTransport', { send: () => {} }),
  }
  const auth = createAuth(baseConfig({ session: { strategy: 'database' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(postbox)
    .use(organizationsPlugin())
  await expect(auth.ready()).resolves.toBeUndefined()
})
