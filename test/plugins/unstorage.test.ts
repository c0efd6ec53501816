/** unstorageAdapter: keys, indexes, drivers that fail. The contract over files and Redis is under `test/adapters`. */
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { testAdapter, testRecords } from 'authkernel/testing'
import { createStorage, type Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { describe, expect, it } from 'vitest'
import { inHours, newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'

testAdapter('unstorage, memory driver', { adapter: () => unstorageAdapter(createStorage()) })
const shared = unstorageAdapter(createStorage(), { prefix: 'app' })
testRecords('unstorage, memory driver', { create: () => shared.records, adapter: () => shared, rows: 300 })
testAdapter('unstorage, memory driver under a prefix', { adapter: () => unstorageAdapter(createStorage(), { prefix: 'app:auth' }) })

async function filled(prefix = '') {
  const storage = createStorage()
  const adapter = unstorageAdapter(storage, { prefix })
  const user = await adapter.createUser(newUser())
  await adapter.linkAccount(newAccount(user.id, { providerAccountId: 'Needs A Hash?' }))
  await adapter.createSession(newSession(user.id))
  await adapter.createAuthenticator(newAuthenticator(user.id))
  await adapter.createVerificationToken(newToken({ identifier: user.email }))
  return { storage, adapter, user }
}

describe('keys', () => {
  it('lie under the prefix, and in no other place', async () => {
    const { storage } = await filled('app')
    await storage.setItem('other', '1')
    expect((await storage.getKeys()).filter((key) => !key.startsWith('app:'))).toEqual(['other'])
    expect((await storage.getKeys('app')).length).toBe(10)
  })

  it('two prefixes in one storage are two stores', async () => {
    const storage = createStorage()
    const [first, second] = [unstorageAdapter(storage, { prefix: 'a' }), unstorageAdapter(storage, { prefix: 'b' })]
    const user = await first.createUser(newUser())
    expect(await second.getUser(user.id)).toBeNull()
    expect(await second.createUser(user)).toMatchObject({ email: user.email })
  })

  it('a storage that is mounted elsewhere is found by its prefix', async () => {
    const storage = createStorage()
    const mounted = memoryDriver()
    storage.mount('auth', mounted)
    const adapter = unstorageAdapter(storage, { prefix: 'auth' })
    const user = await adapter.createUser(newUser())
    expect(await storage.getItem(`auth:user:${user.id}`)).toMatchObject({ email: user.email })
    expect(await adapter.getUserByEmail(user.email)).toMatchObject({ id: user.id })
  })
})

describe('indexes never point to nothing', () => {
  it('after everything of a person was taken away one by one', async () => {
    const { storage, adapter, user } = await filled()
    for (const session of await adapter.listSessionsByUserId(user.id)) await adapter.deleteSession(session.sessionToken)
    for (const account of await adapter.listAccountsByUserId(user.id)) await adapter.unlinkAccount(account)
    for (const { credentialID } of await adapter.listAuthenticatorsByUserId(user.id)) await adapter.deleteAuthenticator(credentialID)
    await adapter.deleteVerificationTokens(user.email)
    expect((await storage.getKeys()).sort()).toEqual([`user:${user.id}`, `user:email:${user.email}`].sort())
    await adapter.updateUser({ id: user.id, email: 'new@example.com' })
    expect((await storage.getKeys()).sort()).toEqual([`user:${user.id}`, 'user:email:new@example.com'].sort())
  })

  it('after the user was deleted, and after sessions ended', async () => {
    const { storage, adapter, user } = await filled()
    await adapter.deleteUser(user.id)
    expect(await storage.getKeys()).toEqual([])
    const other = await adapter.createUser(newUser())
    const [old, live] = [newSession(other.id, { expires: inHours(-1) }), newSession(other.id)]
    await adapter.createSession(old)
    await adapter.createSession(live)
    await adapter.deleteExpired(new Date())
    expect((await storage.getKeys('user:session')).sort()).toEqual(
      [`user:session:${live.sessionToken}`, `user:session:by-user-id:${other.id}`].sort(),
    )
    expect(await adapter.listSessionsByUserId(other.id)).toMatchObject([{ sessionToken: live.sessionToken }])
  })

  it('row 176: what the driver dropped at the end of its life is not listed', async () => {
    const storage = createStorage()
    let now = Date.now()
    const adapter = unstorageAdapter(storage, { now: () => now })
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id, { expires: new Date(now + 60_000) })
    await adapter.createSession(session)
    await storage.removeItem(`user:session:${session.sessionToken}`)
    expect(await adapter.listSessionsByUserId(user.id)).toEqual([])
    now += 61_000
    await adapter.createSession(newSession(user.id))
    expect(await storage.getItem(`user:session:by-user-id:${user.id}`)).toHaveLength(1)
  })
})

describe('drivers', () => {
  it('row 176: get a time to live, in seconds, for what ends', async () => {
    const lives: [string, number | undefined][] = []
    const driver: Driver = { ...memoryDriver(), setItem: (key, _value, options: { ttl?: number }) => void lives.push([key, options?.ttl]) }
    const memory = memoryDriver()
    const storage = createStorage({
      driver: { ...memory, setItem: (key, value, options) => (driver.setItem!(key, value, options), memory.setItem!(key, value, options)) },
    })
    const adapter = unstorageAdapter(storage)
    const user = await adapter.createUser(newUser())
    await adapter.createSession(newSession(user.id, { expires: new Date(Date.now() + 600_000) }))
    await adapter.createVerificationToken(newToken({ expires: new Date(Date.now() + 5_000) }))
    const find = (start: string): number | undefined => lives.find(([key]) => key.startsWith(start) && !key.includes('by-'))?.[1]
    expect(find('user:session:')).toBe(600)
    // Some services refuse less than a minute.
    expect(find('user:token:')).toBe(60)
    expect(lives[0]).toEqual([`user:${user.id}`, undefined])
  })

  it('without an atomic command say so', () => {
    const adapter = unstorageAdapter(createStorage())
    expect(adapter).toMatchObject({ atomic: false, exclusive: false, keepsCreatedAt: true })
    expect(adapter.once.shared).toBe(false)
  })

  it('that fail half-way are asked again before anybody sees the half', async () => {
    const memory = memoryDriver()
    let failing = false
    const driver: Driver = {
      ...memory,
      setItem: (key, value, options) =>
        failing && key.includes('account') ? Promise.reject(new Error('gone')) : memory.setItem!(key, value, options),
    }
    const adapter = unstorageAdapter(createStorage({ driver }))
    const user = newUser()
    const { userId: _none, ...account } = newAccount('')
    failing = true
    await expect(adapter.createUserWithAccount(user, account)).rejects.toThrow('gone')
    await expect(adapter.getUser(user.id)).rejects.toThrow('gone')
    failing = false
    expect(await adapter.getUser(user.id)).toMatchObject({ email: user.email })
    expect(await adapter.listAccountsByUserId(user.id)).toHaveLength(1)
  })

  it('that hand out an error as a value are not believed', async () => {
    const driver: Driver = { ...memoryDriver(), getItem: () => Object.assign(new Error('permission denied'), { code: 'EACCES' }) as never }
    await expect(unstorageAdapter(createStorage({ driver })).getUser('1')).rejects.toThrow('permission denied')
  })
})
