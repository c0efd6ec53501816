/** What a provider may answer, and what may be wrong on the way back from it. */
import type { Browser } from './_browser.ts'
import { both, flow, type Id } from './_flow-provider.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, hub } from './_hosts.ts'
import type { OpOptions } from './_op.ts'

export const answerFlows: Flow[] = [...tokens(), ...refusals(), ...checkCookies(), ...proxies()]

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
    {
      // It was not requested, and there is no issuer to hold it against: it is stored and not believed.
      ...flow('an ID token for a provider of type oauth', 'hub', {}, { noIdToken: false }),
      decided: { 2: { hook: 'SPEC oauth', ours: { answer: { location: { url: 'http://localhost:3000/app' } } } } },
    },
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
    refused(
      flow('userinfo 401', 'hub', {}, { userinfoStatus: 401, userinfo: { error: 'invalid_token' } }),
      'a mistake in the configuration',
    ),
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
  // Ours alone asks for them.
  const allowedHosts = ['localhost:3000', '*.example']
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
      () => ({ redirectProxyUrl, allowedHosts }),
    ),
    ...both(
      'redirect proxy of the provider',
      { redirectProxyUrl },
      {},
      (id) => async (b) => void (await b.post(`/signin/${id}`)),
      () => ({ allowedHosts }),
    ),
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
      () => ({ redirectProxyUrl, allowedHosts }),
    ),
    ...both(
      'on the proxy with a foreign state',
      {},
      {},
      (id) => async (b) => void (await b.get(`https://proxy.example/auth/callback/${id}?state=foreign&code=1`)),
      () => ({ redirectProxyUrl, allowedHosts }),
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

/** a mistake in the configuration is told at once, not at a sign-in. */
function misconfigured(one: Flow): Flow {
  const ours = { answer: { status: 500 } }
  return { ...one, decided: { 0: { hook: 'a mistake in the configuration', ours }, 1: { hook: 'a mistake in the configuration', ours } } }
}

/** The callback ends on the error page here. */
function refused(one: Flow, hook: string): Flow {
  return {
    ...one,
    decided: {
      2: { hook, ours: { answer: { location: { url: 'http://localhost:3000/auth/error', params: { error: 'Configuration' } } } } },
    },
  }
}

async function csrf(browser: Browser, url: string): Promise<string> {
  const response = await browser.get(url)
  return response ? ((await response.json()) as { csrfToken: string }).csrfToken : ''
}
