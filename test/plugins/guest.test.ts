/** Guests: how they begin, what they are not, what they become, and how they are forgotten. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { User } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type GuestOptions, guestPlugin } from 'authkernel/plugins/guest'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

const day = 86_400_000

async function world(strategy: 'jwt' | 'database', options: GuestOptions = {}) {
  const base = baseConfig({
    session: { strategy, maxAge: 90 * 86_400 },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const auth = createAuth(base).use(adapterPlugin(store)).use(accountsPlugin()).use(apiKeysPlugin()).use(guestPlugin(options))
  const told: string[] = []
  auth.on('guestConverted', ({ guest, user }) => void told.push(`${guest.id} ${user.id}`))
  await auth.ready()
  for (const id of ['ada', 'eve']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const client = new Client(auth)
  const asks = (of = client) => new Request('http://localhost:3000/', { headers: { cookie: of.cookieHeader() } })
  const idOf = async (of = client) => (await of.session())?.user?.['id'] as string
  return { auth, store, data, told, client, asks, idOf, runtime: base.runtime, logger: base.logger }
}

describe.each(['jwt', 'database'] as const)('a guest, %s', (strategy) => {
  it('is a stored user without an address, the same one until sign-out', async () => {
    const { client, store, idOf, data } = await world(strategy)
    const before = await client.post('/guest', { callbackUrl: 'http://localhost:3000/shop' })
    expect(before.headers.get('location')).toBe('http://localhost:3000/shop')
    expect(await client.session()).toMatchObject({ guest: true, user: { id: expect.any(String) } })
    const id = await idOf()
    expect(await store.getUser(id)).toMatchObject({ email: null, emailVerified: null })
    await client.post('/guest')
    expect([await idOf(), data.users.size]).toEqual([id, 3])
    await client.post('/signout')
    expect(await client.session()).toBeNull()
  })

  it('needs the CSRF token, and stops at a number an hour', async () => {
    const { auth, client, data } = await world(strategy, { max: 2 })
    expect((await client.send('/guest', { method: 'POST' })).headers.get('location')).toContain('MissingCSRF')
    for (let i = 0; i < 2; i++) await new Client(auth).post('/guest')
    expect((await new Client(auth).post('/guest')).status).toBe(429)
    expect(data.users.size).toBe(4)
  })

  it('has no account, key or session list, and cannot delete a user', async () => {
    const { auth, client, asks } = await world(strategy)
    await client.post('/guest')
    expect(await auth.accounts.list(asks())).toEqual([])
    expect(await auth.users.delete(asks())).toBe(false)
    await expect(auth.apiKeys.create(asks(), { name: 'k' })).rejects.toMatchObject({ type: 'AccessDenied' })
  })

  it('becomes the user who signs in: handed over once, then deleted', async () => {
    const handed: unknown[] = []
    const convert = ({ guest, user }: { guest: User; user: User }) => void handed.push([guest.id, user.id])
    const { auth, client, store, asks, idOf, told } = await world(strategy, { convert })
    await client.post('/guest')
    const [id, copy] = [await idOf(), asks()]
    await client.post('/callback/credentials', { user: 'ada' })
    const session = await client.session()
    expect([session?.user?.['id'], session?.['guest']]).toEqual(['ada', undefined])
    expect([handed, told, await store.getUser(id)]).toEqual([[[id, 'ada']], [`${id} ada`], null])
    expect(await auth.session(copy)).toBeNull()
  })

  it('is handed to one of two sign-ins at the same moment', async () => {
    const handed: string[] = []
    const { auth, client, idOf } = await world(strategy, { convert: ({ user }) => void handed.push(user.id ?? '') })
    await client.post('/guest')
    await idOf()
    const other = new Client(auth)
    await client.csrfToken()
    for (const [name, value] of client.cookies) other.cookies.set(name, value)
    await Promise.all([client.post('/callback/credentials', { user: 'ada' }), other.post('/callback/credentials', { user: 'eve' })])
    expect(handed).toHaveLength(1)
    expect([await idOf(), await idOf(other)]).toEqual(['ada', 'eve'])
  })

  it('stays stored when the data could not be handed over', async () => {
    const { client, store, idOf, told, logger } = await world(strategy, { convert: () => Promise.reject(new Error('basket is full')) })
    await client.post('/guest')
    const id = await idOf()
    await client.post('/callback/credentials', { user: 'ada' })
    expect([await idOf(), told, (await store.getUser(id))?.id]).toEqual(['ada', [], id])
    expect(logger.errors.map(({ message }) => message)).toContain('basket is full')
  })

  it('is swept after 30 days without a visit, and not before', async () => {
    const { auth, client, store, asks, idOf, runtime } = await world(strategy)
    await client.post('/guest')
    const id = await idOf()
    runtime.advance(20 * day)
    expect(await idOf()).toBe(id)
    runtime.advance(20 * day)
    expect([await auth.guest.sweep(), await idOf()]).toEqual([0, id])
    runtime.advance(30 * day)
    expect(await auth.session(asks())).toBeNull()
    expect([await auth.guest.sweep(), await auth.guest.sweep(), await store.getUser(id)]).toEqual([1, 0, null])
    expect(await store.getUser('ada')).not.toBeNull()
  })

  it('is not made when the sign-in is refused, nor by a wrong target', async () => {
    const { auth, asks, data } = await world(strategy)
    auth.hook('signIn', () => false)
    await expect(auth.guest.start(asks())).rejects.toMatchObject({ type: 'AccessDenied' })
    for (const returnTo of ['//evil.example', '/\\evil.example', 'https://evil.example'])
      await expect(auth.guest.start(asks(), { returnTo })).rejects.toMatchObject({ status: 400 })
    expect(data.users.size).toBe(2)
  })
})

it('mistakes in the configuration name plugin and option', () => {
  expect(() => guestPlugin({ idle: 1 })).toThrow('Plugin "guest": `idle`')
  expect(() => guestPlugin({ max: 0 })).toThrow('Plugin "guest": `max`')
})
