/** Options that are a function of the request: what is shared, and what never is (rows 48, 320). */
import { raw, skipCSRFCheck } from 'authkernel'
import type { AuthConfig } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { expect, it } from 'vitest'
import { fromEnv, kernelsOf, configKey, withBasePath } from '../../bindings/_shared/kernels.ts'
import { config } from './_auth.ts'

const providers = config().providers

it('equal data is one kernel, and a function is asked once per request', async () => {
  let asked = 0
  const kernels = kernelsOf<{ tenant: string }>('test', ({ tenant }) => {
    asked++
    return config({ basePath: `/${tenant}/auth`, providers, logger: undefined })
  })
  const event = { tenant: 'a' }
  const [first, again, other, second] = [
    await kernels(event),
    await kernels(event),
    await kernels({ tenant: 'a' }),
    await kernels({ tenant: 'b' }),
  ]
  expect([first === again, first === other, first === second, asked]).toEqual([true, true, false, 3])
  expect([first.config.basePath, second.config.basePath]).toEqual(['/a/auth', '/b/auth'])
})

it('two closures are two kernels: they may hold two different requests', async () => {
  const seen: string[] = []
  const kernels = kernelsOf<{ name: string }>('test', ({ name }) =>
    config({ providers, callbacks: { redirect: () => void seen.push(name) as never } }),
  )
  expect((await kernels({ name: 'a' })) === (await kernels({ name: 'b' }))).toBe(false)
})

it('at most 32 kernels are kept, the ones in use', async () => {
  const built: Kernel[] = []
  const kernels = kernelsOf<{ n: number }>('test', ({ n }) => config({ providers, logger: undefined, basePath: `/${n}` }), {
    setup: (kernel) => void built.push(kernel),
  })
  const first = await kernels({ n: 0 })
  for (let n = 1; n < 32; n++) await kernels({ n })
  expect([(await kernels({ n: 0 })) === first, built.length]).toEqual([true, 32])
  await kernels({ n: 32 })
  expect([(await kernels({ n: 0 })) === first, built.length]).toEqual([true, 33])
  await kernels({ n: 1 })
  expect(built.length).toBe(34)
})

it('kernels of one function share what must be used once', async () => {
  const kernels = kernelsOf<{ n: number }>('test', () => config())
  const [one, two] = [await kernels({ n: 1 }), await kernels({ n: 2 })]
  const request = new Request('http://app.example/')
  const [first, second] = [await one.contextOf(request), await two.contextOf(request)]
  expect(first === second).toBe(false)
  expect([await first.once.take('code', 60), await second.once.take('code', 60)]).toEqual([true, false])
})

it('an object has one kernel per binding, and is never written to (D18)', async () => {
  const options = Object.freeze(config())
  const [one, two] = [kernelsOf('a', options), kernelsOf('a', options)]
  expect(await one({})).toBe(await two({}))
  expect(await one({})).not.toBe(await kernelsOf('b', options)({}))
})

it('plugins beside the options are in every kernel of them, whichever asks first', async () => {
  const compat = { plugins: [authjsCompatPlugin()] }
  const nameOf = async (kernel: Kernel): Promise<string> => {
    const { cookies } = await kernel.contextOf(new Request('http://app.example/'))
    return cookies.sessionToken.name
  }
  const options = config()
  const early = kernelsOf('test', options)
  expect(await nameOf(await early({}))).toBe('authkernel.session-token')
  const late = kernelsOf('test', options, compat)
  expect(await nameOf(await late({}))).toBe('authjs.session-token')
  expect(await nameOf(await kernelsOf('test', options)({}))).toBe('authjs.session-token')
  expect(await nameOf(await kernelsOf<object>('test', () => config(), compat)({}))).toBe('authjs.session-token')
})

it('a function that fails fails that request alone', async () => {
  let down = true
  const kernels = kernelsOf<object>('test', async () => {
    if (down) throw new Error('no secrets')
    return config()
  })
  await expect(kernels({})).rejects.toThrow('no secrets')
  down = false
  expect((await kernels({})).config.basePath).toBe('/auth')
})

it('keys: data by value, functions, instances and symbols by identity', () => {
  const run = (): void => {}
  const shared = new Map()
  const symbol = Symbol('fetch')
  const same: [unknown, unknown][] = [
    [{ a: [1, '2', null, undefined, true] }, { a: [1, '2', null, undefined, true] }],
    [
      { run, [symbol]: run },
      { run, [symbol]: run },
    ],
    [{ shared }, { shared }],
    [raw, raw],
  ]
  for (const [left, right] of same) expect(configKey(left)).toBe(configKey(right))
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: '1' }],
    [{ a: undefined }, { a: null }],
    [{ a: 'x","b"="y' }, { a: 'x', b: 'y' }],
    [['a', 'b'], ['a,b']],
    [{ run }, { run: () => {} }],
    [{ shared }, { shared: new Map() }],
    [raw, skipCSRFCheck],
    [Symbol('x'), Symbol('x')],
    [new Date(0), new Date(0)],
  ]
  for (const [left, right] of different) expect(configKey(left)).not.toBe(configKey(right))
  const loop: Record<string, unknown> = {}
  loop.self = loop
  expect(configKey(loop)).toBe(configKey(loop))
})

it('the base path: of the options, of AUTH_URL, of the binding', () => {
  const base = (more: AuthConfig): string | undefined => withBasePath(more, '/api/auth').basePath
  expect(base({ env: {} })).toBe('/api/auth')
  expect(base({ env: { AUTH_URL: 'https://app.example' } })).toBe('/api/auth')
  expect(base({ env: { AUTH_URL: 'https://app.example/in' } })).toBeUndefined()
  expect(base({ env: { AUTH_URL: 'no url' } })).toBe('/api/auth')
  expect(base({ env: false, basePath: '/mine' })).toBe('/mine')
  expect([fromEnv({ env: (name) => `${name}!` }, 'A'), fromEnv({ env: { A: '' } }, 'A'), fromEnv({ env: false }, 'PATH')]).toEqual([
    'A!',
    undefined,
    undefined,
  ])
  expect(fromEnv({}, 'PATH')).toBe(process.env.PATH)
})
