/** Rows 158 to 175, 351 to 356, 364 to 366: what the kernel asks of an adapter, and what it takes for an answer. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type Adapter,
  type AdapterAccount,
  type AdapterAuthenticator,
  type AdapterSession,
  type AdapterUser,
  type AuthConfig,
  createAuth,
  type VerificationToken,
} from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from './_op.ts'
import { createWorld, traced, type Entry, type World } from './_world.ts'

const ok = 'http://localhost:3000'
const mail = { id: 'mail', name: 'Mail', type: 'email' as const, sendVerificationRequest: () => {} }
const without = (...methods: (keyof Adapter)[]): Adapter =>
  Object.fromEntries(Object.entries(memoryAdapter()).filter(([name]) => !methods.includes(name as keyof Adapter)))
/** A host with an OpenID provider and mail over any adapter. */
const host = (adapter: Adapter, config: AuthConfig = {}) => {
  const options = baseConfig()
  const op = new LocalOp(options.runtime.now)
  options.runtime.fetch = op.fetch
  const mails: string[] = []
  const sendVerificationRequest = ({ url }: { url: string }) => void mails.push(url)
  const auth = createAuth({
    ...options,
    adapter,
    providers: [op.provider('oidc') as never, { ...mail, sendVerificationRequest }],
    ...config,
  })
  const client = new Client(auth)
  const signIn = async () => client.get(op.authorize((await client.post('/signin/oidc')).headers.get('location') ?? ''))
  const byMail = async (email: string) => {
    await client.post('/signin/mail', { email })
    return client.get(mails.at(-1) ?? '')
  }
  return { auth, client, op, options, signIn, byMail, mails }
}
const to = async (response: Promise<Response>) => (await response).headers.get('location')

describe('what is demanded before the first request', () => {
  const nineteen = [
    'createUser',
    'getUser',
    'getUserByEmail',
    'getUserByAccount',
    'updateUser',
    'deleteUser',
    'linkAccount',
    'unlinkAccount',
    'getAccount',
    'createSession',
    'getSessionAndUser',
    'updateSession',
    'deleteSession',
    'createVerificationToken',
    'useVerificationToken',
    'createAuthenticator',
    'getAuthenticator',
    'listAuthenticatorsByUserId',
    'updateAuthenticatorCounter',
  ] as const
  const database = new Set<string>([
    'createUser',
    'getUser',
    'getUserByEmail',
    'getUserByAccount',
    'updateUser',
    'linkAccount',
    'createSession',
    'getSessionAndUser',
    'updateSession',
    'deleteSession',
  ])
  const email = new Set<string>(['createVerificationToken', 'useVerificationToken', 'getUserByEmail'])
  const faultOf = async (adapter: Adapter, config: AuthConfig) =>
    createAuth(baseConfig({ adapter, ...config }))
      .ready()
      .then(
        () => undefined,
        (error: { type: string; message: string }) => error,
      )

  it.each(nineteen)('rows 158, 159, 160: without %s', async (method) => {
    const demanded = async (config: AuthConfig, set: ReadonlySet<string>) => {
      const fault = await faultOf(without(method), config)
      expect(fault?.type).toBe(set.has(method) ? 'MissingAdapterMethods' : undefined)
      if (fault) expect(fault.message).toContain(method)
    }
    await demanded({ session: { strategy: 'jwt' } }, new Set())
    await demanded({ session: { strategy: 'database' } }, database)
    await demanded({ session: { strategy: 'jwt' }, providers: [mail] }, email)
    // Row 161: with mail and database sessions, both sets.
    await demanded({ session: { strategy: 'database' }, providers: [mail] }, new Set([...database, ...email]))
  })

  it('row 161: email and database sessions together demand the session operations too', async () => {
    const fault = await faultOf(without('createSession', 'useVerificationToken'), { providers: [mail] })
    expect(fault?.type).toBe('MissingAdapterMethods')
    expect(await faultOf(without('createSession'), { providers: [mail] })).toMatchObject({ type: 'MissingAdapterMethods' })
  })

  it('row 158: operations may be synchronous or not', async () => {
    const later = Object.fromEntries(
      Object.entries(memoryAdapter()).map(([name, value]) => [
        name,
        typeof value === 'function' ? async (...args: unknown[]) => (value as (...all: unknown[]) => unknown)(...args) : value,
      ]),
    )
    for (const adapter of [memoryAdapter(), later]) {
      const { signIn, client } = host(adapter)
      expect(await to(signIn())).toBe(ok)
      expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
    }
  })
})

describe('what is called', () => {
  it('row 164: getUserByAccount gets provider and providerAccountId, nothing else', async () => {
    const log: Entry[] = []
    await host(traced(memoryAdapter(), log)).signIn()
    expect(log.find(({ what }) => what === 'ad.getUserByAccount')?.message).toEqual({ provider: 'oidc', providerAccountId: 'ann-at-op' })
  })

  it('row 166, D32: deleteUser and unlinkAccount are never called but to undo a half-made user', async () => {
    const log: Entry[] = []
    const calls = () => log.map(({ what }) => what).filter((what) => what === 'ad.deleteUser' || what === 'ad.unlinkAccount')
    const { signIn, byMail, client, op } = host(traced(without('createUserWithAccount'), log))
    await signIn()
    await client.session()
    await client.post('/signout')
    await byMail('bob@example.com')
    await client.post('/signout')
    op.person = { sub: 'other', email: 'ann@example.com' }
    await signIn()
    expect(calls()).toEqual([])

    const memory = memoryAdapter()
    const { createUserWithAccount: _, ...split } = memory
    let broken = true
    const failing = traced(
      { ...split, linkAccount: (account) => (broken ? Promise.reject(new Error('down')) : memory.linkAccount(account)) },
      log,
    )
    const again = host(failing)
    log.length = 0
    expect(await to(again.signIn())).toContain('error=Configuration')
    expect(calls()).toEqual(['ad.deleteUser'])
    broken = false
    expect(await to(again.signIn())).toBe(ok)
  })

  it('rows 352, 353, 354: what is stored at the first sign-in', async () => {
    const world = createWorld('database', 'split')
    await world.client.get(await world.toProvider('oidc'))
    const [user] = world.data.users.values()
    const [account] = world.data.accounts.values()
    const [session] = world.data.sessions.values()
    expect(user).toMatchObject({ email: 'ann@example.com', emailVerified: null })
    expect(account).toMatchObject({ userId: user?.id, provider: 'oidc', providerAccountId: 'ann-at-op', type: 'oidc' })
    expect(session).toMatchObject({ userId: user?.id, expires: new Date(world.options.runtime.now() + 2_592_000_000) })
    expect(session?.sessionToken).toMatch(/^[0-9a-f-]{36}$/)
    // Row 352: null until an email sign-in, then a Date.
    await world.client.post('/signin/mail', { email: 'ann@example.com' })
    await world.client.get(world.mails[0]?.url ?? '')
    expect([...world.data.users.values()][0]?.emailVerified).toEqual(new Date(world.options.runtime.now()))
  })

  it('row 351: an account of credentials is never stored', async () => {
    const world = createWorld('database', 'whole')
    world.data.users.set('u-pat', { id: 'u-pat', name: 'Pat', email: 'pat@example.com', emailVerified: null })
    await world.client.post('/callback/password', { password: 'right' })
    expect(await world.client.session()).toMatchObject({ user: { name: 'Pat' } })
    expect(world.data.accounts.size).toBe(0)
    expectTypeOf<AdapterAccount['type']>().not.toEqualTypeOf<string>()
    expectTypeOf<'credentials'>().not.toExtend<AdapterAccount['type']>()
    expectTypeOf<AdapterAccount['userId']>().toEqualTypeOf<string>()
  })
})

describe('what counts as an answer', () => {
  it('rows 174, 175, D26: dates may come as text or number; they are Dates to everybody else', async () => {
    const memory = memoryAdapter()
    const plain = (value: unknown): unknown => (value && typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value)
    const textual = Object.fromEntries(
      Object.entries(memory).map(([name, value]) => [
        name,
        typeof value === 'function' ? async (...args: unknown[]) => plain(await (value as (...all: unknown[]) => unknown)(...args)) : value,
      ]),
    ) as Adapter
    const seen: unknown[] = []
    const { signIn, byMail, client } = host(textual, {
      callbacks: { session: ({ session, user }) => (seen.push(user?.emailVerified), session) },
    })
    await signIn()
    await client.session()
    await byMail('ann@example.com')
    await client.session()
    expect(seen).toEqual([null, expect.any(Date) as Date])
    expectTypeOf<AdapterUser['email']>().toEqualTypeOf<string>()
    expectTypeOf<AdapterUser['emailVerified']>().toEqualTypeOf<Date | null>()
    expectTypeOf<AdapterSession['expires']>().toEqualTypeOf<Date>()
  })

  it('rows 365, 366: operations whose answer is not needed may answer nothing', async () => {
    const memory = memoryAdapter()
    const silent =
      (operation: keyof Adapter) =>
      (...args: unknown[]) => {
        ;(memory[operation] as (...all: unknown[]) => unknown)(...args)
      }
    const adapter: Adapter = { ...memory, createUserWithAccount: undefined as never }
    for (const name of ['linkAccount', 'deleteSession', 'updateSession', 'createVerificationToken', 'deleteUser', 'unlinkAccount'] as const)
      Object.assign(adapter, { [name]: silent(name) })
    const ended: unknown[] = []
    const { signIn, byMail, client } = host(adapter, {
      session: { updateAge: 0 },
      events: { signOut: (message) => void ended.push(message) },
    })
    expect(await to(signIn())).toBe(ok)
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
    await client.post('/signout')
    expect(await client.session()).toBeNull()
    expect(ended).toHaveLength(1)
    expect((ended[0] as { session?: object | null }).session ?? null).toBeNull()
    expect(await to(byMail('bob@example.com'))).toBe(ok)
  })

  it('row 364: an account that the host links by hand signs that user in', async () => {
    const memory = memoryAdapter()
    const user = await memory.createUser({ id: 'u-1', name: 'By hand', email: 'hand@example.com', emailVerified: null })
    await memory.linkAccount({ userId: user.id, provider: 'oidc', providerAccountId: 'ann-at-op', type: 'oidc' })
    const { signIn, client } = host(memory)
    expect(await to(signIn())).toBe(ok)
    expect(await client.session()).toMatchObject({ user: { name: 'By hand', email: 'hand@example.com' } })
  })

  it('row 370: several accounts, one user', async () => {
    const world = createWorld('database', 'whole')
    await world.client.get(await world.toProvider('oidc'))
    world.op.person = { sub: 'ann-2', name: 'Ann again' }
    await world.client.get(await world.toProvider('oauth'))
    const stranger = new Client(world.auth)
    await stranger.get(await world.toProvider('oauth', {}, stranger))
    expect(await stranger.session()).toMatchObject({ user: { name: 'Ann' } })
    expect(world.data.users.size).toBe(1)
    expect(world.data.accounts.size).toBe(2)
  })
})

describe('row 170: writing an authenticator that fails fails the sign-in', () => {
  const optionsOf = async <T>(world: World, query: string): Promise<T> =>
    ((await (await world.client.get(`/webauthn-options/passkey?${query}`)).json()) as { options: T }).options
  const register = async (world: World, key: Authenticator) => {
    const data = key.create(await optionsOf<CreationOptions>(world, 'action=register&email=ann@example.com'))
    return world.client.post('/callback/passkey', { action: 'register', data })
  }
  const broken = (method: 'createAuthenticator' | 'updateAuthenticatorCounter') => {
    const adapter = memoryAdapter()
    return { adapter, config: { adapter: { ...adapter, [method]: () => Promise.reject(new Error('disk full')) } } as AuthConfig }
  }

  it('createAuthenticator: no session, and no user left behind', async () => {
    const { adapter, config } = broken('createAuthenticator')
    const world = createWorld('database', 'whole', config)
    const response = await register(world, new Authenticator(ok))
    expect(response.headers.get('location')).toBe(`${ok}/auth/error?error=Configuration`)
    expect(await world.client.session()).toBeNull()
    expect(await adapter.getUserByEmail('ann@example.com')).toBeNull()
  })

  it('updateAuthenticatorCounter: no session', async () => {
    const { adapter, config } = broken('updateAuthenticatorCounter')
    const key = new Authenticator(ok)
    await register(createWorld('database', 'whole', { adapter }), key)
    const world = createWorld('database', 'whole', config)
    const data = key.get(await optionsOf<RequestOptions>(world, 'action=authenticate'))
    const response = await world.client.post('/callback/passkey', { action: 'authenticate', data })
    expect(response.headers.get('location')).toContain('/auth/error?error=')
    expect(await world.client.session()).toBeNull()
  })
})

it('rows 355, 356: shapes of tokens and authenticators', async () => {
  expectTypeOf<VerificationToken>().toEqualTypeOf<{ identifier: string; token: string; expires: Date }>()
  expectTypeOf<Omit<AdapterAuthenticator, 'transports'>>().toEqualTypeOf<{
    credentialID: string
    userId: string
    providerAccountId: string
    credentialPublicKey: string
    counter: number
    credentialDeviceType: string
    credentialBackedUp: boolean
  }>()
  expectTypeOf<AdapterAuthenticator['transports']>().toEqualTypeOf<string | null | undefined>()
  const stored = memoryAdapter()
  await stored.createUser({ id: 'u', email: 'a@b.example', emailVerified: null })
  const row = {
    credentialID: 'AA==',
    userId: 'u',
    providerAccountId: 'AA==',
    credentialPublicKey: 'AQ==',
    counter: 0,
    credentialDeviceType: 'singleDevice',
    credentialBackedUp: false,
  }
  expect(await stored.createAuthenticator(row)).toEqual(row)
})
