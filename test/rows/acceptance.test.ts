/** Sentences of the issues and of the decisions that no file of their own proves: found by reading one beside the other. */
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import {
  AuthError,
  type AuthConfig,
  CallbackRouteError,
  createActionURL,
  createAuth,
  CredentialsSignin,
  isAuthAction,
  setEnvDefaults,
} from 'authkernel'
import { createKernel, type Plugin } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client, recordingLogger, secret } from '../_setup.ts'

const origin = 'http://localhost:3000'
const people = () => credentialsPlugin({ id: 'c', authorize: () => ({ id: '1', name: 'Ada' }) })
const post = (client: Client, path: string, csrfToken: string, headers: Record<string, string>) =>
  client.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken }), headers })

describe('D30: where a request comes from', () => {
  it.each([
    ['a page with Referrer-Policy: no-referrer, on the own site', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 302],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling sub-domain', { origin: 'null', 'sec-fetch-site': 'same-site' }, 403],
    ['an opaque origin of a browser that says no more', { origin: 'null' }, 403],
  ])('%s', async (_name, headers, status) => {
    const client = new Client(createAuth(baseConfig()).use(people()))
    const response = await post(client, '/callback/c', await client.csrfToken(), headers as Record<string, string>)
    expect(response.status).toBe(status)
    expect((await client.session())?.user?.['name']).toBe(status === 302 ? 'Ada' : undefined)
  })

  it.each([
    ['same-origin', 302],
    ['none', 403],
    [undefined, 403],
  ])('in origin mode, without Origin: Sec-Fetch-Site %s', async (site, status) => {
    const auth = createAuth(baseConfig()).use(people())
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(site && { 'sec-fetch-site': site }) }
    const request = new Request(`${origin}/auth/callback/c`, { method: 'POST', body: 'a=b', headers })
    expect((await auth.handler(request, { csrf: 'origin' })).status).toBe(status)
  })

  it('D30, row 23: a cross-site update of the session is 403, one without token is 400; both answer null', async () => {
    const client = new Client(createAuth(baseConfig()).use(people()))
    await client.post('/callback/c')
    const foreign = await post(client, '/session', await client.csrfToken(), { origin: 'https://evil.example' })
    expect([foreign.status, await foreign.json()]).toEqual([403, null])
    const bare = await post(client, '/session', '', {})
    expect([bare.status, await bare.json()]).toEqual([400, null])
    expect(await client.session()).not.toBeNull()
  })
})

describe('D34, D41: the environment', () => {
  it.each(['app.example', 'localhost:3000', 'ftp://app.example', '//app.example', 'https://'])(
    'D34: AUTH_URL=%s is refused at compile, never replaced by the Host header',
    async (url) => {
      const logger = recordingLogger()
      const auth = createAuth({ logger, env: { AUTH_SECRET: secret, AUTH_URL: url } })
      await expect(auth.ready()).rejects.toThrow(/AUTH_URL.*https:\/\/app\.example/)
      expect((await new Client(auth).get('/csrf')).status).toBe(500)
    },
  )

  it('D34, row 55: AUTH_URL with path and trailing slash', async () => {
    const auth = createAuth({ logger: recordingLogger(), env: { AUTH_SECRET: secret, AUTH_URL: 'https://app.example/api/auth/' } }).use(
      people(),
    )
    const response = await auth.handler(new Request('http://10.0.0.7:8080/api/auth/providers', { headers: { host: 'evil.example' } }))
    expect(await response.json()).toMatchObject({ c: { callbackUrl: 'https://app.example/api/auth/callback/c' } })
    const other = createAuth({ logger: recordingLogger(), env: { AUTH_SECRET: secret, AUTH_URL: 'https://app.example/' } }).use(people())
    const root = await other.handler(new Request('http://10.0.0.7:8080/auth/providers'))
    expect(await root.json()).toMatchObject({ c: { signinUrl: 'https://app.example/auth/signin/c' } })
  })

  it('row 60: setEnvDefaults twice, and createAuth after it, give what one call gives, and no warning', async () => {
    const env = { AUTH_SECRET: '0', AUTH_SECRET_1: '1', AUTH_URL: 'https://app.example/api/auth', AUTH_TRUST_PROXY: '1' }
    const logger = recordingLogger()
    const config: AuthConfig = { logger }
    setEnvDefaults(env, config)
    const once = { ...config }
    setEnvDefaults(env, config)
    createAuth(config)
    expect(config).toEqual(once)
    expect(config.secret).toEqual(['1', '0'])
    expect(logger.warnings).toEqual([])
  })

  it('rows 61, 62: createActionURL and isAuthAction', () => {
    const at = (env: Record<string, string>, headers: Record<string, string>, basePath?: string) =>
      String(createActionURL('signin', 'https:', new Headers(headers), env, { basePath, trustProxy: true, logger: recordingLogger() }))
    expect(at({}, { host: 'a.example' })).toBe('https://a.example/auth/signin')
    expect(at({}, { host: 'a.example', 'x-forwarded-host': 'b.example', 'x-forwarded-proto': 'http' }, '/x/')).toBe(
      'http://b.example/x/signin',
    )
    expect(at({ AUTH_URL: 'https://c.example/auth/' }, { host: 'a.example' })).toBe('https://c.example/auth/signin')
    expect(at({ AUTH_URL: 'https://c.example' }, { host: 'a.example' }, '/')).toBe('https://c.example/signin')
    expect(['session', 'webauthn-options', 'constructor', '', 'Session'].map(isAuthAction)).toEqual([true, true, false, false, false])
  })
})

describe('base path', () => {
  it.each(['/api/auth/', '/api/auth'])('D23: `basePath: %s` is the same place', async (basePath) => {
    const auth = createAuth(baseConfig({ basePath })).use(people())
    const client = new Client(auth, origin, '/api/auth')
    expect(await (await client.get('/providers')).json()).toMatchObject({ c: { signinUrl: `${origin}/api/auth/signin/c` } })
    expect((await client.send(`${origin}/api/authors`)).status).toBe(400)
  })

  it('D23: of a tenant too', async () => {
    const settings = { namespace: '', basePath: '/t/', secret: undefined, origin: undefined } as never
    const auth = createAuth(baseConfig())
      .use(people())
      .use(tenantsPlugin({ settings: () => settings }))
    expect(await (await new Client(auth, origin, '/t').get('/providers')).json()).toMatchObject({
      c: { signinUrl: `${origin}/t/signin/c` },
    })
  })

  it('D23: the root', async () => {
    const client = new Client(createAuth(baseConfig({ basePath: '/' })).use(people()), origin, '')
    expect(await (await client.get('/providers')).json()).toMatchObject({ c: { callbackUrl: `${origin}/callback/c` } })
  })
})

describe('D50', () => {
  it('what the settings hook leaves undefined keeps its value', async () => {
    const auth = createAuth(baseConfig()).use(people())
    auth.hook('settings', () => ({ secret: undefined, cookiePrefix: 'tenant' }) as never)
    const client = new Client(auth)
    await client.post('/callback/c')
    expect([...client.cookies.keys()]).toContain('tenant.session-token')
  })
})

describe('D56: prefixes of the host', () => {
  const cookies = { sessionToken: { name: '__Host-app.session' } }
  it.each([
    ['useSecureCookies', { useSecureCookies: true }],
    ['an https origin', { origin: 'https://app.example' }],
  ])('`__Host-` for the session cookie, with %s', async (_name, config) => {
    const auth = createAuth(baseConfig({ cookies, ...config })).use(people())
    await auth.ready()
    const client = new Client(auth, 'https://app.example')
    const lines = (await client.post('/callback/c')).headers.getSetCookie()
    expect(lines.find((line) => line.startsWith('__Host-app.session='))).toMatch(/Path=\/;.*Secure/)
  })

  it('is refused where it may travel over http, with the remedy', async () => {
    await expect(createAuth(baseConfig({ cookies })).ready()).rejects.toThrow(/cookies\.sessionToken.*useSecureCookies/)
  })
})

describe('D57', () => {
  it('a callbackUrl that is broken three times is absent, with one warning', async () => {
    const options = baseConfig()
    const client = new Client(createAuth(options).use(people()))
    const csrfToken = await client.csrfToken()
    client.cookies.set('authkernel.callback-url', 'ftp%3A%2F%2Fx')
    const body = new URLSearchParams({ csrfToken, callbackUrl: 'javascript:alert(1)' })
    const response = await client.send('/callback/c?callbackUrl=data:,x', { method: 'POST', body })
    expect([response.status, response.headers.get('location')]).toEqual([302, origin])
    expect(options.logger.warnings).toEqual(['invalid-callback-url'])
  })
})

describe('D38: an outage at every door', () => {
  const outage = (config: AuthConfig = {}) => {
    const adapter = memoryAdapter()
    const down = { ...adapter, getSessionAndUser: () => Promise.reject(new Error('store down')) }
    return createAuth(baseConfig({ adapter: down, ...config }))
  }
  const request = () => new Request(`${origin}/auth/session`, { headers: { cookie: 'authkernel.session-token=x' } })

  it('session and read throw, the route answers 503 and keeps the cookie', async () => {
    const auth = outage()
    await expect(auth.session(request())).rejects.toMatchObject({ type: 'SessionTokenError' })
    await expect(auth.read(request())).rejects.toMatchObject({ type: 'SessionTokenError' })
    const response = await auth.handler(request())
    expect([response.status, await response.json(), response.headers.getSetCookie()]).toEqual([503, null, []])
  })

  it("sessionOnError: 'null' logs and answers null everywhere", async () => {
    const auth = outage({ sessionOnError: 'null' })
    expect(await auth.session(request())).toBeNull()
    expect((await auth.read(request())).session).toBeNull()
    const response = await auth.handler(request())
    expect([response.status, await response.json(), response.headers.getSetCookie()]).toEqual([200, null, []])
  })
})

describe('the logger of a host', () => {
  class Lines {
    readonly lines: string[] = []
    error(error: Error): void {
      this.lines.push(error.name)
    }
    warn(code: string): void {
      this.lines.push(code)
    }
  }

  it('row 42: may be an object of a class', async () => {
    const logger = new Lines()
    await new Client(createAuth({ ...baseConfig({ debug: true }), logger })).get('/signin/nobody')
    expect(logger.lines).toEqual(['debug-enabled', 'UnknownAction'])
  })

  it('that throws or rejects leaves every answer as it is, and is told of on the console', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const error of [
      () => {
        throw new Error('disk full')
      },
      () => Promise.reject(new Error('no network')),
    ]) {
      const auth = createAuth({ ...baseConfig(), logger: { ...recordingLogger(), error: error as () => void } })
      const response = await new Client(auth).get('/signin/nobody')
      expect(response.headers.get('location')).toBe(`${origin}/auth/error?error=Configuration`)
    }
    expect(told.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringContaining('The logger of the host failed'),
      expect.stringContaining('The logger of the host failed'),
    ])
    told.mockRestore()
  })
})

describe('errors', () => {
  it('row 274: a body that is too large is logged, with the option', async () => {
    const options = baseConfig()
    const response = await new Client(createAuth(options)).send('/signout', {
      method: 'POST',
      body: new URLSearchParams({ a: 'x'.repeat(66_000) }),
    })
    expect(response.status).toBe(413)
    expect(options.logger.errors.map(({ message }) => message)).toEqual([expect.stringContaining('limits.body')])
  })

  it('D54: the 429 of a client that asks for the address names the error as every other answer does', async () => {
    const auth = createAuth(baseConfig({ throttle: { credentials: { max: 1 } } }))
    const client = new Client(auth.use(credentialsPlugin({ id: 'c', authorize: () => null })))
    await client.post('/callback/c', { username: 'ada' })
    const response = await client.post('/callback/c', { username: 'ada' }, { 'X-Auth-Return-Redirect': '1' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '600'])
    const { url } = (await response.json()) as { url: string }
    expect(new URL(url).searchParams.get('error')).toBe('CredentialsSignin')
  })

  it('row 267: the class of a host names itself and keeps the type of its parent', () => {
    class InvalidLogin extends CredentialsSignin {
      override code = 'locked'
    }
    expect(new InvalidLogin()).toMatchObject({ name: 'InvalidLogin', type: 'CredentialsSignin', kind: 'signIn', code: 'locked' })
  })

  it('row 277: an error and options', () => {
    const err = new RangeError('inner')
    expect(new CallbackRouteError(err, { cause: { provider: 'acme' } })).toMatchObject({
      message: 'inner',
      cause: { err, provider: 'acme' },
    })
    expect(new AuthError(err, {}).cause).toEqual({ err })
  })

  it('row 27: dispatch throws the error of a tenant, handler answers 500 without details', async () => {
    const auth = createAuth(baseConfig())
    auth.hook('settings', () => ({ secret: ['short'] }))
    const request = (): Request => new Request(`${origin}/auth/session`)
    await expect(auth.dispatch(request())).rejects.toMatchObject({ type: 'MissingSecret' })
    const response = await auth.handler(request())
    expect([response.status, (await response.text()).includes('secret')]).toEqual([500, false])
  })
})

describe('interfaces of plugins', () => {
  it('close: what a removed plugin opened is closed too, and one failure stops no other', async () => {
    const closed: string[] = []
    const opener = (name: string, fails = false): Plugin => ({
      name,
      setup: (kernel) =>
        kernel.onClose(() => {
          closed.push(name)
          if (fails) throw new Error(`${name} failed`)
        }),
    })
    const auth = createKernel(baseConfig()).use(jwtSessionPlugin()).use(opener('a', true)).use(opener('b')).use(opener('c'))
    auth.remove('b')
    expect(closed).toEqual([])
    await expect(auth.close()).rejects.toThrow('a failed')
    expect(closed.toSorted()).toEqual(['a', 'b', 'c'])
    await auth.close()
    expect(closed).toHaveLength(3)
  })

  it('use() refuses what is no plugin, and a setup that is async, with the remedy', () => {
    const auth = createKernel(baseConfig())
    expect(() => auth.use(jwtSessionPlugin as never)).toThrow(/call the factory/)
    expect(() => auth.use(undefined as never)).toThrow(/an object with `name` and `setup`/)
    expect(() => auth.use({ name: 'late', setup: () => Promise.reject(new Error('x')) })).toThrow(
      /Plugin "late": `setup` must not be async/,
    )
    expect(auth.inspect().plugins).toEqual([])
  })

  it('a api may compute', () => {
    let count = 0
    const api = {
      get count() {
        return ++count
      },
    }
    const auth = createKernel(baseConfig()).use({ name: 'counter', setup: () => api })
    expect([auth.count, auth.count]).toEqual([1, 2])
    auth.remove('counter')
    expect(() => auth.count).toThrow('plugin counter was removed')
  })

  it.each([
    ['jwt.maxAge', { jwt: { maxAge: Number.NaN } }],
    ['session.absoluteMaxAge', { session: { absoluteMaxAge: 0 } }],
    ['pages.signIn', { pages: { signIn: 'login' } }],
    ['providers', { providers: [undefined as never] }],
    ['allowedRedirects', { allowedRedirects: ['https://app.example/'] }],
  ])('a mistake in %s is refused at compile, by name', async (option, config) => {
    await expect(createAuth(baseConfig(config)).ready()).rejects.toThrow(option)
  })

  it('row 2: HEAD is answered 400 and runs no handler', async () => {
    let ran = 0
    const auth = createAuth(baseConfig()).use({
      name: 'r',
      setup: (kernel) => kernel.route({ method: 'GET', path: '/r', handler: () => (ran++, new Response('x')) }),
    })
    for (const path of ['/session', '/csrf', '/providers', '/nowhere', '/callback/acme'])
      expect((await new Client(auth).send(path, { method: 'HEAD' })).status).toBe(400)
    expect(ran).toBe(0)
    // A route of a plugin: its GET answers, without the body.
    const head = await new Client(auth).send('/r', { method: 'HEAD' })
    expect([head.status, await head.text(), ran]).toEqual([200, '', 1])
  })

  it('options of a host may be undefined under exactOptionalPropertyTypes', () => {
    const env: Record<string, string | undefined> = {}
    const write = undefined as ((error: Error) => void) | undefined
    expectTypeOf(createAuth).toBeCallableWith({
      cookies: { sessionToken: { name: env['NAME'], options: { domain: env['DOMAIN'], sameSite: undefined } } },
      pages: { signIn: env['PAGE'] },
      logger: { error: write },
      jwt: { maxAge: undefined },
      runtime: { now: undefined },
      providers: [
        { id: 'c', name: 'C', type: 'credentials', authorize: () => ({ id: '1', name: env['NAME'] }) },
        { id: 'o', name: 'O', type: 'oauth', client: { token_endpoint_auth_method: undefined }, profile: () => ({ name: env['NAME'] }) },
        { id: 'w', name: 'W', type: 'webauthn', relayingParty: { id: env['HOST'] } },
      ],
    })
    const auth = createAuth(baseConfig({ cookies: { sessionToken: { options: { domain: undefined } } }, pages: { signIn: undefined } }))
    expect(auth.inspect().fault).toBeUndefined()
  })
})
