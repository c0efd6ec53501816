/** API keys: their text, who they are, what they may not do, and how they end. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, HttpError } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ApiKeysOptions, apiKeysPlugin, findKeys, keyPattern, scannerPattern } from 'authkernel/plugins/api-keys'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { pagesPlugin } from 'authkernel/plugins/pages'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'

const hour = 3_600_000

async function world(options: ApiKeysOptions = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const data = memoryData()
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter(data)))
    .use(apiKeysPlugin(options))
  const ada = await auth
    .ready()
    .then(() => memoryAdapter(data).createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null }))
  const eve = await memoryAdapter(data).createUser!({ id: 'eve', email: 'eve@example.com', name: 'Eve', emailVerified: null })
  const browser = async (userId = ada.id) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user: userId })
    return client
  }
  const request = (headers: Record<string, string> = {}, path = '/') => new Request(`http://localhost:3000${path}`, { headers })
  const bearer = (key: string) => request({ authorization: `Bearer ${key}` })
  return { auth, ada, eve, browser, request, bearer, runtime: base.runtime, log: base.logger, data }
}

const thrown = (work: Promise<unknown>): Promise<HttpError> =>
  work.then(
    () => expect.unreachable(),
    (error: HttpError) => error,
  )

describe.each(['jwt', 'database'] as const)('a key under the %s strategy', (strategy) => {
  const start = (options?: ApiKeysOptions) => world(options, { session: { strategy } })

  it('signs in by Authorization and by x-api-key, and says what it may', async () => {
    const { auth, ada, bearer, request } = await start()
    const { key, id } = await auth.apiKeys.create({ userId: ada.id }, { name: 'deploy', scopes: ['deploy', 'read', 'read'] })
    for (const by of [bearer(key), request({ 'x-api-key': key })]) {
      const session = await auth.session(by)
      expect(session?.user).toMatchObject({ email: 'ada@example.com', name: 'Ada' })
      expect(session?.apiKey).toEqual({ id, name: 'deploy', env: 'live', scopes: ['deploy', 'read'], owner: { userId: ada.id } })
    }
    expect(await auth.session(request({}, `/?api_key=${key}&access_token=${key}`))).toBeNull()
  })

  it('no user makes one for a user whose address was only typed beside a passkey, before it is proved', async () => {
    const { auth, ada, browser, data } = await start({ routes: true })
    auth.use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => {} }) })
    const store = memoryAdapter(data)
    await store.linkAccount!({ userId: ada.id, provider: 'passkey', providerAccountId: 'k', type: 'webauthn' })
    const client = await browser()
    const ask = () =>
      auth.handler(
        new Request('http://localhost:3000/auth/api-keys', {
          method: 'POST',
          headers: { cookie: client.cookieHeader(), 'content-type': 'application/json', origin: 'http://localhost:3000' },
          body: JSON.stringify({ name: 'k' }),
        }),
      )
    expect((await ask()).status).toBe(403)
    expect(await thrown(auth.apiKeys.create({ userId: ada.id }, { name: 'k' }))).toMatchObject({ status: 403 })
    expect(await auth.apiKeys.list({ userId: ada.id })).toEqual([])
    await store.updateUser!({ id: ada.id, emailVerified: new Date() })
    expect((await ask()).status).toBe(201)
  })

  it('a session that proved nothing for a while makes and replaces no key, ends one, and does so again after a proof', async () => {
    const { auth, ada, browser, request, runtime } = await start({ routes: true, accountSection: true, proofAge: 120 })
    auth.use(pagesPlugin())
    const client = await browser()
    const own = () => request({ cookie: client.cookieHeader() })
    const post = (path: string, body = '{}') =>
      client.send(path, { method: 'POST', body, headers: { 'content-type': 'application/json', origin: client.origin } })
    const first = await auth.apiKeys.create(own(), { name: 'a' })
    runtime.advance(121_000)
    for (const work of [auth.apiKeys.create(own(), { name: 'b' }), auth.apiKeys.rotate(own(), first.id)])
      expect(await thrown(work)).toMatchObject({ type: 'StepUpRequired', status: 403 })
    for (const path of ['/api-keys', `/api-keys/${first.id}/rotate`]) {
      const answer = await post(path, '{"name":"b"}')
      expect([answer.status, await answer.json()]).toMatchObject([403, { type: 'StepUpRequired' }])
    }
    const led = await client.post('/account/api-keys', { action: 'create', name: 'b', days: '30' })
    expect([led.status, new URL(led.headers.get('location')!, client.origin).pathname]).toEqual([302, '/auth/signin'])
    expect(await auth.apiKeys.list({ userId: ada.id })).toHaveLength(1)
    // The host app answers for its own calls, and an ending waits for no proof.
    const second = await auth.apiKeys.create({ userId: ada.id }, { name: 'c' })
    expect(await auth.apiKeys.revoke(own(), second.id)).toBe(true)
    await client.post('/callback/credentials', { user: ada.id })
    expect((await post(`/api-keys/${first.id}/rotate`)).status).toBe(201)
  })

  it('a bad key is signed out, never the cookie; a good key beats the cookie', async () => {
    const { auth, ada, eve, browser, request } = await start()
    const cookie = (await browser(eve.id)).cookieHeader()
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    expect((await auth.session(request({ cookie })))?.user?.name?.toLowerCase()).toBe('eve')
    expect((await auth.session(request({ cookie, 'x-api-key': key })))?.user?.email).toBe('ada@example.com')
    const other = key.endsWith('0') ? '1' : '0'
    for (const bad of ['x', `${key.slice(0, -1)}${other}`, key.replace('ak_live', 'ak_test'), key.toUpperCase(), `${key} `.repeat(2)])
      expect([bad, await auth.session(request({ cookie, 'x-api-key': bad }))]).toEqual([bad, null])
  })

  it('changes no keys, sets no cookies, and lists its own owner only', async () => {
    const { auth, ada, bearer, browser } = await start({ routes: true })
    const client = await browser()
    const made = await client.send('/api-keys', {
      method: 'POST',
      body: '{"name":"a"}',
      headers: { 'content-type': 'application/json', origin: client.origin },
    })
    expect(made.status).toBe(201)
    const { key, id } = (await made.json()) as { key: string; id: string }
    for (const work of [
      auth.apiKeys.create(bearer(key), { name: 'b' }),
      auth.apiKeys.rotate(bearer(key), id),
      auth.apiKeys.revoke(bearer(key), id),
    ])
      expect(await thrown(work)).toMatchObject({ type: 'AccessDenied' })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', origin: client.origin }
    const base = 'http://localhost:3000/auth'
    expect((await auth.handler(new Request(`${base}/api-keys`, { method: 'POST', body: '{"name":"c"}', headers }))).status).toBe(403)
    const session = await auth.handler(new Request(`${base}/session`, { headers }))
    expect(session.headers.getSetCookie()).toEqual([])
    expect((await auth.apiKeys.list(bearer(key))).map(({ id: each }) => each)).toEqual([id])
    expect(await auth.apiKeys.list({ userId: ada.id })).toHaveLength(1)
  })
})

describe('the text of a key', () => {
  it('is found by a scanner, and its check digits find a typing mistake before anything is looked up', async () => {
    const { auth, ada } = await world({ prefix: 'acme', env: 'test' })
    const { key, shown } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    expect(key).toMatch(/^acme_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
    expect(keyPattern('acme').test(key)).toBe(true)
    expect(shown).toBe(`acme_test_${key.split('_')[2]!.slice(0, 4)}…${key.slice(-4)}`)
  })

  it('is found in a leaked file by the expression, in this engine and in that of grep', async () => {
    const { auth, ada } = await world({ prefix: 'acme' })
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    const typo = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
    const near = [`x${key}`, `${key}x`, key.replace('acme', 'other'), key.slice(0, -1), key.toUpperCase()]
    const leaked = `# .env\nACME_KEY="${key}"\nurl: https://api.example/?k=${key}&x=1\ntypo=${typo}\n${near.join('\n')}\n`
    expect(leaked.match(scannerPattern('acme'))).toEqual([key, key, typo])
    expect(findKeys(leaked, 'acme')).toEqual([key])
    expect(findKeys('nothing', 'acme')).toEqual([])
    const folder = mkdtempSync(join(tmpdir(), 'authkernel-leak-'))
    writeFileSync(join(folder, 'settings.yml'), leaked)
    const found = execFileSync('grep', ['-rohE', scannerPattern('acme').source, folder], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(found.trim().split('\n')).toEqual([key, key, typo])
  })

  it('is stored as a hash alone', async () => {
    const { auth, ada, data } = await world()
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    const all = JSON.stringify(data, (_name, value: unknown) => (value instanceof Map ? [...value] : value))
    expect(all).not.toContain(key.split('_')[3])
    expect(JSON.stringify(await auth.apiKeys.list({ userId: ada.id }))).not.toContain(key.split('_')[3])
  })
})

describe('how a key ends', () => {
  it('by revocation, by expiry, and with its owner', async () => {
    const { auth, ada, eve, bearer, runtime } = await world()
    const [a, b, c] = [
      await auth.apiKeys.create({ userId: ada.id }, { name: 'a' }),
      await auth.apiKeys.create({ userId: ada.id }, { name: 'b', expiresIn: 3600 }),
      await auth.apiKeys.create({ service: 'ci' }, { name: 'c' }),
    ]
    expect(await auth.apiKeys.revoke({ userId: eve.id }, a.id)).toBe(false)
    expect(await auth.session(bearer(a.key))).not.toBeNull()
    expect(await auth.apiKeys.revoke({ userId: ada.id }, a.id)).toBe(true)
    expect(await auth.session(bearer(a.key))).toBeNull()
    runtime.advance(hour - 1)
    expect(await auth.session(bearer(b.key))).not.toBeNull()
    runtime.advance(1)
    expect(await auth.session(bearer(b.key))).toBeNull()
    expect((await auth.session(bearer(c.key)))?.apiKey?.owner).toEqual({ service: 'ci' })
    expect(await auth.apiKeys.list({ service: 'other' })).toEqual([])
  })

  it('when a hook says that its owner is banned', async () => {
    const { auth, ada, bearer } = await world()
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    let banned = false
    auth.hook('apiKey', () => !banned)
    expect(await auth.session(bearer(key))).not.toBeNull()
    banned = true
    expect(await auth.session(bearer(key))).toBeNull()
  })

  it('by rotation, after the overlap: at most two are live, and of many rotations at once one wins', async () => {
    const { auth, ada, bearer, runtime } = await world({ overlap: 3600 })
    const who = { userId: ada.id }
    const first = await auth.apiKeys.create(who, { name: 'k', scopes: ['read'] })
    const many = await Promise.all(Array.from({ length: 8 }, () => auth.apiKeys.rotate(who, first.id)))
    const [second, ...more] = many.filter((made) => made !== null)
    expect(more).toEqual([])
    expect(second).toMatchObject({ name: 'k', scopes: ['read'], rotated: false })
    expect([await auth.session(bearer(first.key)), await auth.session(bearer(second!.key))].map((session) => session !== null)).toEqual([
      true,
      true,
    ])
    const third = await auth.apiKeys.rotate(who, second!.id)
    expect(await auth.session(bearer(first.key))).toBeNull()
    expect(await auth.session(bearer(second!.key))).not.toBeNull()
    runtime.advance(hour)
    expect(await auth.session(bearer(second!.key))).toBeNull()
    expect(await auth.session(bearer(third!.key))).not.toBeNull()
  })
})

describe('limits', () => {
  it('two different keys are 400, too many uses 429 with Retry-After', async () => {
    const { auth, ada, bearer, request } = await world({ limit: { max: 2, seconds: 60 } })
    const a = await auth.apiKeys.create({ userId: ada.id }, { name: 'a' })
    const b = await auth.apiKeys.create({ userId: ada.id }, { name: 'b' })
    const both = request({ authorization: `Bearer ${a.key}`, 'x-api-key': b.key })
    expect((await thrown(auth.session(both))).status).toBe(400)
    await auth.session(bearer(a.key))
    await auth.session(bearer(a.key))
    const late = await auth.handler(new Request('http://localhost:3000/auth/session', { headers: { authorization: `Bearer ${a.key}` } }))
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await auth.session(bearer(b.key))).not.toBeNull()
  })

  it('scopes are a subset of the rights of the owner at use', async () => {
    const rights = new Set(['read', 'write'])
    const { auth, ada, bearer } = await world({ scopes: ['read', 'write', 'admin'], can: ({ scope }) => rights.has(scope) })
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k', scopes: ['read', 'write'] })
    expect((await thrown(auth.apiKeys.create({ userId: ada.id }, { name: 'k', scopes: ['admin'] }))).status).toBe(403)
    expect((await thrown(auth.apiKeys.create({ userId: ada.id }, { name: 'k', scopes: ['unknown'] }))).status).toBe(400)
    rights.delete('write')
    expect((await auth.session(bearer(key)))?.apiKey?.scopes).toEqual(['read'])
    expect(await auth.apiKeys.list({ userId: ada.id })).toHaveLength(1)
  })

  it('an owner has at most `max` live keys', async () => {
    const { auth, ada, eve } = await world({ max: 2 })
    for (const name of ['a', 'b']) await auth.apiKeys.create({ userId: ada.id }, { name })
    expect((await thrown(auth.apiKeys.create({ userId: ada.id }, { name: 'c' }))).status).toBe(409)
    await auth.apiKeys.create({ userId: eve.id }, { name: 'a' })
  })

  it('the last use is written at most once a minute', async () => {
    const { auth, ada, bearer, runtime } = await world()
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    const used = async () => (await auth.apiKeys.list({ userId: ada.id }))[0]?.lastUsed?.getTime()
    await auth.session(bearer(key))
    const first = await used()
    expect(first).toBe(runtime.now())
    runtime.advance(59_000)
    await auth.session(bearer(key))
    expect(await used()).toBe(first)
    runtime.advance(1_000)
    await auth.session(bearer(key))
    expect(await used()).toBe(runtime.now())
  })
})

describe('tenants, routes and options', () => {
  it('a key of one tenant is unknown in another', async () => {
    const base = baseConfig()
    const auth = createAuth(base)
      .use(adapterPlugin(memoryAdapter()))
      .use(
        tenantsPlugin({
          settings: (request) => ({ namespace: new URL(request.url).hostname.split('.')[0]! }),
          tenant: (namespace) => ({ namespace }),
        }),
      )
      .use(apiKeysPlugin())
    const { key } = await auth.apiKeys.create({ service: 'ci', tenant: 'a' }, { name: 'k' })
    const at = (host: string) => new Request(`http://${host}.example/`, { headers: { 'x-api-key': key } })
    expect((await auth.session(at('a')))?.user?.name).toBe('ci')
    expect(await auth.session(at('b'))).toBeNull()
  })

  it('routes refuse other origins, other bodies and other people, with 4xx', async () => {
    const { auth, browser, eve } = await world({ routes: true })
    const client = await browser()
    const json = { 'content-type': 'application/json', origin: client.origin }
    const post = (body: string, headers: Record<string, string> = json) => client.send('/api-keys', { method: 'POST', body, headers })
    expect((await post('{"name":"a"}', { ...json, origin: 'https://evil.example' })).status).toBe(403)
    expect((await post('name=a', { ...json, 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415)
    for (const body of [
      '{',
      '{}',
      '{"name":""}',
      '{"name":7}',
      '[]',
      '{"name":"a","expiresIn":-1}',
      '{"name":"a","scopes":["a b"]}',
      '{"name":"a","env":"A"}',
    ])
      expect([body, (await post(body)).status]).toEqual([body, 400])
    const { id } = (await (await post('{"name":"a","scopes":["read"]}')).json()) as { id: string }
    const stranger = await browser(eve.id)
    const send = (who: Client, method: string, path: string) => who.send(path, { method, headers: json })
    expect((await send(stranger, 'DELETE', `/api-keys/${id}`)).status).toBe(404)
    expect((await send(stranger, 'POST', `/api-keys/${id}/rotate`)).status).toBe(404)
    expect((await send(new Client(auth), 'GET', '/api-keys')).status).toBe(401)
    expect(await (await send(client, 'GET', '/api-keys')).json()).toMatchObject({ keys: [{ id, name: 'a' }] })
    expect((await send(client, 'DELETE', `/api-keys/${id}`)).status).toBe(200)
    expect((await send(client, 'DELETE', `/api-keys/${id}`)).status).toBe(404)
  })

  it('people make, replace and revoke keys on the account page; a key is shown once', async () => {
    const { auth, ada, eve, browser, bearer } = await world({ accountSection: true, scopes: ['read', 'deploy'], max: 3 })
    const client = await browser()
    const page = async (who = client) => (await who.get('/account')).text()
    const act = (fields: Record<string, string>, who = client) => who.post('/account/api-keys', fields)
    expect(await page()).toContain('id="api-keys"')
    const made = await act({ action: 'create', name: 'CI <b>', scope: 'deploy', days: '30' })
    const shown = await made.text()
    const key = /acme_\w+|ak_live_\w+/.exec(shown)![0]
    expect([made.status, made.headers.get('cache-control')?.includes('no-store'), shown.includes('<b>')]).toEqual([200, true, false])
    const session = await auth.session(bearer(key))
    expect(session?.apiKey).toMatchObject({ name: 'CI <b>', scopes: ['deploy'], owner: { userId: ada.id } })
    const [{ id, expires } = expect.fail()] = await auth.apiKeys.list({ userId: ada.id })
    expect(Math.round((expires!.getTime() - Date.UTC(2026, 0, 2, 3, 4, 5)) / (24 * hour))).toBe(30)
    expect([(await page()).includes('CI &lt;b&gt;'), (await page()).includes(key)]).toEqual([true, false])
    // What a form says beyond what it offers is refused.
    for (const wrong of [{ name: ' ' }, { name: 'k', scope: 'admin' }])
      expect((await act({ action: 'create', ...wrong })).headers.get('location')).toContain('ApiKeyRefused')
    const stranger = await browser(eve.id)
    await act({ action: 'revoke', id }, stranger)
    expect(await auth.session(bearer(key))).not.toBeNull()
    const next = /ak_live_\w+/.exec(await (await act({ action: 'rotate', id })).text())![0]
    expect([await auth.session(bearer(key)), await auth.session(bearer(next))].every(Boolean)).toBe(true)
    await act({ action: 'create', name: 'third' })
    expect((await act({ action: 'create', name: 'fourth' })).headers.get('location')).toContain('TooManyApiKeys')
    await act({ action: 'revoke', id })
    expect(await auth.session(bearer(key))).toBeNull()
    const cross = {
      method: 'POST',
      body: new URLSearchParams({ action: 'create', name: 'k' }),
      headers: { origin: 'https://evil.example' },
    }
    expect((await client.send('/account/api-keys', cross)).status).toBe(403)
    const titles = await Promise.all(
      ['en', 'de', 'fr', 'es', 'ja'].map(
        async (lang) =>
          (await (await client.get('/account', { 'accept-language': lang })).text()).match(
            /(API keys|API-Schlüssel|Clés d’API|Claves de API|Chiavi API)/,
          )?.[1],
      ),
    )
    expect(new Set(titles).size).toBe(5)
  })

  it('a key reaches neither the section nor the sessions of its owner', async () => {
    const { auth, ada } = await world({ accountSection: true }, { session: { strategy: 'database' } })
    const { key } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    const program = new Client(auth)
    const post = (path: string, fields: Record<string, string>) => program.post(path, fields, { 'x-api-key': key })
    for (const [path, fields] of [
      ['/account/api-keys', { action: 'create', name: 'more' }],
      ['/account/sessions/end-all', {}],
    ] as const)
      expect((await post(path, fields)).headers.get('location')).toContain('/auth/signin')
    expect((await program.get('/account', { 'x-api-key': key })).status).not.toBe(200)
    expect(await auth.apiKeys.list({ userId: ada.id })).toHaveLength(1)
  })

  it('tells each change', async () => {
    const { auth, ada } = await world()
    const told: unknown[] = []
    auth.on('credentialChanged', ({ kind, action, id, user }) => told.push([kind, action, id, user?.id]))
    const { id } = await auth.apiKeys.create({ userId: ada.id }, { name: 'k' })
    const next = await auth.apiKeys.rotate({ userId: ada.id }, id)
    await auth.apiKeys.revoke({ userId: ada.id }, next!.id)
    expect(told).toEqual([
      ['apiKey', 'added', id, ada.id],
      ['apiKey', 'changed', next!.id, ada.id],
      ['apiKey', 'removed', next!.id, ada.id],
    ])
  })

  it.each([{ prefix: 'A' }, { env: 'x_y' }, { overlap: -1 }, { max: 0 }, { limit: { max: 0, seconds: 1 } }])(
    'refuses the options %j',
    (options) => {
      expect(() => apiKeysPlugin(options)).toThrow('Plugin "api-keys": `')
    },
  )
})
