/** The second factor: asked after every method, protected against guesses, changed by its owner only. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { emailCode, totp, type TwoFactorOptions, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'

const minute = 60_000

function postbox(): { mails: MailMessage[]; plugin: Plugin } {
  const mails: MailMessage[] = []
  return {
    mails,
    plugin: { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) },
  }
}

async function world(options: TwoFactorOptions = {}, config: AuthConfig = {}) {
  const base = baseConfig({
    session: { strategy: 'jwt', revocable: true },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const { mails, plugin } = postbox()
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(plugin).use(twoFactorPlugin(options))
  await auth.ready()
  for (const id of ['ada', 'eve']) await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: null })
  const { runtime } = base
  const signIn = async (user = 'ada', client = new Client(auth)) => ({
    client,
    response: await client.post('/callback/credentials', { user, callbackUrl: '/app' }),
  })
  const post = (client: Client, path: string, fields: Record<string, string> = {}) => client.post(path, fields)
  const html = async (response: Response) => (await response.text()).replace(/<style[\s\S]*?<\/style>/g, '')
  /** Signs in, enrols an app, answers its secret and the backup codes. */
  const enrol = async (client?: Client) => {
    const browser = client ?? (await signIn()).client
    const page = await html(await post(browser, '/two-factor/setup', { action: 'totp' }))
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const done = await html(await post(browser, '/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) }))
    const codes = [...done.matchAll(/<li><code>([A-Z2-9-]{11})<\/code>/g)].map(([, code]) => code!)
    runtime.advance(30_000)
    return { browser, secret, codes, page, done }
  }
  const code = (secret: string) => totpAt(secret, runtime.now())
  return { auth, data, mails, runtime, signIn, enrol, post, html, code, log: base.logger }
}

const where = (response: Response): string => new URL(response.headers.get('location') ?? 'http://none/', 'http://localhost:3000').pathname

describe.each(['jwt', 'database'] as const)('sign-in under the %s strategy', (strategy) => {
  const start = (options?: TwoFactorOptions) => world(options, { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } })

  it('asks users with a factor, and no others', async () => {
    const { signIn, enrol, post, code } = await start()
    const first = await signIn()
    expect([where(first.response), (await first.client.session())?.user?.name]).toEqual(['/app', 'ada'])
    const { secret } = await enrol(first.client)
    const { client, response } = await signIn()
    expect(where(response)).toBe('/auth/two-factor')
    // Between the two factors no user is signed in.
    expect(await client.session()).toBeNull()
    const done = await post(client, '/two-factor', { code: code(secret) })
    expect([where(done), (await client.session())?.user?.name]).toEqual(['/app', 'ada'])
    expect(where((await signIn('eve')).response)).toBe('/app')
  })

  it('a session from before the enrolment is ended elsewhere, and rotated here', async () => {
    const { signIn, enrol } = await start()
    const other = (await signIn()).client
    const here = (await signIn()).client
    const before = here.cookieHeader()
    await enrol(here)
    expect((await here.session())?.user?.name).toBe('ada')
    expect(here.cookieHeader()).not.toBe(before)
    expect(await other.session()).toBeNull()
  })

  it('a code counts once, also in two sign-ins at the same moment', async () => {
    const { signIn, enrol, post, code } = await start()
    const { secret } = await enrol()
    const browsers = await Promise.all(Array.from({ length: 4 }, async () => (await signIn()).client))
    await Promise.all(browsers.map((client) => post(client, '/two-factor', { code: code(secret) })))
    const sessions = await Promise.all(browsers.map((client) => client.session()))
    expect(sessions.filter((session) => session !== null)).toHaveLength(1)
  })

  it('a backup code counts once, in any spelling, ten are made, and the session says that one was used', async () => {
    const { signIn, enrol, post, auth, mails } = await start()
    const methods: unknown[] = []
    auth.on('signedIn', ({ session }) => void methods.push(session?.attributes.methods))
    const { codes } = await enrol()
    expect([codes.length, new Set(codes).size]).toEqual([10, 10])
    const spelling = codes[0]!.toLowerCase().replace('-', ' ')
    const one = (await signIn()).client
    await post(one, '/two-factor', { code: spelling })
    expect((await one.session())?.user?.name).toBe('ada')
    const at = expect.any(Number) as number
    expect(methods.at(-1)).toMatchObject({ otp: at, mfa: at, backup: at })
    // The owner is told of a person who finds the codes in a drawer.
    await expect.poll(() => mails.at(-1)).toMatchObject({ to: 'ada@example.com', text: expect.stringContaining('Codes left: 9') })
    const two = (await signIn()).client
    await post(two, '/two-factor', { code: codes[0]! })
    expect(await two.session()).toBeNull()
    expect(await auth.twoFactor.backupCodes({ userId: 'ada' })).toBe(9)
  })

  it('a user who must have a factor proves the address, enrols and is signed in', async () => {
    const { signIn, enrol, post, html, mails } = await start({ required: ({ name }) => name === 'ada' })
    const { client, response } = await signIn()
    expect(where(response)).toBe('/auth/two-factor/setup')
    expect(await html(await post(client, '/two-factor/setup', { action: 'totp' }))).not.toMatch(/<code>[A-Z2-7 ]{32,}/)
    await post(client, '/two-factor/setup', { action: 'send' })
    const mailed = /\b(\d{6})\b/.exec(mails[0]!.text)![1]!
    const wrong = String((Number(mailed) + 1) % 1_000_000).padStart(6, '0')
    await post(client, '/two-factor/setup', { action: 'proof', code: wrong })
    await post(client, '/two-factor/setup', { action: 'proof', code: mailed })
    expect(await client.session()).toBeNull()
    const { codes } = await enrol(client)
    expect([codes.length, await client.session()]).toEqual([10, null])
    expect(where(await post(client, '/two-factor/setup', { action: 'continue' }))).toBe('/app')
    expect((await client.session())?.user?.name).toBe('ada')
  })
})

describe('guessing', () => {
  it('five wrong codes end the sign-in, ten an hour make the user wait, ever longer', async () => {
    const { signIn, enrol, post, code, runtime, html } = await world()
    const { secret } = await enrol()
    const { client } = await signIn()
    for (let i = 0; i < 5; i++) expect((await post(client, '/two-factor', { code: '000000' })).status).toBe(200)
    expect(where(await post(client, '/two-factor', { code: code(secret) }))).toBe('/auth/signin')
    expect(await client.session()).toBeNull()
    const again = (await signIn()).client
    for (let i = 0; i < 5; i++) await post(again, '/two-factor', { code: '000000' })
    const third = (await signIn()).client
    expect(await html(await post(third, '/two-factor', { code: code(secret) }))).toContain('too many wrong codes')
    expect(await third.session()).toBeNull()
    runtime.advance(61 * minute)
    const later = (await signIn()).client
    await post(later, '/two-factor', { code: code(secret) })
    expect((await later.session())?.user?.name).toBe('ada')
  })

  it('parallel tries cannot exceed the limit', async () => {
    const { signIn, enrol, post, code } = await world()
    const { secret } = await enrol()
    const { client } = await signIn()
    const wrong = Array.from({ length: 12 }, (_, i) => String(i).padStart(6, '0')).filter((guess) => guess !== code(secret))
    const answers = await Promise.all(wrong.map((guess) => post(client, '/two-factor', { code: guess })))
    expect(answers.filter((response) => response.status === 200).length).toBeLessThanOrEqual(5)
  })

  it.each([['array'], [''], ['1'.repeat(70_000)], ['12345'], ['1234567'], ['١٢٣٤٥٦']])('the code %# is refused', async (given) => {
    const { signIn, enrol, post } = await world()
    await enrol()
    const { client } = await signIn()
    expect((await post(client, '/two-factor', { code: given })).status).toBeLessThan(500)
    expect(await client.session()).toBeNull()
  })
})

describe('whose login and whose factor', () => {
  it("a login is not finished in another browser, nor with another person's factor", async () => {
    const { signIn, enrol, post, code, auth } = await world()
    const { secret } = await enrol()
    const eve = await enrol((await signIn('eve')).client)
    const victim = (await signIn()).client
    const stranger = new Client(auth)
    expect(where(await post(stranger, '/two-factor', { code: code(secret) }))).toBe('/auth/signin')
    await post(victim, '/two-factor', { code: code(eve.secret) })
    expect(await victim.session()).toBeNull()
  })

  it('a finished login is not finished twice', async () => {
    const { signIn, enrol, post, code, runtime } = await world()
    const { secret } = await enrol()
    const { client } = await signIn()
    const saved = new Map(client.cookies)
    await post(client, '/two-factor', { code: code(secret) })
    client.cookies.clear()
    for (const [name, value] of saved) client.cookies.set(name, value)
    runtime.advance(30_000)
    await post(client, '/two-factor', { code: code(secret) })
    expect(await client.session()).toBeNull()
  })

  it('a factor that was removed while the login waited does not count', async () => {
    const { signIn, enrol, post, code, auth } = await world()
    const { secret } = await enrol()
    const { client } = await signIn()
    await auth.twoFactor.reset({ userId: 'ada' }, { admin: { id: 'root' }, reason: 'phone lost' })
    await post(client, '/two-factor', { code: code(secret) })
    expect(await client.session()).toBeNull()
  })
})

describe('trusted devices', () => {
  it('are not asked, for this person alone, until factors change; a backup code makes none', async () => {
    const { signIn, enrol, post, code, runtime } = await world({ trustedDevices: true })
    const { secret, codes } = await enrol()
    const { client } = await signIn()
    await post(client, '/two-factor', { code: code(secret), remember: 'on' })
    expect(where((await signIn('ada', client)).response)).toBe('/app')
    // The cookie in a browser of another kind.
    const copied = await client.post(
      '/callback/credentials',
      { user: 'ada', callbackUrl: '/app' },
      { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' },
    )
    expect(where(copied)).toBe('/auth/two-factor')
    await enrol((await signIn('eve')).client)
    expect(where((await signIn('eve', client)).response)).toBe('/auth/two-factor')
    const other = (await signIn()).client
    await post(other, '/two-factor', { code: codes[0]!, remember: 'on' })
    expect(where((await signIn('ada', other)).response)).toBe('/auth/two-factor')
    runtime.advance(31 * 24 * 60 * minute)
    expect(where((await signIn('ada', client)).response)).toBe('/auth/two-factor')
  })
})

describe('changing factors', () => {
  it('needs a proof of the last minutes, and leads through the factor', async () => {
    const { enrol, post, code, runtime, html } = await world()
    const { browser, secret } = await enrol()
    runtime.advance(6 * minute)
    expect(where(await post(browser, '/two-factor/setup', { action: 'renew' }))).toBe('/auth/two-factor')
    expect(where(await post(browser, '/two-factor', { code: code(secret) }))).toBe('/auth/two-factor/setup')
    expect(await html(await post(browser, '/two-factor/setup', { action: 'renew' }))).toContain('<li><code>')
  })

  it('a secret and the codes are shown once, under no-store', async () => {
    const { signIn, post, html } = await world()
    const { client } = await signIn()
    const made = await post(client, '/two-factor/setup', { action: 'totp' })
    expect(made.headers.get('cache-control')).toContain('no-store')
    expect(await html(await client.get('/two-factor/setup'))).not.toMatch(/<code>[A-Z2-7 ]{32,}/)
  })

  it('is told, and mailed', async () => {
    const { enrol, auth, mails } = await world()
    const told: string[] = []
    auth.on('credentialChanged', ({ kind, action }) => told.push(`${kind} ${action}`))
    await enrol()
    expect(told).toEqual(['factor added'])
    await expect.poll(() => mails.map(({ subject }) => subject)).toEqual(['A second step was set up at localhost:3000'])
  })

  it('the last factor of a user who must have one stays', async () => {
    const must = { now: false }
    const { enrol, post, auth } = await world({ required: () => must.now })
    const { browser } = await enrol()
    const [factor] = await auth.twoFactor.list({ userId: 'ada' })
    must.now = true
    await post(browser, '/two-factor/setup', { action: 'remove', id: factor!.id })
    expect(await auth.twoFactor.list({ userId: 'ada' })).toHaveLength(1)
    must.now = false
    await post(browser, '/two-factor/setup', { action: 'remove', id: factor!.id })
    expect(await auth.twoFactor.list({ userId: 'ada' })).toEqual([])
    expect(await auth.twoFactor.backupCodes({ userId: 'ada' })).toBe(0)
  })
})

describe('what is stored', () => {
  it('no secret and no code can be read', async () => {
    const { enrol, data } = await world()
    const { secret, codes } = await enrol()
    const all = JSON.stringify(data, (_name, value: unknown) => (value instanceof Map ? [...value] : value))
    for (const hidden of [secret, codes[0]!, codes[0]!.replace('-', '')]) expect(all).not.toContain(hidden)
  })
})

describe('a code by mail', () => {
  it('is a weak second step, beside an app only', async () => {
    const { signIn, enrol, post, mails } = await world({ factors: [totp(), emailCode()] })
    const { browser } = await enrol()
    await post(browser, '/two-factor/setup', { action: 'emailCode' })
    mails.length = 0
    const { client } = await signIn()
    await post(client, '/two-factor/send')
    const mailed = /\b(\d{6})\b/.exec(mails.find(({ text }) => /\d{6}/.test(text))!.text)![1]!
    await post(client, '/two-factor', { code: mailed })
    expect((await client.session())?.user?.name).toBe('ada')
  })
})

describe('options', () => {
  it.each([{ factors: [] }, { factors: [emailCode()] }, { maxAge: 1 }, { trustedDevices: { days: 0 } }, { required: true as never }])(
    'refuses %j',
    (options) => {
      expect(() => twoFactorPlugin(options)).toThrow('Plugin "two-factor": `')
    },
  )
})
