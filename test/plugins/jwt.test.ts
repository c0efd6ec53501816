/** Signed access tokens: what is in them, who verifies them, how keys rotate, what introspection tells. */
import { constants, createHmac, createPublicKey, verify as verifySignature } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { InvalidAccessToken, KeysUnavailable, verifyAccessToken, type VerifyAccessTokenOptions } from 'authkernel/jwt'
import type { AuthConfig, HttpError } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type JwtOptions, jwtPlugin } from 'authkernel/plugins/jwt'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'

const origin = 'http://localhost:3000'
const jwksUrl = `${origin}/.well-known/jwks.json`
const audience = 'https://api.example'
const other = 'https://other.example'
const minute = 60_000
const day = 1440 * minute

async function world(options: JwtOptions = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const data = memoryData()
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter(data)))
    .use(apiKeysPlugin())
    .use(jwtPlugin(options))
  await auth.ready()
  await memoryAdapter(data).createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null })
  const client = new Client(auth)
  await client.post('/callback/credentials', { user: 'ada' })
  const request = (headers: Record<string, string> = { cookie: client.cookieHeader() }) => new Request(`${origin}/`, { headers })
  const jwks = async () =>
    (await (await auth.handler(new Request(jwksUrl))).json()) as { keys: (Record<string, unknown> & { kid: string })[] }
  const token = async (audienceOf = audience, scope?: string) =>
    (await auth.jwt.issue(request(), { audience: audienceOf, scope }))!.accessToken
  const checks = async (more: Partial<VerifyAccessTokenOptions> = {}): Promise<VerifyAccessTokenOptions> => ({
    issuer: origin,
    audience,
    algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    jwks: await jwks(),
    now: base.runtime.now,
    ...more,
  })
  const ask = (body: Record<string, string>, headers: Record<string, string> = {}) =>
    auth.handler(new Request(`${origin}/auth/jwt/introspect`, { method: 'POST', body: new URLSearchParams(body), headers }))
  return { auth, client, request, jwks, token, checks, ask, runtime: base.runtime, log: base.logger, data }
}

const thrown = <E = HttpError>(work: Promise<unknown>): Promise<E> =>
  work.then(
    () => expect.unreachable(),
    (error: E) => error,
  )
const basic = (id: string, secret: string) => ({ authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` })
const secretOf = 's'.repeat(32)
const clients = [
  { id: 'api', secret: secretOf, audiences: [audience] },
  { id: 'other', secret: secretOf.replaceAll('s', 't'), audiences: [other] },
]

describe('a token', () => {
  it.each(['ES256', 'EdDSA', 'RS256', 'PS256'] as const)(
    '%s: has the claims of RFC 9068, and another library and node:crypto verify it',
    async (algorithm) => {
      // The other library knows the real clock only.
      const { auth, jwks, token, checks } = await world({ algorithm }, { runtime: { now: () => Date.now() } })
      const text = await token(audience, 'read write')
      const { keys } = await jwks()
      const {
        keys: [key],
      } = { keys }
      expect(decodeProtectedHeader(text)).toEqual({ alg: algorithm, typ: 'at+jwt', kid: key!.kid })
      expect(Object.keys(key!).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi'].includes(name))).toEqual([])
      const claims = decodeJwt(text)
      expect(claims).toMatchObject({
        iss: origin,
        aud: audience,
        sub: 'ada',
        client_id: origin,
        scope: 'read write',
        jti: expect.any(String) as string,
      })
      expect(claims.exp! - claims.iat!).toBe(600)
      const fetched: string[] = []
      const verified = await oauth.validateJwtAccessToken(
        { issuer: origin, jwks_uri: jwksUrl },
        new Request(audience, { headers: { authorization: `Bearer ${text}` } }),
        audience,
        {
          signingAlgorithms: [algorithm],
          [oauth.allowInsecureRequests]: true,
          [oauth.customFetch]: async (url: string, init: RequestInit) => {
            fetched.push(url)
            return auth.handler(new Request(url, init as RequestInit))
          },
        } as never,
      )
      expect([verified.sub, fetched]).toEqual(['ada', [jwksUrl]])
      const [head, body, signature] = text.split('.')
      const publicKey = createPublicKey({ key: key as never, format: 'jwk' })
      const algorithmOf = algorithm === 'EdDSA' ? null : 'sha256'
      expect(
        verifySignature(
          algorithmOf,
          Buffer.from(`${head}.${body}`),
          { key: publicKey, dsaEncoding: 'ieee-p1363', ...(algorithm === 'PS256' && { padding: constants.RSA_PKCS1_PSS_PADDING }) },
          Buffer.from(signature!, 'base64url'),
        ),
      ).toBe(true)
      expect(await verifyAccessToken(text, await checks({ algorithms: [algorithm], now: undefined, scope: 'read' }))).toMatchObject({
        sub: 'ada',
      })
    },
  )

  it('needs a session, and never outlives the session', async () => {
    const { auth, request, runtime } = await world({ maxAge: 3600 }, { session: { maxAge: 120 } })
    expect(await auth.jwt.issue(request({}), { audience })).toBeNull()
    expect((await auth.jwt.issue(request(), { audience }))?.expiresAt).toBe(Math.floor(runtime.now() / 1000) + 120)
  })

  it('says how the person signed in where that is known, and further claims replace none', async () => {
    const { token } = await world({
      claims: ({ audience: aud }) => ({ sub: 'eve', aud: 'x', iss: 'x', exp: 1, scope: 'admin', act: {}, tier: aud.length }),
    })
    expect(decodeJwt(await token())).toMatchObject({ sub: 'ada', aud: audience, iss: origin, tier: audience.length })
    const claims = decodeJwt(await token())
    expect([claims['scope'], claims['act'], claims.exp! > 1]).toEqual([undefined, undefined, true])
  })

  it('of an API key has the scopes of the key at most, its id as client, and its owner as subject', async () => {
    const { auth, request } = await world({ can: ({ scope }) => scope !== 'write' })
    const { key, id } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes: ['read', 'write'], expiresIn: 60 })
    const issued = await auth.jwt.issue(request({ 'x-api-key': key }), { audience, scope: 'read write admin' })
    expect([issued!.scope, decodeJwt(issued!.accessToken)]).toMatchObject(['read', { sub: 'ada', client_id: id, scope: 'read' }])
    expect(decodeJwt(issued!.accessToken).exp! - decodeJwt(issued!.accessToken).iat!).toBe(60)
    const service = await auth.apiKeys.create({ service: 'ci' }, { name: 'k' })
    const forCi = await auth.jwt.issue(request({ 'x-api-key': service.key }), { audience })
    expect(decodeJwt(forCi!.accessToken).sub).toBe('service:ci')
  })

  it('is refused for other audiences and scopes, for a user who acts for another, and where a hook says no', async () => {
    const { auth, request, token, checks } = await world({ audiences: [audience], scopes: ['read'] })
    expect((await thrown(auth.jwt.issue(request(), { audience: other }))).status).toBe(400)
    expect((await thrown(auth.jwt.issue(request(), { audience, scope: 'write' }))).status).toBe(400)
    expect((await thrown(auth.jwt.issue(request(), { audience: '' }))).status).toBe(400)
    expect(await verifyAccessToken(await token(), await checks())).toMatchObject({ sub: 'ada' })
    const stop = auth.hook('authenticate', () => ({ user: { id: 'ada' }, actor: { id: 'root' }, expires: '2030-01-01T00:00:00Z' }) as never)
    expect(await thrown(token())).toMatchObject({ type: 'AccessDenied' })
    stop()
    auth.hook('accessToken', ({ claims }) => claims['sub'] !== 'ada')
    expect(await thrown(token())).toMatchObject({ type: 'AccessDenied' })
  })

  it('is refused for a guest, also where the session shows the id of the guest, by the API and by the routes', async () => {
    const { auth } = await world({ audiences: [audience], routes: true })
    auth.use(guestPlugin())
    auth.hook('session', ({ session }) => ({ ...session, user: { ...session.user, id: 'guest' } }))
    const browser = new Client(auth)
    await browser.post('/guest')
    expect(await browser.session()).toMatchObject({ guest: true, user: { id: 'guest' } })
    const asks = new Request(`${origin}/`, { headers: { cookie: browser.cookieHeader() } })
    expect(await thrown(auth.jwt.issue(asks, { audience }))).toMatchObject({ type: 'AccessDenied' })
    const answer = await browser.send('/jwt/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ audience, csrfToken: await browser.csrfToken() }),
    })
    expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringContaining('access_token')])
  })
})

describe('verifyAccessToken', () => {
  // One pair: making a key takes longer than all the refusals.
  const keys = generateKeyPair('RS256')
  const signed = async (claims: JWTPayload, header: object = {}) => {
    const { privateKey, publicKey } = await keys
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }
    const now = Math.floor(Date.now() / 1000)
    const full = { iss: origin, aud: audience, sub: 'ada', client_id: 'c', jti: 'j', iat: now, exp: now + 60, ...claims }
    const text = await new SignJWT(full).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'k', ...header }).sign(privateKey)
    return { text, jwk, options: { issuer: origin, audience, algorithms: ['RS256' as const], jwks: { keys: [jwk] } } }
  }

  it('takes a good token, so that the refusals below are for what they name', async () => {
    const { text, options } = await signed({})
    expect(await verifyAccessToken(text, options)).toMatchObject({ sub: 'ada' })
  })

  it.each<[string, JWTPayload, object]>([
    ['an ID token', {}, { typ: 'JWT' }],
    ['a token without a type', {}, { typ: undefined }],
    ['another issuer', { iss: 'https://evil.example' }, {}],
    ['another audience', { aud: other }, {}],
    ['an old one', { exp: 1000 }, {}],
    ['one from the future', { iat: 9_999_999_999 }, {}],
    ['one without jti', { jti: undefined } as never, {}],
    ['one without client_id', { client_id: undefined }, {}],
    ['an address of keys (jku)', {}, { jku: 'https://evil.example/jwks.json' }],
    ['an address of a certificate (x5u)', {}, { x5u: 'https://evil.example/x' }],
    ['an embedded key (jwk)', {}, { jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }],
    ['an unknown key', {}, { kid: 'another' }],
  ])('refuses %s', async (_what, claims, header) => {
    const { text, options } = await signed(claims, header)
    expect(await thrown<InvalidAccessToken>(verifyAccessToken(text, options))).toMatchObject({
      type: 'InvalidAccessToken',
      status: 401,
      challenge: 'Bearer error="invalid_token"',
    })
  })

  it('refuses HS256 with the public key as secret, `none`, and what is no token', async () => {
    const { jwk, options } = await signed({})
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = part({ iss: origin, aud: audience, sub: 'eve', client_id: 'c', jti: 'j', iat: 1, exp: 9_999_999_999 })
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString()
    const hs = `${part({ alg: 'HS256', typ: 'at+jwt', kid: 'k' })}.${claims}`
    const forged = `${hs}.${createHmac('sha256', pem).update(hs).digest('base64url')}`
    for (const text of [forged, `${part({ alg: 'none', typ: 'at+jwt' })}.${claims}.`, '', 'x', 'a.b.c', 'x'.repeat(20_000), 7 as never])
      expect(await thrown(verifyAccessToken(text, options))).toBeInstanceOf(InvalidAccessToken)
  })

  it('demands issuer, audience and algorithms with a public key, and https', async () => {
    const { text, options } = await signed({})
    for (const wrong of [
      { issuer: '' },
      { audience: '' },
      { algorithms: [] },
      { algorithms: ['HS256'] },
      { algorithms: ['none'] },
      { algorithms: undefined },
      { clockTolerance: 3600 },
      { jwks: 'http://api.example/jwks' },
    ])
      expect(await thrown(verifyAccessToken(text, { ...options, ...wrong } as never))).toBeInstanceOf(TypeError)
  })

  it('fetches keys once, and says so when they cannot be had; a lacking scope is 403', async () => {
    const { text, jwk, options } = await signed({ scope: 'read' })
    let fetched = 0
    const fetch = (() => (fetched++, Promise.resolve(Response.json({ keys: [jwk] })))) as typeof globalThis.fetch
    for (let i = 0; i < 3; i++) await verifyAccessToken(text, { ...options, jwks: undefined, fetch, scope: ['read'] })
    expect(fetched).toBe(1)
    const gone = (() => Promise.resolve(new Response('', { status: 500 }))) as typeof globalThis.fetch
    expect(await thrown(verifyAccessToken(text, { ...options, jwks: undefined, fetch: gone }))).toBeInstanceOf(KeysUnavailable)
    expect(await thrown(verifyAccessToken(text, { ...options, scope: 'read write' }))).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
    })
  })
})

describe('signing keys', () => {
  it('the next key is published twice the cache age before it signs, the old one stays one token life and cache age after', async () => {
    const { token, jwks, checks, runtime } = await world({ rotateEvery: 86_400, jwksMaxAge: 600, maxAge: 600 })
    const kid = async () => decodeProtectedHeader(await token()).kid
    const first = await kid()
    runtime.advance(day - 21 * minute)
    expect([await kid(), (await jwks()).keys.length]).toEqual([first, 1])
    runtime.advance(minute)
    const published = (await jwks()).keys.map((key) => key.kid)
    expect([published.length, published[1], await kid()]).toEqual([2, first, first])
    runtime.advance(20 * minute - 1000)
    const last = await token()
    expect(decodeProtectedHeader(last).kid).toBe(first)
    runtime.advance(1000)
    expect(await kid()).toBe(published[0])
    runtime.advance(9 * minute)
    expect(await verifyAccessToken(last, await checks())).toMatchObject({ sub: 'ada' })
    runtime.advance(11 * minute - 1)
    expect((await jwks()).keys).toHaveLength(2)
    runtime.advance(1)
    expect((await jwks()).keys.map((key) => key.kid)).toEqual([published[0]])
  })

  it('many at once make one key, at the start and at the rotation', async () => {
    const { auth, token, jwks, runtime } = await world({ rotateEvery: 86_400 })
    const many = async () =>
      new Set((await Promise.all(Array.from({ length: 12 }, () => token()))).map((text) => decodeProtectedHeader(text).kid))
    expect([(await many()).size, (await jwks()).keys.length]).toEqual([1, 1])
    runtime.advance(day)
    expect([(await many()).size, (await jwks()).keys.length]).toEqual([1, 2])
    const [a, b] = await Promise.all([auth.jwt.rotate(), auth.jwt.rotate()])
    expect([a.kid, (await jwks()).keys.length]).toEqual([b.kid, 2])
  })

  it('a leaked key ends at once with its tokens, and each key is told', async () => {
    const { auth, token, jwks, checks } = await world()
    const told: unknown[] = []
    const audited: AuditRecord[] = []
    auth.on('keyRotated', ({ kid: key, alg, compromised }) => void told.push([key, alg, compromised]))
    auth.use(auditPlugin({ sink: (batch) => void audited.push(...batch), pause: 1 }))
    const old = await token()
    const { kid } = await auth.jwt.rotate({ compromised: true })
    expect(told).toEqual([
      [decodeProtectedHeader(old).kid, 'ES256', false],
      [kid, 'ES256', true],
    ])
    expect((await jwks()).keys.map((key) => key.kid)).toEqual([kid])
    expect(await thrown(verifyAccessToken(old, await checks()))).toBeInstanceOf(InvalidAccessToken)
    expect(decodeProtectedHeader(await token()).kid).toBe(kid)
    await auth.close()
    expect(audited.filter(({ name }) => name === 'key.rotated').map(({ target }) => target)).toEqual([
      { kid: decodeProtectedHeader(old).kid, alg: 'ES256', compromised: false },
      { kid, alg: 'ES256', compromised: true },
    ])
  })

  it('another algorithm comes by rotation, and the private key is sealed at rest', async () => {
    const { token, data } = await world()
    await token()
    const stored = JSON.stringify(data, (_name, value: unknown) => (value instanceof Map ? [...value] : value))
    expect(stored).toContain('jwtKey')
    expect(stored).not.toMatch(/\\*"d\\*":/)
    const runtime = baseConfig().runtime
    const auth = createAuth(baseConfig({ runtime }))
      .use(adapterPlugin(memoryAdapter(data)))
      .use(jwtPlugin({ algorithm: 'EdDSA' }))
    const algorithms = async () => (await auth.jwt.jwks(new Request(origin))).keys.map(({ alg }) => alg)
    expect(await algorithms()).toEqual(['EdDSA', 'ES256'])
  })

  it('JWKS is public: cached, for scripts of other origins, without cookies', async () => {
    const { auth } = await world({ jwksMaxAge: 300 })
    const { status, headers } = await auth.handler(new Request(jwksUrl, { headers: { origin: 'https://spa.example' } }))
    expect([
      status,
      headers.get('cache-control'),
      headers.get('access-control-allow-origin'),
      headers.get('content-type'),
      headers.getSetCookie(),
    ]).toEqual([200, 'public, max-age=300', '*', 'application/jwk-set+json', []])
    expect(auth.rootPaths).toContain('/.well-known/jwks.json')
  })
})

it('keys and tokens of one tenant are unknown in another', async () => {
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(
      tenantsPlugin({
        settings: (request) => ({ namespace: new URL(request.url).hostname.split('.')[0]! }),
        tenant: (namespace) => ({ namespace }),
      }),
    )
    .use(jwtPlugin({ issuer: 'https://one.example', introspection: { clients } }))
  auth.hook('authenticate', () => ({ user: { id: 'ada' }, expires: '2999-01-01T00:00:00.000Z' }))
  const { accessToken } = (await auth.jwt.issue(new Request('http://a.example/'), { audience }))!
  const ask = async (host: string) =>
    (
      await auth.handler(
        new Request(`http://${host}.example/auth/jwt/introspect`, {
          method: 'POST',
          body: new URLSearchParams({ token: accessToken }),
          headers: basic('api', secretOf),
        }),
      )
    ).text()
  expect([await ask('a'), await ask('b')]).toEqual([expect.stringContaining('"active":true'), '{"active":false}'])
  const kids = async (host: string) => (await auth.jwt.jwks(new Request(`http://${host}.example/`))).keys.map(({ kid }) => kid)
  const { kid } = await auth.jwt.rotate({ tenant: 'a', compromised: true })
  expect([await kids('a'), (await kids('b')).includes(kid), await ask('a')]).toEqual([[kid], false, '{"active":false}'])
})

describe('routes', () => {
  it('give a token to an own page and to an API key, and to no other caller', async () => {
    const { auth, client } = await world({ routes: true, audiences: [audience], scopes: ['read'] })
    const post = (who: Client, body: object, from = who.origin) =>
      who.send('/jwt/token', { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', origin: from } })
    const answer = await post(client, { audience, scope: 'read' })
    expect([answer.headers.get('cache-control'), await answer.json()]).toMatchObject([
      'private, no-store',
      { token_type: 'Bearer', expires_in: 600, scope: 'read' },
    ])
    expect((await post(client, { audience }, 'https://evil.example')).status).toBe(403)
    expect((await post(new Client(auth), { audience })).status).toBe(401)
    for (const body of [{}, { audience: other }, { audience: 7 }, { audience, scope: 'admin' }, { audience, scope: ['read'] }, []])
      expect([body, (await post(client, body)).status]).toEqual([body, 400])
    const program = (headers: Record<string, string>) =>
      auth.handler(
        new Request(`${origin}/auth/jwt/key-token`, { method: 'POST', body: new URLSearchParams({ audience, scope: 'read' }), headers }),
      )
    const { key } = await auth.apiKeys.create({ service: 'ci' }, { name: 'k', scopes: ['read'] })
    expect(await (await program({ authorization: `Bearer ${key}` })).json()).toMatchObject({ scope: 'read' })
    expect((await program({ cookie: client.cookieHeader() })).status).toBe(401)
  })

  it.each(['token', 'key-token', 'introspect'])(
    '%s answers OAuth JSON for a body that it cannot take, and the refusal is told',
    async (name) => {
      const introspection = { clients: [{ id: 'api', secret: 's'.repeat(32), audiences: [audience] }] }
      const { auth } = await world({ routes: true, audiences: [audience], introspection })
      const reasons: string[] = []
      auth.on('refused', ({ reason }) => void reasons.push(reason))
      const send = async (body: string, type: string): Promise<unknown[]> => {
        const headers = { 'content-type': type, origin }
        const response = await auth.handler(new Request(`${origin}/auth/jwt/${name}`, { method: 'POST', body, headers }))
        return [response.status, await response.json()]
      }
      const saying = (words: string): unknown => ({ error: 'invalid_request', error_description: expect.stringContaining(words) as string })
      expect(await send('<a/>', 'text/xml')).toEqual([415, saying('Unsupported media type.')])
      expect(await send(`a=${'x'.repeat(20_000)}`, 'application/x-www-form-urlencoded')).toEqual([413, saying('larger than')])
      expect(reasons).toEqual(['body', 'body'])
    },
  )
})

describe('introspection', () => {
  it('tells a caller of tokens for its audience; of no other', async () => {
    const { ask, token, runtime } = await world({ introspection: { clients } })
    const text = await token(audience, 'read')
    const mine = await ask({ token: text }, basic('api', secretOf))
    expect([mine.status, mine.headers.get('cache-control'), await mine.json()]).toMatchObject([
      200,
      'private, no-store',
      { active: true, token_type: 'Bearer', iss: origin, sub: 'ada', aud: audience, scope: 'read', client_id: origin },
    ])
    expect(await (await ask({ token: text, client_id: 'api', client_secret: secretOf })).json()).toMatchObject({ active: true })
    const dead = [
      await ask({ token: text }, basic('other', 't'.repeat(32))),
      await ask({ token: `${text}x` }, basic('api', secretOf)),
      await ask({ token: 'opaque' }, basic('api', secretOf)),
      await ask({ token: 'x'.repeat(9000) }, basic('api', secretOf)),
    ]
    runtime.advance(10 * minute)
    dead.push(await ask({ token: text }, basic('api', secretOf)))
    for (const response of dead) expect([response.status, await response.text()]).toEqual([200, '{"active":false}'])
  })

  it('asks who asks: no client, a wrong secret and two ways at once are refused', async () => {
    const { ask, token, client } = await world({ introspection: { clients } })
    const text = await token()
    for (const headers of [
      {},
      basic('api', 'wrong'),
      basic('nobody', ''),
      { authorization: 'Basic %%%' },
      { authorization: 'Bearer x' },
      { cookie: client.cookieHeader() },
    ]) {
      const response = await ask({ token: text }, headers as Record<string, string>)
      expect([headers, response.status, response.headers.get('www-authenticate'), await response.json()]).toEqual([
        headers,
        401,
        'Basic realm="introspection"',
        { error: 'invalid_client' },
      ])
    }
    expect((await ask({ token: text, client_id: 'api', client_secret: secretOf }, basic('api', secretOf))).status).toBe(400)
    expect((await ask({}, basic('api', secretOf))).status).toBe(400)
  })

  it('takes an API key where the option says for which audiences', async () => {
    const { auth, ask, token } = await world({
      introspection: { apiKey: ({ apiKey }) => (apiKey.scopes.includes('introspect') ? [audience] : []) },
    })
    const text = await token()
    const may = await auth.apiKeys.create({ service: 'api' }, { name: 'k', scopes: ['introspect'] })
    const mayNot = await auth.apiKeys.create({ service: 'x' }, { name: 'k' })
    expect(await (await ask({ token: text }, { 'x-api-key': may.key })).json()).toMatchObject({ active: true, sub: 'ada' })
    expect(await (await ask({ token: text }, { 'x-api-key': mayNot.key })).text()).toBe('{"active":false}')
    expect(await (await ask({ token: await token(other) }, { 'x-api-key': may.key })).text()).toBe('{"active":false}')
  })

  it('asks other plugins about opaque tokens, and tells only what is for an audience of the caller', async () => {
    const { auth, ask, token } = await world({ introspection: { clients } })
    const known: Record<string, object | null> = {
      mine: { sub: 'ada', aud: audience },
      both: { sub: 'ada', aud: [other, audience] },
      theirs: { sub: 'ada', aud: other },
      none: { sub: 'ada' },
      dead: null,
    }
    auth.hook('introspect', ({ token: text }) => known[text] as Record<string, unknown> | null | undefined)
    const told = async (text: string) => (await (await ask({ token: text }, basic('api', secretOf))).json()) as { active: boolean }
    expect(await told('mine')).toEqual({ active: true, token_type: 'Bearer', sub: 'ada', aud: audience })
    expect((await told('both')).active).toBe(true)
    for (const text of ['theirs', 'none', 'dead', 'unknown']) expect([text, await told(text)]).toEqual([text, { active: false }])
    expect((await told(await token())).active).toBe(true)
  })

  it('a token of a person whom a hook refuses, or who was deleted, is not active', async () => {
    const { auth, ask, token, data } = await world({ introspection: { clients } })
    const text = await token()
    const active = async () => ((await (await ask({ token: text }, basic('api', secretOf))).json()) as { active: boolean }).active
    expect(await active()).toBe(true)
    const lift = auth.hook('accessToken', () => false)
    expect(await active()).toBe(false)
    lift()
    expect(await active()).toBe(true)
    const stored = createAuth(baseConfig({ session: { strategy: 'database' } }))
      .use(adapterPlugin(memoryAdapter(data)))
      .use(jwtPlugin({ introspection: { clients } }))
    const askThere = async () =>
      (
        await stored.handler(
          new Request(`${origin}/auth/jwt/introspect`, {
            method: 'POST',
            body: new URLSearchParams({ token: text }),
            headers: basic('api', secretOf),
          }),
        )
      ).text()
    expect(await askThere()).toContain('"active":true')
    await memoryAdapter(data).deleteUser!('ada')
    expect(await askThere()).toBe('{"active":false}')
  })
})

it.each<JwtOptions>([
  { issuer: 'http://api.example' },
  { issuer: 'https://api.example/?a' },
  { algorithm: 'HS256' as never },
  { maxAge: 5 },
  { maxAge: 86_400 },
  { jwksMaxAge: 0 },
  { rotateEvery: 60 },
  { routes: true },
  { audiences: [''] },
  { introspection: {} },
  { introspection: { clients: [{ id: 'a', secret: 'short', audiences: ['a'] }] } },
  { introspection: { clients: [{ id: 'a', secret: secretOf, audiences: [] }] } },
])('refuses the options %j', (options) => expect(() => jwtPlugin(options)).toThrow('Plugin "jwt": `'))
