/** What a provider may be told to do, and what it may answer. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, hub } from './_hosts.ts'
import { signIn } from './_flows-oauth.ts'
import type { OpOptions } from './_op.ts'

type Options = Record<string, unknown>

const makers = { acme, hub }
type Id = keyof typeof makers

function flow(
  name: string,
  id: Id,
  over: Options | ((kit: Kit) => Options) = {},
  op: OpOptions = {},
  run?: Flow['run'],
  more: (kit: Kit) => Options = () => ({}),
): Flow {
  return {
    name: `${id}: ${name}`,
    op,
    config: (kit) => ({
      providers: [makers[id](kit, typeof over === 'function' ? over(kit) : over)],
      adapter: kit.adapter(),
      callbacks: kit.watch('signIn', 'redirect'),
      ...more(kit),
    }),
    run: run ?? ((b, kit) => signIn(b, kit, id)),
  }
}

const both = (
  name: string,
  over: Options | ((kit: Kit) => Options) = {},
  op: OpOptions = {},
  run?: (id: Id) => Flow['run'],
  more?: (kit: Kit) => Options,
): Flow[] => (['acme', 'hub'] as const).map((id) => flow(name, id, over, op, run?.(id), more))

export const providerFlows: Flow[] = [
  ...[['pkce'], ['state'], ['pkce', 'state'], ['none'], []].flatMap((checks) => both(`checks ${checks.join(' ') || 'empty'}`, { checks })),
  ...[['nonce'], ['pkce', 'nonce'], ['state', 'nonce'], ['pkce', 'state', 'nonce']].map((checks) =>
    flow(`checks ${checks.join(' ')}`, 'acme', { checks }),
  ),
  ...secure(),
  ...requests(),
  ...mapping(),
  ...tokens(),
  ...refusals(),
  ...checkCookies(),
  ...proxies(),
]

/** Over https, and with answers by form_post. */
function secure(): Flow[] {
  const https = (one: Flow): Flow => ({ ...one, name: `${one.name}, https`, origin: 'https://app.example' })
  return [
    ...both('plain').map(https),
    https(flow('all checks', 'acme', { checks: ['pkce', 'state', 'nonce'] })),
    ...['http://localhost:3000', 'https://app.example'].map((origin): Flow => ({
      ...flow(
        `form_post at ${origin}`,
        'acme',
        (kit) => ({
          checks: ['pkce', 'state', 'nonce'],
          authorization: { url: `${kit.op.issuer}/authorize`, params: { response_mode: 'form_post', scope: 'openid' } },
        }),
        {},
        async (b, kit) => {
          await b.post('/signin/acme', { callbackUrl: '/app' })
          const back = new URL(kit.op.authorize(b.next))
          await b.send('POST', back.origin + back.pathname, { form: Object.fromEntries(back.searchParams) })
        },
      ),
      origin,
    })),
    ...[true, false].flatMap((useSecureCookies) =>
      both(`useSecureCookies ${useSecureCookies}`, {}, {}, undefined, () => ({ useSecureCookies })),
    ),
    {
      ...flow('a cookie of another name and domain', 'acme', {}, {}, undefined, () => ({
        cookies: {
          sessionToken: { name: 'sid', options: { domain: 'app.example', sameSite: 'strict' } },
          pkceCodeVerifier: { options: { maxAge: 60 } },
          callbackUrl: { name: 'cb' },
        },
      })),
    },
    ...['/api/auth', '/a/b/c', '/a.b'].map((basePath): Flow => ({ ...flow(`base path ${basePath}`, 'acme'), basePath })),
    {
      ...flow('base path with a plus', 'acme', {}, {}, async (b) => void (await b.get('/csrf'))),
      basePath: '/a+b',
      decided: { 0: { decision: 'D23', ours: { answer: { status: 200 } } } },
    },
  ]
}

/** The authorization request. */
function requests(): Flow[] {
  const start =
    (id: Id, query: Record<string, string> = {}): Flow['run'] =>
    async (b) =>
      void (await b.post(`/signin/${id}`, {}, { query }))
  const url = (kit: Kit): string => `${kit.op.issuer}/authorize`
  const written: [string, (kit: Kit) => Options][] = [
    ['scope', () => ({ authorization: { params: { scope: 'openid email' } } })],
    ['prompt and claims', () => ({ authorization: { params: { prompt: 'login', claims: { id_token: { email: null } } } } })],
    ['a URL with parameters', (kit) => ({ authorization: `${url(kit)}?scope=one&audience=two` })],
    ['a URL and params', (kit) => ({ authorization: { url: `${url(kit)}?a=b`, params: { c: 'd' } } })],
    ['response_type', (kit) => ({ authorization: { url: url(kit), params: { response_type: 'code id_token' } } })],
    [
      'options over the preset',
      (kit) => ({
        authorization: { url: url(kit), params: { scope: 'preset' } },
        options: { authorization: { params: { prompt: 'consent' } } },
      }),
    ],
    ['options: checks', () => ({ checks: ['pkce'], options: { checks: ['state'], clientId: 'client-9' } })],
  ]
  const queries: Record<string, string>[] = [
    { login_hint: 'ann' },
    { prompt: 'login', scope: 'openid offline_access' },
    { ui_locales: 'de', audience: 'x' },
    { callbackUrl: '/query' },
  ]
  return [
    ...written.map(([name, over]) => flow(`written ${name}`, 'acme', over, {}, start('acme'))),
    ...written.slice(2, 6).map(([name, over]) => flow(`written ${name}`, 'hub', over, {}, start('hub'))),
    ...queries.flatMap((query) => both(`query ${Object.keys(query).join(' ')}`, {}, {}, (id) => start(id, query))),
    {
      ...flow('discovery without S256', 'acme', {}, { discovery: { code_challenge_methods_supported: undefined } }, start('acme')),
      decided: { 1: { decision: 'D13', ours: { answer: { location: { params: { code_challenge_method: 'S256' } } } } } },
    },
    flow('discovery of another issuer', 'acme', {}, { discovery: { issuer: 'https://other.example' } }, start('acme')),
    flow('discovery without an authorization endpoint', 'acme', {}, { discovery: { authorization_endpoint: undefined } }, start('acme')),
  ]
}

/** From profile to user. */
function mapping(): Flow[] {
  const profiles: [string, (profile: Options, tokens: Options) => unknown][] = [
    ['with more fields', (p) => ({ id: p['sub'], name: 'N', email: p['email'], image: null, role: 'admin', nothing: undefined })],
    ['without an id', (p) => ({ name: p['name'], email: p['email'] })],
    ['without an email', (p) => ({ id: p['sub'], name: 'N' })],
    ['with email null', (p) => ({ id: p['sub'], email: null })],
    ['asynchronous', async (p) => ({ id: p['sub'], name: 'later' })],
    ['from tokens', (p, t) => ({ id: p['sub'], name: t['access_token'] })],
  ]
  const accounts: [string, (tokens: Options) => unknown][] = [
    ['two fields', ({ access_token, scope }) => ({ access_token, scope })],
    ['nothing', () => undefined],
    ['of its own', () => ({ refresh_token: 'mine', custom: 1 })],
  ]
  const claims: Options[] = [
    { email: undefined },
    { email: 'UPPER@EXAMPLE.COM' },
    { name: undefined, nickname: 'nick' },
    { name: undefined, preferred_username: 'pref' },
    { picture: undefined },
    { email_verified: false },
    { address: { country: 'DE' }, locale: null },
    { name: null },
  ]
  return [
    ...profiles.flatMap(([name, profile]) => both(`profile ${name}`, { profile })),
    ...accounts.flatMap(([name, account]) => both(`account ${name}`, { account })),
    ...claims.flatMap((claim) => both(`claims ${JSON.stringify(claim)}`, {}, { claims: claim })),
    ...both('profile throws', {
      profile: () => {
        throw new Error('host: no profile')
      },
    }),
    ...both('profile answers nothing', { profile: () => undefined }),
    flow('idToken false', 'acme', { idToken: false }),
    flow('idToken false, another subject', 'acme', { idToken: false }, { userinfo: { sub: 'other' } }),
    flow('userinfo.request', 'hub', (kit) => ({
      userinfo: {
        url: `${kit.op.issuer}/userinfo`,
        request({ tokens, provider }: { tokens: Options; provider: Options }) {
          kit.recorder.note('host', 'userinfo', {
            token: tokens['access_token'],
            provider: [provider['id'], provider['callbackUrl'], provider['signinUrl']],
          })
          return { sub: 'mine', name: 'Requested' }
        },
      },
    })),
    flow('token.conform', 'hub', (kit) => ({
      token: {
        url: `${kit.op.issuer}/token`,
        async conform(response: Response) {
          const body = (await response.json()) as Options
          return Response.json({ ...body, access_token: 'conformed' }, response)
        },
      },
    })),
    flow('numeric id', 'hub', { profile: (p: Options) => ({ id: p['number'], name: 'N' }) }, { userinfo: { number: 42 } }),
    flow('default profile by id', 'hub', {}, { userinfo: { id: 'id-7', name: 'Seven' } }),
  ]
}

/** The token endpoint: how the client is authenticated, and what may come back. */
function tokens(): Flow[] {
  const methods = ['client_secret_basic', 'client_secret_post', 'none']
  const answers: [string, OpOptions][] = [
    ['scope and refresh_token', { tokens: { scope: 'openid email', refresh_token: 'refresh-1', session_state: 's' } }],
    ['no expires_in', { tokens: { expires_in: undefined } }],
    ['expires_in as text', { tokens: { expires_in: '120' } }],
    ['token_type in capitals', { tokens: { token_type: 'BEARER' } }],
    ['further fields', { tokens: { tenant: 'x', authorization_details: [{ type: 'a' }] } }],
    ['invalid_grant', { tokenStatus: 400, tokenBody: '{"error":"invalid_grant"}' }],
    ['invalid_client', { tokenStatus: 401, tokenBody: '{"error":"invalid_client","error_description":"no"}' }],
    ['500', { tokenStatus: 500, tokenBody: 'oops' }],
    ['garbage', { tokenBody: '<html>' }],
    ['an empty object', { tokenBody: '{}' }],
    ['no access_token', { tokens: { access_token: undefined } }],
  ]
  return [
    ...methods.flatMap((method) => both(`client ${method}`, { client: { token_endpoint_auth_method: method } })),
    ...both('a secret with odd characters', { clientSecret: 'a b+c:d/ä' }),
    ...answers.flatMap(([name, op]) => both(`token answer: ${name}`, {}, op)),
    flow('no ID token', 'acme', {}, { noIdToken: true }),
    ...(
      [
        ['aud', 'other'],
        ['iss', 'https://other.example'],
        ['exp', 1],
        ['sub', undefined],
        ['nonce', 'unasked'],
      ] as const
    ).map(([claim, value]) => flow(`ID token: ${claim} ${value}`, 'acme', {}, { claims: { [claim]: value } })),
    flow('ID token: wrong nonce', 'acme', { checks: ['nonce'] }, { claims: { nonce: 'other' } }),
    refused(flow('userinfo 401', 'hub', {}, { userinfoStatus: 401, userinfo: { error: 'invalid_token' } }), 'issue 2'),
    refused(flow('token_type DPoP', 'hub', {}, { tokens: { token_type: 'DPoP' } }), 'RFC 9449'),
    flow('userinfo 500', 'acme', { idToken: false }, { userinfoStatus: 500, userinfo: {} }),
  ]
}

/** What the browser may bring back instead of a code. */
function refusals(): Flow[] {
  const back =
    (over: Record<string, string | undefined>) =>
    (id: Id): Flow['run'] =>
    async (b: Browser, kit: Kit) => {
      await b.post(`/signin/${id}`, { callbackUrl: '/app' })
      await b.get(kit.op.authorize(b.next, over))
      await b.get(b.next)
    }
  const answers: [string, Record<string, string | undefined>][] = [
    ['access_denied', { code: undefined, error: 'access_denied' }],
    ['server_error with a description', { code: undefined, error: 'server_error', error_description: 'try later' }],
    ['nothing', { code: undefined, state: undefined }],
    ['a code and an error', { error: 'access_denied' }],
    ['iss of the issuer', { iss: 'https://op.example' }],
    ['iss of another', { iss: 'https://other.example' }],
  ]
  return [
    ...answers.flatMap(([name, over]) => both(`back with ${name}`, {}, {}, back(over))),
    ...both('back with access_denied, own pages', {}, {}, back({ code: undefined, error: 'access_denied' }), () => ({
      pages: { signIn: '/login', error: '/oops' },
    })),
    ...both('back with another state', { checks: ['state'] }, {}, back({ state: 'other' })),
    ...both('back without a state', { checks: ['state'] }, {}, back({ state: undefined })),
  ]
}

/** Check cookies that are missing, foreign, late or used. */
function checkCookies(): Flow[] {
  const checks = [['pkce'], ['state'], ['pkce', 'state']]
  return checks.flatMap((some) => [
    ...both(`cookies gone, ${some.join(' ')}`, { checks: some }, {}, (id) => async (b, kit) => {
      await b.post(`/signin/${id}`)
      b.cookies.clear()
      await b.get(kit.op.authorize(b.next))
    }),
    ...both(`cookies altered, ${some.join(' ')}`, { checks: some }, {}, (id) => async (b, kit) => {
      await b.post(`/signin/${id}`)
      for (const name of b.cookies.keys()) if (/verifier|state/.test(name)) b.cookies.set(name, 'altered')
      await b.get(kit.op.authorize(b.next))
    }),
    ...both(`too late, ${some.join(' ')}`, { checks: some }, {}, (id) => async (b, kit) => {
      await b.post(`/signin/${id}`)
      kit.wait(16 * 60)
      await b.get(kit.op.authorize(b.next))
    }),
    ...both(`just in time, ${some.join(' ')}`, { checks: some }, {}, (id) => async (b, kit) => {
      await b.post(`/signin/${id}`)
      kit.wait(14 * 60)
      await b.get(kit.op.authorize(b.next))
    }),
    ...both(`twice, ${some.join(' ')}`, { checks: some }, {}, (id) => async (b, kit) => {
      await b.post(`/signin/${id}`)
      const back = kit.op.authorize(b.next)
      await b.get(back)
      await b.get(back)
    }),
    {
      ...flow(`another provider's cookies, ${some.join(' ')}`, 'acme'),
      config: (kit) => ({ providers: [acme(kit, { checks: some }), hub(kit, { checks: some })], adapter: kit.adapter() }),
      run: async (b, kit) => {
        await b.post('/signin/acme')
        await b.get(kit.op.authorize(b.next).replace('/callback/acme', '/callback/hub'))
      },
    },
  ])
}

/** The redirect proxy: as the app, as the proxy, and misconfigured. */
function proxies(): Flow[] {
  const redirectProxyUrl = 'https://proxy.example/auth'
  return [
    ...both(
      'redirect proxy of the configuration',
      {},
      {},
      (id) => async (b, kit) => {
        await b.post(`/signin/${id}`)
        const back = kit.op.authorize(b.next).replace('https://proxy.example', b.origin)
        await b.get(back)
      },
      () => ({ redirectProxyUrl }),
    ),
    ...both('redirect proxy of the provider', { redirectProxyUrl }, {}, (id) => async (b) => void (await b.post(`/signin/${id}`))),
    ...both(
      'on the proxy',
      {},
      {},
      (id) => async (b, kit) => {
        await b.send('POST', `https://preview.example/auth/signin/${id}`, {
          form: { csrfToken: await csrf(b, 'https://preview.example/auth/csrf') },
        })
        await b.get(kit.op.authorize(b.next))
      },
      () => ({ redirectProxyUrl }),
    ),
    ...both(
      'on the proxy with a foreign state',
      {},
      {},
      (id) => async (b) => void (await b.get(`https://proxy.example/auth/callback/${id}?state=foreign&code=1`)),
      () => ({ redirectProxyUrl }),
    ),
    ...both(
      'a proxy URL that is none',
      {},
      {},
      (id) => async (b) => void (await b.post(`/signin/${id}`)),
      () => ({ redirectProxyUrl: 'nonsense' }),
    ).map((one) => misconfigured(one)),
    ...both(
      'a way to authenticate that is none',
      { client: { token_endpoint_auth_method: 'nonsense' } },
      {},
      (id) => async (b) => void (await b.post(`/signin/${id}`)),
    ).map((one) => misconfigured(one)),
  ]
}

/** Issue 2: a mistake in the configuration is told at once, not when somebody signs in. */
function misconfigured(one: Flow): Flow {
  const ours = { answer: { status: 500 } }
  return { ...one, decided: { 0: { decision: 'issue 2', ours }, 1: { decision: 'issue 2', ours } } }
}

/** The callback ends on the error page here. */
function refused(one: Flow, decision: string): Flow {
  return {
    ...one,
    decided: {
      2: { decision, ours: { answer: { location: { url: 'http://localhost:3000/auth/error', params: { error: 'Configuration' } } } } },
    },
  }
}

async function csrf(browser: Browser, url: string): Promise<string> {
  const response = await browser.get(url)
  return response ? ((await response.json()) as { csrfToken: string }).csrfToken : ''
}
