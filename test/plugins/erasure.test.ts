/** Erasure and export of a user over every plugin, and rules of retention. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { cleanupPlugin } from 'authkernel/plugins/cleanup'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { baseConfig, Client } from '../_setup.ts'
import { createScimWorld } from './_scim.ts'

const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) }

async function createHost(retention?: Parameters<typeof cleanupPlugin>[0]) {
  const store = memoryAdapter(memoryData())
  const base = baseConfig({
    providers: [{ id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ id }) => store.getUser!(String(id)) }],
    session: { strategy: 'database' },
  })
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin({ accountSection: true }))
    .use(apiKeysPlugin())
    .use(postbox)
    .use(organizationsPlugin())
    .use(cleanupPlugin(retention))
  await auth.ready()
  for (const id of ['ada', 'eve']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const signIn = async (id: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { id })
    return client
  }
  return { auth, store, signIn, runtime: base.runtime }
}

describe('an erasure', () => {
  it('removes rows of every plugin, ends all access, and reports numbers without data', async () => {
    const { auth, store, signIn } = await createHost()
    const browser = await signIn('ada')
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'script' })
    const { id: organization } = await auth.organizations.create({ userId: 'eve' }, { name: 'Acme' })
    await auth.organizations.add({ system: true }, organization, 'ada')
    const report = await auth.users.erase({ userId: 'ada' })
    expect(report).toMatchObject({ userId: 'ada', records: { apiKey: 1, organizationMember: 1 }, left: {} })
    expect(JSON.stringify(report)).not.toContain('ada@example.com')
    expect(await store.getUser!('ada')).toBeNull()
    expect(await (await browser.get('/session')).json()).toBeNull()
    expect(await auth.apiKeys.verify(new Request('http://localhost:3000/'), key)).toBeNull()
    expect(await auth.users.export({ userId: 'ada' })).toBeNull()
    expect(await auth.users.erase({ userId: 'ada' })).toBeNull()
    expect(await auth.users.erase({ userId: 'none' })).toBeNull()
    expect(await store.getUser!('eve')).not.toBeNull()
  })

  it('that a plugin refuses deletes nothing', async () => {
    const { auth, store } = await createHost()
    const { id } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme' })
    await auth.organizations.add({ system: true }, id, 'eve')
    await expect(auth.users.erase({ userId: 'ada' })).rejects.toThrow('last owner')
    expect(await store.getUser!('ada')).not.toBeNull()
    expect((await auth.users.export({ userId: 'ada' }))?.records['organizationMember']).toHaveLength(1)
  })

  it('takes the user out of a directory, and out of its numbers', async () => {
    const { createUser, send, auth, acme, store } = await createScimWorld({ plugins: [accountsPlugin()] })
    await createUser('bob')
    const { id } = (await createUser('ann')).body
    await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] })
    const ann = (await store.getUserByEmail('ann@acme.example'))!
    const { users } = auth as unknown as { users: { erase(who: { userId: string }): Promise<{ records: object } | null> } }
    expect((await users.erase({ userId: ann.id }))?.records).toMatchObject({ scimUser: 1, scimMember: 1 })
    expect((await send('GET', '/Users')).body).toMatchObject({ totalResults: 1, itemsPerPage: 1 })
    expect((await send('GET', `/Users/${id}`)).status).toBe(404)
    expect((await send('GET', '/Groups')).body.Resources[0].members).toEqual([])
    expect((await auth.scim.directories.list({ organizationId: acme }))[0]?.users).toBe(1)
    expect((await createUser('ann')).status).toBe(201)
  })
})

describe('the section of the account page', () => {
  it('downloads the data of the user after a fresh proof', async () => {
    const { auth, signIn, runtime } = await createHost()
    const browser = await signIn('ada')
    await auth.apiKeys.create({ userId: 'ada' }, { name: 'script' })
    const csrfToken = await browser.csrfToken()
    const answer = await browser.post('/account/data', { csrfToken })
    expect([answer.status, answer.headers.get('content-disposition'), answer.headers.get('cache-control')]).toEqual([
      200,
      'attachment; filename="account.json"',
      'no-store',
    ])
    const data = (await answer.json()) as { user: { email: string }; records: { apiKey: object[] } }
    expect([data.user.email, data.records.apiKey.length]).toEqual(['ada@example.com', 1])
    expect(JSON.stringify(data)).not.toMatch(/digest|hash/i)
    runtime.advance(301_000)
    const late = await browser.post('/account/data', { csrfToken })
    expect([late.status, late.headers.get('content-disposition')]).toEqual([302, null])
    expect((await new Client(auth).post('/account/data', {})).headers.get('content-disposition')).toBeNull()
  })
})

describe('retention', () => {
  it('deletes rows that are older than their rule', async () => {
    const { auth, runtime } = await createHost({ retention: { organizationEvent: { field: 'at', days: 30 } } })
    const { id } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme' })
    runtime.advance(29 * 86_400_000)
    await auth.organizations.add({ system: true }, id, 'eve')
    const acts = async () => (await auth.organizations.history({ system: true }, id)).events.map(({ act }) => act)
    await auth.cleanup()
    expect(await acts()).toEqual(['member.added', 'created'])
    runtime.advance(2 * 86_400_000)
    await auth.cleanup()
    expect(await acts()).toEqual(['member.added'])
  })

  it('refuses records, fields and days that are not there, at start', async () => {
    const rule = (retention: object) => createHost({ retention: retention as never })
    await expect(rule({ none: { field: 'at', days: 1 } })).rejects.toThrow('`retention.none` names no record')
    await expect(rule({ apiKey: { field: 'name', days: 1 } })).rejects.toThrow('must be a date field')
    await expect(rule({ apiKey: { field: 'created', days: 0 } })).rejects.toThrow('`retention.apiKey.days`')
    await expect(rule({ apiKey: { field: 'created', days: 1, more: 1 } })).rejects.toThrow('more')
  })
})
