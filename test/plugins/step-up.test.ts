/** A fresh proof before what must not be done by a stolen session. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { baseConfig, Client } from '../_setup.ts'

const page = { accept: 'text/html' }

/** `factor`: a plugin of a stranger asks at `/confirm` and proves a second factor. */
async function world(strategy: 'jwt' | 'database', factor = true) {
  const base = baseConfig({
    session: { strategy },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(apiKeysPlugin()).use(stepUpPlugin())
  if (factor)
    auth.use({
      name: 'confirm',
      setup(kernel) {
        kernel.hook('stepUp', ({ login, ctx }) => ctx.park(login, { to: '/confirm' }))
        kernel.route({ method: 'GET', path: '/confirm', handler: () => new Response('confirm') })
        kernel.route({
          method: 'POST',
          path: '/confirm',
          async handler(ctx) {
            const parked = await ctx.parked()
            return parked
              ? ctx.resume(parked, { proof: { amr: ['otp', 'mfa'], factors: 2, authTime: ctx.now.getTime() / 1000 } })
              : ctx.page('signIn')
          },
        })
      },
    })
  await auth.ready()
  for (const id of ['ada', 'eve']) await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: null })
  const signIn = async (user = 'ada', client = new Client(auth)) => {
    await client.post('/callback/credentials', { user })
    return client
  }
  const request = (client: Client, headers: Record<string, string> = {}, path = '/settings', method = 'GET') =>
    new Request(`http://localhost:3000${path}`, { method, headers: { cookie: client.cookieHeader(), ...headers } })
  const require = async (client: Client, demand = {}, headers: Record<string, string> = page) => {
    const found = await auth.stepUp.require(request(client, headers), demand)
    return found instanceof Response ? found : found.user?.name
  }
  return { auth, signIn, request, require, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('a fresh session passes, an old one is led through the factor and back, with a new token', async () => {
    const { auth, signIn, require, runtime } = await world(strategy)
    const client = await signIn()
    expect(await require(client)).toBe('ada')
    runtime.advance(301_000)
    const led = (await require(client, { returnTo: '/pay?id=1' })) as Response
    const target = new URL(led.headers.get('location')!)
    expect([led.status, target.pathname]).toEqual([302, '/auth/confirm'])
    const before = client.cookieHeader()
    // The plugin's answer came by server code: its cookies go to the browser.
    for (const line of led.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      client.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const done = await client.post(`/confirm${target.search}`)
    expect(done.headers.get('location')).toBe('http://localhost:3000/pay?id=1')
    expect(await require(client, { level: 'mfa' })).toBe('ada')
    const stolen = new Request('http://localhost:3000/', { headers: { cookie: before } })
    expect(await auth.stepUp.holds(stolen, { level: 'mfa' })).toBe(false)
    if (strategy === 'database') expect(await auth.session(stolen)).toBeNull()
  })

  it('mfa is not satisfied by one factor, however fresh', async () => {
    const { signIn, require } = await world(strategy)
    expect(((await require(await signIn(), { level: 'mfa' })) as Response).status).toBe(302)
  })

  it('visitors, and users without a factor, are led to the sign-in page', async () => {
    const { auth, signIn, require, runtime } = await world(strategy, false)
    const client = await signIn()
    runtime.advance(301_000)
    for (const who of [client, new Client(auth)]) {
      const { headers } = (await require(who)) as Response
      const to = new URL(headers.get('location')!)
      expect([to.pathname, to.searchParams.get('callbackUrl')]).toEqual(['/auth/signin', 'http://localhost:3000/settings'])
    }
    await signIn('ada', client)
    expect(await require(client)).toBe('ada')
  })

  it('a program is answered by RFC 9470', async () => {
    const { auth, signIn, require, runtime } = await world(strategy)
    const client = await signIn()
    runtime.advance(301_000)
    const answer = (await require(client, { maxAge: 60, level: 'mfa' }, { accept: 'application/json' })) as Response
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_user_authentication", .*acr_values="mfa", max_age=60$/,
    )
    const nobody = (await require(new Client(auth), {}, { accept: 'application/json' })) as Response
    expect(nobody.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('an API key proves nothing', async () => {
    const { auth } = await world(strategy)
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const request = new Request('http://localhost:3000/', { headers: { authorization: `Bearer ${key}` } })
    expect((await auth.session(request))?.user?.name).toBe('ada')
    expect(((await auth.stepUp.require(request)) as Response).status).toBe(401)
  })

  it('the clock moved back proves nothing', async () => {
    const { signIn, require, runtime } = await world(strategy)
    runtime.advance(3_600_000)
    const client = await signIn()
    runtime.advance(-3_000_000)
    expect((await require(client)) instanceof Response || (await require(client)) === undefined).toBe(true)
  })

  it("a user who signs in meanwhile gains nothing from another person's proof", async () => {
    const { signIn, require, runtime } = await world(strategy)
    const client = await signIn()
    runtime.advance(301_000)
    const led = (await require(client, { level: 'mfa' })) as Response
    for (const line of led.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      client.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    await signIn('eve', client)
    await client.post(`/confirm${new URL(led.headers.get('location')!).search}`)
    expect((await require(client, { level: 'mfa' })) instanceof Response).toBe(true)
  })
})

it.each([{ maxAge: 0 }, { returnTo: '//evil.example' }, { returnTo: '/\\evil.example' }, { returnTo: 'https://evil.example' }])(
  'refuses the demand %j',
  async (demand) => {
    const { signIn, require } = await world('jwt')
    await expect(require(await signIn(), demand)).rejects.toThrow('stepUp: `')
  },
)

describe('the login of a step-up', () => {
  it.each(['jwt', 'database'] as const)('has the account that the session began with, without tokens, under %s', async (strategy) => {
    const accounts: unknown[] = []
    const adapter = memoryAdapter(memoryData())
    const auth = createAuth(
      baseConfig({
        session: { strategy },
        providers: [
          { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
        ],
      }),
    )
      .use(adapterPlugin(adapter))
      .use(stepUpPlugin())
      .use({
        name: 'confirm',
        setup(kernel) {
          kernel.hook('stepUp', ({ login, ctx }) => {
            accounts.push(login.account)
            return ctx.park(login, { to: '/confirm' })
          })
          kernel.route({ method: 'GET', path: '/confirm', handler: () => new Response('confirm') })
        },
      })
    await auth.ready()
    await adapter.createUser!({ id: 'ada', name: 'ada', email: 'ada@example.com', emailVerified: null })
    const client = new Client(auth)
    await client.post('/callback/credentials', { user: 'ada' })
    const ask = () =>
      auth.stepUp.require(new Request('http://localhost:3000/settings', { headers: { ...page, cookie: client.cookieHeader() } }), {
        level: 'mfa',
      })
    expect(await ask()).toBeInstanceOf(Response)
    expect(accounts.splice(0)).toEqual([{ provider: 'credentials', providerAccountId: 'ada', type: 'credentials' }])
    await adapter.linkAccount!({
      userId: 'ada',
      type: 'oauth' as never,
      provider: 'credentials',
      providerAccountId: 'ada-there',
      access_token: 'secret',
    })
    await ask()
    expect(accounts).toEqual([{ provider: 'credentials', providerAccountId: 'ada-there', type: 'oauth', userId: 'ada' }])
  })
})
