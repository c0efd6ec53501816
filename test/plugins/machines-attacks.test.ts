/** Every credential for machines in the place of every other one: none opens more than it was made for, and none lets the cookie speak instead. */
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { begin, discover, finish, loopback, origin, refusal, signIn, ticketOf, visit } from './_app.ts'

const audience = 'https://api.example'
const clients = [{ id: 'api', secret: 's'.repeat(32), audiences: [origin, audience] }]
const apps = [{ id: 'desktop', name: 'Acme', redirectUris: ['http://127.0.0.1/cb', 'http://[::1]/cb'], scopes: ['read'] }]
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

it('a banned user keeps nothing: cookie, key, app, signed token, approved device, code', async () => {
  const base = baseConfig({
    session: { strategy: 'database' },
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) }],
  })
  const store = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(adminPlugin({ can: () => true }))
    .use(apiKeysPlugin())
    .use(jwtPlugin({ introspection: { clients }, audiences: [audience] }))
    .use(bearerPlugin({ apps }))
    .use(deviceFlowPlugin({ apps: ['desktop'] }))
  await auth.ready()
  for (const id of ['ada', 'root']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: null })
  const ada = new Client(auth)
  await ada.post('/callback/credentials', { user: 'ada' })
  const cookies = () => new Request(origin, { headers: { cookie: ada.cookieHeader() } })
  const config = await discover(auth)
  const tokens = await signIn(config, ada)
  const begun = await begin(config)
  const location = await visit(ada, begun.url)
  const device = await openid.initiateDeviceAuthorization(config, {})
  const ticket = ticketOf(await (await ada.post('/device', { user_code: device.user_code })).text())
  await ada.post('/device/decide', { ticket, decision: 'allow' })
  const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k' })
  const signed = (await auth.jwt.issue(cookies(), { audience }))!.accessToken
  const held = async () => {
    const by = async (headers: Record<string, string>) => (await auth.session(new Request(origin, { headers }))) !== null
    const body = new URLSearchParams({ token: signed, client_id: 'api', client_secret: clients[0]!.secret })
    const told = await auth.handler(new Request(`${origin}/auth/jwt/introspect`, { method: 'POST', body }))
    const { active } = (await told.json()) as { active: boolean }
    const cookie = ada.cookieHeader()
    return [await by({ cookie }), await by({ 'x-api-key': key }), await by({ authorization: `Bearer ${tokens.access_token}` }), active]
  }
  expect(await held()).toEqual([true, true, true, true])
  await auth.admin.ban({ userId: 'root' }, 'ada', { reason: 'spam' })
  expect(await held()).toEqual([false, false, false, false])
  expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
  expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
  expect(await refusal(openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.01 }))).toBe('invalid_grant')
  expect(await auth.apiKeys.verify(cookies(), key)).toBeNull()
})

describe.each([
  ['jwt', 'opaque'],
  ['database', 'opaque'],
  ['database', 'jwt'],
] as const)('strategy %s, access tokens %s', (strategy, format) => {
  let world: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    world = await start()
  })

  async function start() {
    const base = baseConfig({
      session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
      providers: [
        { id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
      ],
    })
    const store = memoryAdapter()
    const auth = createAuth(base)
      .use(adapterPlugin(store))
      .use(apiKeysPlugin({ routes: true, accountSection: true }))
      .use(jwtPlugin({ introspection: { clients }, audiences: [audience], routes: true }))
      .use(bearerPlugin({ apps, accessToken: { format } }))
      .use(deviceFlowPlugin({ apps: ['desktop'] }))
    await auth.ready()
    for (const id of ['ada', 'eve']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: null })
    const browser = async (user: string) => {
      const client = new Client(auth)
      await client.post('/callback/credentials', { user })
      return client
    }
    const [ada, eve] = [await browser('ada'), await browser('eve')]
    const config = await discover(auth)
    const begun = await begin(config)
    const location = await visit(ada, begun.url)
    const tokens = await finish(config, begun, location)
    const next = await begin(config)
    const code = new URL(await visit(ada, next.url)).searchParams.get('code')!
    const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields), headers }))
    const device = (await (await post('/oauth/device', { client_id: 'desktop' })).json()) as Record<string, string>
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes: ['read'] })
    const asked = new Request(origin, { headers: { 'x-api-key': key } })
    const signed = (await auth.jwt.issue(asked, { audience }))!.accessToken
    const cookies = new Map(
      ada
        .cookieHeader()
        .split('; ')
        .map((pair) => pair.split('=') as [string, string]),
    )
    const cookieName = [...cookies.keys()].find((name) => name.endsWith('session-token'))!
    const texts = {
      key,
      access: tokens.access_token,
      refresh: tokens.refresh_token!,
      code,
      device: device['device_code']!,
      user: device['user_code']!,
      signed,
      cookie: cookies.get(cookieName)!,
    }
    return { auth, eve, post, texts, cookieName, verifier: next.verifier }
  }
  type Kind = keyof Awaited<ReturnType<typeof start>>['texts']
  const others = (...good: Kind[]) => (Object.entries(world.texts) as [Kind, string][]).filter(([kind]) => !good.includes(kind))

  it('nothing but the cookie is a cookie', async () => {
    const { auth, cookieName, texts } = world
    const by = (value: string) => auth.session(new Request(origin, { headers: { cookie: `${cookieName}=${value}` } }))
    expect((await by(texts.cookie))?.user?.name).toBe('ada')
    for (const [kind, text] of others('cookie')) expect([kind, await by(text)]).toEqual([kind, null])
  })

  it('nothing but an access token and a key signs in by Authorization, and x-api-key takes keys alone, beside a cookie of another person too', async () => {
    const { auth, eve, texts } = world
    const cookie = eve.cookieHeader()
    const read = (headers: Record<string, string>) => auth.session(new Request(origin, { headers }))
    expect((await read({ authorization: `Bearer ${texts.access}`, cookie }))?.user?.id).toBe('ada')
    for (const scheme of ['Bearer', 'DPoP'])
      for (const [kind, text] of others('access', 'key'))
        expect([scheme, kind, await read({ authorization: `${scheme} ${text}` })]).toEqual([scheme, kind, null])
    for (const [kind, text] of others('key')) expect([kind, await read({ 'x-api-key': text, cookie })]).toEqual([kind, null])
    // What is a token of ours, or looks like one, never lets the cookie speak.
    for (const text of [
      texts.refresh,
      `${texts.access} x`,
      `${texts.access}, Bearer ${texts.access}`,
      `${texts.key} ${texts.key}`,
      `${texts.key}x`,
    ])
      expect([text, await read({ authorization: `Bearer ${text}`, cookie })]).toEqual([text, null])
    for (const text of [texts.access, texts.key])
      expect([text, await read({ authorization: `DPoP ${text}`, cookie })]).toEqual([text, null])
    for (const text of [texts.access, texts.key])
      expect(await auth.session(new Request(`${origin}/?access_token=${text}&api_key=${text}`))).toBeNull()
  })

  it('nothing but its own kind is taken by the token endpoint', async () => {
    const { post, verifier } = world
    const token = async (fields: Record<string, string>) =>
      (await (await post('/oauth/token', { client_id: 'desktop', ...fields })).json()) as { error?: string }
    for (const [kind, text] of others('refresh'))
      expect([kind, await token({ grant_type: 'refresh_token', refresh_token: text })]).toEqual([kind, { error: 'invalid_grant' }])
    const rest = { redirect_uri: loopback, code_verifier: verifier }
    for (const [kind, text] of others('code'))
      expect([kind, await token({ grant_type: 'authorization_code', code: text, ...rest })]).toEqual([kind, { error: 'invalid_grant' }])
    for (const [kind, text] of others('device'))
      expect([kind, await token({ grant_type: deviceGrant, device_code: text })]).toEqual([kind, { error: 'invalid_grant' }])
  })

  it('introspection knows access tokens alone', async () => {
    const { post } = world
    for (const [kind, text] of others('access', 'signed')) {
      const answer = await post('/jwt/introspect', { token: text, client_id: 'api', client_secret: clients[0]!.secret })
      expect([kind, await answer.text()]).toEqual([kind, '{"active":false}'])
    }
  })

  it('a signed token that a key or an app asked for is not active any more when the key is revoked or the app signed out', async () => {
    const { auth, post, texts } = await start()
    const active = async (token: string) => {
      const answer = await post('/jwt/introspect', { token, client_id: 'api', client_secret: clients[0]!.secret })
      return ((await answer.json()) as { active: boolean }).active
    }
    const byApp = await auth.jwt.issue(new Request(origin, { headers: { authorization: `Bearer ${texts.access}` } }), { audience })
    expect([await active(texts.signed), await active(byApp!.accessToken)]).toEqual([true, true])
    const [made] = await auth.apiKeys.list({ userId: 'ada' })
    await auth.apiKeys.revoke({ userId: 'ada' }, made!.id)
    expect([await active(texts.signed), await active(byApp!.accessToken)]).toEqual([false, true])
    await post('/oauth/revoke', { client_id: 'desktop', token: texts.refresh })
    expect(await active(byApp!.accessToken)).toBe(false)
  })

  it('a program with a key or a token changes nothing of its person, with the cookie of that person or of another beside it', async () => {
    const { auth, eve, texts } = world
    const cookie = eve.cookieHeader()
    for (const credential of [
      { authorization: `Bearer ${texts.access}` },
      { 'x-api-key': texts.key },
      { authorization: `Bearer ${texts.key}` },
    ]) {
      for (const [method, path, body] of [
        ['POST', '/api-keys', { name: 'more', scopes: ['read'] }],
        ['POST', '/session', { user: { name: 'x' } }],
        ['POST', '/device', { user_code: texts.user }],
        ['POST', '/account/api-keys', { action: 'create', name: 'more' }],
      ] as const) {
        const request = new Request(`${origin}/auth${path}`, {
          method,
          headers: { ...credential, cookie, 'content-type': 'application/json', origin },
          body: JSON.stringify(body),
        })
        const answer = await auth.handler(request)
        expect([
          path,
          answer.status >= 200 && answer.status < 300,
          answer.headers.getSetCookie().some((line) => line.includes('session-token')),
        ]).toEqual([path, false, false])
      }
    }
    expect([(await auth.apiKeys.list({ userId: 'ada' })).length, (await auth.apiKeys.list({ userId: 'eve' })).length]).toEqual([1, 0])
  })

  it('PKCE cannot be left out, weakened or answered by a guess; a code goes to the address that asked', async () => {
    const { auth, post } = await start()
    const config = await discover(auth)
    const ada = new Client(auth)
    await ada.post('/callback/credentials', { user: 'ada' })
    const take = async (change: Record<string, string | undefined>, redirect = loopback) => {
      const begun = await begin(config, redirect)
      const code = new URL(await visit(ada, begun.url)).searchParams.get('code')!
      const fields = {
        grant_type: 'authorization_code',
        client_id: 'desktop',
        code,
        code_verifier: begun.verifier,
        redirect_uri: redirect,
        ...change,
      }
      const given = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined)
      return ((await (await post('/oauth/token', Object.fromEntries(given))).json()) as { error?: string }).error
    }
    const challenge = (await begin(config)).url.searchParams.get('code_challenge')!
    expect(await take({})).toBeUndefined()
    expect(await take({ code_verifier: undefined })).toBe('invalid_request')
    for (const code_verifier of [challenge, 'x', ' '.repeat(43), 'x'.repeat(129)])
      expect(await take({ code_verifier })).toBe('invalid_grant')
    for (const redirect_uri of [undefined, 'http://127.0.0.1:49153/cb', 'http://[::1]:49152/cb', 'http://127.0.0.1/cb'])
      expect([redirect_uri, await take({ redirect_uri })]).toEqual([redirect_uri, 'invalid_grant'])
    expect(await take({}, 'http://[::1]:1/cb')).toBeUndefined()
  })
})
