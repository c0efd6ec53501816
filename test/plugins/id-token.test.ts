/** ID tokens that a platform gave to an app: made for a nonce of ours, for this app, on this device, once, within five minutes. */
import { createHash, randomBytes } from 'node:crypto'
import { createAuth } from 'authkernel'
import type { AuthConfig } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { facebookLimitedLogin, type IdTokenProvider, idTokenPlugin } from 'authkernel/plugins/id-token'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { totp, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import apple from 'authkernel/providers/apple'
import facebook from 'authkernel/providers/facebook'
import { describe, expect, it } from 'vitest'
import { useOp } from '../_op/journey.ts'
import { type Jwk, jws, keys, type SigningKey } from '../_op/keys.ts'
import { baseConfig, Client } from '../_setup.ts'

const op = useOp()
const app = 'ios.example.app'
const digest = (text: string, encoding: 'hex' | 'base64url') => createHash('sha256').update(text).digest(encoding)

async function world(options: Partial<IdTokenProvider> = {}, config: AuthConfig = {}) {
  op().reset({})
  const base = baseConfig({ session: { strategy: 'database' }, ...config })
  base.runtime.fetch = globalThis.fetch
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(oidcPlugin({ id: 'acme', issuer: op().issuer, clientId: op().clientId, clientSecret: 's', trustEmail: true }))
    .use(oidcPlugin({ id: 'other', issuer: op().issuer, clientId: op().clientId, clientSecret: 's' }))
    .use(idTokenPlugin({ providers: { acme: { audiences: [app, 'android.example.app'], ...options }, other: { audiences: [app] } } }))
  await auth.ready()
  const ask = async (verifier: string, more: object = {}, provider = 'acme', client = new Client(auth)) => {
    const body = { challenge: digest(verifier, 'base64url'), ...more }
    return (await post(client, `/signin/${provider}/nonce`, body)).body as { nonce: string; expiresIn: number }
  }
  const claim = (nonce: string): Jwk => {
    const now = Math.floor(base.runtime.now() / 1000)
    const who = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' }
    return { iss: op().issuer, aud: app, azp: app, iat: now, exp: now + 3600, nonce, ...who }
  }
  const attempt = async (change: Attempt = {}) => {
    const verifier = randomBytes(32).toString('base64url')
    const { nonce } = await ask(verifier)
    const { key = keys.k1, header = {}, claims, body } = change
    const idToken = jws({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header }, { ...claim(nonce), ...claims?.(nonce) }, key)
    const client = change.client ?? new Client(auth)
    const sent = { idToken, nonce, verifier, callbackUrl: '/app', ...body }
    return { ...(await post(client, '/signin/acme/token', sent, change.headers)), client, sent }
  }
  return { auth, adapter, base, ask, attempt, claim, runtime: base.runtime, log: base.logger }
}
interface Attempt {
  key?: SigningKey
  header?: Jwk
  claims?: (nonce: string) => Jwk
  body?: object
  headers?: Record<string, string>
  client?: Client
}

async function post(client: Client, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await client.send(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('a good token', () => {
  it.each(['jwt', 'database'] as const)('signs in under the %s strategy, and is the same account as in a browser', async (strategy) => {
    const { attempt, adapter } = await world({}, { session: { strategy } })
    const { status, body, client } = await attempt()
    expect([status, body]).toEqual([200, { url: 'http://localhost:3000/app' }])
    expect((await client.session())?.user).toMatchObject({ email: 'ada@example.com', name: 'Ada' })
    const user = await adapter.getUserByAccount!({ provider: 'acme', providerAccountId: 'ada' })
    expect(user).toMatchObject({ email: 'ada@example.com', emailVerified: expect.any(Date) })
    const again = await attempt({ claims: (nonce) => ({ nonce: digest(nonce, 'hex'), aud: [app] }) })
    expect((await again.client.session())?.user?.email).toBe('ada@example.com')
  })

  it('of another app of ours counts when the nonce was asked for by that app', async () => {
    const { auth, ask, claim } = await world()
    const verifier = randomBytes(32).toString('base64url')
    const { nonce, expiresIn } = await ask(verifier, { clientId: 'android.example.app' })
    expect(expiresIn).toBe(300)
    const idToken = jws({ alg: 'RS256', kid: 'k1' }, { ...claim(nonce), aud: 'android.example.app', azp: app }, keys.k1)
    const client = new Client(auth)
    expect((await post(client, '/signin/acme/token', { idToken, nonce, verifier })).status).toBe(401)
    expect((await post(client, '/signin/acme/token', { idToken, nonce, verifier, clientId: 'android.example.app' })).status).toBe(200)
  })

  it('asks the hook `signIn` and the second factor, like every sign-in method', async () => {
    const { auth, attempt } = await world()
    auth.hook('signIn', ({ user }) => user.name !== 'Eve')
    expect(await attempt({ claims: () => ({ sub: 'eve', name: 'Eve', email: 'eve@example.com' }) })).toMatchObject({
      status: 403,
      body: { error: 'AccessDenied' },
    })
    auth.use(twoFactorPlugin({ factors: [totp()], required: () => true }))
    const { status, body, client } = await attempt()
    expect([status, new URL(String(body['url'])).pathname]).toEqual([200, expect.stringContaining('/auth/two-factor')])
    expect(await client.session()).toBeNull()
  })

  it('is linked to the user who is signed in on the same request, and takes no account of another user', async () => {
    const { attempt, adapter } = await world()
    const ada = await attempt()
    const second = await attempt({ client: ada.client, claims: () => ({ sub: 'ada-2', email: 'other@example.com' }) })
    expect(second.status).toBe(200)
    const owner = await adapter.getUserByAccount!({ provider: 'acme', providerAccountId: 'ada-2' })
    expect(owner?.email).toBe('ada@example.com')
    const eve = await attempt({ claims: () => ({ sub: 'eve', email: 'eve@example.com' }) })
    expect(eve.status).toBe(200)
    expect((await attempt({ client: eve.client })).body).toMatchObject({ error: expect.stringMatching(/NotLinked/) })
  })
})

describe('is rejected with 401, and uses nothing up', () => {
  const seconds = (base: Awaited<ReturnType<typeof world>>) => Math.floor(base.runtime.now() / 1000)
  const cases: Record<string, (w: Awaited<ReturnType<typeof world>>) => Attempt> = {
    'a signature of another key': () => ({ key: keys.evil }),
    'alg none': () => ({ header: { alg: 'none' } }),
    'another audience': () => ({ claims: () => ({ aud: 'another.app' }) }),
    'two audiences': () => ({ claims: () => ({ aud: [app, 'another.app'] }) }),
    'another of our apps than the nonce is for': () => ({ claims: () => ({ aud: 'android.example.app' }) }),
    'another authorized party': () => ({ claims: () => ({ azp: 'another.app' }) }),
    'another issuer': () => ({ claims: () => ({ iss: 'https://issuer.example' }) }),
    'a nonce of the app itself': () => ({ claims: () => ({ nonce: 'chosen by the app' }) }),
    'no nonce': () => ({ claims: () => ({ nonce: undefined }) }),
    'no subject': () => ({ claims: () => ({ sub: '' }) }),
    'an hour-old token': (w) => ({ claims: () => ({ iat: seconds(w) - 301 }) }),
    'an expired token': (w) => ({ claims: () => ({ exp: seconds(w) - 120 }) }),
    'a token from the future': (w) => ({ claims: () => ({ iat: seconds(w) + 600 }) }),
    'no iat': () => ({ claims: () => ({ iat: undefined }) }),
    'an access token (`typ`)': () => ({ header: { typ: 'at+jwt' } }),
    'a logout token': () => ({ claims: () => ({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }) }),
    'another verifier': () => ({ body: { verifier: randomBytes(32).toString('base64url') } }),
    'a nonce that was changed': () => ({ body: { nonce: 'zzzzzz.AAAAAAAAAAAAAAAAAAAAAA.00' } }),
    'a text that is no token': () => ({ body: { idToken: 'a.b.c' } }),
  }
  it.each(Object.entries(cases))('%s', async (name, change) => {
    const w = await world()
    const { status, body, client, sent } = await w.attempt(change(w))
    expect([status, body]).toEqual([401, { error: 'InvalidIdToken' }])
    expect(await client.session()).toBeNull()
    const [, payload = '', signature = ''] = sent.idToken.split('.')
    if (payload.length > 40) expect(JSON.stringify(w.log)).not.toContain(payload)
    if (signature.length > 40) expect(JSON.stringify(w.log)).not.toContain(signature)
    // The same nonce, with a good token.
    if (sent.verifier.length === 43 && sent.nonce.length > 60) {
      const good = jws({ alg: 'RS256', kid: 'k1' }, w.claim(sent.nonce), keys.k1)
      const again = await post(client, '/signin/acme/token', { ...sent, idToken: good })
      expect(again.status).toBe(name === 'another verifier' ? 401 : 200)
    }
  })

  it('a nonce after five minutes, of another provider, or twice', async () => {
    const w = await world()
    const { sent, client } = await w.attempt()
    expect((await post(client, '/signin/acme/token', sent)).status).toBe(401)
    const verifier = randomBytes(32).toString('base64url')
    const { nonce } = await w.ask(verifier, {}, 'other')
    const idToken = jws({ alg: 'RS256', kid: 'k1' }, w.claim(nonce), keys.k1)
    expect((await post(client, '/signin/acme/token', { idToken, nonce, verifier })).status).toBe(401)
    const old = await w.ask(verifier)
    w.runtime.advance(300_000)
    const late = jws({ alg: 'RS256', kid: 'k1' }, w.claim(old.nonce), keys.k1)
    expect((await post(client, '/signin/acme/token', { idToken: late, nonce: old.nonce, verifier })).status).toBe(401)
  })

  it('of twenty requests with one token one signs in', async () => {
    const w = await world()
    const verifier = randomBytes(32).toString('base64url')
    const { nonce } = await w.ask(verifier)
    const idToken = jws({ alg: 'RS256', kid: 'k1' }, w.claim(nonce), keys.k1)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(new Client(w.auth), '/signin/acme/token', { idToken, nonce, verifier })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(401)])
  })
})

describe('a request', () => {
  it.each([
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page of a sibling', { 'sec-fetch-site': 'same-site' }, 403],
    ['the own page', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }, 200],
    ['the own page behind a proxy that ends TLS', { origin: 'https://localhost:3000', 'sec-fetch-site': 'same-origin' }, 200],
  ])('of %s', async (_name, headers, status) => {
    const { attempt } = await world()
    expect((await attempt({ headers })).status).toBe(status)
  })

  it.each([
    ['no token', { idToken: undefined }],
    ['a verifier that is short', { verifier: 'short' }],
    ['a foreign client id', { clientId: 'another.app' }],
    ['a nonce that is no text', { nonce: ['a'] }],
  ])('with %s is 400 and says what is wrong', async (_name, body) => {
    const { attempt } = await world()
    expect(await attempt({ body })).toMatchObject({ status: 400, body: { error: 'InvalidInput', message: expect.stringContaining('`') } })
  })

  it('for a provider that takes no tokens is 400, a form 415, and keys out of reach are no answer about the token', async () => {
    const { auth, attempt } = await world()
    const client = new Client(auth)
    expect((await post(client, '/signin/none/nonce', {})).status).toBe(400)
    const form = await client.send('/signin/acme/token', { method: 'POST', body: new URLSearchParams({ idToken: 'x' }) })
    expect(form.status).toBe(415)
    op().reset({ jwks: () => ({ status: 503, body: {} }) })
    const verifier = randomBytes(32).toString('base64url')
    expect(verifier).toHaveLength(43)
    const { status, body } = await attempt()
    expect([status, body]).toEqual([502, { error: 'OAuthRequestError' }])
  })
})

it('Apple: the name of the first sign-in comes from the app, and nothing else of it', async () => {
  op().reset({})
  const base = baseConfig()
  base.runtime.fetch = globalThis.fetch
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter()))
    .use(oidcPlugin({ ...apple(), issuer: op().issuer, clientId: 'web', clientSecret: 's', options: undefined } as never))
    .use(idTokenPlugin({ providers: { apple: { audiences: [app] } } }))
  const client = new Client(auth)
  const verifier = randomBytes(32).toString('base64url')
  const { nonce } = (await post(client, '/signin/apple/nonce', { challenge: digest(verifier, 'base64url') })).body as { nonce: string }
  const now = Math.floor(base.runtime.now() / 1000)
  const claims = { iss: op().issuer, aud: app, iat: now, exp: now + 600, nonce: digest(nonce, 'hex'), sub: 'a.1', email: 'x@relay.example' }
  const idToken = jws({ alg: 'RS256', kid: 'k1' }, claims, keys.k1)
  const user = { name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'victim@example.com' }
  expect((await post(client, '/signin/apple/token', { idToken, nonce, verifier, user })).status).toBe(200)
  expect((await client.session())?.user).toMatchObject({ name: 'Ada Lovelace', email: 'x@relay.example' })
})

it('Facebook Limited Login: a token of keys of its own is the account of facebook()', async () => {
  op().reset({})
  const base = baseConfig()
  base.runtime.fetch = globalThis.fetch
  const limited = { ...facebookLimitedLogin('app-1'), issuer: 'https://www.facebook.com', jwks: `${op().issuer}/jwks` }
  const adapter = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(oauthPlugin({ ...facebook(), clientId: 'app-1', clientSecret: 's' } as never))
    .use(idTokenPlugin({ providers: { facebook: limited } }))
  const client = new Client(auth)
  const verifier = randomBytes(32).toString('base64url')
  const { nonce } = (await post(client, '/signin/facebook/nonce', { challenge: digest(verifier, 'base64url') })).body as { nonce: string }
  const now = Math.floor(base.runtime.now() / 1000)
  const claims = { iss: limited.issuer, aud: 'app-1', iat: now, exp: now + 600, nonce, sub: '4711', name: 'Ada', email: 'ada@example.com' }
  const idToken = jws({ alg: 'RS256', kid: 'k1' }, claims, keys.k1)
  expect((await post(client, '/signin/facebook/token', { idToken, nonce, verifier })).status).toBe(200)
  expect((await adapter.getUserByAccount!({ provider: 'facebook', providerAccountId: '4711' }))?.email).toBe('ada@example.com')
})

it.each([
  [{}, /`providers` is empty/],
  [{ providers: { google: {} } }, /providers\.google\.audiences` must be a list/],
  [{ providers: { google: { audiences: ['a'], issuer: 'https://x.example' } } }, /issuer` and `jwks` belong together/],
  [{ providers: { google: { audiences: ['a'], issuer: 'https://x.example', jwks: 'http://x.example' } } }, /must be an https address/],
  [{ providers: { google: { audiences: ['a'], audience: 'b' } } }, /audience/],
])('a mistake in the options names the option: %j', (options, message) => {
  expect(() => idTokenPlugin(options as never)).toThrow(message)
})
