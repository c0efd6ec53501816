/** Sign-out at the provider, and logout tokens from it, at a test provider whose tokens can be made wrong. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Auth, Plugin } from 'authkernel/kernel'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { memoryAdapter, memoryRecords } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { recordsPlugin } from 'authkernel/plugins/records'
import { type LogoutOfProvider, singleLogoutPlugin, type SingleLogoutOptions } from 'authkernel/plugins/single-logout'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { CompactEncrypt, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { hmacJws, type Jwk, jws, keys, pem, type SigningKey } from '../_op/keys.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'
let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

let tokens = 0
interface World {
  auth: Auth
  told: [string, unknown][]
  errors: Error[]
  clock: { ahead: number }
  /** A browser that has signed in; its session there is `sid`. */
  signIn(sid?: string, sub?: string, browser?: Client): Promise<Client>
  token(change?: Jwk, header?: Jwk, key?: SigningKey): string
  push(token: string | URLSearchParams, path?: string, headers?: Record<string, string>): Promise<Response>
}

function world(strategy: 'jwt' | 'database', options: SingleLogoutOptions = {}, config: AuthConfig = {}, provider: object = {}): World {
  const told: [string, unknown][] = []
  const errors: Error[] = []
  const clock = { ahead: 0 }
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error: (error) => void errors.push(error), warn() {} },
    adapter: memoryAdapter(),
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    runtime: { now: () => Date.now() + clock.ahead },
    ...config,
  })
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, ...provider }))
    .use(singleLogoutPlugin(options))
  auth.on('providerLogout', (message) => void told.push(['providerLogout', { ...message }]))
  auth.on('sessionsEnded', ({ by }) => void told.push(['sessionsEnded', by]))
  return {
    auth,
    told,
    errors,
    clock,
    async signIn(sid = 'session-1', sub = 'alice', browser = new Client(auth)) {
      op.reset({ claims: (own) => ({ ...own, sid, sub, email: `${sub}@example.com` }) })
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      expect(await browser.session()).not.toBeNull()
      return browser
    },
    token(change = {}, header = {}, key = keys.k1) {
      const now = Math.floor((Date.now() + clock.ahead) / 1000)
      const claims = { iss: op.issuer, aud: op.clientId, iat: now, exp: now + 120, jti: `logout-${tokens++}`, sid: 'session-1' }
      return jws({ alg: key.alg, kid: key.kid, typ: 'logout+jwt', ...header }, { ...claims, events: { [event]: {} }, ...change }, key)
    },
    push: (token, path = '/backchannel-logout/acme', headers = {}) =>
      auth.handler(
        new Request(`http://localhost:3000/auth${path}`, {
          method: 'POST',
          body: typeof token === 'string' ? new URLSearchParams({ logout_token: token }) : token,
          headers,
        }),
      ),
  }
}
const isIn = async (browser: Client): Promise<boolean> => (await browser.session()) !== null
const invalid = { error: 'invalid_request' }
const sessionCookie = 'authkernel.session-token'
const cookiesOf = ({ cookies }: Client): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

describe.each(['jwt', 'database'] as const)('back-channel logout, %s sessions', (strategy) => {
  it('with `sid` ends the session of that browser alone', async () => {
    const { signIn, token, push, told } = world(strategy)
    const browsers = [await signIn('one'), await signIn('two'), await signIn('one-more', 'bob')]
    const answer = await push(token({ sid: 'one', sub: 'alice' }))
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([
      200,
      expect.stringContaining('no-store'),
      '',
    ])
    expect(await Promise.all(browsers.map(isIn))).toEqual([false, true, true])
    expect(told).toEqual([
      ['sessionsEnded', 'single-logout'],
      ['providerLogout', { provider: 'acme', sub: 'alice', sid: 'one', channel: 'back' }],
    ])
    expect((await push(token({ sid: 'two', sub: undefined }))).status).toBe(200)
    expect(await Promise.all(browsers.map(isIn))).toEqual([false, false, true])
  })

  it('with `sub` alone ends all sessions of the person and of no other user', async () => {
    const { signIn, token, push } = world(strategy)
    const browsers = [await signIn('one'), await signIn('two'), await signIn('three', 'bob')]
    expect((await push(token({ sid: undefined, sub: 'alice' }))).status).toBe(200)
    expect(await Promise.all(browsers.map(isIn))).toEqual([false, false, true])
  })

  it('a `sid` beside the `sub` of another person, an unknown session, another provider: 200 and nothing ends', async () => {
    const { auth, signIn, token, push } = world(strategy)
    auth.use(oidcPlugin({ id: 'other', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    const browser = await signIn('one')
    expect((await push(token({ sid: 'one', sub: 'bob' }))).status).toBe(200)
    expect((await push(token({ sid: 'none', sub: 'carol' }))).status).toBe(200)
    expect((await push(token({ sid: 'one' }), '/backchannel-logout/other')).status).toBe(200)
    expect(await isIn(browser)).toBe(true)
  })

  it('the same token again is 200 without effect, also for a session that began in the same second; its `jti` in another token is 400', async () => {
    const { signIn, token, push, told, clock } = world(strategy)
    const first = await signIn('one')
    const sent = token({ sid: 'one', sub: 'alice', jti: 'the-same' })
    expect((await push(sent)).status).toBe(200)
    clock.ahead = 5
    const again = await signIn('one')
    const heard = told.length
    expect((await push(sent)).status).toBe(200)
    const other = await push(token({ sid: 'one', sub: 'alice', jti: 'the-same', extra: 1 }))
    expect([other.status, await other.json()]).toEqual([400, invalid])
    expect((await push(token({ sid: undefined, sub: 'alice', jti: 'the-same' }))).status).toBe(400)
    expect([await isIn(first), await isIn(again), told.length]).toEqual([false, true, heard])
  })

  it('signing in again with the same account: a new token and id, the former token is dead, and the new `sid` is the one that ends it', async () => {
    const { signIn, token, push } = world(strategy)
    const browser = await signIn('first')
    const thief = browser.clone()
    const before = browser.cookies.get(sessionCookie)
    await signIn('second', 'alice', browser)
    expect(browser.cookies.get(sessionCookie)).not.toBe(before)
    expect([await isIn(browser), await isIn(thief)]).toEqual([true, false])
    await push(token({ sid: 'first', sub: 'alice' }))
    expect(await isIn(browser)).toBe(true)
    await push(token({ sid: 'second', sub: 'alice' }))
    expect(await isIn(browser)).toBe(false)
  })

  it('a step-up that the provider answers from another session: from then on that `sid` ends the session, and the former one does not', async () => {
    const { auth, signIn, token, push, clock } = world(strategy)
    const stepUp = (auth as unknown as Auth).use(stepUpPlugin())
    const browser = await signIn('first')
    clock.ahead = 400_000
    const asked = await stepUp.stepUp.require(
      new Request('http://localhost:3000/pay', { headers: { cookie: cookiesOf(browser), accept: 'text/html' } }),
    )
    for (const line of (asked as Response).headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const now = Math.floor((Date.now() + clock.ahead) / 1000)
    op.reset({ claims: (own) => ({ ...own, iat: now, exp: now + 600, auth_time: now, sid: 'second', sub: 'alice' }) })
    const back = await browser.get(await op.authorize((asked as Response).headers.get('location') ?? ''))
    expect(back.headers.get('location')).toBe('http://localhost:3000/pay')
    await push(token({ sid: 'first', sub: 'alice' }))
    expect(await isIn(browser)).toBe(true)
    await push(token({ sid: 'second', sub: 'alice' }))
    expect(await isIn(browser)).toBe(false)
  })

  it('a user who comes back at once can be signed out again', async () => {
    const { signIn, token, push, clock } = world(strategy)
    for (let times = 0; times < 3; times++) {
      clock.ahead += 5
      const browser = await signIn('one')
      expect([(await push(token({ sid: undefined, sub: 'alice' }))).status, await isIn(browser)]).toEqual([200, false])
    }
  })

  it('a late token ends no session that began a minute after it was made', async () => {
    const { signIn, token, push, clock } = world(strategy)
    const late = token({ sid: 'one', exp: Math.floor(Date.now() / 1000) + 900 })
    clock.ahead = 120_000
    const browser = await signIn('one')
    expect((await push(late)).status).toBe(200)
    expect(await isIn(browser)).toBe(true)
    expect((await push(token({ sid: 'one' }))).status).toBe(200)
    expect(await isIn(browser)).toBe(false)
  })

  it('a token whose effect failed is 503, and counts when it comes again', async () => {
    const adapter = memoryAdapter()
    const records = memoryRecords()
    let broken = false
    const fail = (): Promise<never> => Promise.reject(new Error('connection lost'))
    const sessions = adapter.deleteSessions!.bind(adapter)
    adapter.deleteSessions = (list) => (broken ? fail() : sessions(list))
    const write = records.write.bind(records)
    records.write = (writes, now) => (broken && writes.some(({ table }) => table === 'revocation') ? fail() : write(writes, now))
    const { auth, signIn, token, push, told } = world(strategy, {}, { adapter })
    auth.use(recordsPlugin(records))
    const browser = await signIn('one')
    const sent = token({ sid: 'one' })
    broken = true
    const answer = await push(sent)
    expect([answer.status, answer.headers.get('cache-control'), await isIn(browser)]).toEqual([
      503,
      expect.stringContaining('no-store'),
      true,
    ])
    broken = false
    expect((await push(sent)).status).toBe(200)
    expect([await isIn(browser), told.length]).toEqual([false, 2])
  })

  it('a token that was interrupted between its mark and its effect still ends what it should have', async () => {
    const adapter = memoryAdapter()
    const records = memoryRecords()
    let broken = false
    const fail = (): Promise<never> => Promise.reject(new Error('killed'))
    const write = records.write.bind(records)
    records.write = (writes, now) =>
      broken && writes.some(({ table, op: what }) => table === 'revocation' || (table === 'logoutToken' && what === 'delete'))
        ? fail()
        : write(writes, now)
    const find = records.find.bind(records)
    records.find = (table, query, now) => (broken && table === 'sessionRecord' ? fail() : find(table, query, now))
    const { auth, signIn, token, push, clock } = world(strategy, {}, { adapter })
    auth.use(recordsPlugin(records))
    const before = await signIn('one')
    const sent = token({ sid: 'one' })
    broken = true
    expect((await push(sent)).status).toBe(503)
    broken = false
    clock.ahead = 10
    const after = await signIn('one')
    expect((await push(sent)).status).toBe(200)
    expect([await isIn(before), await isIn(after)]).toEqual([false, true])
  })
})

it('refuses what is no logout token of this provider for this client', async () => {
  const { signIn, token, push, told, errors } = world('database')
  const browser = await signIn()
  const header = { alg: 'RS256', kid: keys.k1.kid, typ: 'logout+jwt' }
  const plain = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const claims = JSON.parse(Buffer.from(token().split('.')[1] ?? '', 'base64url').toString()) as Jwk
  const bad: [string, string | URLSearchParams][] = [
    ['another audience', token({ aud: 'somebody-else' })],
    ['no audience', token({ aud: undefined })],
    ['a foreign issuer', token({ iss: 'https://evil.example' })],
    ['alg none', `${plain({ ...header, alg: 'none' })}.${plain(claims)}.`],
    ['alg none with a signature', `${plain({ ...header, alg: 'none' })}.${plain(claims)}.AAAA`],
    ['HS256 with the public key', hmacJws({ ...header, alg: 'HS256' }, claims, pem(keys.k1))],
    ['HS256 with the secret of the client', hmacJws({ ...header, alg: 'HS256' }, claims, op.clientSecret)],
    ['a key that is not published', token({}, {}, keys.evil)],
    ['changed claims', token().replace(/\.[^.]+\./, `.${plain({ ...claims, sid: 'two' })}.`)],
    ['an ID token', token({ nonce: 'n', events: undefined }, { typ: 'JWT' })],
    ['a nonce', token({ nonce: 'n' })],
    ['a nonce that is null', token({ nonce: null })],
    ['typ JWT', token({}, { typ: 'JWT' })],
    ['no typ', token({}, { typ: undefined })],
    ['a security event token', token({}, { typ: 'secevent+jwt' })],
    ['no events', token({ events: undefined })],
    ['a list of events', token({ events: [event] })],
    ['another event', token({ events: { 'https://example.com/logout': {} } })],
    ['an event that is a text', token({ events: { [event]: 'now' } })],
    ['an event that is a list', token({ events: { [event]: [] } })],
    ['neither sub nor sid', token({ sid: undefined })],
    ['a sid that is no text', token({ sid: 5 })],
    ['a sub that is no text', token({ sub: { id: 'alice' } })],
    ['no jti', token({ jti: undefined })],
    ['a jti that is no text', token({ jti: 7 })],
    ['no iat', token({ iat: undefined })],
    ['an iat of tomorrow', token({ iat: now + 86_400 })],
    ['an nbf of tomorrow', token({ nbf: now + 86_400 })],
    ['an nbf that is a text', token({ nbf: 'tomorrow' })],
    ['an iat two minutes ahead', token({ iat: now + 120 })],
    ['an iat of yesterday', token({ iat: now - 86_400 })],
    ['an iat of eleven minutes ago', token({ iat: now - 660 })],
    ['no exp', token({ exp: undefined })],
    ['an exp that is no number', token({ exp: 'later' })],
    ['an end that has passed', token({ exp: now - 120 })],
    ['no token', 'hello'],
    ['nothing', ''],
    ['no parameter', new URLSearchParams({ token: token() })],
    [
      'two parameters',
      new URLSearchParams([
        ['logout_token', token()],
        ['logout_token', token()],
      ]),
    ],
    ['a megabyte', `${token()}${'A'.repeat(1_000_000)}`],
  ]
  for (const [name, sent] of bad) {
    const answer = await push(sent)
    expect([name, answer.status, await answer.json(), answer.headers.get('cache-control')]).toEqual([
      name,
      400,
      invalid,
      expect.stringContaining('no-store'),
    ])
  }
  const json = { 'content-type': 'application/json' }
  const asJson = await push(new URLSearchParams(), '/backchannel-logout/acme', json)
  expect([asJson.status, (await push(token(), '/backchannel-logout/nobody')).status]).toEqual([400, 400])
  expect([await isIn(browser), told]).toEqual([true, []])
  const said = errors.map(({ message }) => message).join('\n')
  expect(said).toContain('providers.acme.legacyLogoutTokens: true')
  expect(said).not.toMatch(/eyJ[\w-]{8,}\.eyJ/)
  const get = await browser.get('/backchannel-logout/acme')
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
})

it('an adapter that cannot list sessions nor delete several at once, beside records: each of its sessions is ended by its token', async () => {
  const {
    records: _records,
    deleteSessions: _many,
    deleteSessionsByUserId: _all,
    listSessionsByUserId: _list,
    ...published
  } = memoryAdapter()
  const ended: string[] = []
  const deleteSession = published.deleteSession!.bind(published)
  const adapter = { ...published, deleteSession: (token: string) => (ended.push(token), deleteSession(token)) }
  const { auth, signIn, token, push } = world('database', {}, { adapter })
  auth.use(recordsPlugin(memoryRecords()))
  const browsers = [await signIn('one'), await signIn('two'), await signIn('three'), await signIn('four', 'bob')]
  ended.length = 0
  expect((await push(token({ sid: 'two' }))).status).toBe(200)
  expect([await Promise.all(browsers.map(isIn)), ended.length]).toEqual([[true, false, true, true], 1])
  expect((await push(token({ sid: undefined, sub: 'alice' }))).status).toBe(200)
  expect([await Promise.all(browsers.map(isIn)), ended.length]).toEqual([[false, false, false, true], 3])
})

it('reads no cookie, sets none, and answers no script of another site', async () => {
  const { signIn, token, push } = world('jwt')
  const browser = await signIn('one')
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await push(token({ sid: 'other' }), '/backchannel-logout/acme', { cookie, origin: 'https://evil.example' })
  expect([answer.status, answer.headers.getSetCookie(), answer.headers.get('access-control-allow-origin')]).toEqual([200, [], null])
  expect(await isIn(browser)).toBe(true)
})

it('with `legacyLogoutTokens` tokens without `exp` and with `typ: JWT` count for two minutes', async () => {
  const { signIn, token, push } = world('database', { providers: { acme: { legacyLogoutTokens: true } } })
  const browser = await signIn()
  const now = Math.floor(Date.now() / 1000)
  expect((await push(token({ exp: undefined, iat: now - 180 }, { typ: 'JWT' }))).status).toBe(400)
  expect((await push(token({ nonce: 'n', exp: undefined }, { typ: 'JWT' }))).status).toBe(400)
  expect((await push(token({}, { typ: 'secevent+jwt' }))).status).toBe(400)
  expect(await isIn(browser)).toBe(true)
  expect((await push(token({ exp: undefined }, { typ: undefined }))).status).toBe(200)
  expect(await isIn(browser)).toBe(false)
})

it('the session is known by its `sid` also where the profile comes from userinfo', async () => {
  const { signIn, token, push } = world('database', {}, {}, { idToken: false })
  const browsers = [await signIn('one'), await signIn('two')]
  expect((await push(token({ sid: 'one' }))).status).toBe(200)
  expect(await Promise.all(browsers.map(isIn))).toEqual([false, true])
})

it('a logout token that is encrypted for this client counts, and is checked like any other', async () => {
  const { publicKey, privateKey } = await generateKeyPair('RSA-OAEP-256')
  const { signIn, token, push } = world('database', {}, {}, { decryptionKey: privateKey })
  const encrypted = (jwt: string, key = publicKey): Promise<string> =>
    new CompactEncrypt(new TextEncoder().encode(jwt)).setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', cty: 'JWT' }).encrypt(key)
  const browser = await signIn('one')
  const other = await generateKeyPair('RSA-OAEP-256')
  for (const bad of [token({ aud: 'other' }), token({}, { typ: 'JWT' }), token({ nonce: 'n' }), token({}, {}, keys.evil), 'hello'])
    expect((await push(await encrypted(bad))).status).toBe(400)
  expect((await push(await encrypted(token({ sid: 'one' }), other.publicKey))).status).toBe(400)
  expect(await isIn(browser)).toBe(true)
  expect((await push(await encrypted(token({ sid: 'one' })))).status).toBe(200)
  expect(await isIn(browser)).toBe(false)
})

it('jwt: another process with the same records refuses the session within the staleness, also with a cold copy', async () => {
  const adapter = memoryAdapter()
  const [one, two, cold] = [world('jwt', {}, { adapter }), world('jwt', {}, { adapter }), world('jwt', {}, { adapter })]
  const browser = await one.signIn('one')
  const at = (there: World): Client => {
    const copy = new Client(there.auth)
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    return copy
  }
  expect(await isIn(at(two))).toBe(true)
  expect((await one.push(one.token({ sid: 'one' }))).status).toBe(200)
  expect(await isIn(at(cold))).toBe(false)
  two.clock.ahead = 10_001
  expect(await isIn(at(two))).toBe(false)
  // What was sent to one process is no news to another.
  const again = await one.signIn('two')
  const sent = one.token({ sid: 'two' })
  expect([(await one.push(sent)).status, await isIn(again)]).toEqual([200, false])
  const heard = cold.told.length
  expect([(await cold.push(sent)).status, cold.told.length]).toEqual([200, heard])
})

it('is in the audit log', async () => {
  const { auth, signIn, token, push } = world('database')
  const records: AuditRecord[] = []
  auth.use(auditPlugin({ sink: (batch) => void records.push(...batch), pause: 1 }))
  await signIn('one')
  await push(token({ sid: 'one', sub: 'alice' }))
  await expect.poll(() => records.map(({ name }) => name)).toContain('signOut.remote')
  expect(records.find(({ name }) => name === 'signOut.remote')).toMatchObject({
    outcome: 'success',
    actor: { type: 'provider', id: 'acme' },
    provider: 'acme',
    target: { sid: 'one', sub: 'alice', channel: 'back' },
  })
})

it('the algorithm that the client registered is the only one', async () => {
  const { token, push } = world('jwt', {}, {}, { client: { id_token_signed_response_alg: 'PS256' } })
  expect((await push(token())).status).toBe(400)
})

it('answers 503 while the keys of the provider cannot be had', async () => {
  const { push, token, errors } = world('jwt')
  op.reset({ discovery: () => ({ status: 500 }) })
  expect((await push(token())).status).toBe(503)
  op.reset({ jwks: () => ({ status: 500 }) })
  expect((await push(token())).status).toBe(503)
  op.reset()
  expect(errors).toHaveLength(2)
})

it('`backChannel: false` takes none, for one provider or for all', async () => {
  const one = world('jwt', { providers: { acme: { backChannel: false } } })
  expect((await one.push(one.token())).status).toBe(400)
  const none = world('jwt', { backChannel: false }, { session: { strategy: 'jwt' }, adapter: undefined as never })
  await none.auth.ready()
  const answer = await none.push(none.token())
  expect([answer.status, await answer.text()]).toEqual([400, '"Bad request."'])
})

describe('front-channel logout', () => {
  const open = (auth: Auth, query: Record<string, string>, headers = {}): Promise<Response> =>
    auth.handler(new Request(`http://localhost:3000/auth/frontchannel-logout/acme?${new URLSearchParams(query)}`, { headers }))

  it.each(['jwt', 'database'] as const)(
    '%s: ends the session that `iss` and `sid` name, and may be framed by the provider alone',
    async (strategy) => {
      const { auth, signIn, told } = world(strategy, { providers: { acme: { frontChannel: true } } })
      const browsers = [await signIn('one'), await signIn('two')]
      // What an image of a stranger's page can name.
      const wrong: Record<string, string>[] = [
        {},
        { sid: 'one' },
        { iss: op.issuer },
        { iss: 'https://evil.example', sid: 'one' },
        { iss: op.issuer, sid: '' },
      ]
      for (const query of wrong) expect((await open(auth, query)).status).toBe(400)
      expect((await open(auth, { iss: op.issuer, sid: 'guess' })).status).toBe(200)
      expect(await Promise.all(browsers.map(isIn))).toEqual([true, true])
      const answer = await open(auth, { iss: op.issuer, sid: 'one' })
      expect([answer.status, answer.headers.get('content-security-policy'), answer.headers.get('x-frame-options')]).toEqual([
        200,
        `default-src 'none'; frame-ancestors ${op.issuer}`,
        null,
      ])
      expect(await Promise.all(browsers.map(isIn))).toEqual([false, true])
      expect(told.at(-1)).toEqual(['providerLogout', { provider: 'acme', sub: undefined, sid: 'one', channel: 'front' }])
    },
  )

  it('is not there unless a provider has it', async () => {
    const { auth } = world('jwt')
    expect(await (await open(auth, { iss: op.issuer, sid: 'one' })).text()).toBe('"Bad request."')
  })
})

describe('sign-out at the provider', () => {
  const signOut = async (browser: Client): Promise<string> =>
    locationOf(await browser.post('/signout', { csrfToken: await browser.csrfToken(), callbackUrl: '/bye' }))
  it('a provider without `end_session_endpoint`, or one that is down, leaves the sign-out as it was', async () => {
    const { signIn, errors } = world('database')
    const browser = await signIn()
    expect(await signOut(browser)).toBe('http://localhost:3000/bye')
    const second = world('database')
    const other = await second.signIn()
    second.clock.ahead = 7_200_000
    op.reset({ discovery: () => ({ status: 500 }) })
    expect(await signOut(other)).toBe('http://localhost:3000/bye')
    expect([await isIn(browser), await isIn(other), errors.length, second.errors.length]).toEqual([false, false, 0, 1])
    op.reset()
  })

  /** As if the discovery document named it. */
  const naming = (end_session_endpoint: unknown): Plugin<void> => ({
    name: 'metadata',
    setup: (kernel) =>
      kernel.decorate('oauth', (inner) => ({
        metadata: async (ctx, id) => ({ ...(await inner.metadata(ctx, id)), end_session_endpoint }),
      })),
  })
  /** With ID tokens in records, and in a cookie. */
  const made = (kind: 'jwt' | 'database' | 'cookie', options: SingleLogoutOptions = {}): World =>
    kind === 'cookie'
      ? world('jwt', { backChannel: false, ...options }, { session: { strategy: 'jwt' }, adapter: undefined as never })
      : world(kind, options)

  it.each(['http://id.example/logout', 'javascript:alert(1)', 'https://u:p@id.example/', 7])('an endpoint %s is none', async (endpoint) => {
    const { auth, signIn } = world('jwt')
    auth.use(naming(endpoint))
    expect(await signOut(await signIn())).toBe('http://localhost:3000/bye')
  })

  describe.each(['jwt', 'database', 'cookie'] as const)('%s', (kind) => {
    it('leads there with what the specification names, and back to where the sign-out wanted to go', async () => {
      const { auth, signIn, errors } = made(kind)
      auth.use(naming('https://id.example/logout?a=b'))
      const browser = await signIn('one')
      const there = new URL(await signOut(browser))
      const { id_token_hint: hint = '', state = '', ...rest } = Object.fromEntries(there.searchParams)
      expect([there.origin, there.pathname, rest]).toEqual([
        'https://id.example',
        '/logout',
        { a: 'b', client_id: op.clientId, post_logout_redirect_uri: 'http://localhost:3000/auth/signed-out' },
      ])
      expect(JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({ sid: 'one', sub: 'alice' })
      expect(await isIn(browser)).toBe(false)
      // Of another browser, and made up.
      expect(locationOf(await new Client(auth).get(`/signed-out?state=${state}`))).toBe('http://localhost:3000/')
      expect(locationOf(await browser.get('/signed-out?state=guess'))).toBe('http://localhost:3000/')
      expect(locationOf(await browser.get(`/signed-out?state=${state}`))).toBe('http://localhost:3000/bye')
      expect(locationOf(await browser.get(`/signed-out?state=${state}`))).toBe('http://localhost:3000/')
      expect(errors).toEqual([])
      expect(await signOut(browser)).toBe('http://localhost:3000/bye')
    })

    it('a hint that is too long for a URL goes by a form, once', async () => {
      const { auth, signIn } = made(kind)
      auth.use(naming('https://id.example/logout'))
      const browser = await signIn('s'.repeat(240), 'l'.repeat(250))
      op.reset({ claims: (own) => ({ ...own, sid: 'long', groups: 'g'.repeat(1_500) }) })
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      const there = await signOut(browser)
      expect(there).toMatch(/^http:\/\/localhost:3000\/auth\/signing-out\?state=[\w-]{43}$/)
      expect(locationOf(await new Client(auth).get(there))).toBe('http://localhost:3000/')
      const page = await browser.get(there)
      const html = await page.text()
      const fields = Object.fromEntries(
        [...html.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      )
      expect(html).toContain('method="post" action="https://id.example/logout"')
      expect(page.headers.get('content-security-policy')).toMatch(/form-action [^;]*https:\/\/id\.example/)
      expect(Object.keys(fields).sort()).toEqual(['client_id', 'id_token_hint', 'post_logout_redirect_uri', 'state'])
      expect(fields['id_token_hint']?.length).toBeGreaterThan(2_000)
      expect(locationOf(await browser.get(there))).toBe('http://localhost:3000/')
      expect(locationOf(await browser.get(`/signed-out?state=${fields['state']}`))).toBe('http://localhost:3000/bye')
    })
  })

  it('a planted hint of another session is not sent', async () => {
    const { auth, signIn } = made('cookie')
    auth.use(naming('https://id.example/logout'))
    const [browser, other] = [await signIn('one'), await signIn('two', 'bob')]
    for (const [name, value] of other.cookies) if (name.includes('logout-hint')) browser.cookies.set(name, value)
    const { searchParams } = new URL(await signOut(browser))
    expect([searchParams.get('id_token_hint'), searchParams.get('logout_hint')]).toEqual([null, 'one'])
  })

  it('options: an address of the host, none, and no sign-out there at all', async () => {
    const at = async (acme: LogoutOfProvider): Promise<string> => {
      const { auth, signIn } = made('database', { providers: { acme } })
      auth.use(naming('https://id.example/logout'))
      return signOut(await signIn())
    }
    const own = new URL(await at({ postLogoutRedirectUri: 'https://app.example/bye' })).searchParams
    expect([own.get('post_logout_redirect_uri'), own.has('state')]).toEqual(['https://app.example/bye', true])
    const none = new URL(await at({ postLogoutRedirectUri: false })).searchParams
    expect([none.has('post_logout_redirect_uri'), none.has('state'), none.has('id_token_hint')]).toEqual([false, false, true])
    expect(await at({ endSession: false })).toBe('http://localhost:3000/bye')
    expect(await at({ endSession: ({ callbackUrl }) => !callbackUrl.endsWith('/bye') })).toBe('http://localhost:3000/bye')
    expect(await at({ endSession: ({ provider, request }) => provider === 'acme' && request.method === 'POST' })).toContain(
      'https://id.example/',
    )
  })

  it('the ID token is in no row, no session and no answer as plain text', async () => {
    const kept = memoryRecords()
    const written: string[] = []
    const write = kept.write.bind(kept)
    kept.write = (...args) => (written.push(JSON.stringify(args)), write(...args))
    const { auth, signIn } = world('database')
    auth.use(recordsPlugin(kept)).use(naming('https://id.example/logout'))
    const browser = await signIn()
    const hint = new URL(await signOut(browser)).searchParams.get('id_token_hint') ?? 'none'
    expect(written.join()).toContain('logoutHint')
    expect(written.join()).not.toContain(hint)
  })
})

describe('configuration', () => {
  const ready = (options: SingleLogoutOptions, config: AuthConfig = {}): Promise<void> => world('database', options, config).auth.ready()

  it('names what is wrong with an option', async () => {
    await expect(ready({ providers: { acne: {} } })).rejects.toThrow('`providers.acne` names no provider')
    expect(() => singleLogoutPlugin({ backChannel: 'yes' as never })).toThrow('`backChannel`')
    expect(() => singleLogoutPlugin({ providers: { acme: { endSession: 'yes' as never } } })).toThrow('`providers.acme.endSession`')
    expect(() => singleLogoutPlugin({ providers: { acme: { frontChannel: 1 as never } } })).toThrow('`providers.acme.frontChannel`')
    expect(() => singleLogoutPlugin({ providers: { acme: { postLogoutRedirectUri: 'http://app.example/' } } })).toThrow(
      'postLogoutRedirectUri',
    )
  })

  it.each([
    ['jwt without revocable', { session: { strategy: 'jwt' } }, /"single-logout" needs the ability "revoke:attribute"/],
    ['without records', { adapter: undefined as never, session: { strategy: 'jwt' } }, /"single-logout"/],
  ] as const)('is refused at compile where sessions cannot be ended: %s', async (_name, config, message) => {
    await expect(ready({}, config)).rejects.toThrow(message)
  })
})
