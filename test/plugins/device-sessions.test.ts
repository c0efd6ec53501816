/** Sessions and their devices: where they began, when they end, and what a copied jar of cookies is worth. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type DeviceSessionsOptions, deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData, memoryRecords } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { baseConfig, Client } from '../_setup.ts'
import { challengeOf, Device, type Forged } from './_dbsc.ts'

const minute = 60_000

async function world(strategy: 'jwt' | 'database', options: DeviceSessionsOptions = {}, more: readonly Plugin[] = []) {
  const base = baseConfig({
    allowedHosts: ['app.example', 'localhost:3000'],
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(postbox)
    .use(accountsPlugin())
    .use(stepUpPlugin())
    .use(impersonationPlugin({ can: () => true }))
    .use(deviceSessionsPlugin(options))
  for (const plugin of more) auth.use(plugin)
  const told: string[] = []
  auth.on('deviceBinding', ({ what }) => void told.push(what))
  auth.on('deviceNew', ({ user }) => void told.push(`new ${user.id}`))
  await auth.ready()
  for (const id of ['ada', 'bob']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const asks = (client: Client, headers: Record<string, string> = {}) =>
    new Request(`${client.origin}/`, { headers: { cookie: client.cookieHeader(), ...headers } })
  const handler = (request: Request) => auth.handler(request, { clientAddress: request.headers.get('x-from') ?? undefined })
  const signIn = async (user = 'ada', client = new Client({ handler }, 'https://app.example'), headers: Record<string, string> = {}) => {
    const response = await client.post('/callback/credentials', { user }, headers)
    return { client, response, device: new Device(client) }
  }
  /** A browser whose session is bound. */
  const bound = async () => {
    const made = await signIn()
    expect((await made.device.register(made.response))?.status).toBe(200)
    return made
  }
  /** What a thief has: the cookies of a moment. */
  const copy = (client: Client) => {
    const thief = new Client(auth, client.origin)
    for (const [name, value] of client.cookies) thief.cookies.set(name, value)
    return thief
  }
  const name = async (client: Client) => (await client.session())?.user?.['name'] ?? null
  return { auth, store, mails, told, asks, signIn, bound, copy, name, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('a bound session, %s', (strategy) => {
  it('is registered as the draft says, and lives by signed refreshes', async () => {
    const { signIn, name, told, runtime } = await world(strategy, { bind: 'optional' })
    const { client, device, response } = await signIn()
    expect(response.headers.get('secure-session-registration')).toMatch(
      /^\(ES256\);path="\/auth\/dbsc\/register";challenge="[0-9a-f]{64}"$/,
    )
    const answer = await device.register(response)
    expect([answer?.status, answer?.headers.get('secure-session-challenge')]).toEqual([200, null])
    expect(device.instructions).toEqual({
      session_identifier: expect.stringMatching(/^[0-9a-f]{32}$/),
      refresh_url: '/auth/dbsc/refresh',
      scope: {
        origin: 'https://app.example',
        include_site: false,
        scope_specification: [{ type: 'exclude', domain: 'app.example', path: '/auth/dbsc' }],
      },
      credentials: [
        {
          type: 'cookie',
          name: expect.stringMatching(/^__Host-authkernel\.device\.[0-9a-f]{8}$/),
          attributes: 'Path=/; Secure; HttpOnly; SameSite=Lax',
        },
      ],
    })
    expect(answer?.headers.getSetCookie().join()).toMatch(
      /__Host-authkernel\.device\.[0-9a-f]{8}=[0-9a-f]{64}; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax/i,
    )
    expect(await name(client)).toBe('ada')
    for (let round = 0; round < 3; round++) {
      const before = client.cookies.get(device.instructions!.credentials[0]!.name)
      runtime.advance(5 * minute)
      expect(await name(client)).toBeNull()
      const asked = await device.ask()
      expect([asked.status, challengeOf(asked)]).toEqual([403, expect.any(String)])
      const next = await device.ask(challengeOf(asked))
      expect([next.status, challengeOf(next) === challengeOf(asked)]).toEqual([200, false])
      expect(client.cookies.get(device.instructions!.credentials[0]!.name)).not.toBe(before)
      expect(await name(client)).toBe('ada')
    }
    expect(told).toEqual(['new ada', 'registered', 'refreshed', 'refreshed', 'refreshed'])
  })

  it('a copied jar is dead when the short cookie ends, and 30 seconds after the owner refreshes', async () => {
    const { auth, bound, copy, name, asks, runtime } = await world(strategy, { bind: 'optional' })
    const { client, device } = await bound()
    const thief = copy(client)
    expect(await name(thief)).toBe('ada')
    await device.refresh()
    runtime.advance(29_000)
    expect(await name(thief)).toBe('ada')
    runtime.advance(1000)
    const request = asks(thief)
    expect([await name(thief), await auth.session(request), await auth.sessions.list(request), await auth.devices.list(request)]).toEqual([
      null,
      null,
      [],
      [],
    ])
    // No client refreshes without the key.
    const other = new Device(copy(client))
    other.instructions = device.instructions
    const second = copy(client)
    runtime.advance(5 * minute)
    expect(await name(second)).toBeNull()
    expect((await other.refresh()).status).toBe(403)
    expect(await name(other.client)).toBeNull()
    expect((await device.refresh()).status).toBe(200)
    expect(await name(client)).toBe('ada')
  })

  it('a jar from before the registration, or without the short cookie, is signed out everywhere', async () => {
    const { auth, signIn, copy, name, asks } = await world(strategy, { bind: 'optional' })
    const { client, device, response } = await signIn()
    const before = copy(client)
    expect(await name(before)).toBe('ada')
    await device.register(response)
    expect([await name(before), await auth.session(asks(before)), await auth.sessions.revokeAll(asks(before))]).toEqual([null, null, false])
    expect(await auth.stepUp.holds(asks(before))).toBe(false)
    // The thief has no challenge to register a key with.
    const forger = new Device(copy(client))
    expect(
      await forger.register(
        new Response(null, {
          headers: { 'secure-session-registration': `(ES256);path="/auth/dbsc/register";challenge="${'0'.repeat(64)}"` },
        }),
      ),
    ).toHaveProperty('status', 400)
    expect(await name(client)).toBe('ada')
  })

  it('takes no proof but the right one, once, within 60 seconds', async () => {
    const { signIn, name, runtime, told } = await world(strategy, { bind: 'optional' })
    const forgeries: Forged[] = [
      { header: { alg: 'none' }, signature: '' },
      { header: { alg: 'HS256' } },
      { header: { typ: 'JWT' } },
      { header: { typ: undefined } },
      { header: { jwk: undefined } },
      { header: { jwk: { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } } },
      { header: { jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } } },
      { claims: { jti: 'other' } },
      { claims: { jti: ['x'] } },
      { claims: { aud: 'https://evil.example/' } },
      { claims: { aud: 'https://app.example.evil.example/' } },
      { signature: 'AAAA' },
      { signature: '!!!!' },
      { signature: 'A'.repeat(9000) },
    ]
    const { client, device, response } = await signIn()
    for (const forged of forgeries) expect((await device.register(response, forged))?.status).toBe(400)
    expect(await name(client)).toBe('ada')
    expect((await device.register(response, { claims: { aud: 'https://app.example/auth/dbsc/register' } }))?.status).toBe(200)
    expect((await device.register(response))?.status).toBe(400)
    // A refresh needs the same key, and a proof counts once.
    const challenge = challengeOf(await device.ask())!
    for (const forged of forgeries.slice(0, 4).concat(forgeries.slice(7))) expect((await device.ask(challenge, forged)).status).toBe(403)
    expect([(await device.ask(challenge)).status, (await device.ask(challenge)).status]).toEqual([200, 403])
    expect(told.filter((one) => one === 'failed').length).toBeGreaterThan(20)
    const late = await signIn('bob')
    runtime.advance(minute)
    expect((await late.device.register(late.response))?.status).toBe(400)
    expect(await name(late.client)).toBe('bob')
  })

  it('parallel registrations bind it once, parallel proofs count once', async () => {
    const { signIn, copy } = await world(strategy, { bind: 'optional' })
    const { client, device, response } = await signIn()
    const others = [...Array(4)].map(() => new Device(copy(client)))
    const ends = await Promise.all([device, ...others].map((one) => one.register(response)))
    expect(ends.filter((end) => end?.status === 200)).toHaveLength(1)
    const winner = [device, ...others].find(({ instructions }) => instructions)!
    const challenge = challengeOf(await winner.ask())!
    const proofs = await Promise.all([...Array(4)].map(() => winner.ask(challenge)))
    expect(proofs.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('ends with the sign-out, and the browser is told to forget it; another session cannot be refreshed', async () => {
    const { auth, bound, signIn, name } = await world(strategy, { bind: 'optional' })
    const { client, device } = await bound()
    const bob = await signIn('bob')
    bob.device.instructions = device.instructions
    expect((await bob.device.refresh()).status).toBe(403)
    await auth.sessions.revokeAll({ userId: 'ada' })
    expect(await name(client)).toBeNull()
    const answer = await device.ask()
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { session_identifier: device.instructions!.session_identifier, continue: false },
    ])
    expect(client.cookies.has(device.instructions!.credentials[0]!.name)).toBe(false)
    const nobody = new Device(new Client(auth, 'https://app.example'))
    nobody.instructions = { ...device.instructions!, session_identifier: '' }
    expect((await nobody.ask()).status).toBe(400)
  })

  it('stays bound through an impersonation and its end', async () => {
    const { auth, bound, asks, copy, name } = await world(strategy, { bind: 'required' })
    const { client, device } = await bound()
    const keep = async (response: Response) => {
      const carrier = new Client({ handler: () => Promise.resolve(response) })
      for (const [key, value] of client.cookies) carrier.cookies.set(key, value)
      await carrier.get('/')
      client.cookies.clear()
      for (const [key, value] of carrier.cookies) client.cookies.set(key, value)
    }
    await keep(await auth.impersonation.start(asks(client), { userId: 'bob', reason: 'ticket 1' }))
    expect(await name(client)).toBe('bob')
    await keep(await auth.impersonation.stop(asks(client)))
    expect(await name(client)).toBe('ada')
    const thief = copy(client)
    thief.cookies.delete(device.instructions!.credentials[0]!.name)
    expect(await name(thief)).toBeNull()
  })
})

describe.each(['jwt', 'database'] as const)('a session, %s', (strategy) => {
  it('that must be bound ends after 60 seconds', async () => {
    const { bound, signIn, name, runtime } = await world(strategy, { bind: 'required' })
    const [plain, { client }] = [await signIn('bob'), await bound()]
    runtime.advance(59_000)
    expect([await name(plain.client), await name(client)]).toEqual(['bob', 'ada'])
    runtime.advance(1000)
    expect([await name(plain.client), await name(client)]).toEqual([null, 'ada'])
  })

  it('ends when it is idle, and however it is used', async () => {
    const { auth, signIn, name, asks, runtime } = await world(strategy, { idle: 600, absolute: 1500 })
    const [{ client }, idle] = [await signIn(), await signIn('bob')]
    for (const at of [1, 2]) {
      runtime.advance(500_000)
      // Server code that asks counts as use.
      expect([at, (await auth.session(asks(client)))?.user?.name]).toEqual([at, 'ada'])
    }
    expect(await name(idle.client)).toBeNull()
    expect(await auth.sessions.list({ userId: 'bob' })).toEqual([])
    runtime.advance(499_000)
    expect(await name(client)).toBe('ada')
    runtime.advance(1000)
    expect(await name(client)).toBeNull()
    expect(await auth.devices.list({ userId: 'ada' })).toEqual([])
  })

  it('is one of at most so many: the oldest end', async () => {
    const { auth, signIn, name, runtime } = await world(strategy, { max: 2 })
    const clients: Client[] = []
    for (let at = 0; at < 4; at++) {
      clients.push((await signIn()).client)
      runtime.advance(1000)
    }
    const other = await signIn('bob')
    expect(await Promise.all(clients.map((client) => name(client)))).toEqual([null, null, 'ada', 'ada'])
    expect([await name(other.client), (await auth.devices.list({ userId: 'ada' })).length]).toEqual(['bob', 2])
  })

  it('says where it began and is used, and tells of a new browser by mail', async () => {
    const { auth, signIn, asks, mails, told } = await world(strategy)
    const headers = { 'x-from': '203.0.113.7', 'user-agent': 'Firefox' }
    const { client } = await signIn('ada', undefined, headers)
    await expect.poll(() => mails.length).toBe(1)
    expect(mails[0]).toMatchObject({
      to: 'ada@example.com',
      subject: 'New sign-in at app.example',
      text: expect.stringContaining('203.0.113.7'),
    })
    await signIn('ada', client, headers)
    await signIn('bob', client, headers)
    await signIn('ada', client, headers)
    expect(told).toEqual(['new ada', 'new bob'])
    const seen = new Date(Date.UTC(2026, 0, 2, 3, 4, 5))
    const found = await auth.devices.list(asks(client, headers))
    expect(found).toEqual([
      {
        id: expect.any(String),
        userId: 'ada',
        started: seen,
        seen,
        address: '203.0.113.7',
        userAgent: 'Firefox',
        bound: false,
        current: true,
      },
    ])
    expect(await auth.devices.list(new Request('https://app.example/'))).toEqual([])
  })

  it.each([
    ['de', 'Neue Anmeldung bei app.example'],
    ['fr', 'Nouvelle connexion à app.example'],
    ['es', 'Nuevo inicio de sesión en app.example'],
    ['ja', 'app.example'],
  ])('the notice is in the language of the browser: %s', async (language, subject) => {
    const { signIn, mails } = await world(strategy)
    await signIn('ada', undefined, { 'accept-language': language, 'user-agent': 'Firefox' })
    await expect.poll(() => mails.length).toBe(1)
    expect(mails[0]!.subject).toContain(subject)
    expect(mails[0]!.text).not.toMatch(/Somebody|signed in|Address:/)
    expect(mails[0]!.html).toContain(`lang="${language}"`)
  })

  it('asks the host once for each change of place: refuse, prove anew, or let pass', async () => {
    const asked: unknown[] = []
    const verdicts: Record<string, 'refuse' | 'stepUp'> = { 'Firefox 2': 'stepUp', curl: 'refuse' }
    const host: Plugin = {
      name: 'host',
      setup(kernel) {
        kernel.hook('deviceChanged', ({ session, userAgent, address }) => {
          asked.push([session.userAgent, userAgent, session.address, address])
          return verdicts[userAgent ?? '']
        })
      },
    }
    const { auth, signIn, asks } = await world(strategy, {}, [host])
    const { client } = await signIn('ada', undefined, { 'user-agent': 'Firefox 1', 'x-from': '198.51.100.1' })
    const by = (userAgent: string) => asks(client, { 'user-agent': userAgent })
    // Server code that knows no address is no change of it.
    expect(await auth.stepUp.holds(by('Firefox 1'))).toBe(true)
    expect([await auth.stepUp.holds(by('Firefox 2')), (await auth.session(by('Firefox 2')))?.user?.name]).toEqual([false, 'ada'])
    expect(await auth.stepUp.holds(by('Firefox 3'))).toBe(false)
    expect((await auth.session(by('Firefox 3'), { clientAddress: '198.51.100.2' }))?.user?.name).toBe('ada')
    expect(await auth.session(by('curl'))).toBeNull()
    expect(await auth.session(by('Firefox 3'))).toBeNull()
    expect(asked).toEqual([
      ['Firefox 1', 'Firefox 2', '198.51.100.1', '198.51.100.1'],
      ['Firefox 2', 'Firefox 3', '198.51.100.1', '198.51.100.1'],
      ['Firefox 3', 'Firefox 3', '198.51.100.1', '198.51.100.2'],
      ['Firefox 3', 'curl', '198.51.100.2', '198.51.100.2'],
    ])
  })

  it('renewed by a step-up or moved by a link stays bound and listed once', async () => {
    const { auth, bound, name, asks } = await world(strategy, { bind: 'optional' })
    const { client, device } = await bound()
    const begun = await auth.impersonation.start(asks(client), { userId: 'bob', reason: 'x' })
    expect(begun.headers.get('secure-session-registration')).toBeNull()
    expect(await name(client)).toBeNull()
    expect((await device.refresh()).status).toBe(200)
    expect(await auth.devices.list({ userId: 'ada' })).toMatchObject([{ bound: true }])
  })
})

it('mistakes in the configuration name plugin and option', async () => {
  expect(() => deviceSessionsPlugin({ bind: 'x' as never })).toThrow('`bind`')
  expect(() => deviceSessionsPlugin({ cookieAge: 1 })).toThrow('`cookieAge`')
  expect(() => deviceSessionsPlugin({ idle: 1 })).toThrow('`idle`')
  expect(() => deviceSessionsPlugin({ max: 0 })).toThrow('`max`')
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(deviceSessionsPlugin())
  await expect(auth.ready()).rejects.toThrow(/device-sessions/)
})

it('a fault of the store is answered 503 with no redirect and no body, and the session is there afterwards', async () => {
  let broken = false
  const records = memoryRecords()
  const failing = new Proxy(records, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]) =>
        broken && name !== 'define'
          ? Promise.reject(new Error('connection lost'))
          : (member as (...all: unknown[]) => unknown).apply(target, args)
    },
  })
  const { bound, name } = await world('database', { bind: 'optional' }, [recordsPlugin(failing)])
  const { client } = await bound()
  broken = true
  for (const path of ['/dbsc/refresh', '/dbsc/register']) {
    const response = await client.send(path, { method: 'POST', headers: { 'sec-secure-session-id': '0'.repeat(32) } })
    expect([path, response.status, response.headers.get('location'), response.headers.has('retry-after'), await response.text()]).toEqual([
      path,
      503,
      null,
      true,
      '',
    ])
  }
  broken = false
  expect(await name(client)).toBe('ada')
})
