/** The walking skeleton: every interface of a plugin carries its load, with a stranger's provider type and no built-in one. */
import { describe, expect, it } from 'vitest'
import { createAuth, type Provider } from 'authkernel'
import { createKernel, type Identity, type Login, type Plugin, type ProviderFlow } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    badge: { id: string; name: string; type: 'badge' }
  }
  interface Services {
    badges: { owner(code: string): Identity['user'] | undefined }
  }
  interface Hooks {
    badgeAllowed: { verb: 'guard'; in: { code: string }; out: boolean | string }
  }
  interface Events {
    badgeUsed: { code: string }
  }
}

const people: Record<string, Identity['user']> = {
  ann: { name: 'Ann', email: 'ann@example.com' },
  bob: { name: 'Bob', email: 'bob@example.com' },
}
const flow: ProviderFlow<{ id: string; name: string; type: 'badge' }> = {
  async finish(ctx, provider) {
    const { code } = (await ctx.body()) as { code: string }
    if (!(await ctx.ask('badgeAllowed', { code }))) return ctx.page('signIn', { error: 'badge' })
    const user = ctx.service('badges').owner(code)
    if (!user) throw new Error('unknown badge')
    await ctx.emit('badgeUsed', { code })
    return { user, account: { provider: provider.id, providerAccountId: code, type: 'badge' }, match: 'account' }
  },
}
const badgePlugin = (...ids: string[]): Plugin<{ badges: { count(): number } }> => ({
  name: 'badge',
  requires: ['badges'],
  setup(kernel) {
    kernel.declareHook('badgeAllowed', 'guard')
    kernel.provide('badges', { owner: (code) => people[code] })
    kernel.providerType('badge', flow)
    for (const id of ids) kernel.provider({ id, name: id, type: 'badge' } as Provider)
    kernel.route({ method: 'GET', path: '/badges/:code', handler: (ctx) => new Response(`badge ${ctx.params['code']}`) })
    return { badges: { count: () => ids.length } }
  },
})

const login = (client: Client, code: string, provider = 'door'): Promise<Response> => client.post(`/callback/${provider}`, { code })

describe.each(['jwt', 'database'] as const)('%s strategy', (strategy) => {
  const make = () => {
    const adapter = memoryAdapter()
    const config = baseConfig({ adapter, session: { strategy } })
    const auth = createAuth(config).use(badgePlugin('door', 'gate'))
    const events: string[] = []
    for (const event of ['createUser', 'linkAccount', 'signIn', 'signOut', 'session', 'badgeUsed', 'signInFailed'] as const) {
      auth.on(event, () => void events.push(event))
    }
    return { auth, adapter, config, events, client: new Client(auth) }
  }

  it('signs in, reads the session, signs out', async () => {
    const { client, events, auth } = make()
    const response = await login(client, 'ann')
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('http://localhost:3000')
    expect(await client.session()).toMatchObject({ user: { name: 'Ann', email: 'ann@example.com' } })
    expect(await auth.session(new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } }))).toMatchObject({
      user: { name: 'Ann' },
    })
    await client.post('/signout')
    expect(await client.session()).toBeNull()
    expect(events).toEqual(['badgeUsed', 'createUser', 'linkAccount', 'signIn', 'session', 'session', 'signOut'])
  })

  it('links a second account to the signed-in user and keeps the session', async () => {
    const { client, adapter } = make()
    await login(client, 'ann')
    const before = client.cookies.get('authkernel.session-token')
    await login(client, 'ann', 'gate')
    const user = await adapter.getUserByEmail('ann@example.com')
    expect(await adapter.getUserByAccount({ provider: 'gate', providerAccountId: 'ann' })).toEqual(user)
    if (strategy === 'database') expect(client.cookies.get('authkernel.session-token')).toBe(before)
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('refuses the account of another user while signed in', async () => {
    const { client, auth, config } = make()
    await login(new Client(auth), 'bob')
    await login(client, 'ann')
    const response = await login(client, 'bob')
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/signin?error=AccountNotLinked')
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
    expect(config.logger.errors.map(({ name }) => name)).toEqual(['AccountNotLinked'])
  })

  it('parks a login for a second factor and resumes it later', async () => {
    const { client, auth } = make()
    const secondFactor: Plugin = {
      name: 'second-factor',
      setup(kernel) {
        kernel.hook('login', async ({ login: parked, ctx }) => {
          ctx.setCookie('parked', await ctx.seal('parked', { login: parked }, 300))
          return ctx.redirect('/code')
        })
        kernel.route({
          method: 'POST',
          path: '/second-factor',
          async handler(ctx) {
            const opened = await ctx.open('parked', ctx.cookie('parked') ?? '')
            const { code } = await ctx.body()
            if (!opened || code !== '123456') return ctx.page('signIn', { error: 'CredentialsSignin' })
            return ctx.resume(opened['login'] as Login, { passed: ['second-factor'] })
          },
        })
      },
    }
    auth.use(secondFactor)
    const first = await client.post('/callback/door', { code: 'ann', callbackUrl: '/inbox' })
    expect(first.headers.get('location')).toBe('http://localhost:3000/code')
    expect(await client.session()).toBeNull()
    expect((await client.post('/second-factor', { code: '000000' })).headers.get('location')).toContain('error=')
    const second = await client.post('/second-factor', { code: '123456' })
    expect(second.headers.get('location')).toBe('http://localhost:3000/inbox')
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('honours a string result, newUser, and a refusal', async () => {
    const { client, auth, config } = make()
    const take = auth.hook('signIn', () => '/welcome')
    expect((await login(client, 'ann')).headers.get('location')).toBe('http://localhost:3000/welcome')
    take()
    auth.hook('signIn', ({ user }) => user.name !== 'Bob')
    expect((await login(client, 'bob')).headers.get('location')).toBe('http://localhost:3000/auth/error?error=AccessDenied')
    expect(config.logger.errors).toHaveLength(1)
    expect((await login(client, 'ann')).headers.get('location')).toBe('http://localhost:3000')
  })
})

describe('without a store', () => {
  it('isNewUser is undefined and nothing is stored', async () => {
    const auth = createAuth(baseConfig()).use(badgePlugin('door'))
    const seen: unknown[] = []
    auth.on('signIn', (message) => void seen.push(message))
    const client = new Client(auth)
    await login(client, 'ann')
    expect(seen).toEqual([
      { user: people['ann'], account: { provider: 'door', providerAccountId: 'ann', type: 'badge' }, isNewUser: undefined },
    ])
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('dispatch throws AuthErrors to the caller', async () => {
    const auth = createAuth(baseConfig()).use(badgePlugin('door'))
    await expect(auth.dispatch(new Request('http://localhost:3000/auth/callback/nowhere'))).rejects.toMatchObject({
      type: 'InvalidProvider',
    })
  })

  it('settings differ per request', async () => {
    const tenants: Record<string, { secret: string[]; cookiePrefix: string }> = {
      'a.example': { secret: ['a'.repeat(40)], cookiePrefix: 'a' },
      'b.example': { secret: ['b'.repeat(40)], cookiePrefix: 'b' },
    }
    const auth = createAuth(baseConfig()).use(badgePlugin('door'))
    auth.hook('settings', ({ request }) => tenants[new URL(request.url).host])
    const a = new Client(auth, 'http://a.example')
    await login(a, 'ann')
    expect([...a.cookies.keys()].sort()).toEqual(['a.callback-url', 'a.csrf-token', 'a.session-token'])
    expect(await a.session()).toMatchObject({ user: { name: 'Ann' } })
    const b = new Client(auth, 'http://b.example')
    b.cookies.set('b.session-token', a.cookies.get('a.session-token') ?? '')
    expect(await b.session()).toBeNull()
  })
})

describe('registration', () => {
  it('gives the api of a plugin to auth, and takes it away', async () => {
    const auth = createAuth(baseConfig()).use(badgePlugin('door'))
    expect(auth.badges.count()).toBe(1)
    expect(await (await new Client(auth).get('/badges/7')).text()).toBe('badge 7')
    auth.remove('badge')
    expect(() => auth.badges.count()).toThrow('plugin badge was removed')
    expect((await new Client(auth).get('/badges/7')).status).toBe(400)
  })

  it('refuses two plugins of one name with both places, and unknown names with the list', () => {
    const auth = createAuth(baseConfig()).use(badgePlugin('door'))
    // `void`: where tail calls leave no frame (Bun), this line would not be in the stack.
    expect(() => void auth.use(badgePlugin('gate'))).toThrow(/"badge" is used twice: .*skeleton\.test\.ts.*skeleton\.test\.ts/)
    expect(() => auth.remove('nope')).toThrow(/no plugin "nope".*badge/)
  })

  it('a bare kernel does nothing that was not used', async () => {
    const auth = createKernel(baseConfig())
    await expect(auth.ready()).rejects.toThrow('No plugin provides the service "session"')
  })
})
