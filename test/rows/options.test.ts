/** Rows 28, 29, 40, 47, 51, 335, 341, 375: options that no file of the kernel owns. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type AuthConfig, createAuth, raw } from 'authkernel'
import type { ExpressAuth } from 'authkernel/bindings/express'
import type { JWT, Plugin } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld } from './_world.ts'

const ok = 'http://localhost:3000'
const strategyOf = (config: AuthConfig) => createAuth(baseConfig(config)).inspect().services['session']

describe('defaults', () => {
  it('row 28: no providers is a list of none', async () => {
    const auth = createAuth(baseConfig())
    await auth.ready()
    expect(await (await new Client(auth).get('/providers')).json()).toEqual({})
    expect((await new Client(auth).get('/signin')).status).toBe(200)
  })

  it('rows 29, 30: an adapter makes the strategy database, unless jwt is forced', () => {
    expect(strategyOf({})).toBe('session-jwt')
    expect(strategyOf({ adapter: memoryAdapter() })).toBe('session-database')
    expect(strategyOf({ adapter: memoryAdapter(), session: { strategy: 'jwt' } })).toBe('session-jwt')
  })

  it('row 40: redirectProxyUrl of the environment, of the options, of the provider: the nearest wins', async () => {
    const redirectUri = async (config: AuthConfig, own: object = {}) => {
      const world = createWorld('jwt', 'none')
      const auth = createAuth({
        ...world.options,
        providers: [{ ...world.op.provider('oidc'), ...own } as never],
        allowedHosts: [new URL(ok).host],
        ...config,
      })
      const location = (await new Client(auth).post('/signin/oidc')).headers.get('location') ?? ''
      return new URL(location).searchParams.get('redirect_uri')
    }
    const env = { AUTH_REDIRECT_PROXY_URL: 'https://env.example/auth' }
    expect(await redirectUri({})).toBe(`${ok}/auth/callback/oidc`)
    expect(await redirectUri({ env })).toBe('https://env.example/auth/callback/oidc')
    expect(await redirectUri({ env, redirectProxyUrl: 'https://option.example/auth' })).toBe('https://option.example/auth/callback/oidc')
    expect(
      await redirectUri({ env, redirectProxyUrl: 'https://option.example/auth' }, { redirectProxyUrl: 'https://own.example/a/' }),
    ).toBe('https://own.example/a/callback/oidc')
  })

  it('rows 51, 334, D4: a secret of 32 characters is enough, 31 are refused with how to make one', async () => {
    await createAuth(baseConfig({ secret: 'x'.repeat(32) })).ready()
    await expect(createAuth(baseConfig({ secret: 'x'.repeat(31) })).ready()).rejects.toThrow(
      /less than 32 characters.*authkernel secret|openssl/s,
    )
    await expect(createAuth(baseConfig({ secret: ['x'.repeat(32), 'x'.repeat(31)] })).ready()).rejects.toThrow('less than 32')
  })

  it('row 240: credentials without authorize is MissingAuthorize', async () => {
    const auth = createAuth(baseConfig({ providers: [{ id: 'c', name: 'C', type: 'credentials' }] }))
    await expect(auth.ready()).rejects.toMatchObject({ type: 'MissingAuthorize' })
  })

  it('row 47: the Express binding takes every option except raw', () => {
    expectTypeOf<Parameters<typeof ExpressAuth>[0]>().not.toHaveProperty('raw')
    expectTypeOf<Omit<AuthConfig, 'raw'>>().toExtend<Parameters<typeof ExpressAuth>[0]>()
    expect(raw.description).toContain('raw')
  })
})

describe('limits of our own', () => {
  it('row 335, D20: body, callbackUrl and cookies have limits; options move them', async () => {
    const send = (config: AuthConfig, length: number) =>
      new Client(createAuth(baseConfig(config))).send('/signout', { method: 'POST', body: new URLSearchParams({ a: 'x'.repeat(length) }) })
    expect((await send({}, 65_534)).status).toBe(302)
    expect((await send({}, 65_535)).status).toBe(413)
    expect((await send({ limits: { body: 100 } }, 99)).status).toBe(413)
    const where = async (config: AuthConfig, length: number) =>
      (await new Client(createAuth(baseConfig(config))).post('/signout', { callbackUrl: `/${'x'.repeat(length)}` })).headers.get('location')
    expect(await where({}, 2047)).toHaveLength(ok.length + 2048)
    expect(await where({}, 2048)).toBe(ok)
    expect(await where({ limits: { callbackUrl: 10 } }, 10)).toBe(ok)
  })

  it('row 335, D31: a request that takes too long is answered, logged once, and signs no user in', async () => {
    const providers = [{ id: 'c', name: 'C', type: 'credentials' as const, authorize: () => new Promise<null>(() => {}) }]
    const options = baseConfig({ deadlines: { request: 30 }, providers })
    // The form comes from an instance in no hurry: only the request that hangs is to be late.
    const client = new Client(createAuth(baseConfig({ providers })))
    const body = new URLSearchParams({ csrfToken: await client.csrfToken() })
    const headers = { cookie: client.cookieHeader() }
    const response = await createAuth(options).handler(new Request(`${ok}/auth/callback/c`, { method: 'POST', body, headers }))
    expect([302, 503]).toContain(response.status)
    expect(options.logger.errors).toHaveLength(1)
    expect(response.headers.getSetCookie().join()).not.toContain('session-token')
  })
})

describe('what the specification leaves to hosts and plugins', () => {
  it('row 341: token rotation is a plugin over the jwt hook, which has all it needs', async () => {
    const world = createWorld('jwt', 'none')
    let refreshed = 0
    const rotation: Plugin = {
      name: 'rotation',
      setup(kernel) {
        kernel.hook('jwt', async ({ token, account }): Promise<JWT> => {
          if (account) return { ...token, access: account.access_token, refresh: account.refresh_token, until: account.expires_at }
          if (Number(token['until']) * 1000 > kernel.runtime.now()) return token
          const answer = await kernel.runtime.fetch(`${world.op.issuer}/refresh`, { method: 'POST', body: String(token['refresh']) })
          const { access_token: access } = (await answer.json()) as { access_token: string }
          return { ...token, access, until: kernel.runtime.now() / 1000 + 3600 }
        })
        kernel.hook('session', ({ session, token }) => ({ ...session, access: token?.['access'] }))
      },
    }
    world.auth.use(rotation)
    world.op.answers['/refresh'] = () => ({ access_token: `rotated-${++refreshed}` })
    await world.client.get(await world.toProvider('oidc'))
    const access = async () => (await world.client.session())?.['access']
    expect(await access()).toMatch(/^at-code-/)
    world.options.runtime.advance(3_601_000)
    expect(await access()).toBe('rotated-1')
    expect(await access()).toBe('rotated-1')
    world.options.runtime.advance(3_601_000)
    expect(await access()).toBe('rotated-2')
  })

  it('rows 265, 375: signing out ends the session here; the provider is not told', async () => {
    for (const strategy of ['jwt', 'database'] as const) {
      const world = createWorld(strategy, 'whole')
      await world.client.get(await world.toProvider('oidc'))
      const before = world.op.requests.length
      await world.client.post('/signout')
      expect(world.op.requests).toHaveLength(before)
      expect(await world.client.session()).toBeNull()
      // Still signed in over there: coming again asks for nothing but consent.
      expect((await world.client.get(await world.toProvider('oidc'))).headers.get('location')).toBe(ok)
    }
  })
})
