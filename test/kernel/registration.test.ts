/** compile, draft, registry: the rules of registration. */
import { describe, expect, it } from 'vitest'
import { type Adapter, createAuth } from 'authkernel'
import {
  type Auth,
  createKernel,
  type Kernel,
  type Once,
  type Plugin,
  type Provider,
  type ProviderFlow,
  type Services,
} from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    token: { id: string; name: string; type: 'token' }
  }
  interface Services {
    first: { name: string }
    second: { name: string }
  }
  interface Hooks {
    color: { verb: 'first'; in: { of: string }; out: string }
    size: { verb: 'pipe'; in: { size: number }; carry: 'size'; out: number | null }
  }
}

const plugin = (name: string, setup: (kernel: Kernel) => unknown = () => undefined, more: Partial<Plugin> = {}): Plugin => ({
  name,
  setup: setup as never,
  ...more,
})
const flow: ProviderFlow<{ id: string; name: string; type: 'token' }> = { finish: async () => new Response('ok') }
const bare = () => createKernel(baseConfig()).use(jwtSessionPlugin())
const faultOf = (auth: { ready(): Promise<void> }): Promise<string> =>
  auth.ready().then(
    () => 'no fault',
    (error: Error) => error.message,
  )

describe('names', () => {
  it('row 329: a plugin of the host replaces the preset plugin of its name; inspect() shows one', async () => {
    const auth = createAuth(baseConfig()).use(plugin('pages', (kernel) => kernel.provide('pages', { render: () => new Response('mine') })))
    expect(await (await new Client(auth).get('/signin')).text()).toBe('mine')
    expect(auth.inspect().plugins.filter(({ name }) => name === 'pages')).toEqual([{ name: 'pages', layer: 'plugin' }])
    auth.remove('pages')
    expect(auth.inspect().plugins.filter(({ name }) => name === 'pages')).toEqual([{ name: 'pages', layer: 'preset' }])
  })

  it('row 329: two of one name are refused with both places; the first stays', () => {
    const auth = bare().use(plugin('twin', (kernel) => kernel.route({ method: 'GET', path: '/one', handler: () => new Response('one') })))
    // `void`: where tail calls leave no frame (Bun), this line would not be in the stack.
    expect(() => void auth.use(plugin('twin'))).toThrow(
      /"twin" is used twice: .*registration\.test\.ts.*registration\.test\.ts.*another name/,
    )
    expect(auth.inspect().routes.some(({ path }) => path === '/one')).toBe(true)
  })

  it('row 329: remove of an unknown name lists the names', () => {
    const auth = bare().use(plugin('a')).use(plugin('b'))
    expect(() => auth.remove('c')).toThrow('There is no plugin "c" to remove. Plugins: session-jwt, a, b.')
    expect(() => auth.remove('host')).toThrow('There is no plugin "host"')
  })

  it('remove() of a plugin of the host brings back the plugin of the preset that it replaced, with its routes and its api', async () => {
    const page = async (auth: { handler(request: Request): Promise<Response> }) =>
      (await auth.handler(new Request('http://localhost:3000/auth/signin'))).text()
    const auth = createAuth(baseConfig({ providers: [{ id: 'x', name: 'X', type: 'credentials', authorize: () => null }] }))
    const before = await page(auth)
    const layers = () => auth.inspect().plugins.filter(({ name }) => name === 'pages')
    auth.use({
      name: 'pages',
      setup: (kernel) => kernel.provide('pages', { render: () => Promise.resolve(new Response('of the host')) }),
    } as Plugin)
    expect(await page(auth)).toBe('of the host')
    auth.remove('pages')
    expect(layers()).toEqual([{ name: 'pages', layer: 'preset' }])
    expect((await page(auth)).length).toBe(before.length)
    auth.remove('pages')
    expect(layers()).toEqual([])
    expect(() => auth.remove('pages')).toThrow('There is no plugin "pages" to remove.')
  })

  it('remove() of a plugin of the host gives back the api of the plugin that it replaced', () => {
    const greeter = (word: string): Plugin<{ greet(): string }> => ({ name: 'greeter', setup: () => ({ greet: () => word }) })
    const auth = createKernel(baseConfig(), { preset: [greeter('preset')] }) as unknown as Auth<{ greet(): string }>
    auth.use(greeter('host'))
    expect([auth.greet(), auth.inspect().apis]).toEqual(['host', [{ name: 'greet', plugin: 'greeter' }]])
    auth.remove('greeter')
    expect(auth.greet()).toBe('preset')
    auth.use(greeter('another'))
    expect(auth.greet()).toBe('another')
    auth.remove('greeter')
    auth.remove('greeter')
    expect(() => auth.greet()).toThrow('plugin greeter was removed')
  })

  it('a removed plugin can be used again', async () => {
    const again = plugin('again', (kernel) => kernel.route({ method: 'GET', path: '/again', handler: () => new Response('here') }))
    const auth = bare().use(again)
    auth.remove('again')
    expect((await new Client(auth).get('/again')).status).toBe(400)
    auth.use(again)
    expect(await (await new Client(auth).get('/again')).text()).toBe('here')
  })

  it('a setup that throws leaves nothing behind', async () => {
    const auth = bare()
    const broken = plugin('broken', (kernel) => {
      kernel.route({ method: 'GET', path: '/half', handler: () => new Response('half') })
      throw new Error('broken setup')
    })
    expect(() => auth.use(broken)).toThrow('broken setup')
    expect(auth.inspect().plugins.map(({ name }) => name)).toEqual(['session-jwt'])
    expect((await new Client(auth).get('/half')).status).toBe(400)
  })
})

describe('order', () => {
  it('row 329: preset, plugins in order of use, host last, whatever the order of the calls', async () => {
    const heard: string[] = []
    const listener = (name: string) => plugin(name, (kernel) => kernel.on('signOut', () => void heard.push(name)))
    const auth = createKernel(baseConfig({ events: { signOut: () => void heard.push('options') } }), {
      preset: [listener('preset'), jwtSessionPlugin(), credentialsPlugin()],
    })
    auth.on('signOut', () => void heard.push('on'))
    auth
      .use(listener('first'))
      .use(listener('second'))
      .use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1' }) }))
    const client = new Client(auth)
    await client.post('/callback/c')
    await client.post('/signout')
    expect(heard).toEqual(['preset', 'first', 'second', 'options', 'on'])
  })

  it('a hook of one hand can be taken back', async () => {
    const auth = bare().use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1' }) }))
    const take = auth.hooks({ callbacks: { signIn: () => false }, events: {} })
    expect((await new Client(auth).post('/callback/c')).headers.get('location')).toContain('AccessDenied')
    take()
    take()
    expect((await new Client(auth).post('/callback/c')).headers.get('location')).toBe('http://localhost:3000')
  })
})

describe('APIs', () => {
  it('a api that is taken is refused with both names', () => {
    const auth = bare().use(plugin('one', () => ({ tools: 1 })))
    expect(() => auth.use(plugin('two', () => ({ tools: 2 })))).toThrow(
      'Plugin "two" wants to put "tools" on auth, which is taken by plugin "one". Rename it.',
    )
    expect(() => auth.use(plugin('three', () => ({ handler: 1 })))).toThrow('"handler" on auth, which is taken by the kernel')
    expect(() => auth.use(plugin('four', () => ({ toString: 1 })))).toThrow('taken by the kernel')
  })

  it('after remove its name throws, its entryPoints throw, and the name is free again', async () => {
    let kept: Kernel | undefined
    const auth = bare().use({ name: 'api', setup: (kernel) => ((kept = kernel), { api: { hello: () => 'hello' } }) } as Plugin<{
      api: { hello(): string }
    }>)
    expect(auth.api.hello()).toBe('hello')
    auth.remove('api')
    expect(() => auth.api).toThrow('plugin api was removed')
    const { entryPoints } = kept as unknown as Kernel
    for (const door of [entryPoints.handler, entryPoints.dispatch, entryPoints.session, entryPoints.read]) {
      expect(() => door(new Request('http://localhost:3000/auth/session'))).toThrow('plugin api was removed')
    }
    expect(() => entryPoints.ready()).toThrow('plugin api was removed')
    const next = auth.use({ name: 'other', setup: () => ({ api: { hello: () => 'again' } }) } as Plugin<{ api: { hello(): string } }>)
    expect(next.api.hello()).toBe('again')
  })

  it('a symbol can be a api too', () => {
    const key = Symbol('api')
    const auth = bare().use({ name: 'symbol', setup: () => ({ [key]: 1 }) } as Plugin<Record<symbol, number>>)
    expect(auth[key]).toBe(1)
    expect(() => auth.use(plugin('next', () => ({ [key]: 2 })))).toThrow('taken by plugin "symbol"')
  })
})

describe('services', () => {
  const offer = (name: string, service: unknown, fallback = false) =>
    plugin(name, (kernel) => kernel.provide('first', service as Services['first'], fallback ? { fallback: true } : undefined))
  const chosen = (auth: { inspect(): { services: Record<string, string>; fault?: string } }) => auth.inspect().services['first']

  it('explicit beats fallback', () => {
    expect(
      chosen(
        bare()
          .use(offer('spare', { name: 'spare' }, true))
          .use(offer('own', { name: 'own' })),
      ),
    ).toBe('own')
    expect(
      chosen(
        bare()
          .use(offer('own', { name: 'own' }))
          .use(offer('spare', { name: 'spare' }, true)),
      ),
    ).toBe('own')
    expect(chosen(bare().use(offer('spare', { name: 'spare' }, true)))).toBe('spare')
  })

  it('a factory that answers undefined steps aside', () => {
    const auth = bare()
      .use(offer('shy', () => undefined))
      .use(offer('own', () => ({ name: 'own' })))
    expect(chosen(auth)).toBe('own')
    expect(chosen(bare().use(offer('shy', () => undefined)))).toBeUndefined()
  })

  it('two that remain are an error naming both', async () => {
    const auth = bare()
      .use(offer('left', { name: 'l' }))
      .use(offer('right', { name: 'r' }))
    expect(await faultOf(auth)).toBe('The service "first" is provided by plugin "left" and by plugin "right". Remove one of them.')
    auth.remove('left')
    expect(await faultOf(auth)).toBe('no fault')
  })

  it('a plugin in the preset layer offers fallbacks only', () => {
    const auth = createKernel(baseConfig(), { preset: [offer('preset', { name: 'preset' })] })
    expect(chosen(auth)).toBe('preset')
    auth.use(offer('own', { name: 'own' }))
    expect(chosen(auth)).toBe('own')
  })

  it('a factory may look at other services; a circle is an error that names them', async () => {
    const good = bare()
      .use(plugin('a', (kernel) => kernel.provide('first', (view) => ({ name: `${view.service('second')?.name} and first` }))))
      .use(plugin('b', (kernel) => kernel.provide('second', () => ({ name: 'second' }))))
    expect(await faultOf(good)).toBe('no fault')
    const circle = bare()
      .use(plugin('a', (kernel) => kernel.provide('first', (view) => view.service('second') ?? { name: 'a' })))
      .use(plugin('b', (kernel) => kernel.provide('second', (view) => view.service('first') ?? { name: 'b' })))
    expect(await faultOf(circle)).toMatch(/first.*second|second.*first/)
  })

  it('requires: what is missing is named with who asked', async () => {
    const auth = bare().use(plugin('needy', () => undefined, { requires: ['second'] }))
    expect(await faultOf(auth)).toBe(
      'Plugin "needy" needs the service "second", which no plugin provides. `.use()` one that does, or remove "needy".',
    )
    auth.use(plugin('giver', (kernel) => kernel.provide('second', { name: 'second' })))
    expect(await faultOf(auth)).toBe('no fault')
  })

  it('an explicit once replaces the one of the process', async () => {
    const taken: string[] = []
    const once: Once = { take: (key) => (taken.push(key), true), taken: () => false }
    const auth = bare().use(adapterPlugin(memoryAdapter(), { once }))
    expect(auth.inspect().services).toMatchObject({ once: 'adapter', store: 'adapter', session: 'session-jwt', sealer: 'host' })
  })
})

describe('provider types and providers', () => {
  const type = (name: string, own: ProviderFlow<never> = flow as never) =>
    plugin(name, (kernel) => kernel.providerType('token', own as never))

  it('the same flow twice is fine, another one for the type is an error naming both', async () => {
    expect(await faultOf(bare().use(type('a')).use(type('b')))).toBe('no fault')
    const twice = bare()
      .use(type('a'))
      .use(type('b', { ...flow } as never))
    expect(await faultOf(twice)).toBe(
      'The provider type "token" is registered by plugin "a" and differently by plugin "b". Use one of them.',
    )
  })

  it('row 209, D49: one id twice is refused with both plugins', async () => {
    const add = (name: string) => plugin(name, (kernel) => kernel.provider({ id: 'x', name: 'X', type: 'token' } as Provider))
    const auth = bare().use(type('type')).use(add('a')).use(add('b'))
    expect(await faultOf(auth)).toBe('The provider id "x" is used by plugin "a" and again by plugin "b". Give one of them another `id`.')
  })

  it('a provider of an unknown type names the known ones', async () => {
    const auth = bare()
      .use(type('type'))
      .use(plugin('p', (kernel) => kernel.provider({ id: 'x', name: 'X', type: 'unknown' } as never)))
    expect(await faultOf(auth)).toMatch(/Provider "x" has the type "unknown", which no plugin knows. Known types: token/)
  })

  it('what a type demands is demanded only when a provider of it exists', async () => {
    const demanding = (withProvider: boolean, adapter?: Adapter) => {
      const auth = bare().use(
        plugin('type', (kernel) => {
          kernel.providerType('token', { ...flow, requires: ['store'], methods: ['getUserByEmail', 'deleteUser'] })
          if (withProvider) kernel.provider({ id: 'x', name: 'X', type: 'token' } as Provider)
        }),
      )
      return adapter ? auth.use(adapterPlugin(adapter)) : auth
    }
    expect(await faultOf(demanding(false))).toBe('no fault')
    await expect(demanding(true).ready()).rejects.toMatchObject({
      type: 'MissingAdapter',
      message: expect.stringContaining('"x"') as string,
    })
    await expect(demanding(true, {}).ready()).rejects.toMatchObject({
      type: 'MissingAdapterMethods',
      message: expect.stringContaining('getUserByEmail, deleteUser') as string,
    })
    expect(await faultOf(demanding(true, memoryAdapter()))).toBe('no fault')
  })
})

describe('routes', () => {
  const route = (name: string, path: `/${string}`, method: 'GET' | 'POST' = 'GET') =>
    plugin(name, (kernel) => kernel.route({ method, path, handler: (ctx) => new Response(JSON.stringify(ctx.params)) }))

  it('two of one method and path are an error naming both; names of segments do not matter', async () => {
    expect(await faultOf(bare().use(route('a', '/x/:one')).use(route('b', '/x/:two')))).toBe(
      'The route GET /x/:two is registered by plugin "a" and by plugin "b". Change one of the paths.',
    )
    expect(
      await faultOf(
        bare()
          .use(route('a', '/x'))
          .use(route('b', '/x', 'POST')),
      ),
    ).toBe('no fault')
    expect(await faultOf(bare().use(route('thief', '/session')))).toContain('by plugin "thief" and by plugin "kernel"')
  })

  it('`csrf: false` is no word of a route: the error names `crossSite`', async () => {
    const open = (csrf: unknown) =>
      plugin('open', (kernel) => kernel.route({ method: 'POST', path: '/hook', csrf: csrf as 'crossSite', handler: () => new Response() }))
    expect(await faultOf(bare().use(open(false)))).toContain(
      'The route POST /hook of plugin "open" has `csrf: false`. Did you mean "crossSite"? Known: "token", "origin", "crossSite", "bearer".',
    )
    expect(await faultOf(bare().use(open('crossite')))).toContain('Did you mean "crossSite"?')
  })

  it('a POST of a plugin is protected unless it says otherwise', async () => {
    const auth = bare()
      .use(route('a', '/x', 'POST'))
      .use(
        plugin('open', (kernel) =>
          kernel.route({ method: 'POST', path: '/hook', csrf: 'crossSite', handler: () => new Response('hooked') }),
        ),
      )
    const send = (path: string) => auth.handler(new Request(`http://localhost:3000/auth${path}`, { method: 'POST' }))
    expect((await send('/x')).headers.get('location')).toContain('MissingCSRF')
    expect(await (await send('/hook')).text()).toBe('hooked')
    expect((await new Client(auth).post('/x')).status).toBe(200)
  })

  it('row 21: redirects of a plugin become JSON for clients that ask for it, immutable ones too', async () => {
    const auth = bare().use(
      plugin('r', (kernel) => kernel.route({ method: 'GET', path: '/r', handler: () => Response.redirect('http://localhost:3000/there') })),
    )
    const response = await new Client(auth).get('/r', { 'X-Auth-Return-Redirect': '1' })
    expect([response.status, await response.json()]).toEqual([200, { url: 'http://localhost:3000/there' }])
  })
})

describe('hooks', () => {
  it("a stranger's hook is asked by its verb, and taken names are refused", async () => {
    const heard: unknown[] = []
    const auth = bare()
      .use(
        plugin('painter', (kernel) => {
          kernel.declareHook('color', 'first')
          kernel.declareHook('size', 'pipe', 'size')
          kernel.route({
            method: 'GET',
            path: '/paint',
            handler: async (ctx) => Response.json([await ctx.ask('color', { of: 'wall' }), await ctx.ask('size', { size: 1 })]),
          })
        }),
      )
      .use(
        plugin('guest', (kernel) => {
          kernel.hook('color', ({ of }) => (heard.push(of), 'blue'))
          kernel.hook('size', ({ size }) => size + 1)
        }),
      )
    auth.hook('size', ({ size }) => size * 10)
    expect(await (await new Client(auth).get('/paint')).json()).toEqual(['blue', 20])
    auth.hook('color', () => 'red')
    expect(await (await new Client(auth).get('/paint')).json()).toEqual(['red', 20])
    expect(heard).toEqual(['wall'])
    auth.use(plugin('copycat', (kernel) => kernel.declareHook('color', 'first')))
    expect(await faultOf(auth)).toBe('The hook "color" of plugin "copycat" is taken by plugin "painter".')
  })

  it('a built-in name, or a pipe without its field, is refused', async () => {
    expect(await faultOf(bare().use(plugin('p', (kernel) => kernel.declareHook('signIn', 'guard'))))).toContain('is taken by the kernel')
    const pipe = plugin('p', (kernel) => (kernel.declareHook as (name: string, verb: string) => void)('size', 'pipe'))
    expect(await faultOf(bare().use(pipe))).toContain('must name the field it carries')
  })

  it('asking what is not declared says what to call', async () => {
    const options = baseConfig()
    const auth = createKernel(options)
      .use(jwtSessionPlugin())
      .use(
        plugin('asker', (kernel) =>
          kernel.route({ method: 'GET', path: '/ask', handler: async (ctx) => Response.json(await ctx.ask('color', { of: 'x' })) }),
        ),
      )
    await new Client(auth).get('/ask')
    expect(options.logger.errors[0]?.message).toContain('kernel.declareHook("color", verb)')
  })
})

describe('while requests run', () => {
  /** A route that waits until it is let go. */
  const gate = () => {
    let open: () => void = () => {}
    let entered: () => void = () => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    const inside = new Promise<void>((resolve) => (entered = resolve))
    const plugin: Plugin = {
      name: 'gate',
      setup(kernel) {
        kernel.route({
          method: 'GET',
          path: '/gate',
          async handler(ctx) {
            entered()
            await opened
            await ctx.emit('updateUser', { user: { name: 'told' } })
            return Response.json({ said: await ctx.redirect('/x').then((response) => response.headers.get('location')) })
          },
        })
      },
    }
    return { plugin, open, inside }
  }

  it('row 329: remove() leaves a running request its plugin; the next one does without', async () => {
    const told: string[] = []
    const { plugin: gated, open, inside } = gate()
    const auth = bare()
      .use(gated)
      .use(
        plugin('helper', (kernel) => (kernel.hook('redirect', () => '/helped'), kernel.on('updateUser', () => void told.push('helper')))),
      )
    const client = new Client(auth)
    const running = client.get('/gate')
    await inside
    auth.remove('helper')
    auth.remove('gate')
    open()
    expect(await (await running).json()).toEqual({ said: '/helped' })
    expect(told).toEqual(['helper'])
    expect((await client.get('/gate')).status).toBe(400)
  })

  it('row 328: use() does not reach a running request; the next one has it', async () => {
    const told: string[] = []
    const { plugin: gated, open, inside } = gate()
    const auth = bare().use(gated)
    const client = new Client(auth)
    const running = client.get('/gate')
    await inside
    auth.use(plugin('late', (kernel) => (kernel.hook('redirect', () => '/late'), kernel.on('updateUser', () => void told.push('late')))))
    auth.on('updateUser', () => void told.push('host'))
    open()
    expect(await (await running).json()).toEqual({ said: 'http://localhost:3000/x' })
    expect(told).toEqual([])
    expect(await (await client.get('/gate')).json()).toEqual({ said: '/late' })
    expect(told).toEqual(['late', 'host'])
  })

  it('200 requests while plugins come and go: every answer is whole', async () => {
    const auth = bare()
    const pair = plugin('pair', (kernel) => {
      kernel.route({ method: 'GET', path: '/pair', handler: async (ctx) => Response.json(await ctx.ask('color', { of: 'x' })) })
      kernel.declareHook('color', 'first')
      kernel.hook('color', async () => 'whole')
    })
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        if (i % 2) auth.use(pair)
        else if (i > 0) auth.remove('pair')
        const response = await new Client(auth).get('/pair')
        return response.status === 400 ? 'absent' : ((await response.json()) as string)
      }),
    )
    expect(new Set(answers)).toEqual(new Set(['whole', 'absent']))
  })

  it('a listener that is taken back while others run is not missed by them', async () => {
    const auth = bare().use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1' }) }))
    const heard: string[] = []
    const take: () => void = auth.on('signIn', () => (take(), void heard.push('once')))
    auth.on('signIn', () => void heard.push('always'))
    await new Client(auth).post('/callback/c')
    await new Client(auth).post('/callback/c')
    expect(heard).toEqual(['once', 'always', 'always'])
  })
})

describe('side by side', () => {
  it('rows 52, 331, D18: two kernels with different plugins, secrets and checks do not meet', async () => {
    const email = { id: 'mail', name: 'Mail', type: 'email' as const, sendVerificationRequest: () => {} }
    const a = createAuth(baseConfig({ providers: [email], adapter: memoryAdapter() }))
    const b = createAuth(baseConfig({ secret: 'another-secret-of-more-than-32-characters' }))
    a.use(plugin('only-a', (kernel) => kernel.route({ method: 'GET', path: '/a', handler: () => new Response('a') })))
    b.use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1', name: 'Bea' }) }))
    await Promise.all([a.ready(), b.ready()])
    expect((await new Client(a).get('/a')).status).toBe(200)
    expect((await new Client(b).get('/a')).status).toBe(400)
    expect(Object.keys((await (await new Client(a).get('/providers')).json()) as object)).toEqual(['mail'])
    expect(Object.keys((await (await new Client(b).get('/providers')).json()) as object)).toEqual(['c'])
    const inB = new Client(b)
    await inB.post('/callback/c')
    expect(await inB.session()).toMatchObject({ user: { name: 'Bea' } })
    const inA = new Client(a)
    inA.cookies.set('authkernel.session-token', inB.cookies.get('authkernel.session-token') ?? '')
    expect(await inA.session()).toBeNull()
  })

  it('D35: one-time use is per instance too', async () => {
    const seen: boolean[] = []
    const asks = plugin('asks', (kernel) =>
      kernel.route({ method: 'GET', path: '/once', handler: async (ctx) => (seen.push(await ctx.once.take('key', 60)), new Response()) }),
    )
    const [a, b] = [bare().use(asks), bare().use(asks)]
    for (const auth of [a, a, b, b]) await new Client(auth).get('/once')
    expect(seen).toEqual([true, false, true, false])
  })
})

describe('close', () => {
  it('runs what plugins left for it, once', async () => {
    const closed: string[] = []
    const auth = bare()
      .use(plugin('a', (kernel) => kernel.onClose(async () => void closed.push('a'))))
      .use(adapterPlugin({ ...memoryAdapter(), close: () => void closed.push('adapter') }))
    await auth.close()
    await auth.close()
    expect(closed).toEqual(['a', 'adapter'])
  })

  it('runs first what writes to a store at the end', async () => {
    const closed: string[] = []
    const auth = createKernel(baseConfig())
      .use(adapterPlugin({ ...memoryAdapter(), close: () => void closed.push('adapter') }))
      .use(plugin('log', (kernel) => kernel.onClose(() => void closed.push('log'), { first: true })))
    await auth.close()
    expect(closed).toEqual(['log', 'adapter'])
  })
})
