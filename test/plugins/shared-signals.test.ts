/** Shared signals: security event tokens pushed over HTTP, signed with the keys of the test provider. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Auth } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { sharedSignalsPlugin, type SharedSignalsOptions, type Signal, type SignalsOfProvider } from 'authkernel/plugins/shared-signals'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { hmacJws, type Jwk, jws, keys, pem, type SigningKey } from '../_op/keys.ts'

const caep = 'https://schemas.openid.net/secevent/caep/event-type'
const risc = 'https://schemas.openid.net/secevent/risc/event-type'
const ssf = 'https://schemas.openid.net/secevent/ssf/event-type'
let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

let tokens = 0
interface World {
  auth: Auth
  told: Signal[]
  errors: Error[]
  clock: { ahead: number }
  /** A browser that has signed in; its session there is `sid`. */
  signIn(sid?: string): Promise<Client>
  claims(change?: Jwk): Jwk
  set(change?: Jwk, header?: Jwk, key?: SigningKey): string
  push(
    body: string,
    headers?: Record<string, string>,
    path?: string,
  ): Promise<{ status: number; body: { err?: string; description?: string } }>
}

function world(strategy: 'jwt' | 'database', sender: SignalsOfProvider = { revoke: true }, config: AuthConfig = {}): World {
  const told: Signal[] = []
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
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, trustEmail: true }))
    .use(sharedSignalsPlugin({ providers: { acme: sender } }))
  auth.on('signalReceived', (message) => void told.push({ ...message }))
  const claims = (change: Jwk = {}): Jwk => ({
    iss: op.issuer,
    aud: op.clientId,
    iat: Math.floor((Date.now() + clock.ahead) / 1000),
    jti: `token-${tokens++}`,
    sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'alice' },
    events: { [`${caep}/session-revoked`]: { event_timestamp: 1_700_000_000 } },
    ...change,
  })
  return {
    auth,
    told,
    errors,
    clock,
    claims,
    async signIn(sid = 'session-1') {
      op.reset({ claims: (own) => ({ ...own, sid }) })
      const browser = new Client(auth)
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      expect((await browser.session())?.user?.name).toBe('Alice')
      return browser
    },
    set: (change, header = {}, key = keys.k1) => jws({ alg: key.alg, kid: key.kid, typ: 'secevent+jwt', ...header }, claims(change), key),
    async push(body, headers = {}, path = '/signals/acme') {
      const answer = await auth.handler(
        new Request(`http://localhost:3000/auth${path}`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/secevent+jwt', accept: 'application/json', ...headers },
        }),
      )
      const text = await answer.text()
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as { err?: string } }
    },
  }
}
const accepted = { status: 202, body: {} }
const isIn = async (browser: Client): Promise<boolean> => (await browser.session())?.user !== undefined

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  it('session-revoked ends the sessions of the user, and is told once', async () => {
    const { signIn, push, set, told } = world(strategy)
    const browsers = [await signIn('one'), await signIn('two')]
    const token = set()
    expect(await push(token)).toEqual(accepted)
    expect(await Promise.all(browsers.map(isIn))).toEqual([false, false])
    const again = await signIn('three')
    expect(await push(token)).toEqual(accepted)
    expect(await isIn(again)).toBe(true)
    expect(told).toEqual([
      expect.objectContaining({
        provider: 'acme',
        kind: 'session-revoked',
        subject: { sub: 'alice' },
        userId: expect.any(String) as string,
        at: 1_700_000_000_000,
        ...(strategy === 'database' && { count: 2 }),
      }),
    ])
  })

  it.each([
    ['an opaque id', { format: 'opaque', id: 'two' }],
    ['a complex subject', { format: 'complex', user: { format: 'opaque', id: 'alice' }, session: { format: 'opaque', id: 'two' } }],
  ])('a session named by %s is ended alone', async (_name, subject) => {
    const { signIn, push, set } = world(strategy)
    const browsers = [await signIn('one'), await signIn('two')]
    expect(await push(set({ sub_id: subject }))).toEqual(accepted)
    expect(await Promise.all(browsers.map(isIn))).toEqual([true, false])
  })

  it.each([
    ['an address that is proved', { format: 'email', email: 'ALICE@example.com' }],
    ['one of its aliases', { format: 'aliases', identifiers: [{ format: 'phone_number' }, { format: 'opaque', id: 'alice' }] }],
  ])('a person named by %s is signed out', async (_name, subject) => {
    const { signIn, push, set } = world(strategy)
    const browser = await signIn()
    expect(await push(set({ sub_id: subject, events: { [`${risc}/account-disabled`]: { reason: 'hijacking' } } }))).toEqual(accepted)
    expect(await isIn(browser)).toBe(false)
  })

  it('ends no session that began after the signal, and of no other user', async () => {
    const { signIn, push, set, clock } = world(strategy)
    const late = set()
    clock.ahead = 120_000
    const browser = await signIn()
    for (const token of [
      late,
      set({ sub_id: { format: 'iss_sub', iss: 'https://other.example', sub: 'alice' } }),
      set({ sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'bob' } }),
      set({ sub_id: { format: 'email', email: 'bob@example.com' } }),
      set({ sub_id: { format: 'did', url: 'did:example:1' } }),
      set({ events: { 'https://example.com/unknown': {} } }),
    ])
      expect(await push(token)).toEqual(accepted)
    expect(await isIn(browser)).toBe(true)
  })
})

describe('sharedSignalsPlugin', () => {
  it('ends nothing unless the option names the signal', async () => {
    const { signIn, push, set, told } = world('database', { revoke: ['account-disabled'] })
    const browser = await signIn()
    const details = { credential_type: 'password', change_type: 'update' }
    await push(set({ events: { [`${caep}/credential-change`]: details } }))
    expect(await isIn(browser)).toBe(true)
    expect(told).toEqual([expect.objectContaining({ kind: 'credential-change', count: 0, details })])
    // Before RFC 9493 the subject stood in the event.
    const legacy = { subject: { subject_type: 'iss-sub', iss: op.issuer, sub: 'alice' }, reason: 'hijacking' }
    await push(set({ sub_id: undefined, events: { [`${risc}/account-disabled`]: legacy } }))
    expect(await isIn(browser)).toBe(false)
    expect(told[1]).toMatchObject({ kind: 'account-disabled', reason: 'hijacking', count: 1 })
  })

  it('takes verification and stream-updated', async () => {
    const { push, set, told } = world('jwt')
    const about = { sub_id: { format: 'opaque', id: 'stream-1' } }
    expect(await push(set({ ...about, events: { [`${ssf}/verification`]: { state: 'abc' } } }))).toEqual(accepted)
    expect(await push(set({ ...about, events: { [`${ssf}/stream-updated`]: { status: 'paused', reason: 'upkeep' } } }))).toEqual(accepted)
    expect(told.map(({ kind, details, subject }) => [kind, details, subject])).toEqual([
      ['verification', { state: 'abc' }, {}],
      ['stream-updated', { status: 'paused', reason: 'upkeep' }, {}],
    ])
  })

  it('takes and ignores what is older than a day', async () => {
    const { push, set, told } = world('jwt')
    expect(await push(set({ iat: Math.floor(Date.now() / 1000) - 90_000 }))).toEqual(accepted)
    expect(told).toEqual([])
  })

  it('remembers a token for 30 days', async () => {
    const { push, set, told, clock } = world('database')
    const day = 86_400_000
    const toldAfter = async (days: number): Promise<number> => {
      clock.ahead = days * day
      expect(await push(set({ jti: 'the-same' }))).toEqual(accepted)
      return told.length
    }
    expect([await toldAfter(0), await toldAfter(29), await toldAfter(31)]).toEqual([1, 1, 2])
  })

  it('refuses what is no security event token of this provider for this client', async () => {
    const { signIn, push, set, claims, told } = world('database')
    const browser = await signIn()
    const header = { alg: 'RS256', kid: keys.k1.kid, typ: 'secevent+jwt' }
    const plain = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const bad: [string, string, string][] = [
      ['another audience', set({ aud: 'somebody-else' }), 'invalid_audience'],
      ['no audience', set({ aud: undefined }), 'invalid_audience'],
      ['a foreign issuer', set({ iss: 'https://evil.example' }), 'invalid_issuer'],
      ['alg none', `${plain({ ...header, alg: 'none' })}.${plain(claims())}.`, 'invalid_request'],
      ['alg none with a signature', `${plain({ ...header, alg: 'none' })}.${plain(claims())}.AAAA`, 'invalid_key'],
      ['HS256 with the public key', hmacJws({ ...header, alg: 'HS256' }, claims(), pem(keys.k1)), 'invalid_key'],
      ['HS256 with the secret of the client', hmacJws({ ...header, alg: 'HS256' }, claims(), op.clientSecret), 'invalid_key'],
      ['a key that is not published', set({}, {}, keys.evil), 'invalid_key'],
      ['changed claims', set().replace(/\.[^.]+\./, `.${plain(claims())}.`), 'invalid_key'],
      ['an ID token', set({ nonce: 'n' }, { typ: 'JWT' }), 'invalid_request'],
      ['a logout token', set({}, { typ: 'logout+jwt' }), 'invalid_request'],
      ['no events', set({ events: undefined }), 'invalid_request'],
      ['a list of events', set({ events: [{}] }), 'invalid_request'],
      ['an event that is a text', set({ events: { [`${caep}/session-revoked`]: 'now' } }), 'invalid_request'],
      ['no subject', set({ sub_id: undefined }), 'invalid_request'],
      ['no jti', set({ jti: undefined }), 'invalid_request'],
      ['a jti that is no key', set({ jti: 'a\u0000b' }), 'invalid_request'],
      ['no iat', set({ iat: undefined }), 'invalid_request'],
      ['an iat of tomorrow', set({ iat: now + 86_400 }), 'invalid_request'],
      ['an end that has passed', set({ exp: now - 3_600 }), 'invalid_request'],
      ['no token', 'hello', 'invalid_request'],
      ['nothing', '', 'invalid_request'],
      ['a megabyte', `${set()}${'A'.repeat(1_000_000)}`, 'invalid_request'],
    ]
    for (const [name, token, err] of bad) {
      const answer = await push(token)
      expect([name, answer.status, answer.body.err]).toEqual([name, 400, err])
      expect(answer.body.description, name).toEqual(expect.any(String))
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await push(set(), form)).toMatchObject({ status: 400, body: { err: 'invalid_request' } })
    expect(await push(set(), {}, '/signals/other')).toMatchObject({ status: 400, body: { err: 'access_denied' } })
    expect([await isIn(browser), told]).toEqual([true, []])
  })

  it('asks for the header that was agreed', async () => {
    const { push, set } = world('jwt', { authorization: 'Bearer agreed-with-the-sender' })
    const denied = { status: 400, body: { err: 'authentication_failed' } }
    expect(await push(set())).toMatchObject(denied)
    expect(await push(set(), { authorization: 'Bearer another' })).toMatchObject(denied)
    expect(await push(set(), { authorization: 'Bearer agreed-with-the-sender' })).toEqual(accepted)
  })

  it('a token whose effect failed counts when it comes again', async () => {
    const adapter = memoryAdapter()
    const { signIn, push, set, told } = world('database', { revoke: true }, { adapter })
    const browser = await signIn()
    const { getUserByAccount } = adapter
    const token = set()
    adapter.getUserByAccount = () => Promise.reject(new Error('connection lost'))
    expect(await push(token)).toEqual({ status: 503, body: {} })
    adapter.getUserByAccount = getUserByAccount
    expect(await push(token)).toEqual(accepted)
    expect([await isIn(browser), told.length]).toEqual([false, 1])
  })

  it('answers 503 while the keys of the sender cannot be had, and logs no token', async () => {
    const { push, set, errors } = world('jwt')
    op.reset({ discovery: () => ({ status: 500 }) })
    const token = set()
    expect(await push(token)).toEqual({ status: 503, body: {} })
    op.reset({ jwks: () => ({ status: 500 }) })
    expect(await push(token)).toMatchObject({ status: 503 })
    op.reset()
    expect(errors.length).toBe(2)
    expect(JSON.stringify(errors.map(({ message, cause }) => [message, String((cause as { err?: Error }).err)]))).not.toContain(token)
  })

  it.each<[string, unknown, RegExp]>([
    ['nobody', { providers: {} }, /`providers` is empty/],
    ['an unknown provider', { providers: { nope: {} } }, /`providers\.nope` names no provider/],
    ['an unknown signal', { providers: { acme: { revoke: ['logout'] } } }, /`providers\.acme\.revoke` has "logout"/],
  ])('refuses options that name %s', async (_name, options, message) => {
    const made = async (): Promise<void> => {
      await createAuth({ secret: 'the-secret-of-the-instance-has-40-letters', trustHost: true, env: false, adapter: memoryAdapter() })
        .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: 'x', clientSecret: 'y' }))
        .use(sharedSignalsPlugin(options as SharedSignalsOptions))
        .ready()
    }
    await expect(made()).rejects.toThrow(message)
  })

  it('is refused at compile where sessions cannot be ended by a signal', async () => {
    const auth = createAuth({ secret: 'the-secret-of-the-instance-has-40-letters', trustHost: true, env: false })
      .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: 'x', clientSecret: 'y' }))
      .use(sharedSignalsPlugin({ providers: { acme: { revoke: true } } }))
    await expect(auth.ready()).rejects.toThrow(/"shared-signals" needs the ability "revoke:attribute"/)
  })
})

describe('Global Token Revocation', () => {
  const options: SignalsOfProvider = { experimentalGlobalTokenRevocation: true }
  const audience = 'http://localhost:3000/auth/global-token-revocation/acme'
  const alice = { sub_id: { format: 'iss_sub', iss: '', sub: 'alice' } }
  const bearer = ({ clock }: World, change: Jwk = {}, header: Jwk = {}, key: SigningKey = keys.k1): string => {
    const now = Math.floor((Date.now() + clock.ahead) / 1000)
    const claims = { iss: op.issuer, aud: audience, iat: now, exp: now + 300, jti: `revocation-${tokens++}`, ...change }
    return `Bearer ${jws({ alg: key.alg, kid: key.kid, typ: 'global-token-revocation+jwt', ...header }, claims, key)}`
  }
  const ask = async (
    { auth }: World,
    authorization: string,
    body: unknown = { sub_id: { ...alice.sub_id, iss: op.issuer } },
    headers: Record<string, string> = {},
    id = 'acme',
  ): Promise<number> => {
    const answer = await auth.handler(
      new Request(`http://localhost:3000/auth/global-token-revocation/${id}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization, ...headers },
      }),
    )
    expect(answer.headers.get('cache-control')).toContain('no-store')
    return answer.status
  }

  it.each(['jwt', 'database'] as const)('%s: ends all sessions of the person that this provider began', async (strategy) => {
    const made = world(strategy, options)
    const browsers = [await made.signIn('one'), await made.signIn('two')]
    const token = bearer(made)
    expect(await ask(made, token)).toBe(204)
    expect(await Promise.all(browsers.map(isIn))).toEqual([false, false])
    expect(made.told).toEqual([
      expect.objectContaining({
        kind: 'token-revocation',
        provider: 'acme',
        subject: { sub: 'alice' },
        userId: expect.any(String) as string,
      }),
    ])
    const again = await made.signIn('three')
    expect([await ask(made, token), await isIn(again)]).toEqual([401, true])
    // As older drafts call it, and by a proved address.
    expect(await ask(made, bearer(made), { subject: { format: 'email', email: 'Alice@example.com' } })).toBe(204)
    expect(await isIn(again)).toBe(false)
  })

  it('finds a person whose account has another id than the `sub`, by name and by address', async () => {
    const made = world('database', options)
    made.auth.remove('oidc:acme')
    const profile = (said: object) => ({ ...said, id: 'employee-7' }) as never
    made.auth.use(
      oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, trustEmail: true, profile }),
    )
    for (const sub_id of [
      { ...alice.sub_id, iss: op.issuer },
      { format: 'email', email: 'alice@example.com' },
    ]) {
      const browser = await made.signIn()
      expect([await ask(made, bearer(made), { sub_id }), await isIn(browser)]).toEqual([204, false])
    }
    expect(made.told.map(({ userId, subject }) => [userId !== undefined, subject])).toEqual([
      [true, { sub: 'alice' }],
      [true, { sub: 'alice' }],
    ])
  })

  it('refuses what is no request of this provider', async () => {
    const made = world('database', options)
    const browser = await made.signIn()
    const now = Math.floor(Date.now() / 1000)
    const plain = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { iss: op.issuer, aud: audience, iat: now, exp: now + 60, jti: 'x' }
    const refused: [string, string][] = [
      ['nothing', ''],
      ['a password', 'Basic YTpi'],
      ['another audience', bearer(made, { aud: op.clientId })],
      ['two audiences', bearer(made, { aud: [audience, 'https://other.example'] })],
      ['a foreign issuer', bearer(made, { iss: 'https://evil.example' })],
      ['an unknown key', bearer(made, {}, {}, keys.evil)],
      ['alg none', `Bearer ${plain({ alg: 'none' })}.${plain(claims)}.AAAA`],
      ['HS256 with the public key', `Bearer ${hmacJws({ alg: 'HS256', kid: keys.k1.kid }, claims, pem(keys.k1))}`],
      ['an hour of life', bearer(made, { exp: now + 3_600 })],
      ['an end that has passed', bearer(made, { iat: now - 600, exp: now - 400 })],
      ['no end', bearer(made, { exp: undefined })],
      ['no jti', bearer(made, { jti: undefined })],
      ['a logout token', bearer(made, {}, { typ: 'logout+jwt' })],
      ['a time to come', bearer(made, { nbf: now + 3_600 })],
      ['a time that is a text', bearer(made, { nbf: 'soon' })],
    ]
    for (const [name, token] of refused) expect([name, await ask(made, token)]).toEqual([name, 401])
    expect(await ask(made, bearer(made), { sub_id: 'alice' })).toBe(400)
    expect(await ask(made, bearer(made), 'hello')).toBe(400)
    expect(await ask(made, bearer(made), undefined, { 'content-type': 'text/plain' })).toBe(400)
    expect(await ask(made, bearer(made), { sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'bob' } })).toBe(404)
    expect(await ask(made, bearer(made), { sub_id: { format: 'iss_sub', iss: 'https://evil.example', sub: 'alice' } })).toBe(404)
    expect(await ask(made, bearer(made), undefined, {}, 'nobody')).toBe(403)
    expect([await isIn(browser), made.told]).toEqual([true, []])
  })

  it('an address counts only for domains that the provider is trusted for', async () => {
    const made = world('database', options)
    made.auth.remove('oidc:acme')
    made.auth.use(
      oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, trustEmail: ['other.example'] }),
    )
    const browser = await made.signIn()
    const email = { format: 'email', email: 'alice@example.com' }
    const named: object[] = [
      email,
      { format: 'aliases', identifiers: [email] },
      { format: 'aliases', identifiers: [{ format: 'iss_sub', iss: 'https://evil.example', sub: 'x' }, email] },
      { format: 'aliases', identifiers: [{ subject_type: 'email', email: 'alice@example.com' }] },
      { format: 'complex', user: email },
      { format: 'complex', user: { format: 'aliases', identifiers: [email] } },
    ]
    for (const sub_id of named) expect([sub_id, await ask(made, bearer(made), { sub_id })]).toEqual([sub_id, 403])
    expect(await isIn(browser)).toBe(true)
    // Another name of the person counts beside it.
    const own = { format: 'iss_sub', iss: op.issuer, sub: 'alice' }
    expect(await ask(made, bearer(made), { sub_id: { format: 'aliases', identifiers: [email, own] } })).toBe(204)
    expect(await isIn(browser)).toBe(false)
  })

  it('is not there unless a provider has it, and says that it is experimental', async () => {
    const made = world('jwt')
    const answer = await made.push('', {}, '/global-token-revocation/acme')
    expect(answer.status).toBe(400)
    const warnings: string[] = []
    await world('jwt', options, { logger: { warn: (code) => void warnings.push(code), error() {} } }).auth.ready()
    expect(warnings).toContain('experimental-global-token-revocation')
    expect(() => sharedSignalsPlugin({ providers: { acme: { experimentalGlobalTokenRevocation: 'yes' as never } } })).toThrow(
      'experimentalGlobalTokenRevocation',
    )
  })
})
