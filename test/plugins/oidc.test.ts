/** The oidc provider type through the kernel's public door, against a real server. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createAuth, allowInsecureRequests, customFetch, type AuthConfig } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { decode } from 'authkernel/jwt'
import { Client, locationOf, setCookies } from '../_client.ts'
import { instance, journey, secret, useOp } from '../_op/journey.ts'

const op = useOp()
const urlOf = async (client: Client, fields: Record<string, string> = {}, query = ''): Promise<URL> =>
  new URL(locationOf(await client.signIn('acme', fields, query)))
const configError = async (provider: object, config: AuthConfig = {}): Promise<string> => {
  const auth = createAuth({ secret, trustHost: true, env: false, logger: { error() {} }, ...config }).use(
    oidcPlugin({ id: 'acme', issuer: 'https://op.example', clientId: 'c', ...provider }),
  )
  return auth.ready().then(
    () => 'ready',
    (error: Error) => `${error.name}: ${error.message}`,
  )
}

describe('authorization request', () => {
  it('rows 177, 179, 180: response_type, client_id, redirect_uri, scope, S256, and a state', async () => {
    op().reset()
    const { client } = instance(op())
    const url = await urlOf(client)
    expect(url.origin + url.pathname).toBe(`${op().issuer}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client-1',
      redirect_uri: 'http://localhost:3000/auth/callback/acme',
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
    })
  })

  it('D47: a new state and challenge for every request', async () => {
    op().reset()
    const { client } = instance(op())
    const urls = await Promise.all(Array.from({ length: 20 }, () => urlOf(client.clone())))
    for (const name of ['state', 'code_challenge']) expect(new Set(urls.map(({ searchParams }) => searchParams.get(name))).size).toBe(20)
  })

  it('row 178: checks decide what is sent', async () => {
    op().reset()
    const sent = async (checks: string[]): Promise<string[]> =>
      [...(await urlOf(instance(op(), { provider: { checks } }).client)).searchParams.keys()].slice(4)
    expect(await sent(['pkce'])).toEqual(['state', 'code_challenge', 'code_challenge_method'])
    expect(await sent(['pkce', 'nonce'])).toEqual(['state', 'code_challenge', 'code_challenge_method', 'nonce'])
    expect(await sent(['nonce'])).toEqual(['state', 'nonce'])
    expect(await sent(['state'])).toEqual(['state'])
    expect(await sent([])).toEqual(['state'])
    expect(await sent(['none'])).toEqual([])
    expect(await sent(['none', 'pkce'])).toEqual(['state', 'code_challenge', 'code_challenge_method'])
  })

  it('D13: without S256 in the metadata a nonce is sent as well, and checked', async () => {
    for (const methods of [undefined, [], ['plain']]) {
      const discovery = (document: object): Record<string, unknown> => ({ ...document, code_challenge_methods_supported: methods })
      op().reset({ discovery })
      expect([...(await urlOf(instance(op()).client)).searchParams.keys()]).toEqual(
        expect.arrayContaining(['code_challenge', 'nonce', 'state']),
      )
      expect((await journey(op(), { discovery })).session).toMatchObject({ user: { name: 'Alice' } })
    }
  })

  it('row 181: parameters of the sign-in request go to the provider', async () => {
    op().reset()
    const { client } = instance(op())
    const { searchParams } = await urlOf(
      client,
      {},
      '?login_hint=alice&prompt=login&prompt=consent&scope=openid&resource=a&resource=b&x=%26y%3D1',
    )
    expect(searchParams.getAll('login_hint')).toEqual(['alice'])
    expect(searchParams.getAll('prompt')).toEqual(['consent'])
    expect(searchParams.getAll('scope')).toEqual(['openid'])
    expect(searchParams.getAll('resource')).toEqual(['a', 'b'])
    expect(searchParams.get('x')).toBe('&y=1')
  })

  it('row 182: protocol parameters are ours, in any spelling a server might read as one', async () => {
    op().reset()
    const { client } = instance(op(), { provider: { checks: ['pkce', 'nonce'] } })
    const good = Object.fromEntries((await urlOf(client)).searchParams)
    const names = [
      'response_type',
      'response_mode',
      'client_id',
      'redirect_uri',
      'state',
      'nonce',
      'code_challenge',
      'code_challenge_method',
      'request',
      'request_uri',
      'claims',
      'csrfToken',
    ]
    const spellings = (name: string): string[] => [
      name,
      name.toUpperCase(),
      `${name}[]`,
      `${name}[0]`,
      ` ${name}`,
      name.replaceAll('_', '.'),
      name.replaceAll('_', ' '),
    ]
    const query = new URLSearchParams(names.flatMap((name) => spellings(name).map((spelling): [string, string] => [spelling, 'evil'])))
    const { searchParams } = await urlOf(client, {}, `?${query.toString()}`)
    expect([...searchParams.keys()]).toEqual(Object.keys(good))
    expect(searchParams.toString()).not.toContain('evil')
  })

  it.each([
    ['options', { acr_values: 'gold', resource: 'https://api.example', max_age: 300 }],
    ['params', { authorization: { params: { acr_values: 'gold', resource: 'https://api.example', max_age: 300 } } }],
    ['the metadata of the client', { acr_values: 'gold', resource: 'https://api.example', client: { default_max_age: 300 } }],
  ])('what the host demands by %s is changed by a client in no spelling, and `max_age` only gets smaller', async (_by, provider) => {
    op().reset()
    const { client } = instance(op(), { provider })
    const good = [...(await urlOf(client)).searchParams.keys()]
    const spellings = (name: string): string[] => [
      name,
      name.toUpperCase(),
      name[0]!.toUpperCase() + name.slice(1),
      name.replace(/(^|_)[a-z]/g, (part) => part.toUpperCase()),
      `${name}[]`,
      `${name}[0]`,
      `${name}[`,
      ` ${name}`,
      `${name} `,
      `${name}\0`,
      `${name}\u200B`,
      name.replaceAll('_', '.'),
      name.replaceAll('_', ' '),
      name.replaceAll('_', '['),
      name.replace('a', '\uFF41'),
    ]
    for (const name of ['acr_values', 'resource', 'max_age'])
      for (const spelling of spellings(name)) {
        const { searchParams } = await urlOf(client, {}, `?${new URLSearchParams([[spelling, '4000']]).toString()}`)
        expect([spelling, [...searchParams.keys()], searchParams.toString().includes('4000')]).toEqual([spelling, good, false])
      }
    for (const longer of ['301', '1e2', '-1', ' 1', '0x1', '']) {
      const { searchParams } = await urlOf(client, {}, `?${new URLSearchParams({ max_age: longer }).toString()}`)
      expect(searchParams.getAll('max_age')).toEqual(['300'])
    }
    expect((await urlOf(client, {}, '?max_age=10')).searchParams.getAll('max_age')).toEqual(['10'])
  })

  it('a standard parameter in another spelling than the standard one goes nowhere', async () => {
    op().reset()
    const { client } = instance(op())
    const { searchParams } = await urlOf(client, {}, '?Scope=admin&prompt[]=none&Max_Age=9&LOGIN_HINT=eve&kc_idp_hint=x&Own[]=y')
    expect([...searchParams.keys()].filter((name) => /scope|prompt|age|hint|own/i.test(name))).toEqual(['scope', 'kc_idp_hint', 'Own[]'])
    expect(searchParams.get('scope')).not.toContain('admin')
  })

  it('D11: a provider may name the parameters that clients may send', async () => {
    op().reset()
    const { client } = instance(op(), { provider: { authorizationParams: ['login_hint', 'redirect_uri'] } })
    const { searchParams } = await urlOf(client, {}, '?login_hint=alice&prompt=none&redirect_uri=https://evil.example')
    expect(searchParams.get('login_hint')).toBe('alice')
    expect(searchParams.has('prompt')).toBe(false)
    expect(searchParams.get('redirect_uri')).toBe('http://localhost:3000/auth/callback/acme')
  })

  it('row 185: authorization as string, as params, as handler', async () => {
    op().reset()
    const sent = async (authorization: unknown): Promise<URL> => urlOf(instance(op(), { provider: { authorization } }).client)
    expect((await sent(`${op().issuer}/own?tenant=a&scope=openid`)).search).toMatch(
      /^\?tenant=a&scope=openid&response_type=code&client_id=client-1/,
    )
    const { searchParams } = await sent({
      params: { scope: 'openid', claims: { id_token: { email: null } }, max_age: 5, ui: undefined, skip: null, appid: '{clientId}' },
    })
    expect(searchParams.get('scope')).toBe('openid')
    expect(searchParams.get('claims')).toBe('{"id_token":{"email":null}}')
    expect(searchParams.get('max_age')).toBe('5')
    expect(searchParams.get('appid')).toBe('client-1')
    expect(searchParams.has('ui') || searchParams.has('skip')).toBe(false)
    const handled = await sent({ request: ({ url }: { url: URL }) => (url.searchParams.set('signed', '1'), url) })
    expect(handled.searchParams.get('signed')).toBe('1')
    expect(handled.searchParams.has('state')).toBe(true)
  })

  it('parameters inside a discovered authorization endpoint do not replace ours', async () => {
    op().reset({
      discovery: (document) => ({
        ...document,
        authorization_endpoint: `${String(document['authorization_endpoint'])}?tenant=a&redirect_uri=https://evil.example&client_id=x&state=y&state=z`,
      }),
    })
    const { searchParams } = await urlOf(instance(op()).client)
    expect(searchParams.get('tenant')).toBe('a')
    expect(searchParams.getAll('redirect_uri')).toEqual(['http://localhost:3000/auth/callback/acme'])
    expect(searchParams.getAll('client_id')).toEqual(['client-1'])
    expect(searchParams.getAll('state')).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
  })

  it('D34: the redirect_uri follows the configured origin, not the Host header', async () => {
    op().reset()
    const { auth } = instance(op(), { config: { origin: 'https://app.example' } })
    const evil = new Client(auth, { origin: 'https://evil.example' })
    const token = await evil.csrfToken()
    const response = await evil.post('/signin/acme', { csrfToken: token }, { origin: 'https://app.example' })
    expect(new URL(locationOf(response)).searchParams.get('redirect_uri')).toBe('https://app.example/auth/callback/acme')
  })

  it('a provider that is down: OAuthSignInError, error page, no check cookies', async () => {
    op().reset({ discovery: () => ({ raw: (response) => response.destroy() }) })
    const { client, errors } = instance(op())
    const response = await client.signIn('acme')
    expect(locationOf(response)).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['OAuthSignInError'])
    expect(setCookies(response).filter(({ value }) => value !== '')).toEqual([])
  })
})

describe('check cookies', () => {
  const provider = { checks: ['pkce', 'state', 'nonce'] }
  const cookiesOf = async (
    more: object = {},
    config: AuthConfig = {},
    origin = 'http://localhost:3000',
  ): Promise<ReturnType<typeof setCookies>> => {
    op().reset()
    const { auth } = instance(op(), { provider: { ...provider, ...more }, config })
    return setCookies(await new Client(auth, { origin }).signIn('acme', { callbackUrl: '/there' }))
  }

  it('row 80: state and pkce by Max-Age and Expires, nonce by Expires; in the order of the protocol', async () => {
    const cookies = await cookiesOf()
    expect(cookies.map(({ name }) => name)).toEqual([
      'authkernel.callback-url',
      'authkernel.state',
      'authkernel.pkce.code_verifier',
      'authkernel.nonce',
    ])
    for (const { name, attributes } of cookies.slice(1)) {
      expect(attributes).toMatchObject({ path: '/', httponly: '', samesite: 'Lax' })
      expect('secure' in attributes).toBe(false)
      expect(attributes['max-age']).toBe(name === 'authkernel.nonce' ? undefined : '900')
      expect(Math.abs(Date.parse(attributes['expires'] ?? '') - Date.now() - 900_000)).toBeLessThan(60_000)
    }
  })
  it('row 78: prefixed and Secure in secure mode', async () => {
    const cookies = await cookiesOf({}, {}, 'https://app.example')
    expect(cookies.slice(1).map(({ name }) => name)).toEqual([
      '__Secure-authkernel.state',
      '__Secure-authkernel.pkce.code_verifier',
      '__Secure-authkernel.nonce',
    ])
    expect(cookies.every(({ attributes }) => 'secure' in attributes)).toBe(true)
  })
  it('row 87: form_post makes all three SameSite=None; Secure, in plain mode too', async () => {
    const cookies = await cookiesOf({ authorization: { params: { response_mode: 'form_post' } } })
    for (const { attributes } of cookies.slice(1)) expect(attributes).toMatchObject({ samesite: 'None', secure: '' })
    const written = await cookiesOf({ authorization: `${op().issuer}/authorize?response_mode=form_post` })
    expect(written.find(({ name }) => name.endsWith('state'))?.attributes['samesite']).toBe('None')
  })
  it('row 87: a tab of another provider does not take SameSite=None from a pending form_post', async () => {
    op().reset()
    const other = { id: 'other', name: 'Other', type: 'oidc' as const, issuer: op().issuer, clientId: 'client-1' }
    const { client } = instance(op(), {
      provider: { authorization: { params: { response_mode: 'form_post' } } },
      config: { providers: [other] },
    })
    await client.signIn('acme')
    const state = setCookies(await client.signIn('other')).find(({ name }) => name.endsWith('.state'))
    expect(state?.attributes).toMatchObject({ samesite: 'None', secure: '' })
  })
  it('checks none leaves no check cookie', async () => {
    expect((await cookiesOf({ checks: ['none'] })).map(({ name }) => name)).toEqual(['authkernel.callback-url'])
  })
  it('row 88: verifier, nonce and callbackUrl are sealed once, in the state; the other cookies hold random marks', async () => {
    const [, state, pkce, nonce] = await cookiesOf()
    expect(state?.value).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
    const payload = await decode({ token: state?.value ?? '', secret, salt: 'authkernel.state' })
    const [flow] = (payload ?? {})['list'] as Record<string, unknown>[]
    expect(flow).toMatchObject({
      verifier: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      callbackUrl: 'http://localhost:3000/there',
      marks: { pkce: pkce?.value, nonce: nonce?.value },
    })
    for (const mark of [pkce?.value, nonce?.value]) expect(mark).toMatch(/^[\w-]{22}$/)
    expect(pkce?.value).not.toBe(nonce?.value)
  })
  it('success clears them', async () => {
    const { client } = await journey(op(), { provider })
    expect([...client.cookies.keys()].filter((name) => /state|pkce|nonce/.test(name))).toEqual([])
  })
})

describe('several tabs (D47)', () => {
  it('each ends where it wanted to go, in any order', async () => {
    op().reset()
    const { client, errors } = instance(op(), { provider: { checks: ['pkce', 'nonce'] } })
    const backs: [string, string][] = []
    for (const path of ['/a', '/b', '/c']) backs.push([path, await op().authorize((await urlOf(client, { callbackUrl: path })).href)])
    for (const [path, back] of [backs[1], backs[2], backs[0]] as [string, string][]) {
      expect(locationOf(await client.get(back))).toBe(`http://localhost:3000${path}`)
    }
    expect(errors).toEqual([])
    expect([...client.cookies.keys()].some((name) => /state|pkce|nonce/.test(name))).toBe(false)
  })
  it('each has a mark of its own in the cookies of its checks, and those of others do not serve', async () => {
    op().reset()
    const other = {
      id: 'other',
      name: 'Other',
      type: 'oidc' as const,
      issuer: op().issuer,
      clientId: 'client-1',
      checks: ['state' as const],
    }
    const { client, errors } = instance(op(), { provider: { checks: ['pkce', 'nonce'] }, config: { providers: [other] } })
    const backs = []
    for (let i = 0; i < 2; i++) backs.push(await op().authorize((await urlOf(client)).href))
    await client.signIn('other')
    const marks = client.cookies.get('authkernel.nonce')?.split('.') ?? []
    expect(marks).toHaveLength(2)
    client.cookies.set('authkernel.nonce', marks[0] ?? '')
    expect(locationOf(await client.clone().get(backs[0] ?? ''))).toContain('error=Configuration')
    expect(locationOf(await client.get(backs[1] ?? ''))).toBe('http://localhost:3000')
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('comes without the nonce cookie of its sign-in')])
    // The mark that is left is written again, and the tab of the provider without PKCE has none.
    expect(client.cookies.get('authkernel.nonce')).toBe(marks[1])
  })
  it('one that fails leaves the others alone', async () => {
    op().reset()
    const { client, errors } = instance(op())
    const [first, second, third] = [await urlOf(client), await urlOf(client), await urlOf(client)]
    const good = await op().authorize(first.href)
    op().script = { token: () => ({ status: 500, body: {} }) }
    expect(locationOf(await client.get(await op().authorize(second.href)))).toContain('error=Configuration')
    op().script = {}
    expect(locationOf(await client.get(`/callback/acme?code=x&state=foreign`))).toContain('error=Configuration')
    expect(locationOf(await client.get(good))).toBe('http://localhost:3000')
    expect(locationOf(await client.get(await op().authorize(third.href)))).toBe('http://localhost:3000')
    expect(errors.map(({ name }) => name)).toEqual(['CallbackRouteError', 'InvalidCheck'])
  })
  it('at most five are kept, and a long callbackUrl does not outgrow a cookie', async () => {
    op().reset()
    const { client } = instance(op(), { provider: { checks: ['pkce', 'nonce'] } })
    const urls: URL[] = []
    for (let i = 0; i < 7; i++) urls.push(await urlOf(client))
    const oldest = client.clone()
    expect(locationOf(await oldest.get(await op().authorize(urls[1]?.href ?? '')))).toContain('error=Configuration')
    expect(locationOf(await client.get(await op().authorize(urls[2]?.href ?? '')))).toBe('http://localhost:3000')
    const long = `/there?x=${'y'.repeat(1900)}`
    let last = ''
    for (let i = 0; i < 4; i++) {
      last = (await urlOf(client, { callbackUrl: long })).href
      for (const [name, value] of client.cookies)
        if (/state|pkce|nonce/.test(name)) expect(name.length + value.length, name).toBeLessThan(4000)
    }
    expect(locationOf(await client.get(await op().authorize(last)))).toBe(`http://localhost:3000${long}`)
  })
  it('checks none: the last tab wins', async () => {
    op().reset()
    const { client } = instance(op(), { provider: { checks: ['none'] } })
    const first = await urlOf(client, { callbackUrl: '/a' })
    await urlOf(client, { callbackUrl: '/b' })
    const back = await op().authorize(first.href)
    const copy = client.clone()
    expect(locationOf(await client.get(back))).toBe('http://localhost:3000/b')
    expect(locationOf(await copy.get(back))).toContain('error=Configuration')
    expect(op().count('/token')).toBe(1)
  })
})

describe('configuration', () => {
  it('row 184: no issuer: InvalidEndpoints that says what to give', async () => {
    expect(await configError({ issuer: undefined })).toMatch(
      /^InvalidEndpoints: Provider "acme" \(oidc\): .*`issuer`.*authorization, token.*Give the `issuer`/,
    )
    const endpoints = { authorization: 'https://a.example', token: 'https://a.example', userinfo: 'https://a.example' }
    expect(await configError({ issuer: undefined, ...endpoints })).toMatch(/^InvalidEndpoints: .*`issuer` is missing/)
    expect(await configError({ issuer: undefined, wellKnown: 'https://op.example/.well-known/openid-configuration' })).toBe('ready')
  })
  it.each([
    [{ clientId: undefined }, /`clientId` is missing.*AUTH_ACME_ID/],
    [{ issuer: 'op.example' }, /`issuer` is "op.example", which is not an absolute URL/],
    [{ issuer: 'http://op.example' }, /`issuer` is http:\/\/op.example, which is not https.*allowInsecureRequests/],
    [{ issuer: 'https://op.example/?x=1' }, /`issuer` has a query/],
    [{ issuer: 'https://user:pass@op.example' }, /`issuer` holds a username or password/],
    [{ wellKnown: '/.well-known' }, /`wellKnown` is/],
    [{ token: 'http://op.example/token' }, /`token.url` is http:\/\/op.example/],
    [{ jwks_endpoint: 'keys' }, /`jwks_endpoint` is "keys"/],
    [{ redirectProxyUrl: 'proxy' }, /`redirectProxyUrl` is "proxy"/],
    [{ checks: ['PKCE'] }, /`checks` holds "PKCE".*pkce, state, nonce, none/],
    [{ checks: 'pkce' }, /`checks` is not an array/],
    [{ client: { token_endpoint_auth_method: 'tls' } }, /`client.token_endpoint_auth_method` is "tls"/],
    [{ client: { token_endpoint_auth_method: 'private_key_jwt' } }, /`token.clientPrivateKey`/],
    [{ authorization: { params: { response_mode: 'fragment' } } }, /response_mode` is "fragment"/],
  ])('refuses %j', async (provider, message) => {
    const error = await configError(provider)
    expect(error).toMatch(/^InvalidEndpoints: Provider "acme" \(oidc\): /)
    expect(error).toMatch(message)
    expect(error).not.toContain('user:pass')
  })
  it('D9: plain http needs the imported symbol, loopback does not', async () => {
    expect(await configError({ issuer: 'http://op.example', [allowInsecureRequests]: true })).toBe('ready')
    for (const issuer of ['http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1', 'http://op.localhost'])
      expect(await configError({ issuer })).toBe('ready')
  })
  it('row 59: AUTH_<ID>_ID, _SECRET and _ISSUER fill what is not given', async () => {
    op().reset()
    const env = { AUTH_MY_OP_ID: 'from-env', AUTH_MY_OP_SECRET: 'env-secret-value', AUTH_MY_OP_ISSUER: op().issuer }
    const auth = createAuth({ secret, trustHost: true, env }).use(oidcPlugin({ id: 'my-op' }))
    const client = new Client(auth)
    expect(new URL(locationOf(await client.signIn('my-op'))).searchParams.get('client_id')).toBe('from-env')
  })
  it('names: oidc without providers, oidc:<ids> with them; the type may come twice', async () => {
    const a = oidcPlugin({ id: 'a', issuer: 'https://a.example', clientId: 'c' }, () => ({
      id: 'b',
      issuer: 'https://b.example',
      clientId: 'c',
    }))
    expect([oidcPlugin().name, a.name]).toEqual(['oidc', 'oidc:a,b'])
    const auth = createAuth({ secret, env: false })
      .use(a)
      .use(oidcPlugin({ id: 'c', issuer: 'https://c.example', clientId: 'c' }))
    await auth.ready()
    expect(inspect(auth.inspect(), { depth: 5 })).toContain("'b'")
  })
  it('a provider of another type is refused with the plugin to use', () => {
    const wrong = { id: 'gh', type: 'oauth', clientId: 'c' } as never
    expect(() => createAuth({ secret, env: false }).use(oidcPlugin(wrong))).toThrow(
      /oidcPlugin\(\) was given provider "gh" of type "oauth".*oauthPlugin\(\)/,
    )
  })
  it('row 207: customFetch replaces fetch for discovery, keys, token and userinfo', async () => {
    op().reset()
    const urls: string[] = []
    const own: typeof fetch = (input, init) => {
      urls.push(new URL(input as string).pathname)
      return fetch(input, init)
    }
    const { session } = await journey(op(), { provider: { idToken: false, [customFetch]: own } })
    expect(session).not.toBeNull()
    expect(urls).toEqual(['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo'])
  })
})
