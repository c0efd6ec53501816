/** The oauth provider type, and what both types share after the tokens came: endpoints as data, profile, account. */
import { describe, expect, it } from 'vitest'
import { type Account, type AuthConfig, createAuth, customFetch, type User } from 'authkernel'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { Client, locationOf } from '../_client.ts'
import { type Case, expectAccepted, expectRefused, instance, type Outcome, reasonOf, secret, useOp } from '../_op/journey.ts'

const op = useOp()
const type = 'oauth'
const endpoints = (): object => ({
  issuer: undefined,
  authorization: `${op().issuer}/authorize`,
  token: `${op().issuer}/token`,
  userinfo: `${op().issuer}/userinfo`,
})
const run = (provider: object, more: Case = {}): Promise<Outcome> =>
  expectAccepted(op(), { type, ...more, provider: { ...endpoints(), ...provider } })

/** What the events of a sign-in told. */
async function told(provider: object, more: Case = {}): Promise<{ user: User; account: Account; profile: object; linked: Account }> {
  let seen: { user: User; account: Account | null; profile?: object } | undefined
  const data = memoryData()
  const config: AuthConfig = {
    adapter: memoryAdapter(data),
    ...more.config,
    events: { signIn: (message) => void (seen = message) },
  }
  await run(provider, { ...more, config })
  return {
    user: seen?.user ?? {},
    account: seen?.account as Account,
    profile: seen?.profile ?? {},
    linked: [...data.accounts.values()][0] as Account,
  }
}

describe('endpoints', () => {
  it('row 183: without endpoints, from the discovery document; issuer or wellKnown', async () => {
    await expectAccepted(op(), { type })
    expect(op().count('/.well-known/openid-configuration')).toBe(1)
    await expectAccepted(op(), { type, provider: { issuer: undefined, wellKnown: `${op().issuer}/.well-known/openid-configuration` } })
  })
  it('no discovery when all endpoints are given; two requests in all', async () => {
    await run({})
    expect(Object.fromEntries(op().hits)).toEqual({ '/authorize': 1, '/token': 1, '/userinfo': 1 })
  })
  it('D13: discovery without S256 demands that checks say what shall do', async () => {
    const discovery = ({ code_challenge_methods_supported: _methods, ...document }: Record<string, unknown>): Record<string, unknown> =>
      document
    const outcome = await expectRefused(op(), { type, discovery })
    expect(reasonOf(outcome)).toMatch(/PKCE with S256.*checks: \['pkce', 'state'\]/)
    await expectAccepted(op(), { type, discovery, provider: { checks: ['pkce', 'state'] } })
  })
  it('row 180: default scope for oauth too; scope, or params, replace it; an empty one leaves it out', async () => {
    op().reset()
    const scope = async (provider: object): Promise<string | null> => {
      const { client } = instance(op(), { type, provider: { ...endpoints(), ...provider } })
      return new URL(locationOf(await client.signIn('acme'))).searchParams.get('scope')
    }
    expect(await scope({})).toBe('openid profile email')
    expect(await scope({ scope: 'read:user' })).toBe('read:user')
    expect(await scope({ scope: '' })).toBeNull()
    expect(await scope({ authorization: { url: `${op().issuer}/authorize`, params: { scope: 'a b' } } })).toBe('a b')
    expect(await scope({ authorization: { url: `${op().issuer}/authorize`, params: { scope: '' } } })).toBe('')
  })
  it('row 362: nonce is for oidc', async () => {
    const auth = createAuth({ secret, env: false, logger: { error() {} } }).use(
      oauthPlugin({ id: 'acme', clientId: 'c', ...endpoints(), checks: ['nonce'] }),
    )
    await expect(auth.ready()).rejects.toThrow(/`checks` holds "nonce".*no.*ID token|ID token.*pkce, state, none/)
  })
  it('row 184: a missing endpoint is named', async () => {
    const ready = (provider: object): Promise<void> =>
      createAuth({ secret, env: false, logger: { error() {} } })
        .use(oauthPlugin({ id: 'acme', clientId: 'c', ...endpoints(), ...provider }))
        .ready()
    await expect(ready({ userinfo: undefined })).rejects.toThrow(/no endpoint for userinfo/)
    await expect(ready({ token: undefined, authorization: undefined })).rejects.toThrow(/no endpoint for authorization, token/)
    await expect(ready({ userinfo: { request: () => ({}) }, token: { request: () => ({ tokens: {} }) } })).resolves.toBeUndefined()
  })
  it('row 186: userinfo.request replaces the call, with tokens, provider and a bounded fetch', async () => {
    const { session } = await run({
      userinfo: {
        async request({
          tokens,
          provider,
          fetch,
        }: {
          tokens: { access_token: string }
          provider: { id: string; callbackUrl: string }
          fetch: typeof globalThis.fetch
        }) {
          const response = await fetch(`${op().issuer}/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
          return { ...((await response.json()) as object), name: `${provider.id} ${provider.callbackUrl}` }
        },
      },
    })
    expect(session?.user?.name).toBe('acme http://localhost:3000/auth/callback/acme')
  })
  it('row 187: token.conform may fix a response, or look only', async () => {
    const token = {
      url: `${op().issuer}/token`,
      conform: async (response: Response) => Response.json({ ...((await response.json()) as { data: object }).data }),
    }
    await run({ token }, { tokens: (body) => ({ data: body }) })
    await run({ token: { ...token, conform: async (response: Response) => void (await response.text()) } })
    const error = { url: `${op().issuer}/token`, conform: () => Response.json({ error: 'invalid_request' }, { status: 400 }) }
    await expectRefused(op(), { type, provider: { ...endpoints(), token: error } })
  })
  it('row 188: token.request replaces the exchange', async () => {
    let context: Record<string, unknown> = {}
    const { account } = await told({
      userinfo: { request: () => ({ id: 'x' }) },
      token: {
        request(given: Record<string, unknown>) {
          context = given
          return { tokens: { access_token: 'own', expires_in: 60 } }
        },
      },
    })
    expect(account).toMatchObject({ access_token: 'own', token_type: 'bearer', providerAccountId: 'x' })
    expect(context).toMatchObject({
      params: { code: expect.any(String) as string, state: expect.any(String) as string },
      checks: { code_verifier: expect.stringMatching(/^[\w-]{43}$/) as string, state: expect.any(String) as string },
      redirectUri: 'http://localhost:3000/auth/callback/acme',
      clientSecret: op().clientSecret,
    })
    expect(op().count('/token')).toBe(0)
    await expectRefused(op(), { type, provider: { ...endpoints(), token: { request: () => ({}) } } })
    await expectRefused(op(), {
      type,
      provider: { ...endpoints(), token: { request: () => Promise.reject(new Error(`bad ${op().clientSecret}`)) } },
    })
  })
  it('token.params, token.defaults and templates', async () => {
    await run(
      {
        token: {
          url: `${op().issuer}/token`,
          params: { appid: '{clientId}', secret: '{clientSecret}', other: '{unknown}' },
          defaults: { token_type: 'bearer' },
        },
      },
      { tokens: ({ token_type: _type, ...body }) => body },
    )
    const [exchange] = [...op().exchanges.values()]
    expect(Object.fromEntries(exchange?.token ?? [])).toMatchObject({
      appid: 'client-1',
      secret: op().clientSecret,
      other: '{unknown}',
      grant_type: 'authorization_code',
    })
  })
  it('a token URL may name the secret, an authorization URL may not', async () => {
    const seen: string[] = []
    const own = (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
      seen.push(input as string)
      return fetch(input, init)
    }
    const authorization = { url: `${op().issuer}/authorize?s={clientSecret}`, params: { t: '{clientSecret}', appid: '{clientId}' } }
    await run({
      [customFetch]: own,
      clientSecret: 'se/cret&1',
      authorization,
      token: `${op().issuer}/token?appid={clientId}&secret={clientSecret}`,
    })
    expect(seen[0]).toBe(`${op().issuer}/token?appid=client-1&secret=se%2Fcret%261`)
    const [exchange] = [...op().exchanges.values()]
    expect(Object.fromEntries(exchange?.request ?? [])).toMatchObject({ s: '{clientSecret}', t: '{clientSecret}', appid: 'client-1' })
  })
  it('userinfo as data: method, headers, body, params, token in query or path, path, unwrap', async () => {
    const seen: { url: string; method: string; headers: Record<string, string>; body: unknown }[] = []
    const own = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
      const url = new URL(input as string)
      if (!url.pathname.startsWith('/api')) return fetch(input, init)
      seen.push({
        url: url.href.replace(op().issuer, ''),
        method: init?.method ?? '',
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: init?.body,
      })
      return Response.json({ data: [{ user: { id: 5, name: 'Deep' } }] })
    }
    const userinfo = async (data: object): Promise<(typeof seen)[number]> => {
      seen.length = 0
      const { session } = await run(
        { [customFetch]: own, userinfo: { url: `${op().issuer}/api/me`, unwrap: 'data.0.user', ...data } },
        { tokens: (body) => ({ ...body, access_token: 'at/1', user_id: 'u 1' }) },
      )
      expect(session?.user?.name).toBe('Deep')
      return seen[0] as (typeof seen)[number]
    }
    expect(await userinfo({})).toMatchObject({
      url: '/api/me',
      method: 'GET',
      headers: { authorization: 'Bearer at/1', accept: 'application/json', 'user-agent': 'authkernel' },
    })
    expect(await userinfo({ method: 'POST' })).toMatchObject({ method: 'POST', body: undefined })
    expect(
      await userinfo({
        headers: { 'Client-Id': '{clientId}', authorization: 'OAuth {tokens.access_token}' },
        params: { v: '5', id: '{tokens.user_id}' },
      }),
    ).toMatchObject({
      url: '/api/me?v=5&id=u+1',
      headers: { 'client-id': 'client-1', authorization: 'OAuth at/1' },
    })
    expect(await userinfo({ body: { query: '{ me }', variables: { id: '{tokens.user_id}', n: 1, list: ['{clientId}'] } } })).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ me }","variables":{"id":"u 1","n":1,"list":["client-1"]}}',
    })
    const inQuery = await userinfo({ token: { query: 'oauth_token' } })
    expect(inQuery.url).toBe('/api/me?oauth_token=at%2F1')
    expect(inQuery.headers['authorization']).toBeUndefined()
    expect((await userinfo({ token: 'path' })).url).toBe('/api/me/at%2F1')
    expect((await userinfo({ token: 'none' })).headers['authorization']).toBeUndefined()
    expect((await userinfo({ path: '{tokens.user_id}' })).url).toBe('/api/me/u%201')
    await expectRefused(op(), { type, provider: { ...endpoints(), userinfo: { url: `${op().issuer}/userinfo`, unwrap: 'data.user' } } })
    await expectRefused(op(), { type, provider: { ...endpoints(), userinfo: { url: `${op().issuer}/userinfo`, path: '{tokens.absent}' } } })
    await expectRefused(op(), {
      type,
      provider: { ...endpoints(), userinfo: { url: `${op().issuer}/userinfo`, path: '{tokens.scope}' } },
      tokens: (body) => ({ ...body, scope: '..' }),
    })
  })
  it('endpoint URLs may name the issuer', async () => {
    const { issuer } = op()
    await expectAccepted(op(), {
      type,
      provider: { issuer: `${issuer}/`, authorization: '{issuer}/authorize', token: '{issuer}/token', userinfo: '{issuer}/userinfo' },
    })
  })
  it('RFC 9207: a provider without issuer cannot be told from another that sends iss', async () => {
    const iss = { callback: (params: URLSearchParams) => (params.set('iss', op().issuer), params) }
    await expectRefused(op(), { type, provider: endpoints(), ...iss })
    await expectAccepted(op(), { type, provider: { ...endpoints(), issuer: op().issuer }, ...iss })
  })
  it('an ID token beside is stored and believed for nothing', async () => {
    const { account } = await told({}, { idToken: () => 'not.a.jwt' })
    expect(account['id_token']).toBe('not.a.jwt')
  })
})

describe('profile and account', () => {
  it('row 193: the default profile keeps id, name, email, image', async () => {
    const { user, profile } = await told({})
    expect(user).toMatchObject({ name: 'Alice', email: 'alice@example.com', image: 'https://img.example/a.png' })
    expect(profile).toMatchObject({ sub: 'alice', email: 'Alice@Example.com' })
    const { session } = await run({}, { userinfo: () => ({ id: 1, nickname: 'al' }) })
    expect(session?.user).toMatchObject({ name: 'al' })
  })
  it('row 194: the profile id is the account id, the user id is a new UUID, the address is in lower case', async () => {
    const { user, account } = await told({ profile: () => ({ id: 42, name: 'N', email: 'MiXed@Example.COM', role: 'admin' }) })
    expect(account.providerAccountId).toBe('42')
    expect(user.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(user).toMatchObject({ email: 'mixed@example.com', role: 'admin' })
  })
  it('a letter that only looks like an ASCII one does not become it', async () => {
    const { user } = await told({ profile: () => ({ id: 1, email: 'mi\u212Ae@example.com' }) })
    expect(user.email).toBe('mi\u212Ae@example.com')
  })
  it('row 195: seven token fields are stored by default, account() replaces them', async () => {
    const tokens = (body: object): object => ({
      ...body,
      refresh_token: 'rt',
      session_state: 'ss',
      foo: 'bar',
      userId: 'victim',
      provider: 'x',
      providerAccountId: 'y',
    })
    const all = await told({}, { tokens })
    expect(Object.keys(all.linked).sort()).toEqual([
      'access_token',
      'expires_at',
      'id_token',
      'provider',
      'providerAccountId',
      'refresh_token',
      'scope',
      'session_state',
      'token_type',
      'type',
      'userId',
    ])
    expect(all.account).toMatchObject({ foo: 'bar', provider: 'acme', providerAccountId: 'alice', type: 'oauth' })
    expect(all.linked.userId).not.toBe('victim')
    expect(all.account.userId).not.toBe('victim')
    const own = await told({ account: ({ access_token }: { access_token: string }) => ({ access_token }) }, { tokens })
    expect(Object.keys(own.linked).sort()).toEqual(['access_token', 'provider', 'providerAccountId', 'type', 'userId'])
    const none = await told({ account: () => {} }, { tokens })
    expect(Object.keys(none.linked).sort()).toEqual(['provider', 'providerAccountId', 'type', 'userId'])
  })
  it('rows 196, 197: expires_at in whole seconds, token_type in lower case', async () => {
    const { account } = await told(
      {},
      { tokens: (body) => ({ ...body, expires_in: 100.7, token_type: 'BEARER' }), config: { runtime: { now: () => 1_900_000_000_123 } } },
    )
    expect(account).toMatchObject({ expires_at: 1_900_000_100, token_type: 'bearer' })
    expect((await told({}, { tokens: (body) => ({ ...body, expires_in: undefined }) })).account.expires_at).toBeUndefined()
    expect((await told({}, { tokens: (body) => ({ ...body, expires_in: undefined, expires_at: 1_900_000_000 }) })).account.expires_at).toBe(
      1_900_000_000,
    )
    expect(
      (await told({}, { tokens: (body) => ({ ...body, expires_in: undefined, expires_at: '2030-01-01' }) })).account.expires_at,
    ).toBeUndefined()
  })
  it('row 199: a failing profile() ends on the sign-in page', async () => {
    const { location, errors } = await expectRefused(op(), {
      type,
      provider: {
        ...endpoints(),
        profile: () => {
          throw new Error('no such field')
        },
      },
    })
    expect(location.href).toBe('http://localhost:3000/auth/signin?error=Configuration')
    expect(errors[0]).toMatchObject({ name: 'OAuthProfileParseError', cause: { provider: 'acme', err: { message: 'no such field' } } })
  })
  it('profile() may ask for more within the limits of the provider', async () => {
    const profile = async (
      claims: { sub: string },
      tokens: { access_token: string },
      { fetch }: { fetch: typeof globalThis.fetch },
    ): Promise<object> => {
      const more = (await (
        await fetch(`${op().issuer}/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
      ).json()) as { picture: string }
      return { id: claims.sub, image: more.picture }
    }
    expect((await run({ profile })).session?.user?.image).toBe('https://img.example/a.png')
    await expectRefused(op(), {
      type,
      provider: {
        ...endpoints(),
        profile: async (_claims: object, _tokens: object, { fetch }: { fetch: typeof globalThis.fetch }) => ({
          id: String(await fetch('http://evil.example/')),
        }),
      },
    })
  })
})

describe('accounts', () => {
  /** Two sign-ins of one address at two providers of one instance. */
  async function second(options: object, person: object): Promise<string> {
    op().reset({ userinfo: (good) => ({ ...good, ...person }) })
    const first = { ...endpoints(), id: 'first', clientId: 'client-1', profile: () => ({ id: 'other', email: 'alice@example.com' }) }
    const auth = createAuth({ secret, trustHost: true, env: false, adapter: memoryAdapter(), logger: { error() {} } }).use(
      oauthPlugin(first, { ...endpoints(), id: 'second', clientId: 'client-1', ...options }),
    )
    for (const id of ['first', 'second']) {
      const client = new Client(auth)
      const location = locationOf(await client.get(await op().authorize(locationOf(await client.signIn(id)))))
      if (id === 'second') return location
    }
    return ''
  }
  const linked = 'http://localhost:3000'
  const refused = 'http://localhost:3000/auth/signin?error=OAuthAccountNotLinked'
  const dangerous = { allowDangerousEmailAccountLinking: true }

  it('row 200: the same address is refused, or linked where the host says so', async () => {
    expect(await second({}, {})).toBe(refused)
    expect(await second(dangerous, {})).toBe(linked)
  })
  it('D33: an address that the provider calls unverified is never linked', async () => {
    for (const email_verified of [false, 'false', 'true', 'yes', 0, 1, null, [], {}])
      expect(await second(dangerous, { email_verified })).toBe(refused)
    expect(await second(dangerous, { email_verified: true })).toBe(linked)
    expect(await second(dangerous, { email_verified: undefined })).toBe(linked)
    expect(await second({ ...dangerous, emailVerifiedStrings: ['true'] }, { email_verified: 'true' })).toBe(linked)
    expect(await second({ ...dangerous, emailVerifiedStrings: ['true'] }, { email_verified: 'false' })).toBe(refused)
    expect(
      await second(
        { ...dangerous, emailVerified: ({ verified }: { verified: boolean }) => verified },
        { verified: false, email_verified: true },
      ),
    ).toBe(refused)
    expect(await second({}, { email_verified: true })).toBe(refused)
  })
  it('rows 201, 202: a signed-in person links another account and keeps the session; not one of another user', async () => {
    op().reset()
    const adapter = memoryAdapter()
    const auth = createAuth({ secret, trustHost: true, env: false, adapter, logger: { error() {} } }).use(
      oauthPlugin({ ...endpoints(), id: 'first', clientId: 'client-1' }, { ...endpoints(), id: 'second', clientId: 'client-1' }),
    )
    const signIn = async (client: Client, id: string): Promise<string> =>
      locationOf(await client.get(await op().authorize(locationOf(await client.signIn(id)))))
    const alice = new Client(auth)
    await signIn(alice, 'first')
    const token = alice.cookies.get('authkernel.session-token')
    op().script = { userinfo: (good) => ({ ...good, sub: 'alice-2', email: 'other@example.com' }) }
    expect(await signIn(alice, 'second')).toBe(linked)
    expect(alice.cookies.get('authkernel.session-token')).toBe(token)
    expect(await alice.session()).toMatchObject({ user: { email: 'alice@example.com' } })
    op().script = { userinfo: (good) => ({ ...good, sub: 'bob', email: 'bob@example.com' }) }
    const bob = new Client(auth)
    await signIn(bob, 'first')
    op().script = { userinfo: (good) => ({ ...good, sub: 'alice-2', email: 'other@example.com' }) }
    expect(await signIn(bob, 'second')).toBe(refused)
    expect(await bob.session()).toMatchObject({ user: { email: 'bob@example.com' } })
  })
  it('one sub at two providers: two accounts', async () => {
    expect(await second({ profile: () => ({ id: 'other', email: 'another@example.com' }) }, {})).toBe(linked)
  })
  it('row 211: updateAccount stores fresh tokens at each sign-in, and only then', async () => {
    for (const updateAccount of [true, undefined]) {
      op().reset()
      const adapter = memoryAdapter()
      const auth = createAuth({ secret, trustHost: true, env: false, adapter, logger: { error() {} } }).use(
        oauthPlugin({ ...endpoints(), id: 'acme', clientId: 'client-1', updateAccount }),
      )
      const stored: unknown[] = []
      for (let i = 0; i < 2; i++) {
        const client = new Client(auth)
        await client.get(await op().authorize(locationOf(await client.signIn('acme'))))
        stored.push((await adapter.getAccount?.('alice', 'acme'))?.['access_token'])
      }
      expect(stored[0]).toBeTypeOf('string')
      expect(stored[0] === stored[1]).toBe(updateAccount !== true)
    }
  })
})
