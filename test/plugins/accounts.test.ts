/** The server API of accountsPlugin, through the kernel and a browser without a window. */
import { type AdapterAccount, createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const providers = [
  {
    id: 'credentials',
    name: 'Password',
    type: 'credentials' as const,
    authorize: ({ id }: Record<string, unknown>) => ({ id: String(id) }),
  },
]

async function setUp(change: (adapter: ReturnType<typeof memoryAdapter>) => ReturnType<typeof memoryAdapter> = (adapter) => adapter) {
  const memory = memoryAdapter()
  for (const id of ['1', '2']) {
    await memory.createUser({ id, name: `User ${id}`, email: `user${id}@example.com`, emailVerified: null })
    await memory.linkAccount(account(id))
  }
  const options = baseConfig({ providers, adapter: change(memory) })
  const auth = createAuth(options).use(accountsPlugin())
  const signIn = async (id: string): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { id })
    return client
  }
  const request = (client: Client): Request => new Request('http://localhost:3000/me', { headers: { cookie: client.cookieHeader() } })
  return { memory, auth, signIn, request, options }
}

function account(userId: string, values: Partial<AdapterAccount> = {}): AdapterAccount {
  return { userId, type: 'oidc', provider: 'acme', providerAccountId: `acme-${userId}`, access_token: 'a-secret-token', ...values }
}

describe('auth.accounts', () => {
  it('lists the accounts of the signed-in user, without tokens', async () => {
    const { auth, signIn, request } = await setUp()
    expect(await auth.accounts.list(request(await signIn('1')))).toEqual([{ provider: 'acme', providerAccountId: 'acme-1', type: 'oidc' }])
    expect(await auth.accounts.list({ userId: '2' })).toEqual([{ provider: 'acme', providerAccountId: 'acme-2', type: 'oidc' }])
    expect(await auth.accounts.list(new Request('http://localhost:3000/'))).toEqual([])
  })

  it('links an account by hand, asks the link hook and tells the event', async () => {
    const { auth, memory, signIn, request } = await setUp()
    const told: unknown[] = []
    auth.on('linkAccount', ({ user, account: linked }) => told.push([user.id, linked.provider]))
    const own = request(await signIn('1'))
    const second = { type: 'oidc' as const, provider: 'other', providerAccountId: 'x' }
    expect(await auth.accounts.link(own, second)).toBe(true)
    expect(await auth.accounts.link(own, second)).toBe(false)
    expect(told).toEqual([['1', 'other']])
    expect(await memory.getUserByAccount(second)).toMatchObject({ id: '1' })
    await expect(auth.accounts.link({ userId: '2' }, second)).rejects.toMatchObject({ type: 'AccountNotLinked' })
    auth.hook('link', () => false)
    await expect(auth.accounts.link(own, { ...second, provider: 'third' })).rejects.toMatchObject({ type: 'AccountNotLinked' })
    expect(await auth.accounts.link({ userId: 'nobody' }, { ...second, provider: 'third' })).toBe(false)
  })

  it('unlinks own accounts only, and the last one only when told to', async () => {
    const { auth, memory, signIn, request } = await setUp()
    const own = request(await signIn('1'))
    expect(await auth.accounts.unlink(own, account('2'))).toBe(false)
    expect(await memory.getUserByAccount(account('2'))).toMatchObject({ id: '2' })
    await expect(auth.accounts.unlink(own, account('1'))).rejects.toThrow(/last account/)
    await memory.linkAccount(account('1', { provider: 'other' }))
    expect(await auth.accounts.unlink(own, account('1'))).toBe(true)
    expect(await memory.getUserByAccount(account('1'))).toBeNull()
    expect(await auth.accounts.unlink(own, account('1', { provider: 'other' }), { last: true })).toBe(true)
    expect(await auth.accounts.list(own)).toEqual([])
  })

  it('two accounts that are unlinked at once leave one', async () => {
    const { auth, memory } = await setUp()
    await memory.linkAccount(account('1', { provider: 'other' }))
    const both = ['acme', 'other'].map((provider) => auth.accounts.unlink({ userId: '1' }, { provider, providerAccountId: 'acme-1' }))
    expect((await Promise.allSettled(both)).some(({ status }) => status === 'rejected')).toBe(true)
    const left = await memory.listAccountsByUserId('1')
    expect(left.length).toBeGreaterThan(0)
    expect(left[0]).toMatchObject({ access_token: 'a-secret-token' })
  })

  it('a passkey goes with its account', async () => {
    const { auth, memory } = await setUp()
    const passkey = account('1', { provider: 'passkey', type: 'webauthn', providerAccountId: 'cred' })
    await memory.linkAccount(passkey)
    const authenticator = {
      userId: '1',
      providerAccountId: 'cred',
      credentialPublicKey: 'k',
      counter: 1,
      credentialDeviceType: 'x',
      credentialBackedUp: false,
    }
    await memory.createAuthenticator({ ...authenticator, credentialID: 'cred' })
    await memory.createAuthenticator({ ...authenticator, credentialID: 'kept', providerAccountId: 'kept' })
    expect(await auth.accounts.unlink({ userId: '1' }, passkey)).toBe(true)
    expect(await memory.getAuthenticator('cred')).toBeNull()
    expect(await memory.getAuthenticator('kept')).not.toBeNull()
  })
})

describe.each([
  ['plain', undefined],
  ['hashed session tokens', hashSessionTokens],
] as const)('auth.sessions, %s', (_name, change) => {
  it('lists the sessions of a person without their tokens, and marks the current one', async () => {
    const { auth, signIn, request } = await setUp(change)
    const [laptop, phone, stranger] = [await signIn('1'), await signIn('1'), await signIn('2')]
    const list = await auth.sessions.list(request(laptop))
    expect(list).toHaveLength(2)
    expect(list.filter(({ current }) => current)).toHaveLength(1)
    expect(JSON.stringify(list)).not.toContain(laptop.cookies.get('authkernel.session-token'))
    expect(list[0]).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{64}$/), expires: expect.any(Date), createdAt: expect.any(Date) })
    expect((await auth.sessions.list(request(phone))).map(({ id }) => id).sort()).toEqual(list.map(({ id }) => id).sort())
    expect(await auth.sessions.list(request(stranger))).toHaveLength(1)
    expect(await auth.sessions.list(new Request('http://localhost:3000/'))).toEqual([])
  })

  it('revokes one session of the person, never of another', async () => {
    const { auth, signIn, request } = await setUp(change)
    const [laptop, phone, stranger] = [await signIn('1'), await signIn('1'), await signIn('2')]
    const [foreign] = await auth.sessions.list(request(stranger))
    expect(await auth.sessions.revoke(request(laptop), foreign!.id)).toBe(false)
    expect(await stranger.session()).not.toBeNull()
    const other = (await auth.sessions.list(request(laptop))).find(({ current }) => !current)
    expect(await auth.sessions.revoke(request(laptop), other!.id)).toBe(true)
    expect(await phone.session()).toBeNull()
    expect(await laptop.session()).not.toBeNull()
    expect(await auth.sessions.revoke(request(laptop), other!.id)).toBe(false)
  })

  it('revokes the others, or all of a user', async () => {
    const { auth, signIn, request } = await setUp(change)
    const [laptop, phone, stranger] = [await signIn('1'), await signIn('1'), await signIn('2')]
    expect(await auth.sessions.revokeOthers(request(laptop))).toBe(true)
    expect(await phone.session()).toBeNull()
    expect(await laptop.session()).not.toBeNull()
    expect(await stranger.session()).not.toBeNull()
    expect(await auth.sessions.revokeOthers({ userId: '1' })).toBe(true)
    expect(await laptop.session()).toBeNull()
  })
})

describe('auth.users', () => {
  it('deletes the person with everything, and signs them out everywhere', async () => {
    const { auth, memory, signIn, request } = await setUp()
    const [laptop, phone] = [await signIn('1'), await signIn('1')]
    expect(await auth.users.delete(request(laptop))).toBe(true)
    expect(await memory.getUser('1')).toBeNull()
    expect(await memory.getUserByAccount(account('1'))).toBeNull()
    expect(await phone.session()).toBeNull()
    expect(await auth.users.delete({ userId: '1' })).toBe(false)
  })
})

describe('accountsPlugin', () => {
  it('says which operations an adapter lacks', async () => {
    const { listAccountsByUserId: _absent, ...rest } = memoryAdapter()
    const auth = createAuth(baseConfig({ providers, adapter: rest })).use(accountsPlugin())
    await expect(auth.accounts.list({ userId: '1' })).rejects.toMatchObject({
      type: 'MissingAdapterMethods',
      message: /listAccountsByUserId/,
    })
  })

  it('needs a store', async () => {
    const auth = createAuth(baseConfig({ providers })).use(accountsPlugin())
    await expect(auth.ready()).rejects.toThrow(/accounts.*store/s)
  })
})
