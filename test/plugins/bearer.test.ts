/** Apps on other devices: sign-in through the browser, tokens, rotation, theft from both sides, and what a token is not given. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { type AuthConfig, endSessions } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { type BearerOptions, bearerPlugin } from 'authkernel/plugins/bearer'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'
import { begin, discover, finish, loopback, origin, refusal, signIn, ticketOf, visit } from './_app.ts'

const day = 86_400_000
const claimed = 'https://app.example/signed-in'
const scheme = 'com.example.app:/callback'
const apps = [
  { id: 'desktop', name: 'Acme Desktop', redirectUris: ['http://127.0.0.1/cb', 'http://[::1]/cb'], scopes: ['read', 'write'] },
  { id: 'phone', name: 'Acme <Phone>', redirectUris: [claimed, scheme], scopes: ['read'] },
]
const clients = [{ id: 'api', secret: 's'.repeat(32), audiences: [origin] }]

async function world(options: Partial<BearerOptions> = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const records: AuditRecord[] = []
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(stepUpPlugin())
    .use(adminPlugin({ can: () => true }))
    .use(auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }))
    .use(apiKeysPlugin({ routes: true }))
    .use(jwtPlugin({ introspection: { clients }, audiences: ['https://api.example'], routes: true }))
    .use(bearerPlugin({ apps, ...options }))
  await auth.ready()
  for (const id of ['ada', 'eve']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: null })
  const browser = async (user = 'ada') => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const request = (headers: Record<string, string> = {}, path = '/') => new Request(`${origin}${path}`, { headers })
  const bearer = (token: string, more: Record<string, string> = {}) => request({ authorization: `Bearer ${token}`, ...more })
  const tokenCall = (fields: Record<string, string> | URLSearchParams, headers: Record<string, string> = {}) =>
    auth.handler(new Request(`${origin}/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(fields), headers }))
  return { auth, store, data, browser, request, bearer, tokenCall, records, runtime: base.runtime, log: base.logger }
}

const strategies = ['jwt', 'database'] as const

describe.each(strategies)('an app under the %s strategy', (strategy) => {
  const start = (options?: Partial<BearerOptions>) => world(options, { session: { strategy, revocable: strategy === 'jwt' } })

  it('signs in through the browser on a loopback redirect with any port, and the session knows it', async () => {
    const { auth, browser, bearer } = await start()
    const config = await discover(auth)
    const tokens = await signIn(config, await browser(), 'http://127.0.0.1:50999/cb', 'read')
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 600, scope: 'read' })
    const session = await auth.session(bearer(tokens.access_token))
    expect(session?.user).toEqual({ id: 'ada', name: 'ada', email: 'ada@example.com', image: null })
    expect(session?.bearer).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/) as string, clientId: 'desktop', scopes: ['read'] })
    const answer = await auth.handler(bearer(tokens.access_token).clone())
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  it('refreshes; the former access token lives to its end, and the session ends after 30 idle and 90 days', async () => {
    const { auth, browser, bearer, runtime } = await start()
    const config = await discover(auth)
    const first = await signIn(config, await browser())
    runtime.advance(600_000)
    expect(await auth.session(bearer(first.access_token))).toBeNull()
    let { refresh_token: token } = first
    for (let days = 25; days < 90; days += 25) {
      runtime.advance(25 * day)
      const next = await openid.refreshTokenGrant(config, token!)
      expect(next.refresh_token).not.toBe(token)
      expect((await auth.session(bearer(next.access_token)))?.user?.email).toBe('ada@example.com')
      token = next.refresh_token
    }
    runtime.advance(15 * day)
    expect(await refusal(openid.refreshTokenGrant(config, token!))).toBe('invalid_grant')
    const idle = await signIn(config, await browser('eve'))
    runtime.advance(30 * day)
    expect(await refusal(openid.refreshTokenGrant(config, idle.refresh_token!))).toBe('invalid_grant')
  })

  it('is among the sessions of the person, and ends with them', async () => {
    const { auth, browser, bearer } = await start()
    const config = await discover(auth)
    const client = await browser()
    const [one, two] = [await signIn(config, client), await signIn(config, client)]
    const eve = await signIn(config, await browser('eve'))
    const cookies = () => new Request(origin, { headers: { cookie: client.cookieHeader() } })
    const listed = await auth.bearer.list(cookies())
    expect(listed.map(({ attributes }) => attributes?.app)).toEqual(['Acme Desktop', 'Acme Desktop'])
    expect((await auth.sessions.list(cookies())).map(({ id }) => id)).toEqual(expect.arrayContaining(listed.map(({ id }) => id)))
    const { id } = (await auth.session(bearer(one.access_token)))!.bearer!
    expect([await auth.bearer.revoke({ userId: 'eve' }, id), await auth.bearer.revoke(cookies(), id)]).toEqual([false, true])
    expect([await auth.session(bearer(one.access_token)), (await auth.session(bearer(two.access_token)))?.user?.id]).toEqual([null, 'ada'])
    await auth.sessions.revokeOthers(cookies())
    expect(await auth.session(bearer(two.access_token))).toBeNull()
    expect(await refusal(openid.refreshTokenGrant(config, two.refresh_token!))).toBe('invalid_grant')
    expect((await auth.session(bearer(eve.access_token)))?.user?.id).toBe('eve')
  })
})

describe('the browser', () => {
  it('asks where any program could listen, and a page of the app itself gets the code at once', async () => {
    const { auth, browser } = await world()
    const client = await browser()
    const phone = await discover(auth, 'phone')
    expect(await visit(client, (await begin(phone, claimed)).url)).toMatch(/^https:\/\/app\.example\/signed-in\?code=/)
    for (const redirect of [scheme, loopback]) {
      const page = await client.get(String((await begin(redirect === scheme ? phone : await discover(auth), redirect)).url))
      const text = await page.text()
      expect([page.status, text.includes('ada@example.com'), text.includes('<Phone>')]).toEqual([200, true, false])
      expect(page.headers.get('content-security-policy')).toContain(redirect === scheme ? 'com.example.app:' : 'http://127.0.0.1:49152')
    }
    const denied = await visit(client, (await begin(phone, scheme)).url, 'deny')
    expect(denied).toMatch(/^com\.example\.app:\/callback\?error=access_denied&state=/)
  })

  it('is asked in five languages', async () => {
    const { auth, browser } = await world()
    const client = await browser()
    const { url } = await begin(await discover(auth))
    const titles = await Promise.all(
      ['en', 'de', 'fr', 'es', 'ja'].map(
        async (lang) => /<h1[^>]*>([^<]+)/.exec(await (await client.get(String(url), { 'accept-language': lang })).text())?.[1],
      ),
    )
    expect(new Set(titles).size).toBe(5)
  })

  it('signs in first, and comes back to the request', async () => {
    const { auth } = await world()
    const client = new Client(auth)
    const begun = await begin(await discover(auth))
    const asked = await client.get(String(begun.url))
    const page = new URL(asked.headers.get('location')!)
    expect([page.pathname, page.searchParams.get('callbackUrl')]).toEqual(['/auth/signin', String(begun.url)])
    await client.get(String(page))
    const signedIn = await client.post('/callback/credentials', { user: 'ada' })
    expect(signedIn.headers.get('location')).toBe(String(begun.url))
    expect(await visit(client, begun.url)).toMatch(/^http:\/\/127\.0\.0\.1:49152\/cb\?code=/)
  })

  it('is led nowhere for an unknown app or address, and gets an error page', async () => {
    const { auth, browser } = await world()
    const client = await browser()
    const { url } = await begin(await discover(auth))
    const wrong = [
      ['client_id', 'nobody'],
      ...[
        'http://127.0.0.1:49152/cb/',
        'http://127.0.0.1:49152/cb?x=1',
        'http://127.0.0.1:49152@evil.example/cb',
        'http://127.0.0.1.evil.example/cb',
        'http://localhost:49152/cb',
        'http://127.0.0.1:99999/cb',
        'http://127.0.0.1:49152/cb#x',
        'https://127.0.0.1/cb',
        claimed,
        'javascript:alert(1)',
        '//evil.example',
      ].map((uri) => ['redirect_uri', uri]),
    ]
    for (const [name, value] of wrong) {
      const changed = new URL(url)
      changed.searchParams.set(name!, value!)
      const answer = await client.get(String(changed))
      expect([value, answer.status, answer.headers.get('location')]).toEqual([value, 400, null])
    }
    const twice = `${String(url)}&redirect_uri=${encodeURIComponent('http://127.0.0.1:1/cb')}`
    expect((await client.get(twice)).status).toBe(400)
  })

  it('tells the app what is wrong with the rest, with its state and the issuer', async () => {
    const { auth, browser } = await world()
    const client = await browser()
    const { url, state } = await begin(await discover(auth))
    const cases: [string, string | null, string][] = [
      ['response_type', 'token', 'unsupported_response_type'],
      ['response_type', null, 'invalid_request'],
      ['code_challenge', null, 'invalid_request'],
      ['code_challenge_method', 'plain', 'invalid_request'],
      ['code_challenge_method', null, 'invalid_request'],
      ['scope', 'read admin', 'invalid_scope'],
      ['response_mode', 'fragment', 'invalid_request'],
      ['request_uri', 'https://evil.example', 'request_not_supported'],
    ]
    for (const [name, value, error] of cases) {
      const changed = new URL(url)
      if (value === null) changed.searchParams.delete(name)
      else changed.searchParams.set(name, value)
      const back = new URL(await visit(client, changed))
      expect([name, back.searchParams.get('error'), back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual([
        name,
        error,
        state,
        origin,
      ])
    }
  })

  it('answers the page once, by the person who read it, from a page of our own', async () => {
    const { auth, browser } = await world()
    const [ada, eve] = [await browser(), await browser('eve')]
    const { url } = await begin(await discover(auth))
    const ticket = ticketOf(await (await ada.get(String(url))).text())
    expect((await eve.post('/oauth/authorize', { ticket, decision: 'allow' })).status).toBe(400)
    const cross = await ada.send('/oauth/authorize', {
      method: 'POST',
      body: new URLSearchParams({ ticket, decision: 'allow' }),
      headers: { origin: 'https://evil.example' },
    })
    expect(cross.status).toBe(403)
    expect((await ada.post('/oauth/authorize', { ticket, decision: 'allow' })).status).toBe(302)
    expect((await ada.post('/oauth/authorize', { ticket, decision: 'allow' })).status).toBe(400)
    const head = await ada.send(String(url), { method: 'HEAD' })
    expect([head.status, head.headers.get('location')]).toEqual([200, null])
  })
})

describe('a code', () => {
  it('is for the app, address and verifier that it was asked with, for 60 seconds', async () => {
    const { auth, browser, tokenCall, runtime } = await world()
    const config = await discover(auth)
    const client = await browser()
    const fresh = async () => {
      const begun = await begin(config)
      const code = new URL(await visit(client, begun.url)).searchParams.get('code')!
      return { grant_type: 'authorization_code', client_id: 'desktop', redirect_uri: loopback, code, code_verifier: begun.verifier }
    }
    for (const wrong of [
      { client_id: 'phone' },
      { redirect_uri: 'http://127.0.0.1:49153/cb' },
      { code_verifier: 'x'.repeat(43) },
      { code: 'x'.repeat(43) },
    ]) {
      const fields = await fresh()
      const answer = await tokenCall({ ...fields, ...wrong })
      expect([wrong, answer.status, await answer.json()]).toEqual([wrong, 400, { error: 'invalid_grant' }])
      // A client with the code alone has used it up; a code that does not exist takes nothing away.
      expect((await tokenCall(fields)).status).toBe('code' in wrong ? 200 : 400)
    }
    const late = await fresh()
    runtime.advance(60_000)
    expect(await (await tokenCall(late)).json()).toEqual({ error: 'invalid_grant' })
  })

  it('works once; a second use takes back what the first one got', async () => {
    const { auth, browser, bearer, tokenCall } = await world()
    const config = await discover(auth)
    const begun = await begin(config)
    const location = await visit(await browser(), begun.url)
    const tokens = await finish(config, begun, location)
    expect(await auth.session(bearer(tokens.access_token))).not.toBeNull()
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    expect(await auth.session(bearer(tokens.access_token))).toBeNull()
    expect(
      await (await tokenCall({ grant_type: 'refresh_token', client_id: 'desktop', refresh_token: tokens.refresh_token! })).json(),
    ).toEqual({
      error: 'invalid_grant',
    })
  })

  it('is worth nothing after the sessions of the person were ended', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const begun = await begin(config)
    const location = await visit(await browser(), begun.url)
    await auth.admin.signOut({ userId: 'eve' }, 'ada', { reason: 'stolen laptop' })
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
  })
})

describe('a refresh token', () => {
  const start = async () => {
    const all = await world()
    const config = await discover(all.auth)
    const first = await signIn(config, await all.browser())
    const refresh = (token: string) => openid.refreshTokenGrant(config, token)
    const isOut = async (token: string) => (await refusal(refresh(token))) === 'invalid_grant'
    return { ...all, config, first: first.refresh_token!, access: first.access_token, refresh, isOut }
  }

  it('two tabs that refresh at once, or an answer that was lost, get the same successor within ten seconds', async () => {
    const { first, refresh, runtime, auth, bearer } = await start()
    const both = await Promise.all([refresh(first), refresh(first), refresh(first)])
    expect(new Set(both.map(({ refresh_token: token }) => token)).size).toBe(1)
    runtime.advance(10_000)
    expect((await refresh(first)).refresh_token).toBe(both[0]!.refresh_token)
    expect((await auth.session(bearer(both[2]!.access_token)))?.user?.id).toBe('ada')
  })

  it('the thief is first, the owner second: both are out', async () => {
    const { first, refresh, isOut, runtime, auth, bearer, records } = await start()
    const thief = await refresh(first)
    runtime.advance(10_001)
    expect(await isOut(first)).toBe(true)
    expect([await isOut(thief.refresh_token!), await auth.session(bearer(thief.access_token))]).toEqual([true, null])
    await expect.poll(() => records.map(({ name }) => name)).toContain('bearer.reuseDetected')
    expect(records.find(({ name }) => name === 'bearer.reuseDetected')).toMatchObject({ outcome: 'denied', subject: { id: 'ada' } })
  })

  it('the owner is first, the thief second: both are out', async () => {
    const { first, refresh, isOut, runtime, auth, bearer } = await start()
    const owner = await refresh(first)
    runtime.advance(60_000)
    expect((await auth.session(bearer(owner.access_token)))?.user?.id).toBe('ada')
    expect(await isOut(first)).toBe(true)
    expect([await isOut(owner.refresh_token!), await auth.session(bearer(owner.access_token))]).toEqual([true, null])
  })

  it('ends the session at once when its successor was used, however soon', async () => {
    const { first, refresh, isOut } = await start()
    const second = await refresh(first)
    const third = await refresh(second.refresh_token!)
    expect([await isOut(first), await isOut(third.refresh_token!)]).toEqual([true, true])
  })

  it('ends it when another app brings it, and an invented one ends nothing', async () => {
    const { first, refresh, isOut, tokenCall } = await start()
    const [head, session, , seed, mark] = first.split('.')
    const second = await refresh(first)
    for (const invented of [
      `${head}.${session}.1.${seed}.${'0'.repeat(64)}`,
      `${head}.${session}.1.${'0'.repeat(32)}.${mark}`,
      `${head}.${session}.2.${seed}.${mark}`,
      `${head}.${session}.3.${seed}.${mark}`,
      `${head}.${session}.1.${seed}`,
      'rt.x',
      `at.${session}`,
      first + 'x',
    ])
      expect([invented, await isOut(invented)]).toEqual([invented, true])
    const next = await refresh(second.refresh_token!)
    const other = await tokenCall({ grant_type: 'refresh_token', client_id: 'phone', refresh_token: next.refresh_token! })
    expect(await other.json()).toEqual({ error: 'invalid_grant' })
    expect(await isOut(next.refresh_token!)).toBe(true)
  })

  it('is stored as a SHA-256 hash, and one of many rotations ago still ends the session', async () => {
    const { first, refresh, isOut, runtime, data } = await start()
    let newest = first
    for (let i = 0; i < 5; i++) {
      newest = (await refresh(newest)).refresh_token!
      const kept = JSON.stringify(data, (_name, value: unknown) => (value instanceof Map ? [...value] : value))
      expect(kept).toContain(createHash('sha256').update(newest).digest('hex'))
      for (const part of newest.split('.').slice(3)) expect(kept).not.toContain(part)
    }
    runtime.advance(day)
    expect([await isOut(first), await isOut(newest)]).toEqual([true, true])
  })

  it('gives fewer scopes when asked, and never more', async () => {
    const { auth, browser, bearer } = await world()
    const config = await discover(auth)
    const all = await signIn(config, await browser())
    const less = await openid.refreshTokenGrant(config, all.refresh_token!, { scope: 'read' })
    expect([less.scope, (await auth.session(bearer(less.access_token)))?.bearer?.scopes]).toEqual(['read', ['read']])
    const parts = less.access_token.split('.')
    for (const more of ['0', '1', '2', '3', '7', 'z'].filter((bits) => bits !== parts[3]))
      expect(await auth.session(bearer([...parts.slice(0, 3), more, parts[4]].join('.')))).toBeNull()
    const few = await signIn(config, await browser(), loopback, 'read')
    expect(await refusal(openid.refreshTokenGrant(config, few.refresh_token!, { scope: 'read write' }))).toBe('invalid_scope')
    expect(await refusal(openid.refreshTokenGrant(config, few.refresh_token!, { scope: 'admin' }))).toBe('invalid_scope')
  })

  it('a refresh that is refused for its scope uses nothing up: the same token works afterwards, and the session lives', async () => {
    const { auth, browser, runtime, bearer } = await world()
    const config = await discover(auth)
    const { refresh_token: token } = await signIn(config, await browser(), loopback, 'read')
    for (let tries = 0; tries < 3; tries++) {
      expect(await refusal(openid.refreshTokenGrant(config, token!, { scope: 'read write' }))).toBe('invalid_scope')
      runtime.advance(60_000)
    }
    const next = await openid.refreshTokenGrant(config, token!, { scope: 'read' })
    expect((await auth.session(bearer(next.access_token)))?.user?.id).toBe('ada')
    // An answer that was lost is not given again for more than it was asked for.
    expect(await refusal(openid.refreshTokenGrant(config, token!, { scope: 'write' }))).toBe('invalid_scope')
    expect((await openid.refreshTokenGrant(config, token!)).refresh_token).toBe(next.refresh_token)
  })

  it('a refresh that a hook refuses uses nothing up: it works once the hook permits it', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const { refresh_token: token } = await signIn(config, await browser())
    let open = false
    auth.hook('appSession', () => open)
    expect(await refusal(openid.refreshTokenGrant(config, token!))).toBe('invalid_grant')
    open = true
    expect((await openid.refreshTokenGrant(config, token!)).access_token).toBeDefined()
  })
})

describe('what ends an app session', () => {
  it('the user is banned, deleted, or loses a right; a hook says no', async () => {
    const lost = new Set<string>()
    const { auth, browser, bearer, store } = await world({ can: ({ scope }) => !lost.has(scope) })
    const config = await discover(auth)
    const ada = await signIn(config, await browser())
    const eve = await signIn(config, await browser('eve'))
    lost.add('write')
    expect((await auth.session(bearer(ada.access_token)))?.bearer?.scopes).toEqual(['read'])
    expect((await openid.refreshTokenGrant(config, ada.refresh_token!)).scope).toBe('read')
    await auth.admin.ban({ userId: 'eve' }, 'ada', { reason: 'spam' })
    expect(await auth.session(bearer(ada.access_token))).toBeNull()
    await auth.admin.unban({ userId: 'eve' }, 'ada', { reason: 'no spam' })
    expect(await refusal(openid.refreshTokenGrant(config, ada.refresh_token!))).toBe('invalid_grant')
    let open = true
    auth.hook('appSession', () => open)
    expect(await auth.session(bearer(eve.access_token))).not.toBeNull()
    open = false
    expect(await auth.session(bearer(eve.access_token))).toBeNull()
    expect(await refusal(openid.refreshTokenGrant(config, eve.refresh_token!))).toBe('invalid_grant')
    open = true
    await store.deleteUser!('eve')
    expect(await auth.session(bearer(eve.access_token))).toBeNull()
  })

  it('the provider signs the person out: sessions that began there end, those of apps too', async () => {
    const { auth, browser, bearer } = await world({}, { session: { strategy: 'database' } })
    let end: (sub: string) => Promise<unknown> = () => Promise.reject(new Error('not set up'))
    auth.use({
      name: 'logout',
      requires: ['session:attributes', 'session:revoke:attribute'],
      setup(kernel) {
        end = async (sub) => endSessions(await kernel.contextOf({ job: 'logout' }), { provider: 'credentials', sub }, 'logout')
      },
    })
    const config = await discover(auth)
    const [ada, eve] = [await signIn(config, await browser()), await signIn(config, await browser('eve'))]
    await end('ada')
    expect([await auth.session(bearer(ada.access_token)), (await auth.session(bearer(eve.access_token)))?.user?.id]).toEqual([null, 'eve'])
  })

  it('an administrator who acts as a user gives that user to no app', async () => {
    const { auth, browser } = await world({}, { session: { strategy: 'database' } })
    const host = auth.use(impersonationPlugin({ can: () => true }))
    const client = await browser('eve')
    const acting = await host.impersonation.start(new Request(`${origin}/admin`, { headers: { cookie: client.cookieHeader() } }), {
      userId: 'ada',
      reason: 'support',
    })
    for (const line of acting.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split('=')
      if (/max-age=0/i.test(line)) client.cookies.delete(name)
      else client.cookies.set(name, value)
    }
    expect(await client.session()).toMatchObject({ user: { name: 'ada' }, actor: { id: 'eve' } })
    const asked = await client.get(String((await begin(await discover(auth))).url))
    expect(asked.headers.get('location')).toContain('/auth/signin')
  })

  it('the app revokes either of its tokens, and no token of another app', async () => {
    const { auth, browser, bearer } = await world()
    const config = await discover(auth)
    const client = await browser()
    const [one, two, three] = [await signIn(config, client), await signIn(config, client), await signIn(config, client)]
    await openid.tokenRevocation(config, one.refresh_token!)
    await openid.tokenRevocation(config, two.access_token)
    await openid.tokenRevocation(config, 'unknown')
    for (const { access_token: token } of [one, two]) expect(await auth.session(bearer(token))).toBeNull()
    await openid.tokenRevocation(await discover(auth, 'phone'), three.refresh_token!)
    expect(await refusal(openid.tokenRevocation(await discover(auth, 'phone'), three.access_token))).toBe('invalid_grant')
    expect((await auth.session(bearer(three.access_token)))?.user?.id).toBe('ada')
  })
})

describe('an access token', () => {
  it('is signed out when it is wrong, never the person of the cookie, and is sent alone', async () => {
    const { auth, browser, bearer, request } = await world()
    const { access_token: token } = await signIn(await discover(auth), await browser())
    const cookie = (await browser('eve')).cookieHeader()
    expect((await auth.session(bearer(token, { cookie })))?.user?.id).toBe('ada')
    for (const bad of [`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, 'at.x', token.replace(/\.[0-9]+\./, '.9999999999.')])
      expect([bad, await auth.session(bearer(bad, { cookie }))]).toEqual([bad, null])
    expect(await auth.session(request({ cookie: '' }, `/?access_token=${token}`))).toBeNull()
    const key = await auth.apiKeys.create({ userId: 'eve' }, { name: 'k' })
    await expect(auth.session(bearer(token, { 'x-api-key': key.key }))).rejects.toMatchObject({ status: 400 })
    expect((await auth.session(bearer(key.key)))?.apiKey?.id).toBe(key.id)
  })

  it('makes no keys, is no administrator, proves nothing, and gives no more than its scopes', async () => {
    const { auth, browser, bearer } = await world()
    const { access_token: token } = await signIn(await discover(auth), await browser(), loopback, 'read')
    // Also beside a cookie of the same person.
    const cookie = (await browser()).cookieHeader()
    for (const asked of [bearer(token), bearer(token, { cookie })]) {
      await expect(auth.apiKeys.create(asked, { name: 'k' })).rejects.toMatchObject({ type: 'AccessDenied' })
      await expect(auth.admin.list(asked)).rejects.toMatchObject({ type: 'AccessDenied' })
      expect(await auth.stepUp.holds(asked)).toBe(false)
      expect((await auth.jwt.issue(asked, { audience: 'https://api.example', scope: 'read write' }))?.scope).toBe('read')
    }
  })

  it('a resource server learns of it by introspection, for its own audience', async () => {
    const { auth, browser } = await world()
    const { access_token: token, refresh_token: refresh } = await signIn(await discover(auth), await browser(), loopback, 'read')
    const ask = async (text: string) => {
      const body = new URLSearchParams({ token: text, client_id: 'api', client_secret: clients[0]!.secret })
      return (await auth.handler(new Request(`${origin}/auth/jwt/introspect`, { method: 'POST', body }))).json()
    }
    expect(await ask(token)).toMatchObject({ active: true, sub: 'ada', client_id: 'desktop', scope: 'read', aud: origin })
    expect([await ask(refresh!), await ask('at.x')]).toEqual([{ active: false }, { active: false }])
    const { auth: other, browser: browserOf } = await world({ accessToken: { audience: 'https://other.example' } })
    const foreign = await signIn(await discover(other), await browserOf())
    const body = new URLSearchParams({ token: foreign.access_token, client_id: 'api', client_secret: clients[0]!.secret })
    expect(await (await other.handler(new Request(`${origin}/auth/jwt/introspect`, { method: 'POST', body }))).json()).toEqual({
      active: false,
    })
  })

  it('as a JWT is verified by another library, is known here, and ends here with its session', async () => {
    const { auth, browser, bearer, request } = await world({ accessToken: { format: 'jwt' } }, { runtime: { now: () => Date.now() } })
    const config = await discover(auth)
    const tokens = await signIn(config, await browser(), loopback, 'read')
    const { createLocalJWKSet, jwtVerify } = await import('jose')
    const keys = createLocalJWKSet(await auth.jwt.jwks(request()))
    const { payload } = await jwtVerify(tokens.access_token, keys, { issuer: origin, audience: origin, typ: 'at+jwt' })
    expect(payload).toMatchObject({ sub: 'ada', client_id: 'desktop', scope: 'read', exp: payload.iat! + 600 })
    expect((await auth.session(bearer(tokens.access_token)))?.bearer?.scopes).toEqual(['read'])
    // A token that was issued for another service is none of an app.
    const issued = await auth.jwt.issue(bearer(tokens.access_token), { audience: 'https://api.example', scope: 'read' })
    const cookie = (await browser('eve')).cookieHeader()
    expect(await auth.session(bearer(issued!.accessToken, { cookie }))).toBeNull()
    await openid.tokenRevocation(config, tokens.access_token)
    expect(await auth.session(bearer(tokens.access_token, { cookie }))).toBeNull()
    const body = new URLSearchParams({ token: tokens.access_token, client_id: 'api', client_secret: clients[0]!.secret })
    expect(await (await auth.handler(new Request(`${origin}/auth/jwt/introspect`, { method: 'POST', body }))).json()).toEqual({
      active: false,
    })
  })

  it('and what belongs to it is nowhere in the store or the log', async () => {
    const { auth, browser, data, log } = await world()
    const begun = await begin(await discover(auth))
    const location = await visit(await browser(), begun.url)
    const tokens = await finish(await discover(auth), begun, location)
    const kept = JSON.stringify([data, log], (_name, value: unknown) => (value instanceof Map ? [...value] : value))
    const secrets = [tokens.access_token, tokens.refresh_token!].map((token) => token.split('.').at(-1)!)
    for (const secret of [...secrets, new URL(location).searchParams.get('code')!]) expect(kept).not.toContain(secret)
  })
})

describe('ordinary OAuth clients', () => {
  it('find the metadata at the root, and with the base path inserted for that issuer', async () => {
    const { auth, browser, bearer } = await world()
    const answer = await auth.handler(
      new Request(`${origin}/.well-known/oauth-authorization-server`, { headers: { origin: 'https://spa.example' } }),
    )
    expect(await answer.json()).toMatchObject({
      issuer: origin,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      jwks_uri: `${origin}/.well-known/jwks.json`,
      introspection_endpoint: `${origin}/auth/jwt/introspect`,
      scopes_supported: ['read', 'write'],
    })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(auth.rootPaths).toEqual(
      expect.arrayContaining(['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/auth']),
    )
    // `iss` of the answer is the issuer that the client was given: openid-client checks it.
    const config = await discover(auth, 'desktop', `${origin}/auth`)
    const tokens = await signIn(config, await browser())
    expect((await auth.session(bearer(tokens.access_token)))?.user?.id).toBe('ada')
  })

  it('get the errors of RFC 6749, as JSON that no cache keeps', async () => {
    const { tokenCall, auth } = await world()
    const cases: [Record<string, string>, number, string, Record<string, string>?][] = [
      [{}, 400, 'invalid_request'],
      [{ client_id: 'desktop' }, 400, 'invalid_request'],
      [{ client_id: 'nobody', grant_type: 'refresh_token' }, 401, 'invalid_client'],
      [{ client_id: 'desktop', client_secret: 'x', grant_type: 'refresh_token' }, 401, 'invalid_client'],
      [{ grant_type: 'refresh_token' }, 401, 'invalid_client', { authorization: `Basic ${btoa('desktop:x')}` }],
      [{ client_id: 'desktop', grant_type: 'password', username: 'a', password: 'b' }, 400, 'unsupported_grant_type'],
      [{ client_id: 'desktop', grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
      [{ client_id: 'desktop', grant_type: 'refresh_token' }, 400, 'invalid_request'],
      [{ client_id: 'desktop', grant_type: 'authorization_code', code: 'x' }, 400, 'invalid_request'],
      [{ client_id: 'desktop', grant_type: 'authorization_code', code: 'x', code_verifier: 'x' }, 400, 'invalid_grant'],
    ]
    for (const [fields, status, error, headers] of cases) {
      const answer = await tokenCall(fields, headers)
      expect([fields, answer.status, ((await answer.json()) as { error: string }).error]).toEqual([fields, status, error])
      expect(answer.headers.get('cache-control')).toContain('no-store')
      if (headers) expect(answer.headers.get('www-authenticate')).toContain('Basic')
    }
    const twice = new URLSearchParams('client_id=desktop&client_id=desktop&grant_type=refresh_token')
    expect(await (await tokenCall(twice)).json()).toMatchObject({ error: 'invalid_request' })
    const odd = await auth.handler(
      new Request(`${origin}/auth/oauth/token`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
    )
    expect([odd.status, await odd.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })

  it('of a browser on another origin may call token and revocation endpoints, without credentials', async () => {
    const { auth } = await world()
    for (const path of ['token', 'revoke']) {
      const url = `${origin}/auth/oauth/${path}`
      const headers = {
        origin: 'https://spa.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      }
      const preflight = await auth.handler(new Request(url, { method: 'OPTIONS', headers }))
      expect([preflight.headers.get('access-control-allow-origin'), preflight.headers.get('access-control-allow-credentials')]).toEqual([
        '*',
        null,
      ])
    }
  })
})

describe('a real loopback listener', () => {
  it('gets the code of a phone-like client without cookies', async () => {
    const { auth, browser, bearer } = await world()
    const config = await discover(auth)
    let arrived: (url: string) => void
    const landed = new Promise<string>((resolve) => (arrived = resolve))
    const listener = createServer((request, response) => {
      arrived(`http://127.0.0.1${request.url}`)
      response.end('You can close this page.')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as AddressInfo
    const begun = await begin(config, `http://127.0.0.1:${port}/cb`)
    await (await fetch(await visit(await browser(), begun.url))).text()
    const url = new URL(await landed)
    url.port = String(port)
    const tokens = await finish(config, begun, url.href)
    listener.close()
    expect((await auth.session(bearer(tokens.access_token)))?.user?.id).toBe('ada')
  })
})

describe('options and tenants', () => {
  it('refuse what is wrong, and name the option', () => {
    const wrong: [unknown, RegExp][] = [
      [{}, /`apps` is missing/],
      [{ apps: [{ id: 'a b', name: 'A', redirectUris: [] }] }, /`id` of an app/],
      [{ apps: [{ id: 'a', name: '', redirectUris: [] }] }, /needs a `name`/],
      [{ apps: [...apps, apps[0]] }, /two apps have the id "desktop"/],
      [{ apps, idle: 1 }, /`idle`/],
      [{ apps, accessToken: { maxAge: 1 } }, /`accessToken.maxAge`/],
      [{ apps, issuer: 'http://x.example' }, /`issuer`/],
      ...[
        'http://localhost/cb',
        'http://app.example/cb',
        'myapp:/cb',
        'javascript:alert(1)',
        'data:text/html,x',
        'https://a.example/#x',
        'https://u:p@a.example/',
        '/cb',
        'com.example:/a b',
      ].map((uri): [unknown, RegExp] => [{ apps: [{ id: 'a', name: 'A', redirectUris: [uri] }] }, /redirect URI/]),
    ]
    for (const [options, message] of wrong) expect(() => bearerPlugin(options as BearerOptions)).toThrow(message)
  })

  it('a host without jwtPlugin cannot give JWTs, and one without records nothing', async () => {
    const { logger, ...base } = baseConfig({ adapter: memoryAdapter() })
    expect(logger.errors).toEqual([])
    await expect(
      createAuth(base)
        .use(bearerPlugin({ apps, accessToken: { format: 'jwt' } }))
        .ready(),
    ).rejects.toThrow(/accessTokens/)
    await expect(createAuth(baseConfig()).use(bearerPlugin({ apps })).ready()).rejects.toThrow(/needs an adapter/)
  })

  it('a token of one tenant is unknown in another', async () => {
    const base = baseConfig({
      providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
    })
    const store = memoryAdapter()
    const auth = createAuth(base)
      .use(adapterPlugin(store))
      .use(
        tenantsPlugin({
          settings: (request) => ({ namespace: new URL(request.url).hostname.split('.')[0]! }),
          tenant: (namespace) => ({ namespace }),
        }),
      )
      .use(bearerPlugin({ apps }))
    await auth.ready()
    const client = new Client(auth, 'http://one.localhost')
    await store.createUser!({ id: 'ada', email: '~one~ada@example.com', name: 'ada', emailVerified: null })
    await client.post('/callback/credentials', { user: 'ada' })
    const config = await discover(auth, 'desktop', 'http://one.localhost')
    const tokens = await signIn(config, client)
    const at = (host: string) => new Request(`http://${host}/`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
    expect((await auth.session(at('one.localhost')))?.user?.id).toBe('ada')
    expect(await auth.session(at('two.localhost'))).toBeNull()
    const other = await discover(auth, 'desktop', 'http://two.localhost')
    expect(await refusal(openid.refreshTokenGrant(other, tokens.refresh_token!))).toBe('invalid_grant')
    expect((await auth.session(at('one.localhost')))?.user?.id).toBe('ada')
  })
})
