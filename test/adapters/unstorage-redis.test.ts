import { testAdapter, testServices } from 'authkernel/testing'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { afterAll, describe, expect, it } from 'vitest'
import { newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { createStorage, type Driver, prefixStorage } from 'unstorage'
import { testRaces } from './_races.ts'
import { testStoreRecords } from './_records.ts'
import { reachable } from './_servers.ts'
import { dropStore, newStore, openStore, storageOf } from './_stores.ts'

// Left out without a server on a laptop (AUTHKERNEL_TEST_REDIS_URL); in CI `reachable` throws instead.
describe.skipIf(!(await reachable('redis')))('unstorageAdapter on Redis', () => {
  const spec = newStore('redis')
  afterAll(() => dropStore(spec))

  testAdapter('unstorage, redis driver', { adapter: () => openStore(spec) })
  testServices('unstorage, redis driver', {
    services: (now) => unstorageAdapter(storageOf(spec), { now }),
  })
  testRaces('Redis', () => spec)
  testStoreRecords('unstorage, redis driver', () => spec)

  it('row 176: values live no longer than what they stand for', async () => {
    const storage = storageOf(spec)
    const adapter = unstorageAdapter(storage)
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id, { expires: new Date(Date.now() + 90_000) })
    await adapter.createSession(session)
    const token = newToken()
    await adapter.createVerificationToken(token)
    const client = storage.getMount('').driver.getInstance!() as { pttl(key: string): Promise<number> }
    expect(await client.pttl(`${(spec as { base: string }).base}:user:session:${session.sessionToken}`)).toBeGreaterThan(80_000)
    expect(await client.pttl(`${(spec as { base: string }).base}:user:session:${session.sessionToken}`)).toBeLessThanOrEqual(90_000)
    expect(await client.pttl(`${(spec as { base: string }).base}:user:session:by-user-id:${user.id}`)).toBeLessThanOrEqual(90_000)
    expect(await client.pttl(`${(spec as { base: string }).base}:user:${user.id}`)).toBe(-1)
    expect(await client.pttl(`${(spec as { base: string }).base}:user:token:${token.identifier}:${token.token}`)).toBeLessThanOrEqual(
      3_600_200,
    )
    await adapter.close()
  })

  it('a deleted user leaves no key behind', async () => {
    const own = newStore('redis')
    const storage = storageOf(own)
    const adapter = unstorageAdapter(storage)
    const user = await adapter.createUser(newUser())
    await adapter.linkAccount(newAccount(user.id, { providerAccountId: 'Needs A Hash' }))
    await adapter.createSession(newSession(user.id))
    await adapter.createAuthenticator(newAuthenticator(user.id))
    await adapter.createVerificationToken(newToken({ identifier: user.email }))
    expect((await storage.getKeys()).length).toBe(10)
    await adapter.deleteUser(user.id)
    expect(await storage.getKeys()).toEqual([])
    await adapter.close()
  })

  it('many sign-ins of one person at once do not wear each other down', async () => {
    const storage = storageOf(spec)
    const adapter = unstorageAdapter(storage)
    const user = await adapter.createUser(newUser())
    const client = storage.getMount('').driver.getInstance!() as { eval(...args: unknown[]): Promise<unknown> }
    const script = client.eval.bind(client)
    let writes = 0
    client.eval = (...args) => (writes++, script(...args))
    await Promise.all([...Array(100).keys()].map(() => adapter.createSession(newSession(user.id))))
    expect(await adapter.listSessionsByUserId(user.id)).toHaveLength(100)
    expect(writes).toBeLessThan(300)
    await adapter.deleteUser(user.id)
    await adapter.close()
  })

  it('an account whose user was evicted makes room for the person', async () => {
    const storage = storageOf(spec)
    const adapter = unstorageAdapter(storage)
    const { userId: _none, ...account } = newAccount('', { providerAccountId: 'evicted' })
    const gone = await adapter.createUserWithAccount(newUser(), account)
    await storage.removeItem(`user:${gone.id}`)
    expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: 'evicted' })).toBeNull()
    const again = await adapter.createUserWithAccount(newUser({ email: gone.email }), account)
    expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: 'evicted' })).toMatchObject({ id: again.id })
    expect(await adapter.listAccountsByUserId(gone.id)).toEqual([])
    await expect(adapter.createUserWithAccount(newUser(), account)).rejects.toThrow(/account is already taken/)
    await adapter.deleteUser(again.id)
    await adapter.close()
  })

  it('refuses a storage that puts its keys elsewhere, where two prefixes would be one store', async () => {
    const storage = storageOf(spec)
    const wrapped = unstorageAdapter(prefixStorage(storage, 'tenant') as typeof storage)
    await expect(wrapped.createUser(newUser())).rejects.toThrow(/give.*the prefix/i)
    const mine = unstorageAdapter(storage, { prefix: 'tenant' })
    const user = await mine.createUser(newUser())
    expect(await openStore(spec).getUser!(user.id)).toBeNull()
    expect(await mine.getUser(user.id)).toMatchObject({ email: user.email })
    await mine.close()
  })

  it('a driver that is mounted somewhere is found there', async () => {
    const storage = createStorage()
    storage.mount('people', storageOf(spec).getMount('').driver as Driver)
    const adapter = unstorageAdapter(storage, { prefix: 'people' })
    expect(adapter.atomic).toBe(true)
    const user = await adapter.createUser(newUser())
    expect(await storage.getItem(`people:user:${user.id}`)).toMatchObject({ email: user.email })
    expect(await openStore(spec).getUser!(user.id)).toMatchObject({ email: user.email })
    await adapter.close()
  })
})
