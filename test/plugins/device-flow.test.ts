/** Devices without a browser: codes, the page, polling, and every way a code might let in more than the person allowed. */
import * as openid from 'openid-client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { type DeviceFlowOptions, deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { mailPlugin } from 'authkernel/plugins/mail'
import { baseConfig, Client } from '../_setup.ts'
import { discover, origin, refusal, ticketOf } from './_app.ts'

const apps = [
  { id: 'tv', name: 'Acme <TV>', redirectUris: [], scopes: ['watch', 'buy'] },
  { id: 'desktop', name: 'Acme Desktop', redirectUris: ['http://127.0.0.1/cb'], scopes: ['read'] },
  { id: 'cli', name: 'Acme CLI', redirectUris: [], scopes: ['watch'] },
]
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

async function world(options: Partial<DeviceFlowOptions> = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    session: { strategy: 'database' },
    ...config,
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const records: AuditRecord[] = []
  const mails: { to: string; subject: string; text: string }[] = []
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(mailPlugin({ from: 'a@acme.example', transport: { send: async (mail) => void mails.push(mail as never) } }))
    .use(adminPlugin({ can: () => true }))
    .use(auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }))
    .use(bearerPlugin({ apps }))
    .use(deviceFlowPlugin({ apps: ['tv', 'cli'], scopes: ['watch'], ...options }))
  await auth.ready()
  for (const id of ['ada', 'eve']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: null })
  const browser = async (user = 'ada') => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const call = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await auth.handler(
      new Request(`${origin}/auth/oauth/${path}`, { method: 'POST', body: new URLSearchParams(fields), headers }),
    )
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, string> & { interval: number } }
  }
  const start = async (client = 'tv', more: Record<string, string> = {}) => (await call('device', { client_id: client, ...more })).body
  const poll = async (code: string, client = 'tv') =>
    (await call('token', { grant_type: grantType, client_id: client, device_code: code })).body
  const bearer = (token: string) => new Request(origin, { headers: { authorization: `Bearer ${token}` } })
  return { auth, store, data, browser, call, start, poll, bearer, records, mails, runtime: base.runtime, log: base.logger }
}

const enter = async (browser: Client, code: string) => (await browser.post('/device', { user_code: code })).text()
/** Types the code and answers the question. */
async function approve(browser: Client, code: string, decision: 'allow' | 'deny' = 'allow'): Promise<string> {
  const ticket = ticketOf(await enter(browser, code))
  const answer = await browser.post('/device/decide', { ticket, decision })
  return answer.headers.get('location') ?? (await answer.text())
}

describe('a device', () => {
  afterEach(() => vi.useRealTimers())

  it('is openid-client: it shows a code, polls, is told to slow down, and gets tokens when a person allowed it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { auth, browser, poll, bearer } = await world({}, { runtime: { now: () => Date.now() } })
    const config = await discover(auth, 'tv')
    expect(config.serverMetadata()).toMatchObject({
      device_authorization_endpoint: `${origin}/auth/oauth/device`,
      grant_types_supported: ['authorization_code', 'refresh_token', grantType],
    })
    const begun = await openid.initiateDeviceAuthorization(config, { scope: 'watch' })
    expect(begun).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${origin}/auth/device` })
    expect(begun.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    const polls: string[] = []
    auth.on('deviceFlowApproved', () => void polls.push('approved'))
    const waiting = openid.pollDeviceAuthorizationGrant(config, begun).then((tokens) => (polls.push('tokens'), tokens))
    await vi.advanceTimersByTimeAsync(6_000)
    // Another client with the code asks in between: the device is slowed down and goes on.
    expect(await poll(begun.device_code)).toEqual({ error: 'slow_down' })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await approve(await browser(), begun.user_code)).toBe(`${origin}/auth/device?done=allowed`)
    await vi.advanceTimersByTimeAsync(30_000)
    const tokens = await waiting
    expect(polls).toEqual(['approved', 'tokens'])
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'watch' })
    expect(await auth.session(bearer(tokens.access_token))).toMatchObject({
      user: { id: 'ada' },
      bearer: { clientId: 'tv', scopes: ['watch'] },
    })
    expect((await openid.refreshTokenGrant(config, tokens.refresh_token!)).scope).toBe('watch')
    expect(await poll(begun.device_code)).toEqual({ error: 'invalid_grant' })
  })

  it('that asks too often waits five seconds longer for good', async () => {
    const { start, poll, runtime } = await world()
    const { device_code: code } = await start()
    const ask = async (seconds: number) => {
      runtime.advance(seconds * 1000)
      return (await poll(code!)).error
    }
    expect([await ask(5), await ask(4), await ask(9), await ask(15)]).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
      'authorization_pending',
    ])
    expect([await ask(14), await ask(20), await ask(20)]).toEqual(['slow_down', 'authorization_pending', 'authorization_pending'])
  })

  it('learns of a refusal, and of the end after ten minutes', async () => {
    const { start, poll, browser, runtime, auth } = await world()
    const client = await browser()
    const refused = await start()
    expect(await approve(client, refused.user_code!, 'deny')).toContain('done=denied')
    expect(await poll(refused.device_code!)).toEqual({ error: 'access_denied' })
    expect(await refusal(openid.genericGrantRequest(await discover(auth, 'tv'), grantType, { device_code: refused.device_code! }))).toBe(
      'access_denied',
    )
    const late = await start()
    runtime.advance(600_000)
    expect(await poll(late.device_code!)).toEqual({ error: 'expired_token' })
    runtime.advance(600_000)
    expect(await poll(late.device_code!)).toEqual({ error: 'invalid_grant' })
  })

  it('gets its tokens once, also when it asks twice at the same moment, and no other app gets them', async () => {
    const { start, poll, browser } = await world()
    const { device_code: code, user_code: user } = await start()
    await approve(await browser(), user!)
    expect(await poll(code!, 'cli')).toEqual({ error: 'invalid_grant' })
    expect((await poll(code!, 'desktop')).error).toBe('unsupported_grant_type')
    expect(await poll('x'.repeat(43))).toEqual({ error: 'invalid_grant' })
    const answers = await Promise.all([poll(code!), poll(code!), poll(code!), poll(code!)])
    expect(answers.filter((answer) => 'access_token' in answer)).toHaveLength(1)
  })

  it('gets no more than the plugin, the app and the person allow', async () => {
    const { call, start } = await world()
    expect((await call('device', { client_id: 'desktop' })).body).toEqual({ error: 'unauthorized_client' })
    expect((await call('device', { client_id: 'nobody' })).body).toEqual({ error: 'invalid_client' })
    expect((await call('device', {})).body.error).toBe('invalid_request')
    for (const scope of ['buy', 'watch buy', 'admin']) expect((await start('tv', { scope })).error).toBe('invalid_scope')
    expect((await start('tv')).user_code).toBeDefined()
  })

  it('cannot ask for codes without end', async () => {
    const { auth } = await world()
    const from = (clientAddress?: string) => {
      const request = new Request(`${origin}/auth/oauth/device`, { method: 'POST', body: new URLSearchParams({ client_id: 'tv' }) })
      return auth.handler(request, clientAddress === undefined ? {} : { clientAddress })
    }
    for (let i = 0; i < 60; i++) expect((await from('203.0.113.9')).status).toBe(200)
    expect((await from('203.0.113.9')).status).toBe(429)
    expect((await from('198.51.100.1')).status).toBe(200)
    for (let i = 0; i < 600; i++) await from()
    expect((await from()).headers.get('retry-after')).toBe('600')
  })
})

describe('the page', () => {
  it('needs a sign-in, asks for the code also when a link brings it, and shows which device asks', async () => {
    const { auth, start, browser } = await world({ place: ({ address }) => (address === '' ? undefined : 'Lisbon') })
    const begun = await start()
    const nobody = await new Client(auth).get(`/device?user_code=${begun.user_code}`)
    expect(decodeURIComponent(nobody.headers.get('location')!)).toContain(`/auth/device?user_code=${begun.user_code}`)
    const client = await browser()
    const page = await (await client.get(`/device?user_code=${begun.user_code}`)).text()
    expect([page.includes(`value="${begun.user_code}"`), page.includes('name="decision"')]).toEqual([true, false])
    expect((await client.get('/device?user_code="><script>')).status).toBe(200)
    const question = await enter(client, ` ${begun.user_code!.toLowerCase().replace('-', ' ')} `)
    expect([question.includes(begun.user_code!), question.includes('Acme &lt;TV&gt;'), question.includes('ada@example.com')]).toEqual([
      true,
      true,
      true,
    ])
    expect(question).toContain('Did another user send you this code?')
  })

  it('shows what the device says of itself, as text', async () => {
    const { call, browser } = await world()
    const { body } = await call('device', { client_id: 'tv' }, { 'user-agent': '<img src=x onerror=alert(1)>' })
    const question = await enter(await browser(), body.user_code!)
    expect([question.includes('<img src=x'), question.includes('&lt;img src=x')]).toEqual([false, true])
  })

  it('approves nothing by GET, by another site, by another user, after the end, or twice', async () => {
    const { start, browser, poll, runtime } = await world()
    const [ada, eve] = [await browser(), await browser('eve')]
    const begun = await start()
    runtime.advance(5000)
    const pending = async () => expect(await poll(begun.device_code!)).toEqual({ error: 'authorization_pending' })
    await ada.get(`/device?user_code=${begun.user_code}&decision=allow`)
    const ticket = ticketOf(await enter(ada, begun.user_code!))
    expect((await ada.get(`/device/decide?ticket=${ticket}&decision=allow`)).status).toBe(405)
    const cross = { method: 'POST', body: new URLSearchParams({ ticket, decision: 'allow' }), headers: { origin: 'https://evil.example' } }
    expect((await ada.send('/device/decide', cross)).status).toBe(403)
    expect((await eve.post('/device/decide', { ticket, decision: 'allow' })).status).toBe(400)
    expect((await ada.post('/device/decide', { ticket: 'x', decision: 'allow' })).status).toBe(400)
    await pending()
    expect((await ada.post('/device/decide', { ticket, decision: 'deny' })).headers.get('location')).toContain('denied')
    expect(await (await ada.post('/device/decide', { ticket, decision: 'allow' })).text()).toContain('wrong or too old')
    const late = await start()
    const lateTicket = ticketOf(await enter(ada, late.user_code!))
    runtime.advance(600_000)
    expect((await ada.post('/device/decide', { ticket: lateTicket, decision: 'allow' })).headers.get('location')).toBeNull()
    expect((await poll(late.device_code!)).error).toBe('expired_token')
  })

  it('of two people who answer one code one counts', async () => {
    const { start, browser, poll, auth, bearer } = await world()
    const [ada, eve] = [await browser(), await browser('eve')]
    const { user_code: code, device_code: device } = await start()
    const tickets = [ticketOf(await enter(ada, code!)), ticketOf(await enter(eve, code!))]
    const answers = await Promise.all([
      ada.post('/device/decide', { ticket: tickets[0]!, decision: 'allow' }),
      eve.post('/device/decide', { ticket: tickets[1]!, decision: 'allow' }),
    ])
    const won = answers.map((answer) => answer.headers.get('location') !== null)
    expect(won.filter(Boolean)).toHaveLength(1)
    const { access_token: token } = await poll(device!)
    expect((await auth.session(bearer(token!)))?.user?.id).toBe(won[0] ? 'ada' : 'eve')
  })

  it('lets one person try ten codes in ten minutes, whatever the session', async () => {
    const { start, browser, runtime } = await world()
    const { user_code: code } = await start()
    for (let i = 0; i < 10; i++) expect(await enter(await browser(), 'BBBB-BBBB')).toContain('wrong or too old')
    expect(await enter(await browser(), code!)).toContain('too many wrong codes')
    expect(await enter(await browser('eve'), code!)).toContain('name="ticket"')
    runtime.advance(600_000)
    expect(await enter(await browser(), (await start()).user_code!)).toContain('name="ticket"')
  })

  it('demands a fresh proof where the option says so, when the code is typed and when the answer is given', async () => {
    const { start, browser, runtime, poll } = await world({ stepUp: { maxAge: 60 } })
    const begun = await start()
    const client = await browser()
    runtime.advance(61_000)
    const asked = await client.post('/device', { user_code: begun.user_code! })
    expect(decodeURIComponent(asked.headers.get('location')!)).toContain(`/auth/device?user_code=${begun.user_code}`)
    const fresh = await browser()
    const ticket = ticketOf(await enter(fresh, begun.user_code!))
    runtime.advance(61_000)
    expect((await fresh.post('/device/decide', { ticket, decision: 'allow' })).headers.get('location')).toContain('/auth/signin')
    expect((await poll(begun.device_code!)).error).toBe('authorization_pending')
    expect(await approve(await browser(), begun.user_code!)).toContain('allowed')
  })

  it('is there in five languages', async () => {
    const { browser } = await world()
    const client = await browser()
    const titles = await Promise.all(
      ['en', 'de', 'fr', 'es', 'ja'].map(
        async (lang) => /<h1[^>]*>([^<]+)/.exec(await (await client.get('/device', { 'accept-language': lang })).text())?.[1],
      ),
    )
    expect(new Set(titles).size).toBe(5)
  })
})

describe('an approval', () => {
  it('is worth nothing when the user is banned or signed out everywhere before the device asks', async () => {
    const { auth, start, browser, poll } = await world()
    const [banned, signedOut] = [await start(), await start()]
    await approve(await browser(), banned.user_code!)
    await approve(await browser('eve'), signedOut.user_code!)
    await auth.admin.ban({ userId: 'eve' }, 'ada', { reason: 'spam' })
    await auth.admin.signOut({ userId: 'ada' }, 'eve', { reason: 'stolen laptop' }).catch(() => undefined)
    expect(await poll(banned.device_code!)).toEqual({ error: 'invalid_grant' })
    await auth.admin.unban({ userId: 'eve' }, 'ada', { reason: 'no spam' })
    await auth.admin.signOut({ userId: 'ada' }, 'eve', { reason: 'stolen laptop' })
    expect(await poll(signedOut.device_code!)).toEqual({ error: 'invalid_grant' })
  })

  it('is told by mail and in the audit log, and no code is stored or logged', async () => {
    const { start, browser, mails, records, data, log } = await world()
    const begun = await start()
    await approve(await browser(), begun.user_code!)
    await expect.poll(() => mails.length).toBe(1)
    expect([mails[0]!.to, mails[0]!.text.includes('Acme <TV>')]).toEqual(['ada@example.com', true])
    await expect.poll(() => records.map(({ name }) => name)).toEqual(expect.arrayContaining(['deviceFlow.started', 'deviceFlow.approved']))
    const kept = JSON.stringify([data, log.errors.map(String), records], (_name, value: unknown) =>
      value instanceof Map ? [...value] : value,
    )
    for (const secret of [begun.device_code!, begun.user_code!, begun.user_code!.replace('-', '')]) expect(kept).not.toContain(secret)
  })
})

describe('options', () => {
  it('refuse what is wrong, and demand bearerPlugin and its apps', async () => {
    expect(() => deviceFlowPlugin({} as never)).toThrow(/`apps` is missing/)
    expect(() => deviceFlowPlugin({ apps: ['tv'], stepUp: { maxAge: 1 } })).toThrow(/`stepUp.maxAge`/)
    const base = () => createAuth(baseConfig({ adapter: memoryAdapter() }))
    await expect(
      base()
        .use(deviceFlowPlugin({ apps: ['tv'] }))
        .ready(),
    ).rejects.toThrow(/appTokens/)
    await expect(
      base()
        .use(bearerPlugin({ apps }))
        .use(deviceFlowPlugin({ apps: ['radio'] }))
        .ready(),
    ).rejects.toThrow(/"radio", which is no app/)
  })
})
