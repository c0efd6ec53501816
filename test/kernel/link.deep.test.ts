/** linkIdentity under races and faults (D32, D35, SECURITY 5.2) with a provider type that always knows who it is. */
import { describe, expect, it } from 'vitest'
import { type Adapter, type AuthConfig, createAuth, type Provider } from 'authkernel'
import type { Identity, Plugin, ProviderFlow } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

type Known = {
  id: string
  name: string
  type: 'known'
  trusts?: boolean
  updates?: boolean
  onLinked?: () => Promise<void>
  mail?: boolean
}
declare module 'authkernel/kernel' {
  interface ProviderTypes {
    known: Known
  }
}

const flow: ProviderFlow<Known> = {
  async finish(ctx, provider): Promise<Identity> {
    const { who = 'ann' } = (await ctx.body()) as { who?: string }
    const user = { name: who, email: `${who}@example.com` }
    const account = { provider: provider.id, providerAccountId: who, type: 'known' as const, access_token: `t-${who}` }
    return {
      user,
      account,
      match: provider.mail ? 'email' : 'account',
      ...(provider.trusts && { trustsEmail: true }),
      ...(provider.updates && { refreshTokens: true }),
      ...(provider.onLinked && { onLinked: provider.onLinked }),
    }
  },
}
const knownPlugin = (...providers: Partial<Known>[]): Plugin => ({
  name: 'known',
  setup(kernel) {
    kernel.providerType('known', flow)
    for (const provider of providers) kernel.provider({ id: 'op', name: 'OP', type: 'known', ...provider } as Provider)
  },
})

const without = (adapter: Adapter, ...methods: (keyof Adapter)[]): Adapter =>
  Object.fromEntries(Object.entries(adapter).filter(([name]) => !methods.includes(name as keyof Adapter)))

function make(adapter: Adapter, providers: Partial<Known>[] = [{}], config: AuthConfig = {}) {
  const options = baseConfig({ adapter, deadlines: { store: 100 }, ...config })
  const auth = createAuth(options).use(knownPlugin(...providers))
  const events: string[] = []
  for (const event of ['createUser', 'updateUser', 'linkAccount', 'signIn', 'signInFailed'] as const)
    auth.on(event, () => void events.push(event))
  const signIn = (who = 'ann', provider = 'op') => new Client(auth).post(`/callback/${provider}`, { who })
  return { auth, options, events, signIn }
}
const ok = 'http://localhost:3000'
const to = async (response: Promise<Response>): Promise<string | null> => (await response).headers.get('location')
const key = { provider: 'op', providerAccountId: 'ann' }

describe('order and payloads', () => {
  it('rows 151, 163, 165, 353: createUser, linkAccount, createSession; events after both writes', async () => {
    const calls: [string, ...unknown[]][] = []
    const memory = memoryAdapter()
    const traced = Object.fromEntries(
      Object.entries(without(memory, 'createUserWithAccount')).map(([name, value]) => [
        name,
        typeof value === 'function'
          ? (...args: unknown[]) => (calls.push([name, ...args]), (value as (...all: unknown[]) => unknown)(...args))
          : value,
      ]),
    )
    const { signIn, events } = make(traced)
    await signIn()
    expect(calls.map(([name]) => name)).toEqual(['getUserByAccount', 'getUserByEmail', 'createUser', 'linkAccount', 'createSession'])
    const [, created] = calls[2] as [string, { id: string }]
    expect(created).toEqual({ id: expect.any(String) as string, name: 'ann', email: 'ann@example.com', emailVerified: null })
    expect(calls[3]?.[1]).toEqual({ ...key, type: 'known', access_token: 't-ann', userId: created.id })
    expect(events).toEqual(['createUser', 'linkAccount', 'signIn'])
  })

  it('rows 152, 153, 223, D16: an email sign-in links no account and verifies the address once', async () => {
    const memory = memoryAdapter()
    const { signIn, events } = make(memory, [{ mail: true }, { id: 'other' }])
    await signIn('ann', 'other')
    expect((await memory.getUserByEmail('ann@example.com'))?.emailVerified).toBeNull()
    events.length = 0
    await signIn()
    const verified = (await memory.getUserByEmail('ann@example.com'))?.emailVerified
    expect(verified).toBeInstanceOf(Date)
    await signIn()
    expect(events).toEqual(['updateUser', 'signIn', 'signIn'])
    await signIn('new')
    expect(events.slice(3)).toEqual(['createUser', 'signIn'])
    expect((await memory.getUserByEmail('new@example.com'))?.emailVerified).toBeInstanceOf(Date)
  })

  it('rows 155, 200: a trusted address links without createUser, another one is refused', async () => {
    const memory = memoryAdapter()
    const { signIn, events } = make(memory, [{}, { id: 'careful' }, { id: 'trusting', trusts: true }])
    await signIn()
    events.length = 0
    expect(await to(signIn('ann', 'careful'))).toBe(`${ok}/auth/signin?error=AccountNotLinked`)
    expect(await to(signIn('ann', 'trusting'))).toBe(ok)
    expect(events).toEqual(['signInFailed', 'linkAccount', 'signIn'])
    expect((await memory.getUserByAccount({ provider: 'trusting', providerAccountId: 'ann' }))?.email).toBe('ann@example.com')
  })

  it('row 211, D15: updates stores fresh tokens of a returning user', async () => {
    const memory = memoryAdapter()
    await make(memory).signIn()
    await memory.updateAccount({ ...key, access_token: 'stale' })
    await make(memory).signIn()
    expect((await memory.getAccount('ann', 'op'))?.access_token).toBe('stale')
    await make(memory, [{ updates: true }]).signIn()
    expect((await memory.getAccount('ann', 'op'))?.access_token).toBe('t-ann')
  })

  it('the link hook may refuse, or send elsewhere', async () => {
    const memory = memoryAdapter()
    const { auth, signIn } = make(memory, [{}, { id: 'trusting', trusts: true }])
    await signIn()
    let answer: boolean | string = false
    auth.hook('link', () => answer)
    expect(await to(signIn('ann', 'trusting'))).toContain('error=AccountNotLinked')
    answer = '/ask'
    expect(await to(signIn('ann', 'trusting'))).toBe(`${ok}/ask`)
    expect(await memory.getUserByAccount({ provider: 'trusting', providerAccountId: 'ann' })).toBeNull()
  })
})

describe('races', () => {
  const slow = (adapter: Adapter): Adapter =>
    Object.fromEntries(
      Object.entries(adapter).map(([name, value]) => [
        name,
        typeof value === 'function'
          ? async (...args: unknown[]) => {
              await new Promise((resolve) => setImmediate(resolve))
              return (value as (...all: unknown[]) => unknown)(...args)
            }
          : value,
      ]),
    )

  it.each([
    ['with a transaction', (adapter: Adapter) => adapter],
    ['without one', (adapter: Adapter) => without(adapter, 'createUserWithAccount')],
  ])('twenty first sign-ins of one person make one user, and all end signed in: %s', async (_name, change) => {
    const memory = memoryAdapter()
    const { signIn, events } = make(slow(change(memory)))
    const all = await Promise.all(Array.from({ length: 20 }, () => signIn()))
    expect(all.map((response) => response.headers.get('location'))).toEqual(Array(20).fill(ok))
    expect(events.filter((event) => event === 'createUser')).toHaveLength(1)
    expect(await memory.listAccountsByUserId((await memory.getUserByAccount(key))?.id ?? '')).toHaveLength(1)
  })

  it('two instances on one store (as two processes are)', async () => {
    const memory = memoryAdapter()
    const one = make(slow(without(memory, 'createUserWithAccount')))
    const two = make(slow(without(memory, 'createUserWithAccount')))
    const all = await Promise.all([one.signIn(), two.signIn(), one.signIn(), two.signIn()])
    expect(all.map((response) => response.headers.get('location'))).toEqual(Array(4).fill(ok))
    expect([...one.events, ...two.events].filter((event) => event === 'createUser')).toHaveLength(1)
  })
})

describe('faults: no half-made user, and a retry signs in', () => {
  type Fault = (call: () => unknown) => unknown
  const faults: [string, Fault][] = [
    [
      'throws',
      () => {
        throw new Error('secret db detail')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret db detail'))],
    ['hangs', () => new Promise(() => {})],
    ['answers nothing', () => undefined],
    [
      'throws after the commit',
      (call) => {
        call()
        throw new Error('secret db detail')
      },
    ],
    ['answers after the deadline', (call) => new Promise((resolve) => setTimeout(resolve, 150)).then(call)],
  ]
  const methods = ['getUserByAccount', 'getUserByEmail', 'createUser', 'linkAccount', 'createUserWithAccount', 'createSession'] as const
  // linkAccount may answer nothing (row 365), so that one cannot be told from success.
  const cases = methods
    .flatMap((method) => faults.map(([name, fault]) => [method, name, fault] as const))
    .filter(([method, name]) => method !== 'linkAccount' || name !== 'answers nothing')

  it.each(cases)('%s %s', async (method, name, fault) => {
    const memory = memoryAdapter()
    let broken = true
    const base = method === 'createUserWithAccount' ? memory : without(memory, 'createUserWithAccount')
    const operation = memory[method] as (...args: unknown[]) => unknown
    const adapter = { ...base, [method]: (...args: unknown[]) => (broken ? fault(() => operation(...args)) : operation(...args)) }
    const { signIn, options } = make(adapter)
    const first = await signIn()
    expect([302, 503]).toContain(first.status)
    expect(first.headers.get('location') ?? '').not.toContain('secret')
    const failed = first.headers.get('location') !== ok
    if (failed) {
      expect(first.headers.getSetCookie().join()).not.toContain('session-token=')
      expect(options.logger.errors.length).toBeGreaterThan(0)
    }
    broken = false
    if (name === 'answers after the deadline') await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await to(signIn())).toBe(ok)
    const owner = await memory.getUserByAccount(key)
    expect(owner?.email).toBe('ann@example.com')
    expect(await memory.listAccountsByUserId(owner?.id ?? '')).toHaveLength(1)
  })

  it('onLinked that throws takes user and account back', async () => {
    const memory = memoryAdapter()
    const { signIn, events } = make(memory, [{ onLinked: () => Promise.reject(new Error('no authenticator')) }])
    expect(await to(signIn())).toContain('error=Configuration')
    expect(await memory.getUserByEmail('ann@example.com')).toBeNull()
    expect(events).toEqual(['signInFailed'])
    expect(await to(make(memory).signIn())).toBe(ok)
  })

  it('row 162: the failure is logged once, as AdapterError, with the operation', async () => {
    const { signIn, options } = make({ ...memoryAdapter(), getUserByAccount: () => Promise.reject(new Error('down')) })
    await signIn()
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['AdapterError'])
    expect(options.logger.errors[0]?.message).toContain('getUserByAccount')
  })
})
