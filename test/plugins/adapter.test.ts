import { describe, expect, it } from 'vitest'
import { type Adapter, createAuth } from 'authkernel'
import { createKernel, createStore, type HealedFault, type Kernel, type Limit, type Once, type ProviderFlow } from 'authkernel/kernel'
import { adapterPlugin, type AdapterTraits } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

const once: Once = { take: () => true, taken: () => false, shared: true }
const limit: Limit = { take: () => ({ allowed: true, retryAfter: 0 }), refund: () => {} }

describe('adapterPlugin', () => {
  it('gives a store; `adapter` in the options is the same', async () => {
    const explicit = createAuth(baseConfig()).use(adapterPlugin(memoryAdapter()))
    const option = createAuth(baseConfig({ adapter: memoryAdapter() }))
    await Promise.all([explicit.ready(), option.ready()])
    expect(explicit.inspect().services).toEqual(option.inspect().services)
    expect(option.inspect().services).toMatchObject({ store: 'adapter', session: 'session-database', once: 'host' })
  })

  it.each([
    ['its options', () => adapterPlugin(memoryAdapter(), { once, limit })],
    ['the adapter itself', () => adapterPlugin({ ...memoryAdapter(), once, limit })],
  ])('takes shared services from %s', (_name, plugin) => {
    expect(createAuth(baseConfig()).use(plugin()).inspect().services).toMatchObject({ once: 'adapter', limit: 'adapter' })
  })

  it('the adapter of the options brings its services too', () => {
    const adapter = { ...memoryAdapter(), once, limit }
    expect(createAuth(baseConfig({ adapter })).inspect().services).toMatchObject({ once: 'adapter', limit: 'adapter' })
  })

  it.each([
    [{ atomic: false }, ['adapter-not-atomic']],
    [{ atomic: false, exclusive: true }, []],
    [{ atomic: false, once }, []],
    [{ atomic: true }, []],
    [{}, []],
  ])('warns at start of a store where two processes can both be first: %j', (declared, warnings) => {
    const options = baseConfig()
    createAuth(options).use(adapterPlugin({ ...memoryAdapter(), ...declared }))
    expect(options.logger.warnings).toEqual(warnings)
  })

  it.each([
    [
      'fail at once',
      () => Promise.reject(new Error('no connection')),
      /^The adapter's (once|limit)\.(take|taken|refund)\(\) failed/,
      'no connection',
    ],
    [
      'throw',
      () => {
        throw new Error('no connection')
      },
      /^The adapter's (once|limit)\.(take|taken|refund)\(\) failed/,
      'no connection',
    ],
    [
      'hang',
      () => new Promise<never>(() => {}),
      /^The adapter's (once|limit)\.(take|taken|refund)\(\) did not answer within 20 ms/,
      undefined,
    ],
  ])('shared services that %s are told by the name of the operation', async (_name, broken, message, cause) => {
    const adapter = { ...memoryAdapter(), once: { take: broken, taken: broken, shared: true }, limit: { take: broken, refund: broken } }
    let kernel: Kernel | undefined
    const options = baseConfig({ adapter, deadlines: { store: 20 } })
    const auth = createAuth(options)
    auth.use({ name: 'look', setup: (given) => void (kernel = given) })
    const { once, limit } = await kernel!.contextOf(new Request('http://localhost:3000/auth/session'))
    for (const call of [() => once.take('a', 1), () => once.taken('a')]) {
      const error = await Promise.resolve()
        .then((): unknown => call())
        .then(
          () => undefined,
          (error: unknown) => error as Error,
        )
      expect(error).toMatchObject({ name: 'AdapterError', message: expect.stringMatching(message) })
      expect((error!.cause as { err?: Error }).err?.message).toBe(cause)
    }
    // Attempts are counted in the process meanwhile, and one error tells of it.
    const rule = { max: 1, seconds: 1 }
    expect([await limit.take('a', rule), await limit.take('a', rule)]).toMatchObject([{ allowed: true }, { allowed: false }])
    await limit.refund('a')
    expect(await limit.take('a', rule)).toMatchObject({ allowed: true })
    expect(options.logger.errors).toMatchObject([{ cause: { err: { name: 'AdapterError', message: expect.stringMatching(message) } } }])
  })

  it.each(['once', 'limit'] as const)(
    'a shared %s that hangs at the first call of a process is told by the name of the operation',
    async (asked) => {
      const hang = () => new Promise<never>(() => {})
      // A copy of the module of its own: nothing that its first call loads is there.
      const copy = `../../plugins/adapters/adapter/index.ts?${asked}`
      const { adapterPlugin: plugin } = (await import(copy)) as { adapterPlugin: typeof adapterPlugin }
      let kernel: Kernel | undefined
      const options = baseConfig({ deadlines: { store: 20 } })
      createAuth(options)
        .use(plugin(memoryAdapter(), { once: { take: hang, taken: hang, shared: true }, limit: { take: hang, refund: hang } }))
        .use({ name: 'look', setup: (given) => void (kernel = given) })
      const { once, limit } = await kernel!.contextOf(new Request('http://localhost:3000/auth/session'))
      const late = { name: 'AdapterError', message: `The adapter's ${asked}.take() did not answer within 20 ms (deadlines.store).` }
      if (asked === 'once') return expect(once.take('a', 1)).rejects.toMatchObject(late)
      expect(await limit.take('a', { max: 1, seconds: 1 })).toMatchObject({ allowed: true })
      expect(options.logger.errors).toMatchObject([{ cause: { err: late } }])
    },
  )

  it('closes the adapter with auth, once', async () => {
    let closed = 0
    const auth = createKernel(baseConfig()).use(adapterPlugin({ close: () => void closed++ }))
    await auth.close()
    await auth.close()
    expect(closed).toBe(1)
  })

  it('a clean-up may take longer than deadlines.store, other calls may not', async () => {
    let finish = (_removed: object): void => {}
    const never = new Promise<never>(() => {})
    const store = createStore({ deleteExpired: () => new Promise((resolve) => (finish = resolve)), getUser: () => never }, { deadline: 5 })
    const cleaning = store.deleteExpired()
    await expect(store.getUser('1')).rejects.toThrow('did not answer within 5 ms')
    finish({ sessions: 1_000_000 })
    expect(await cleaning).toEqual({ sessions: 1_000_000 })
  })

  it('D31: a fault that the adapter overcame is logged once, as a warning, until auth is closed', async () => {
    const listeners = new Set<(fault: HealedFault) => void>()
    const adapter: Adapter & AdapterTraits = {
      ...memoryAdapter(),
      onHealed(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    }
    const told: unknown[] = []
    const logger = { warn: (...args: unknown[]) => void told.push(args) }
    const auth = createAuth({ ...baseConfig({ adapter }), logger })
    // Compiled again, as by `use`, it is still told once.
    await auth.ready()
    auth.use({ name: 'other', setup() {} })
    await auth.ready()
    for (const listener of listeners) listener({ message: 'Connection terminated unexpectedly', attempts: 2 })
    expect(told).toEqual([['store-fault-healed', { message: 'Connection terminated unexpectedly', attempts: 2 }]])
    await auth.close()
    expect(listeners.size).toBe(0)
  })

  const own = { provider: 'op', providerAccountId: 'ada' }
  it.each<[what: string, method: keyof Adapter, match: 'account' | 'email', signedIn: boolean]>([
    ['a user with an account', 'createUserWithAccount', 'account', false],
    ['a user', 'createUser', 'email', false],
    ['an account of who is signed in', 'linkAccount', 'account', true],
  ])(
    'D31: an answer that was lost after %s was stored is logged once, as a warning, and the sign-in goes on',
    async (_what, method, match, signedIn) => {
      const adapter = memoryAdapter()
      const store = adapter[method] as (...args: unknown[]) => unknown
      let account = signedIn ? { ...own, providerAccountId: 'first' } : own
      const told: unknown[][] = []
      const logger = { error: (...args: unknown[]) => void told.push(args), warn: (...args: unknown[]) => void told.push(args) }
      const auth = createAuth({ ...baseConfig({ adapter }), logger })
      const flow: ProviderFlow<never> = {
        finish: async () => ({
          user: { name: 'Ada', email: `${account.providerAccountId}@example.com` },
          account: { ...account, type: 'test' as never },
          match,
        }),
      }
      auth.use({
        name: 'test',
        setup(kernel) {
          kernel.providerType('test' as never, flow)
          kernel.provider({ id: 'op', name: 'OP', type: 'test' } as never)
        },
      })
      const client = new Client(auth)
      if (signedIn) await client.post('/callback/op', {})
      account = own
      Object.assign(adapter, {
        [method]: async (...args: unknown[]) => {
          await store(...args)
          throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
        },
      })
      expect(told).toEqual([])
      expect((await client.post('/callback/op', {})).headers.get('location')).toBe('http://localhost:3000')
      expect(told).toEqual([
        ['store-fault-healed', { message: `The adapter's ${method}() failed. Connection terminated unexpectedly`, code: 'ECONNRESET' }],
      ])
      expect(await client.session()).not.toBeNull()
    },
  )
})
