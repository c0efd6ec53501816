import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { createKernel, type Kernel, type Limit, type Once } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig } from '../_setup.ts'

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
    const auth = createAuth(baseConfig({ adapter, deadlines: { store: 20 } }))
    auth.use({ name: 'look', setup: (given) => void (kernel = given) })
    const { once, limit } = await kernel!.context(new Request('http://localhost:3000/auth/session'))
    for (const call of [
      () => once.take('a', 1),
      () => once.taken('a'),
      () => limit.take('a', { max: 1, seconds: 1 }),
      () => limit.refund('a'),
    ]) {
      const error = await Promise.resolve()
        .then((): unknown => call())
        .then(
          () => undefined,
          (error: unknown) => error as Error,
        )
      expect(error).toMatchObject({ name: 'AdapterError', message: expect.stringMatching(message) })
      expect((error!.cause as { err?: Error }).err?.message).toBe(cause)
    }
  })

  it('closes the adapter with auth, once', async () => {
    let closed = 0
    const auth = createKernel(baseConfig()).use(adapterPlugin({ close: () => void closed++ }))
    await auth.close()
    await auth.close()
    expect(closed).toBe(1)
  })
})
