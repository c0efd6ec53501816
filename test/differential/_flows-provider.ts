/** What a provider may be told to do. */
import { both, flow, type Id } from './_flow-provider.ts'
import type { Flow, Kit } from './_flow.ts'

type Options = Record<string, unknown>

export const providerFlows: Flow[] = [
  ...[['pkce'], ['state'], ['pkce', 'state'], ['none'], []].flatMap((checks) => both(`checks ${checks.join(' ') || 'empty'}`, { checks })),
  ...[['nonce'], ['pkce', 'nonce'], ['state', 'nonce'], ['pkce', 'state', 'nonce']].map((checks) =>
    flow(`checks ${checks.join(' ')}`, 'acme', { checks }),
  ),
  ...secure(),
  ...requests(),
  ...mapping(),
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
      decided: { 0: { hook: 'D23', ours: { answer: { status: 200 } } } },
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
      decided: { 1: { hook: 'D13', ours: { answer: { location: { params: { code_challenge_method: 'S256' } } } } } },
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
