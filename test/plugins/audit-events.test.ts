/** Records of the catalogue: who is told what, by the plugins that do it. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Adapter, Auth, MailMessage, Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type AuditApi, auditPlugin, type AuditRecord, recordsSink } from 'authkernel/plugins/audit'
import { guestPlugin } from 'authkernel/plugins/guest'
import { bcryptHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import passkey from 'authkernel/providers/passkey'
import bcrypt from 'bcryptjs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'
import { Authenticator } from './_authenticator.ts'
import { totpAt } from '../_totp.ts'

const password = 'seven purple otters sing'

interface World {
  auth: Auth<AuditApi>
  adapter: Adapter
  records: AuditRecord[]
  runtime: ReturnType<typeof baseConfig>['runtime']
  client: Client
  mails: MailMessage[]
  told(name: string): Promise<AuditRecord[]>
}
const open: Auth<AuditApi>[] = []
afterEach(async () => void (await Promise.all(open.splice(0).map((auth) => auth.close()))))

async function world(plugins: readonly Plugin<never>[], config: AuthConfig = {}, wrap = (adapter: Adapter) => adapter): Promise<World> {
  const records: AuditRecord[] = []
  const mails: MailMessage[] = []
  const settings = baseConfig({ session: { strategy: 'database' }, ...config })
  const adapter = wrap(memoryAdapter(memoryData()))
  const auth = createAuth(settings)
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
  for (const plugin of plugins) auth.use(plugin)
  const audited = auth.use(auditPlugin({ sink: (batch) => void records.push(...batch), pause: 1 }))
  await audited.ready()
  open.push(audited)
  const told = async (name: string): Promise<AuditRecord[]> => {
    await audited.audit.flush()
    return records.filter((record) => record.name === name)
  }
  return { auth: audited, adapter, records, runtime: settings.runtime, client: new Client(audited), mails, told }
}
const byName = {
  providers: [
    { id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }: Record<string, unknown>) => ({ id: String(user) }) },
  ],
} as AuthConfig

describe('passwords', () => {
  it('a reset that is asked for, for known and unknown addresses, and a password of the lists', async () => {
    const { client, adapter, mails, told } = await world([passwordsPlugin({ breached: () => true }) as never])
    await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: new Date() })
    await client.post('/passwords/reset', { email: 'ada@example.com' })
    await vi.waitFor(() => expect(mails).toHaveLength(1))
    await client.post('/passwords/reset', { email: 'nobody@example.com' })
    const requested = await told('password.reset.requested')
    // Known and unknown addresses leave the same, and neither the address.
    expect(requested.map(({ subject, target }) => [subject, Object.keys(target ?? {})])).toEqual([
      [undefined, ['tried']],
      [undefined, ['tried']],
    ])
    const token = /token=([0-9a-f]{64})/.exec(mails[0]!.text)![1]!
    await client.post('/passwords/new', { token, password })
    expect(await told('password.breached')).toMatchObject([{ outcome: 'denied', reason: 'breached' }])
    expect(await told('password.reset.completed')).toEqual([])
  })

  it('a hash of another product that is renewed by a sign-in', async () => {
    const { auth, client, adapter, told } = await world([passwordsPlugin({ breached: false, verify: [bcryptHash()] }) as never])
    await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: new Date() })
    const { passwords } = auth as unknown as { passwords: { import(hashes: object[]): Promise<number> } }
    await passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(password, 4) }])
    await client.post('/callback/passwords', { email: 'ada@example.com', password })
    expect(await told('password.rehashed')).toMatchObject([{ subject: { id: 'ada' } }])
  })

  it('completed: with the password that was set', async () => {
    const { client, adapter, mails, told } = await world([passwordsPlugin({ breached: false }) as never])
    await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: new Date() })
    await client.post('/passwords/reset', { email: 'ada@example.com' })
    await vi.waitFor(() => expect(mails).toHaveLength(1))
    await client.post('/passwords/new', { token: /token=([0-9a-f]{64})/.exec(mails[0]!.text)![1]!, password })
    expect(await told('password.reset.completed')).toMatchObject([{ subject: { type: 'user', id: 'ada' } }])
    expect(await told('password.set')).toHaveLength(1)
  })
})

it('second factors: enrolled, failed, replayed, backup codes used and renewed, sessions ended', async () => {
  const { client, adapter, runtime, auth, told } = await world([twoFactorPlugin() as never], byName)
  await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  const signIn = async (browser = new Client(auth)) => {
    await browser.post('/callback/credentials', { user: 'ada' })
    return browser
  }
  await signIn()
  await signIn(client)
  const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
  const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
  const id = /name="id" value="([^"]+)"/.exec(page)![1]!
  const done = await (await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })).text()
  const backup = /<li><code>([A-Z2-9-]{11})<\/code>/.exec(done)![1]!
  expect(await told('factor.enrolled')).toMatchObject([{ subject: { id: 'ada' } }])
  expect(await told('session.revoked')).toMatchObject([{ subject: { id: 'ada' }, target: { by: 'two-factor' } }])
  expect(await told('session.rotated')).toHaveLength(1)
  runtime.advance(30_000)
  const code = totpAt(secret, runtime.now())
  await (await signIn()).post('/two-factor', { code })
  await (await signIn()).post('/two-factor', { code })
  expect(await told('factor.replayed')).toMatchObject([{ outcome: 'denied', subject: { id: 'ada' } }])
  expect(await told('factor.failed')).toMatchObject([{ reason: 'WrongSecondFactor', subject: { id: 'ada' } }])
  await (await signIn()).post('/two-factor', { code: backup })
  expect(await told('backupCodes.used')).toMatchObject([{ target: { left: 9 } }])
  await client.post('/two-factor/setup', { action: 'renew' })
  expect(await told('backupCodes.renewed')).toHaveLength(1)
  expect((await told('signIn.parked')).length).toBe(3)
  expect(JSON.stringify(await told('signIn.parked'))).not.toContain(code)
})

it('step-up: required and completed', async () => {
  const confirm: Plugin = {
    name: 'confirm',
    setup(kernel) {
      kernel.hook('stepUp', ({ login, ctx }) => ctx.park(login, { to: '/confirm' }))
      kernel.route({
        method: 'POST',
        path: '/confirm',
        handler: async (ctx) =>
          ctx.resume((await ctx.parked())!, { proof: { amr: ['otp', 'mfa'], factors: 2, authTime: ctx.now.getTime() / 1000 } }),
      })
    },
  }
  const { auth, adapter, client, runtime, told } = await world([stepUpPlugin() as never, confirm as never], byName)
  await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  await client.post('/callback/credentials', { user: 'ada' })
  runtime.advance(400_000)
  const { stepUp } = auth as unknown as { stepUp: { require(request: Request): Promise<Response> } }
  const led = await stepUp.require(
    new Request('http://localhost:3000/pay', { headers: { cookie: client.cookieHeader(), accept: 'text/html' } }),
  )
  expect(await told('stepUp.required')).toMatchObject([{ outcome: 'denied', subject: { id: 'ada' }, target: { maxAge: 300 } }])
  for (const line of led.headers.getSetCookie())
    client.cookies.set(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1, line.indexOf(';')))
  await client.post('/confirm')
  expect(await told('stepUp.completed')).toMatchObject([{ subject: { id: 'ada' }, sessionId: expect.any(String) }])
  expect(await told('session.rotated')).toHaveLength(1)
})

it('passkeys: added, removed, and a counter that goes back', async () => {
  const { auth, adapter, told } = await world([accountsPlugin() as never], {
    experimental: { enableWebAuthn: true },
    providers: [passkey()],
  })
  const client = new Client(auth)
  const key = new Authenticator('http://localhost:3000')
  const ask = async (query: string) =>
    ((await (await client.get(`/webauthn-options/passkey?${query}`)).json()) as { options: never }).options
  await client.post('/callback/passkey', { action: 'register', data: key.create(await ask('action=register&email=ada@example.com')) })
  const [added] = await told('passkey.added')
  expect(added).toMatchObject({ subject: { type: 'user' }, target: { id: expect.any(String) } })
  const id = String(added!.target!['id'])
  await adapter.updateAuthenticatorCounter!(id, 1000)
  await client.post('/signout')
  await client.post('/callback/passkey', { action: 'authenticate', data: key.get(await ask('action=authenticate')) })
  expect(await told('passkey.counterFault')).toMatchObject([{ outcome: 'denied', target: { stored: 1000 } }])
  await client.post('/signout')
  const other = new Client(auth)
  const second = new Authenticator('http://localhost:3000')
  const options = (await (await other.get('/webauthn-options/passkey?action=register&email=eve@example.com')).json()) as { options: never }
  await other.post('/callback/passkey', { action: 'register', data: second.create(options.options) })
  const account = { provider: 'passkey', providerAccountId: second.storedId }
  const { accounts } = auth as unknown as { accounts: { unlink(who: object, account: object, how: object): Promise<boolean> } }
  expect(await accounts.unlink({ userId: (await told('passkey.added'))[1]!.subject!.id! }, account, { last: true })).toBe(true)
  expect(await told('passkey.removed')).toMatchObject([{ target: { id: second.storedId } }])
  expect(await told('account.unlinked')).toMatchObject([{ provider: 'passkey' }])
})

it('links that are asked for by a signed-in user, mails, keys that do not count, sessions that ended, guests', async () => {
  const base = baseConfig()
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const { auth, adapter, client, runtime, told } = await world([apiKeysPlugin() as never, guestPlugin() as never], {
    runtime: base.runtime,
    session: { strategy: 'database', maxAge: 600 },
    providers: [
      ...(byName.providers ?? []),
      op.provider('oidc') as never,
      { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest() {} } as never,
    ],
  })
  await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  await client.post('/signin/oidc')
  expect(await told('account.linkRequested')).toEqual([])
  await client.post('/callback/credentials', { user: 'ada' })
  await client.post('/signin/oidc')
  expect(await told('account.linkRequested')).toMatchObject([{ subject: { id: 'ada' }, provider: 'oidc' }])
  await client.post('/signin/mail', { email: 'somebody@example.com' })
  const [asked] = await told('address.proofRequested')
  expect(asked).toMatchObject({ provider: 'mail', target: { tried: expect.stringMatching(/^[\da-f]{32}$/) } })
  expect(JSON.stringify(asked)).not.toContain('somebody')
  await auth.session(
    new Request('http://localhost:3000/', { headers: { 'x-api-key': `ak_live_${'a'.repeat(12)}_${'b'.repeat(32)}cccccc` } }),
  )
  expect(await told('apiKey.refused')).toMatchObject([{ outcome: 'denied', reason: 'unknown' }])
  runtime.advance(601_000)
  expect(await client.session()).toBeNull()
  expect(await told('session.expired')).toMatchObject([{ subject: { id: 'ada' }, sessionId: expect.any(String) }])
})

it('faults of the store and of a sign-out are failures and no refusals', async () => {
  let down = false
  const fail = <T>(work: () => T): T => {
    if (down) throw new Error('planted: connection refused at postgres://root:hunter2@db')
    return work()
  }
  const { client, adapter, told } = await world([], byName, (inner) => ({
    ...inner,
    getSessionAndUser: (token: string) => fail(() => inner.getSessionAndUser!(token)),
    deleteSession: (token: string) => fail(() => inner.deleteSession!(token)),
  }))
  await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  await client.post('/callback/credentials', { user: 'ada' })
  await client.csrfToken()
  down = true
  expect((await client.get('/session')).status).toBe(503)
  await client.post('/signout')
  expect((await told('store.fault')).map(({ target }) => target?.['method'])).toEqual(['getSessionAndUser', 'deleteSession'])
  expect(await told('request.failed')).toMatchObject([{ outcome: 'failure', target: { route: 'GET /session' } }])
  expect(await told('signOut.failed')).toMatchObject([{ outcome: 'failure' }])
  expect(await told('request.refused')).toEqual([])
  expect(JSON.stringify(await told('store.fault'))).not.toMatch(/planted|hunter2/)
})

it('what retention removed', async () => {
  const settings = baseConfig({ session: { strategy: 'jwt' }, adapter: memoryAdapter(), ...byName })
  const auth = createAuth(settings).use(auditPlugin({ sink: recordsSink({ retention: 30 }), pause: 1 }))
  const client = new Client(auth)
  for (let at = 0; at < 3; at++) await client.post('/callback/credentials', { user: 'ada' })
  await auth.audit.flush()
  settings.runtime.advance(31 * 86_400_000)
  expect((await auth.cleanup())?.records['audit']).toBe(6)
  await auth.audit.flush()
  expect((await auth.audit.list()).records).toMatchObject([{ name: 'audit.pruned', target: { count: 6 }, job: 'cleanup' }])
  await auth.close()
})

it('a sink that is cut in the middle of load: kept and dropped records make the sum', async () => {
  const records: AuditRecord[] = []
  let down = false
  const settings = baseConfig({ session: { strategy: 'jwt' }, throttle: false, deadlines: { network: 100 }, ...byName })
  const sink = (batch: readonly AuditRecord[]) => {
    if (down) throw new Error('cut')
    records.push(...batch)
  }
  const auth = createAuth(settings).use(auditPlugin({ sink, pause: 1, maxRecords: 150 }))
  let made = 0
  const people = Array.from({ length: 4 }, async (_, at) => {
    const client = new Client(auth)
    for (let time = 0; time < 60; time++) {
      await client.post('/callback/credentials', { user: `u${at}` })
      made += 2
      if (at === 0 && time === 15) down = true
      if (at === 0 && time === 50) down = false
    }
  })
  await Promise.all(people)
  down = false
  await auth.audit.flush()
  await new Client(auth).post('/callback/credentials', { user: 'last' })
  await auth.audit.flush()
  const dropped = records.filter(({ name }) => name === 'audit.dropped').reduce((sum, { target }) => sum + Number(target?.['count']), 0)
  expect(auth.audit.state()).toMatchObject({ dropped, waiting: 0 })
  expect(records.filter(({ name }) => name !== 'audit.dropped')).toHaveLength(made + 2 - dropped)
  expect(dropped).toBeGreaterThan(0)
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
  await auth.close()
})
