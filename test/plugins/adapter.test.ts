import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { createKernel, type Limit, type Once } from 'authkernel/kernel'
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

  it('closes the adapter with auth, once', async () => {
    let closed = 0
    const auth = createKernel(baseConfig()).use(adapterPlugin({ close: () => void closed++ }))
    await auth.close()
    await auth.close()
    expect(closed).toBe(1)
  })
})
