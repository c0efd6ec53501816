/** Whole sign-ins at the real `oidc-provider`, over HTTP. */
import { createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth, type AuthConfig } from 'authkernel'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { Client, locationOf } from '../_client.ts'
import { keys } from '../_op/keys.ts'
import { type RealOp, realOp } from '../_op/real.ts'

const secret = 'the-secret-of-the-instance-has-40-letters'
const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const redirect_uris = ['http://localhost:3000/auth/callback/acme']
const client = (client_id: string, more: object = {}): never =>
  ({
    client_id,
    client_secret: clientSecret,
    redirect_uris,
    response_types: ['code'],
    grant_types: ['authorization_code'],
    ...more,
  }) as never

let op: RealOp
beforeAll(async () => {
  const { privateKey } = keys.k2
  op = await realOp([
    client('basic'),
    client('post', { token_endpoint_auth_method: 'client_secret_post' }),
    client('jwt', { token_endpoint_auth_method: 'client_secret_jwt' }),
    client('key', {
      token_endpoint_auth_method: 'private_key_jwt',
      client_secret: undefined,
      jwks: { keys: [{ ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'mine', use: 'sig' }] },
    }),
    client('public', { token_endpoint_auth_method: 'none', client_secret: undefined }),
    ...['RS256', 'PS256', 'ES256', 'EdDSA', 'HS256'].map((alg) => client(`signs-${alg}`, { id_token_signed_response_alg: alg })),
    client('signed-userinfo', { userinfo_signed_response_alg: 'ES256' }),
  ])
})
afterAll(() => op.stop())
beforeEach(() => op.hits.clear())

function setup(provider: object = {}, config: AuthConfig = {}): { browser: Client; errors: Error[] } {
  const errors: Error[] = []
  const auth = createAuth({ secret, trustHost: true, env: false, logger: { error: (error) => errors.push(error), warn() {} }, ...config })
  auth.use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: 'basic', clientSecret, ...provider }))
  return { browser: new Client(auth), errors }
}
const signIn = async (browser: Client, choice?: Parameters<RealOp['visit']>[1], fields?: Record<string, string>): Promise<string> => {
  return locationOf(await browser.get(await op.visit(locationOf(await browser.signIn('acme', fields)), choice)))
}
const works = async (provider: object): Promise<void> => {
  const { browser, errors } = setup(provider)
  expect(await signIn(browser)).toBe('http://localhost:3000')
  expect(errors).toEqual([])
  expect(await browser.session()).toMatchObject({
    user: { name: 'Alice Liddell', email: 'alice@example.com', image: 'https://img.example/alice.png' },
  })
}

describe('a whole journey', () => {
  it('row 177: sign in, session, sign out', async () => {
    const { browser, errors } = setup()
    expect(await browser.session()).toBeNull()
    expect(await signIn(browser, {}, { callbackUrl: '/protected' })).toBe('http://localhost:3000/protected')
    expect(await browser.session()).toMatchObject({ user: { name: 'Alice Liddell', email: 'alice@example.com' } })
    expect(locationOf(await browser.post('/signout', { csrfToken: await browser.csrfToken(), callbackUrl: '/' }))).toBe(
      'http://localhost:3000/',
    )
    expect(await browser.session()).toBeNull()
    expect(errors).toEqual([])
  })
  it('with a database: one user and one account, however often; a second person is another', async () => {
    const data = memoryData()
    const { browser } = setup({}, { adapter: memoryAdapter(data) })
    for (const login of ['alice', 'bob', 'alice']) {
      const other = browser.clone()
      expect(await signIn(other, { login })).toBe('http://localhost:3000')
    }
    expect([...data.users.values()].map(({ email }) => email)).toEqual(['alice@example.com', 'bob@example.com'])
    expect([...data.accounts.values()].map(({ providerAccountId, type }) => [providerAccountId, type])).toEqual([
      ['alice', 'oidc'],
      ['bob', 'oidc'],
    ])
    expect(data.sessions.size).toBe(3)
  })
  it('D8: a steady sign-in makes one request, two with userinfo', async () => {
    const counts = async (provider: object): Promise<Record<string, number>> => {
      const { browser } = setup(provider)
      await signIn(browser)
      op.hits.clear()
      await signIn(browser.clone())
      return Object.fromEntries([...op.hits].filter(([path]) => !/^\/(?:auth|interaction)/.test(path)))
    }
    expect(await counts({})).toEqual({ '/token': 1 })
    expect(await counts({ idToken: false })).toEqual({ '/token': 1, '/me': 1 })
  })
  it('D47: two tabs at once, each ends where it wanted to go', async () => {
    const { browser } = setup({ checks: ['pkce', 'state', 'nonce'] })
    const atOp = new Map<string, string>()
    const first = locationOf(await browser.signIn('acme', { callbackUrl: '/first' }))
    const second = locationOf(await browser.signIn('acme', { callbackUrl: '/second' }))
    const backs = [await op.visit(second, { browser: atOp }), await op.visit(first, { browser: atOp })]
    expect([locationOf(await browser.get(backs[0] ?? '')), locationOf(await browser.get(backs[1] ?? ''))]).toEqual([
      'http://localhost:3000/second',
      'http://localhost:3000/first',
    ])
  })
  it('row 192: the person says no', async () => {
    const { browser, errors } = setup()
    expect(await signIn(browser, { deny: true })).toBe('http://localhost:3000/auth/signin?error=OAuthCallbackError')
    expect(errors[0]?.cause).toEqual({ provider: 'acme', error: 'access_denied', description: 'The person said no' })
    expect(await signIn(browser)).toBe('http://localhost:3000')
  })
  it('row 181: login_hint and prompt reach the provider', async () => {
    const { browser } = setup()
    const location = locationOf(await browser.signIn('acme', {}, '?prompt=none'))
    const back = new URL(await op.visit(location))
    expect(back.searchParams.get('error')).toBe('login_required')
    expect(locationOf(await browser.get(back.href))).toContain('error=OAuthCallbackError')
  })
})

describe('the provider’s ways', () => {
  it('row 189: every client authentication method', async () => {
    const key = await crypto.subtle.importKey(
      'pkcs8',
      keys.k2.privateKey.export({ type: 'pkcs8', format: 'der' }),
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
      false,
      ['sign'],
    )
    await works({ client: { token_endpoint_auth_method: 'client_secret_basic' } })
    await works({ clientId: 'post', client: { token_endpoint_auth_method: 'client_secret_post' } })
    await works({ clientId: 'jwt', client: { token_endpoint_auth_method: 'client_secret_jwt' } })
    await works({
      clientId: 'key',
      clientSecret: undefined,
      client: { token_endpoint_auth_method: 'private_key_jwt' },
      token: { clientPrivateKey: { key, kid: 'mine' } },
    })
    await works({ clientId: 'public', clientSecret: undefined, client: { token_endpoint_auth_method: 'none' } })
    await works({ clientId: 'public', clientSecret: undefined })
  })
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('D7: ID tokens signed with %s', async (alg) => {
    await works({ clientId: `signs-${alg}`, checks: ['pkce', 'nonce'] })
  })
  it('D7: HS256 only where it is configured', async () => {
    await works({ clientId: 'signs-HS256', client: { id_token_signed_response_alg: 'HS256' } })
    const { browser, errors } = setup({ clientId: 'signs-HS256' })
    expect(await signIn(browser)).toContain('error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['CallbackRouteError'])
  })
  it('row 198: userinfo, plain and signed', async () => {
    await works({ idToken: false })
    await works({ clientId: 'signed-userinfo', idToken: false, client: { userinfo_signed_response_alg: 'ES256' } })
  })
  it('row 206: form_post by the provider’s own page', async () => {
    const { browser, errors } = setup({ authorization: { params: { response_mode: 'form_post' } } })
    const page = await op.visit(locationOf(await browser.signIn('acme', { callbackUrl: '/there' })))
    const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
    const fields = [...page.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [name, value])
    const headers = { origin: op.issuer, 'sec-fetch-site': 'cross-site' }
    expect(locationOf(await browser.request('POST', action, { body: new URLSearchParams(fields), headers }))).toBe(
      'http://localhost:3000/there',
    )
    expect(errors).toEqual([])
    expect(await browser.session()).not.toBeNull()
  })
  it('the type oauth at the same server', async () => {
    const errors: Error[] = []
    const auth = createAuth({ secret, trustHost: true, env: false, logger: { error: (error) => errors.push(error) } }).use(
      oauthPlugin({ id: 'acme', issuer: op.issuer, clientId: 'basic', clientSecret }),
    )
    const browser = new Client(auth)
    expect(await signIn(browser)).toBe('http://localhost:3000')
    expect(errors).toEqual([])
    expect(await browser.session()).toMatchObject({ user: { name: 'Alice Liddell' } })
  })
})

describe('mistakes and outages', () => {
  it('a wrong secret is told in the log, and is not in it', async () => {
    const { browser, errors } = setup({ clientSecret: 'wrong-secret-canary-value' })
    expect(await signIn(browser)).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(errors[0]?.cause).toMatchObject({ provider: 'acme', error: 'invalid_client' })
    expect(JSON.stringify(errors[0]?.cause)).not.toContain('canary')
  })
  it('a wrong client id ends at the provider', async () => {
    const { browser } = setup({ clientId: 'nobody' })
    expect(await op.visit(locationOf(await browser.signIn('acme')))).toContain('invalid_client')
  })
  it('one code in two browsers: the second is refused by PKCE and by state', async () => {
    const { browser, errors } = setup()
    const back = new URL(await op.visit(locationOf(await browser.signIn('acme'))))
    const other = browser.clone()
    for (const name of other.cookies.keys()) if (/state|pkce/.test(name)) other.cookies.delete(name)
    const theirs = new URL(locationOf(await other.signIn('acme')))
    back.searchParams.set('state', theirs.searchParams.get('state') ?? '')
    expect(locationOf(await other.get(back.href))).toContain('error=Configuration')
    expect(errors[0]?.cause).toMatchObject({ error: 'invalid_grant' })
  })
  it('the provider goes away between the start and the callback, and comes back', async () => {
    const { browser, errors } = setup()
    const back = await op.visit(locationOf(await browser.signIn('acme')))
    await op.stop()
    expect(locationOf(await browser.get(back))).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['CallbackRouteError'])
    await op.start()
    expect(await signIn(browser)).toBe('http://localhost:3000')
  })
})
