/** Ways around the second factor that people have tried elsewhere: each ends without a session. */
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { passkey, totp, type TwoFactorOptions, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import webauthn from 'authkernel/providers/webauthn'
import { describe, expect, it } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from './_authenticator.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'
const origin = 'http://localhost:3000'
// As a host sets it for keys without a PIN.
const unverified = { requireUserVerification: false }
const where = (response: Response): string => new URL(response.headers.get('location') ?? 'x:/none', origin).pathname

async function world(strategy: 'jwt' | 'database' = 'database', options: TwoFactorOptions = {}) {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    throttle: false,
    experimental: { enableWebAuthn: true },
  })
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter(memoryData())))
    .use(postbox)
    .use(oidcPlugin({ ...op.provider('oidc', 'strong'), trustEmail: true, trustAssurance: { amr: ['mfa'] } } as never))
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(webauthnPlugin(webauthn({ verifyAuthenticationOptions: unverified, verifyRegistrationOptions: unverified }) as never))
    .use(stepUpPlugin())
    .use(twoFactorPlugin({ factors: [totp(), passkey()], ...options }))
  await auth.ready({ warm: true })
  const mailed = async (pattern: RegExp) => (await settle(), pattern.exec(mails.at(-1)?.text ?? '')?.[1] ?? '')
  const signIn = async (address = ada, client = new Client(auth), callbackUrl = '/app') => {
    await client.post('/signin/codes', { email: address, callbackUrl })
    const response = await client.post('/callback/codes', { code: await mailed(/^\s*(\d{6})\s*$/m) })
    return Object.assign(client, { response })
  }
  const enrol = async (client: Client) => {
    const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
    const id = /name="id" value="([^"]+)"/.exec(page)![1]!
    const done = await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, base.runtime.now()) })
    base.runtime.advance(30_000)
    const codes = [...(await done.text()).matchAll(/<li><code>([A-Z2-9-]{11})<\/code>/g)].map(([, code]) => code!)
    return { secret, codes }
  }
  const atBank = async (client: Client, more: object = {}) => {
    const started = await client.post('/signin/strong', {})
    op.person = { sub: 'at the bank', email: ada, email_verified: true, ...more } as never
    return client.get(op.authorize(started.headers.get('location')!))
  }
  const key = async (client: Client, device: Authenticator, action: 'register' | 'authenticate', verified: boolean) => {
    const query = action === 'register' ? `?action=register&email=${ada}` : '?action=authenticate'
    const { options: given } = (await (await client.get(`/webauthn-options/webauthn${query}`)).json()) as {
      options: CreationOptions & RequestOptions
    }
    const data = action === 'register' ? device.create(given, { verified }) : device.get(given, { verified })
    return client.post('/callback/webauthn', { action, data })
  }
  const code = (secret: string) => totpAt(secret, base.runtime.now())
  return { auth, op, mails, mailed, signIn, enrol, atBank, key, code, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('between the two factors no request is signed in', async () => {
    const { auth, signIn, enrol } = await world(strategy)
    await enrol(await signIn())
    const client = await signIn()
    expect(where(client.response)).toBe('/auth/two-factor')
    const request = new Request(`${origin}/api`, { headers: { cookie: client.cookieHeader() } })
    expect([await client.session(), await auth.session(request), (await auth.read(request)).session]).toEqual([null, null, null])
    expect(await auth.stepUp.holds(request)).toBe(false)
    // Pages and routes of people who are signed in, with the parked cookie alone.
    for (const path of ['/account', '/two-factor/setup', '/passwords/change'])
      expect([path, where(await client.get(path))]).toEqual([path, '/auth/signin'])
    expect(where(await client.post('/two-factor/setup', { action: 'totp' }))).toBe('/auth/signin')
  })

  it('the callback called directly again, after the first factor, makes no session', async () => {
    const { signIn, enrol, mails } = await world(strategy)
    await enrol(await signIn())
    const client = await signIn()
    const code = /^\s*(\d{6})\s*$/m.exec(mails.at(-1)!.text)![1]!
    await client.post('/callback/codes', { code })
    await client.get(`/callback/codes?code=${code}`)
    await client.post('/callback/passwords', { email: ada, password: '' })
    expect(await client.session()).toBeNull()
  })

  it('four tabs at once with one right code: one session', async () => {
    const { auth, signIn, enrol, code } = await world(strategy)
    const { secret } = await enrol(await signIn())
    const client = await signIn()
    const tabs = Array.from({ length: 4 }, () => new Client(auth))
    for (const tab of tabs) for (const [name, value] of client.cookies) tab.cookies.set(name, value)
    const answers = await Promise.all(tabs.map((tab) => tab.post('/two-factor', { code: code(secret) })))
    const sessions = await Promise.all(tabs.map((tab) => tab.session()))
    expect(sessions.filter((session) => session !== null)).toHaveLength(1)
    expect(answers.every(({ status }) => status < 500)).toBe(true)
  })

  it('a trusted provider that says nothing, says it wrongly, or says it elsewhere, is one factor', async () => {
    const { auth, op, signIn, enrol, atBank } = await world(strategy)
    const first = await signIn()
    await atBank(first)
    await enrol(first)
    for (const more of [
      {},
      { amr: 'mfa' },
      { amr: [['mfa']] },
      { amr: { 0: 'mfa' } },
      { acr: 'mfa' },
      { AMR: ['mfa'] },
      { amr: ['pwd'] },
    ]) {
      const client = new Client(auth)
      expect([more, where(await atBank(client, more)), await client.session()]).toEqual([more, '/auth/two-factor', null])
    }
    // In the answer of userinfo, which is not signed.
    op.answers['/userinfo'] = () => ({ sub: 'at the bank', email: ada, amr: ['mfa'] })
    const client = new Client(auth)
    expect(where(await atBank(client))).toBe('/auth/two-factor')
    expect((await atBank(new Client(auth), { amr: ['mfa'] })).headers.get('location')).not.toContain('two-factor')
  })

  it('a new password by mail is asked for the factor, and disables none', async () => {
    const { auth, signIn, enrol, mailed, code } = await world(strategy)
    const { secret } = await enrol(await signIn())
    const thief = new Client(auth)
    await thief.post('/passwords/reset', { email: ada })
    await thief.post('/passwords/new', { token: await mailed(/new\?token=([0-9a-f]{64})/), password: 'seven purple otters sing' })
    expect(await thief.session()).toBeNull()
    expect(where(await thief.post('/callback/passwords', { email: ada, password: 'seven purple otters sing' }))).toBe('/auth/two-factor')
    expect(await thief.session()).toBeNull()
    await thief.post('/two-factor', { code: code(secret) })
    expect((await thief.session())?.user?.['email']).toBe(ada)
  })

  it('a provider that proves two factors is linked after a fresh proof alone', async () => {
    const { auth, signIn, enrol, atBank, code, runtime } = await world(strategy)
    const client = await signIn()
    const { secret } = await enrol(client)
    runtime.advance(301_000)
    // The session was stolen, and its thief has an account at the provider.
    expect(where(await atBank(client, { sub: 'the thief', email: 'thief@example.com', amr: ['mfa'] }))).toBe('/auth/two-factor/again')
    const later = new Client(auth)
    await atBank(later, { sub: 'the thief', email: 'thief@example.com', amr: ['mfa'] })
    expect((await later.session())?.user?.['email']).not.toBe(ada)
    // The owner proves the factor, and links.
    const led = await client.get('/two-factor/again')
    expect(where(led)).toBe('/auth/two-factor')
    await client.post('/two-factor', { code: code(secret), flow: new URL(led.headers.get('location')!).searchParams.get('flow')! })
    await atBank(client, { sub: 'of the owner', email: ada, amr: ['mfa'] })
    const back = new Client(auth)
    await atBank(back, { sub: 'of the owner', email: ada, amr: ['mfa'] })
    expect((await back.session())?.user?.['email']).toBe(ada)
  })

  it('a secret that another browser or another person began is not confirmed here', async () => {
    const { auth, signIn, code, runtime } = await world(strategy)
    const eve = await signIn('eve@example.com')
    const page = await (await eve.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
    const id = /name="id" value="([^"]+)"/.exec(page)![1]!
    const owner = await signIn()
    // The attacker's form, sent by the owner's browser: with and without the token of the page.
    await owner.post('/two-factor/setup', { action: 'confirm', id, code: code(secret) })
    const evil = { method: 'POST', headers: { origin: 'https://evil.example' }, body: new URLSearchParams({ action: 'totp' }) }
    expect((await owner.send('/two-factor/setup', evil)).status).toBeGreaterThanOrEqual(400)
    const request = new Request(`${origin}/`, { headers: { cookie: owner.cookieHeader() } })
    expect(await auth.twoFactor.list(request)).toEqual([])
    runtime.advance(601_000)
    await eve.post('/two-factor/setup', { action: 'confirm', id, code: code(secret) })
    expect(await auth.twoFactor.list(new Request(`${origin}/`, { headers: { cookie: eve.cookieHeader() } }))).toEqual([])
  })

  it('callbackUrl on the factor page changes nothing, and leads nowhere else', async () => {
    const { signIn, enrol, code, runtime } = await world(strategy)
    const { secret } = await enrol(await signIn())
    const client = await signIn(ada, undefined, '/app')
    const done = await client.post('/two-factor?callbackUrl=https://evil.example/', {
      code: code(secret),
      callbackUrl: 'https://evil.example/',
    })
    expect(done.headers.get('location')).toBe(`${origin}/app`)
    // A target of another origin was never kept.
    const other = await signIn(ada, undefined, 'https://evil.example/')
    runtime.advance(30_000)
    const end = await other.post('/two-factor', { code: code(secret) })
    expect([end.status, new URL(end.headers.get('location')!).origin]).toEqual([302, origin])
  })

  it('cookies planted before the sign-in give nothing after it', async () => {
    const { auth, signIn, enrol, code } = await world(strategy, { trustedDevices: true })
    const eve = await signIn('eve@example.com')
    const own = await enrol(eve)
    const parked = await signIn('eve@example.com')
    await parked.post('/two-factor', { code: code(own.secret), remember: 'on' })
    // Everything of the attacker's browser: session, trusted device, CSRF.
    const victim = new Client(auth)
    for (const [name, value] of parked.cookies) victim.cookies.set(name, value)
    await enrol(await signIn())
    const signed = await signIn(ada, victim)
    expect((await victim.session())?.user?.['email']).not.toBe(ada)
    expect(where(signed.response)).toBe('/auth/two-factor')
  })
})

it('a security key without user verification is one factor: the same kind of key is no second one, a backup code is', async () => {
  const { auth, signIn, key } = await world()
  const device = new Authenticator(origin)
  const client = await signIn()
  await key(client, device, 'register', false)
  const second = new Authenticator(origin)
  const { options } = (await (await client.get('/two-factor/passkey?purpose=add')).json()) as { options: CreationOptions }
  const text = await (await client.post('/two-factor/setup', { action: 'register', data: second.create(options) })).text()
  const codes = [...text.matchAll(/<li><code>([A-Z2-9-]{11})<\/code>/g)].map(([, found]) => found!)
  expect(codes).toHaveLength(10)
  const thief = new Client(auth)
  expect(where(await key(thief, device, 'authenticate', false))).toBe('/auth/two-factor')
  expect(await thief.session()).toBeNull()
  expect(await (await thief.get('/two-factor')).text()).toContain('Type one of your backup codes')
  await thief.post('/two-factor', { code: '000000' })
  expect(await thief.session()).toBeNull()
  await thief.post('/two-factor', { code: codes[0]! })
  expect((await thief.session())?.user?.['email']).toBe(ada)
})

it('a passkey user whose address was only typed adds no factor before the address is proved', async () => {
  const { auth, signIn, key } = await world()
  const eve = new Client(auth)
  await key(eve, new Authenticator(origin), 'register', true)
  expect((await eve.session())?.user?.['email']).toBe(ada)
  for (const action of ['totp', 'register', 'emailCode']) {
    const refused = await eve.post('/two-factor/setup', { action })
    expect([action, refused.headers.get('location') ?? refused.status]).toEqual([action, expect.stringContaining('AccessDenied')])
  }
  expect(await auth.twoFactor.list(new Request(`${origin}/`, { headers: { cookie: eve.cookieHeader() } }))).toEqual([])
  // The owner proves it, and has a user without anything of the attacker.
  const owner = await signIn()
  expect(where(owner.response)).toBe('/app')
  expect((await eve.session())?.user?.['email']).not.toBe(ada)
})
