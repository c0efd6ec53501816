/** Keys, answers and options of NextAuth 4; the app itself moves in test/migration/next-auth-4.test.ts. */
import { createHash } from 'node:crypto'
import { createAuth } from 'authkernel'
import { decode } from 'authkernel/jwt'
import { nextAuth4CompatPlugin, nextAuth4KeyInfo, nextAuth4Options, type NextAuth4Options } from 'authkernel/plugins/next-auth-4-compat'
import { describe, expect, it, vi } from 'vitest'
import { Client } from '../_client.ts'
import { baseConfig, recordingLogger, secret } from '../_setup.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const authorize = (credentials: { password?: unknown }): unknown => {
  if (credentials.password === 'wrong') throw new Error('That is not your password.')
  if (credentials.password === 'failure') throw Object.assign(new Error('connect to db.internal failed'), { code: 'ECONNREFUSED' })
  return credentials.password === 'none' ? null : { id: '1', name: 'Ann', email: 'ann@example.com' }
}
const credentials = { id: 'credentials', name: 'Password', type: 'credentials', credentials: {}, options: { authorize } }
const options = (more: Partial<NextAuth4Options> = {}): NextAuth4Options => ({ secret, providers: [credentials], ...more })
const make = (more: Partial<NextAuth4Options> = {}, config: object = {}) =>
  createAuth({ ...baseConfig({}), ...nextAuth4Options(options(more)), runtime: {}, ...config }).use(nextAuth4CompatPlugin())

async function signIn(client: Client, password: string, more: Record<string, string> = { json: 'true' }): Promise<Response> {
  const fields = { csrfToken: await client.csrfToken(), password, callbackUrl: '/', ...more }
  return client.request('POST', '/callback/credentials', { body: new URLSearchParams(fields), headers: form })
}

describe('sessions', () => {
  it.each([
    ['http://localhost:3000', 'next-auth.session-token'],
    ['https://app.example', '__Secure-next-auth.session-token'],
  ])('%s: the token in %s is A256GCM under the key of version 4', async (origin, name) => {
    const client = new Client(make({}, { origin }), { origin })
    await signIn(client, 'right')
    const token = client.cookies.get(name) ?? ''
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ alg: 'dir', enc: 'A256GCM' })
    expect(await decode({ token, secret, salt: '', keyInfo: nextAuth4KeyInfo })).toMatchObject({ sub: '1' })
    expect((await client.session())?.user).toEqual({ name: 'Ann', email: 'ann@example.com' })
  })

  it('the name of the cookie that the app chose has the same key', async () => {
    const client = new Client(make({ cookies: { sessionToken: { name: 'sid' } } }))
    await signIn(client, 'right')
    expect(await decode({ token: client.cookies.get('sid') ?? '', secret, salt: '', keyInfo: nextAuth4KeyInfo })).toMatchObject({
      sub: '1',
    })
  })

  it('no other sealed value is under that key: a value of a flow is no session', async () => {
    const { encode } = await import('authkernel/jwt')
    const token = await encode({ token: { sub: '1', name: 'Eve' }, secret, salt: 'next-auth.state', keyInfo: nextAuth4KeyInfo })
    const client = new Client(make())
    client.cookies.set('next-auth.session-token', token)
    expect((await client.session())?.user).toBeUndefined()
  })

  it('`jwt.secret` seals tokens, and `secret` stays valid', async () => {
    const own = 'another secret, for tokens alone, of 44 letters'
    const client = new Client(make({ jwt: { secret: own } }))
    await signIn(client, 'right')
    const token = client.cookies.get('next-auth.session-token') ?? ''
    expect(await decode({ token, secret: own, salt: '', keyInfo: nextAuth4KeyInfo })).toMatchObject({ sub: '1' })
  })

  it('a CSRF cookie of NextAuth counts', async () => {
    const token = 'ab'.repeat(32)
    const client = new Client(make())
    const hash = createHash('sha256').update(`${token}${secret}`).digest('hex')
    client.cookies.set('next-auth.csrf-token', encodeURIComponent(`${token}|${hash}`))
    expect(await client.csrfToken()).toBe(token)
  })
})

describe('answers', () => {
  it.each([
    ['right', 200, null],
    ['none', 401, 'CredentialsSignin'],
    ['wrong', 401, 'That is not your password.'],
    ['failure', 401, 'Configuration'],
  ])('password "%s": %d, error %s', async (password, status, error) => {
    const response = await signIn(new Client(make({}, { logger: recordingLogger() })), password)
    const { url } = (await response.json()) as { url: string }
    expect([response.status, new URL(url).searchParams.get('error')]).toEqual([status, error])
    expect(response.headers.get('location')).toBeNull()
    expect(url).not.toContain('db.internal')
  })

  it('a refusal of the `signIn` callback is 403', async () => {
    const response = await signIn(new Client(make({ callbacks: { signIn: () => false } }, { logger: recordingLogger() })), 'right')
    expect([response.status, ((await response.json()) as { url: string }).url]).toEqual([
      403,
      expect.stringContaining('error=AccessDenied'),
    ])
  })

  it('a form of a page is redirected as before', async () => {
    const response = await signIn(new Client(make()), 'right', {})
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://localhost:3000/'])
  })

  it('a request without the CSRF token gets an error, and no session', async () => {
    const client = new Client(make({}, { logger: recordingLogger() }))
    const response = await client.request('POST', '/callback/credentials', { body: 'password=right&json=true', headers: form })
    expect(((await response.json()) as { url: string }).url).toContain('error=MissingCSRF')
    expect((await client.session())?.user).toBeUndefined()
  })

  it('signed out is {} for the client of version 4, and null for others', async () => {
    const client = new Client(make())
    const text = async (headers: Record<string, string>): Promise<string> => (await client.get('/session', headers)).text()
    expect(await text({ 'content-type': 'application/json' })).toBe('{}')
    expect(await text({ accept: 'application/json' })).toBe('null')
  })

  it('/_log answers, and writes nothing', async () => {
    const error = vi.fn<(error: Error) => void>()
    const client = new Client(make({}, { logger: { error, warn: error, debug: error } }))
    error.mockClear()
    const response = await client.request('POST', '/_log', { body: 'level=error&code=X&message=y', headers: form })
    expect([response.status, error.mock.calls.length]).toEqual([200, 0])
  })
})

it('with Next.js: NEXTAUTH_SECRET and NEXTAUTH_URL are read, and announcements reach the log', async () => {
  const { default: NextAuth } = await import('authkernel/bindings/next')
  const warn = vi.fn<(code: string, details?: unknown) => void>()
  const provider = { ...credentials, options: { authorize } }
  const env = { NEXTAUTH_SECRET: secret, NEXTAUTH_URL: 'https://app.example' }
  const more = { id: 'acme', type: 'oauth', httpOptions: { timeout: 1 }, clientId: 'i', clientSecret: 's', issuer: 'https://acme.example' }
  const { handlers } = NextAuth(
    nextAuth4Options({ providers: [provider, more], env, logger: { warn: warn as never } }),
    nextAuth4CompatPlugin(),
  )
  const client = new Client(
    { handler: (request) => handlers[request.method as 'GET' | 'POST'](request) },
    { origin: 'https://app.example', basePath: '/api/auth' },
  )
  expect(await (await signIn(client, 'right')).json()).toEqual({ url: 'https://app.example/' })
  const token = client.cookies.get('__Secure-next-auth.session-token') ?? ''
  expect(await decode({ token, secret, salt: '', keyInfo: nextAuth4KeyInfo })).toMatchObject({ sub: '1' })
  expect(warn.mock.calls.filter(([code]) => code === 'next-auth-4-option')).toHaveLength(1)
})

describe('nextAuth4Options', () => {
  it('makes an oidc provider of one with an ID token, and leaves out what only version 4 has', () => {
    const given = {
      id: 'acme',
      name: 'Acme',
      type: 'oauth',
      version: '2.0',
      wellKnown: 'https://id.acme.example/.well-known/openid-configuration',
      idToken: true,
      checks: 'pkce',
      style: { logo: '/acme.svg', bgDark: '#000' },
      options: { clientId: 'id', httpOptions: { timeout: 1 } },
    }
    const [provider] = nextAuth4Options(options({ providers: [given] })).providers ?? []
    expect(provider).toEqual({
      id: 'acme',
      name: 'Acme',
      type: 'oidc',
      wellKnown: given.wellKnown,
      issuer: 'https://id.acme.example',
      checks: ['pkce'],
      options: { clientId: 'id' },
    })
    expect(given.checks).toBe('pkce')
  })

  it('names what has no effect any more, once, at start', async () => {
    const warn = vi.fn<(code: string, details?: unknown) => void>()
    const provider = {
      id: 'acme',
      type: 'oauth',
      authorization: 'https://acme.example/a',
      token: { url: 'https://acme.example/t', request: () => ({ tokens: {} }) },
      userinfo: 'https://acme.example/u',
      clientId: 'id',
      clientSecret: 'secret',
      httpOptions: { timeout: 1 },
    }
    await make({ providers: [provider], logger: { warn: warn as never } }).ready()
    const told = warn.mock.calls.filter(([code]) => code === 'next-auth-4-option').map(([, text]) => text)
    expect(told).toEqual([
      expect.stringContaining('`httpOptions` has no effect'),
      expect.stringContaining('`token.request` gets no `client`'),
    ])
  })

  it.each([{ version: '1.0' }, { version: '1.0a' }, { requestTokenUrl: 'https://acme.example/r' }])('refuses OAuth 1.0: %o', (fields) => {
    expect(() => nextAuth4Options(options({ providers: [{ id: 'old', type: 'oauth', ...fields }] }))).toThrow(
      'Provider "old" speaks OAuth 1.0',
    )
  })

  it('refuses `providers` that are no list, and options of a later version that do not exist', () => {
    expect(() => nextAuth4Options({ providers: undefined as never })).toThrow('`providers` must be a list')
    expect(() => make({ sesion: {} } as never)).toThrow('sesion')
  })

  it('`logger` gets a code and the error', async () => {
    const error = vi.fn<(code: string, metadata: unknown) => void>()
    await signIn(new Client(make({ logger: { error: error as never } })), 'none')
    expect(error).toHaveBeenCalledWith('CredentialsSignin', expect.any(Error))
  })

  it('`authorize` gets the request of version 4', async () => {
    const seen = vi.fn<(credentials: object, request: object) => null>(() => null)
    const client = new Client(make({ providers: [{ ...credentials, options: { authorize: seen } }] }, { logger: recordingLogger() }))
    await signIn(client, 'x')
    expect(seen.mock.calls[0]?.[1]).toMatchObject({ method: 'POST', query: {}, headers: expect.any(Object), body: { password: 'x' } })
  })
})
