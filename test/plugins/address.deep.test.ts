/** Changing the own address: proved at the new one, told at the old one, and taken back from there. */
import { createAuth } from 'authkernel'
import type { Adapter, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AddressOptions, addressPlugin } from 'authkernel/plugins/address'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { Kysely } from 'kysely'
import { describe, expect, it } from 'vitest'
import { totpAt } from '../_totp.ts'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

const [ada, fresh] = ['ada@example.com', 'ada@new.example']

async function world(strategy: 'jwt' | 'database', options: AddressOptions = {}, adapter: Adapter = memoryAdapter(memoryData())) {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, throttle: false })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(codesPlugin({ via: email() }))
    .use(passwordsPlugin({ breached: false }))
    .use(twoFactorPlugin())
    .use(addressPlugin(options))
  // The mails are waited for, and not the first load of what writes them.
  await auth.ready({ warm: true })
  const newest = async (to: string, pattern: RegExp): Promise<string> => {
    await settle()
    return pattern.exec(mails.findLast((mail) => mail.to === to)?.text ?? '')?.[1] ?? ''
  }
  const signIn = async (address: string, client = new Client(auth)) => {
    await client.post('/signin/codes', { email: address })
    await client.post('/callback/codes', { code: await newest(address, /^\s*(\d{6})\s*$/m) })
    return client
  }
  const ask = async (client: Client, to: string, headers: Record<string, string> = {}) => {
    const response = await client.post('/account/address', { email: to }, headers)
    return { response, token: await newest(to, /confirm\?token=([\w.-]+)/) }
  }
  const undoToken = (address: string) => newest(address, /undo\?token=([\w.-]+)/)
  return { auth, adapter, mails, runtime: base.runtime, logger: base.logger, signIn, ask, newest, undoToken }
}
const where = (response: Response): string => new URL(response.headers.get('location') ?? 'x:/none', 'http://localhost:3000').pathname
const addressOf = async (client: Client) => (await client.session())?.user?.['email']

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('may be as long as addresses are', async () => {
    const { signIn, ask } = await world(strategy)
    const client = await signIn(ada)
    const long = `${'a'.repeat(64)}@${'department.'.repeat(15)}example`
    const { token } = await ask(client, long)
    await client.post('/account/address/confirm', { token })
    expect(await addressOf(client)).toBe(long)
  })

  it('is proved at the new address, told at the old one, renews this session and ends the others', async () => {
    const { auth, adapter, mails, signIn, ask } = await world(strategy)
    const [here, elsewhere] = [await signIn(ada), await signIn(ada)]
    const user = await adapter.getUserByEmail!(ada)
    expect(await (await here.get('/account')).text()).toContain('/auth/account/address')
    const before = here.cookieHeader()
    const { response, token } = await ask(here, fresh)
    expect([response.status, where(response)]).toEqual([302, '/auth/account/address/mailed'])
    expect(await addressOf(here)).toBe(ada)
    const page = await here.get(`/account/address/confirm?token=${token}`)
    expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    expect(await page.text()).toContain(fresh)
    // Looking changes nothing: scanners of mail open links.
    expect(await addressOf(here)).toBe(ada)
    expect(where(await here.post('/account/address/confirm', { token }))).toBe('/auth/account')
    expect(await adapter.getUserByEmail!(fresh)).toMatchObject({ id: user!.id, emailVerified: expect.any(Date) })
    expect([await adapter.getUserByEmail!(ada), await addressOf(here), await elsewhere.session()]).toEqual([null, fresh, null])
    await settle()
    expect(mails.at(-1)).toMatchObject({ to: ada, subject: expect.stringContaining('was changed'), text: expect.stringContaining(fresh) })
    expect(mails.at(-1)!.html).toContain('Take the change back')
    // The token from before the change is signed out.
    const copied = new Request('http://localhost:3000/auth/session', { headers: { cookie: before } })
    expect(await (await auth.handler(copied)).json()).toBeNull()
    // The link counts once.
    expect((await here.post('/account/address/confirm', { token })).status).toBe(400)
  })

  it.each([false, true])(
    'a session that is ended while it changes the address changes nothing, an answer that is lost: %s',
    async (lost) => {
      const data = memoryData()
      const plain = memoryAdapter(data)
      const other = await world(strategy, {}, plain)
      let meanwhile: (() => Promise<unknown>) | undefined
      const racing: Adapter = {
        ...plain,
        async updateUser(user) {
          const work = user.email === fresh ? meanwhile : undefined
          meanwhile = undefined
          await work?.()
          const written = await plain.updateUser(user)
          if (work && lost) throw new Error('the answer was lost')
          return written
        },
      }
      const { adapter, signIn, ask, runtime } = await world(strategy, {}, racing)
      const thief = await signIn(ada)
      const { token } = await ask(thief, fresh)
      const user = (await adapter.getUserByEmail!(ada))!
      // The owner sets a new password at another process.
      meanwhile = async () => {
        const owner = new Client(other.auth)
        await owner.post('/passwords/reset', { email: ada })
        await owner.post('/passwords/new', {
          token: await other.newest(ada, /new\?token=([0-9a-f]{64})/),
          password: 'seven purple otters sing',
        })
      }
      const answer = await thief.post('/account/address/confirm', { token })
      expect(meanwhile).toBeUndefined()
      expect(where(answer)).not.toBe('/auth/account')
      expect(await plain.getUser(user.id)).toMatchObject({ email: ada, emailVerified: user.emailVerified })
      // A token of a cookie is known to be ended within the staleness.
      runtime.advance(11_000)
      expect([await plain.getUserByEmail(fresh), await addressOf(thief)]).toEqual([null, undefined])
    },
  )

  it('the link without the session, and the session without the link, change nothing', async () => {
    const { auth, adapter, signIn, ask } = await world(strategy)
    const attacker = await signIn('eve@example.com')
    const { token } = await ask(attacker, ada)
    // The owner of the address opens the mail that the attacker caused: signed out, and as another user.
    const owner = new Client(auth)
    const page = await owner.get(`/account/address/confirm?token=${token}`)
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('Sign in to the account')])
    expect((await owner.post('/account/address/confirm', { token })).status).toBe(400)
    await signIn(ada, owner)
    const told = await owner.post('/account/address/confirm', { token })
    expect([told.status, await told.text()]).toEqual([400, expect.stringContaining('another account')])
    expect((await adapter.getUserByEmail!(ada))?.id).not.toBe((await adapter.getUserByEmail!('eve@example.com'))?.id)
    // The owner's proof voids the change, also where the attacker has got the token.
    const late = await attacker.post('/account/address/confirm', { token })
    expect([late.status, await late.text()]).toEqual([400, expect.stringContaining('Another account has this address')])
    expect([await addressOf(attacker), await addressOf(owner)]).toEqual(['eve@example.com', ada])
  })

  it('the former mailbox takes the change back, whatever became of it, and every session ends', async () => {
    const { auth, adapter, mails, signIn, ask, undoToken } = await world(strategy)
    const thief = await signIn(ada)
    const id = (await adapter.getUserByEmail!(ada))!.id
    const once = await ask(thief, 'thief@example.com')
    await thief.post('/account/address/confirm', { token: once.token })
    const token = await undoToken(ada)
    const twice = await ask(thief, 'hidden@example.com')
    await thief.post('/account/address/confirm', { token: twice.token })
    expect((await adapter.getUser!(id))?.email).toBe('hidden@example.com')
    // No session is needed: the mailbox is the proof.
    const owner = new Client(auth)
    const page = await owner.get(`/account/address/undo?token=${token}`)
    expect([page.status, page.headers.get('referrer-policy'), await page.text()]).toEqual([
      200,
      'no-referrer',
      expect.stringContaining(ada),
    ])
    const answer = await owner.post('/account/address/undo', { token })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('former address')])
    expect(await adapter.getUser!(id)).toMatchObject({ email: ada })
    expect([await thief.session(), await owner.session()]).toEqual([null, null])
    await settle()
    expect(mails.at(-1)).toMatchObject({ to: ada, subject: expect.stringContaining('is back') })
    // Once, and not for good.
    expect((await owner.post('/account/address/undo', { token })).status).toBe(400)
  })

  it('the way back ends after seven days, and a link of the change after twenty minutes', async () => {
    const { auth, adapter, signIn, ask, undoToken, runtime } = await world(strategy)
    const client = await signIn(ada)
    const late = await ask(client, fresh)
    runtime.advance(1_201_000)
    expect((await client.post('/account/address/confirm', { token: late.token })).status).toBe(400)
    const again = await signIn(ada)
    const { token } = await ask(again, fresh)
    await again.post('/account/address/confirm', { token })
    const undo = await undoToken(ada)
    runtime.advance(7 * 86_400_000 + 1000)
    expect((await new Client(auth).post('/account/address/undo', { token: undo })).status).toBe(400)
    expect(await adapter.getUserByEmail!(ada)).toBeNull()
  })

  it('an old session proves itself again first, through the second factor where there is one', async () => {
    const { signIn, ask, runtime, mails } = await world(strategy)
    const client = await signIn(ada)
    runtime.advance(301_000)
    const count = mails.length
    expect(where((await ask(client, fresh)).response)).toBe('/auth/signin')
    expect(mails.length).toBe(count)
    // With a factor: the form leads through it and back.
    const other = await signIn('bo@example.com')
    const shown = await other.post('/two-factor/setup', { action: 'totp' })
    const text = await shown.text()
    const secret = /secret=([A-Z2-7]+)/.exec(text)?.[1] ?? /data-secret="([A-Z2-7]+)"/.exec(text)?.[1] ?? ''
    const id = /name="id" value="([^"]+)"/.exec(text)![1]!
    const key = secret || /<code[^>]*>([A-Z2-7 ]{32,})</.exec(text)![1]!.replaceAll(' ', '')
    await other.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(key, runtime.now()) })
    runtime.advance(301_000)
    const led = (await ask(other, fresh)).response
    expect(where(led)).toBe('/auth/two-factor')
    const flow = new URL(led.headers.get('location')!).searchParams.get('flow')!
    const back = await other.post(`/two-factor?flow=${flow}`, { code: totpAt(key, runtime.now()), flow })
    expect(where(back)).toBe('/auth/account/address')
    expect(where((await ask(other, fresh)).response)).toBe('/auth/account/address/mailed')
  })
})

it('an address that is taken, and one that is free, get the same answer; its owner is told', async () => {
  const { signIn, ask, mails } = await world('database')
  await signIn('bo@example.com')
  const client = await signIn(ada)
  const seen = async (to: string) => {
    const { response, token } = await ask(client, to)
    return { status: response.status, where: where(response), cookies: response.headers.getSetCookie().length, token: token !== '' }
  }
  const [known, unknown] = [await seen('bo@example.com'), await seen(fresh)]
  expect({ ...known, token: true }).toEqual(unknown)
  expect(known.token).toBe(false)
  expect(mails.find(({ to, subject }) => to === 'bo@example.com' && subject.includes('You have an account'))).toBeDefined()
})

it('a change of one person, opened by another who is signed in, and a forged token change nothing', async () => {
  const { adapter, signIn, ask } = await world('database')
  const [one, two] = [await signIn(ada), await signIn('bo@example.com')]
  const { token } = await ask(one, fresh)
  for (const given of [token, `${token}x`, 'x'.repeat(10_000), '']) await two.post('/account/address/confirm', { token: given })
  expect([await addressOf(two), await adapter.getUserByEmail!(fresh)]).toEqual(['bo@example.com', null])
  // A forged form of another site.
  const evil = { method: 'POST', headers: { origin: 'https://evil.example' }, body: new URLSearchParams({ token }) }
  expect((await one.send('/account/address/confirm', evil)).status).toBeGreaterThanOrEqual(400)
  expect(await addressOf(one)).toBe(ada)
})

it('two tabs and two people at one moment: one change, one holder', async () => {
  const adapter = sqlAdapter(new Kysely({ dialect: libsqlDialect({ url: ':memory:' }) }), { migrate: true })
  const { signIn, ask } = await world('database', {}, adapter)
  const [one, two] = [await signIn(ada), await signIn('bo@example.com')]
  const [first, second] = [(await ask(one, fresh)).token, (await ask(two, fresh)).token]
  const answers = await Promise.all([
    one.post('/account/address/confirm', { token: first }),
    one.post('/account/address/confirm', { token: first }),
    two.post('/account/address/confirm', { token: second }),
  ])
  expect(answers.filter(({ status }) => status === 302)).toHaveLength(1)
  expect(answers.every(({ status }) => status < 500)).toBe(true)
  const holder = await adapter.getUserByEmail!(fresh)
  expect([await addressOf(one), await addressOf(two)].filter((address) => address === fresh)).toHaveLength(1)
  expect(holder?.emailVerified).toBeInstanceOf(Date)
})

it('a reset link in the former mailbox, and a trusted device, end with the address', async () => {
  const { auth, adapter, signIn, ask, newest } = await world('database')
  const client = await signIn(ada)
  await new Client(auth).post('/passwords/reset', { email: ada })
  const reset = await newest(ada, /new\?token=([0-9a-f]{64})/)
  const { token } = await ask(client, fresh)
  await client.post('/account/address/confirm', { token })
  const answer = await new Client(auth).post('/passwords/new', { token: reset, password: 'seven purple otters sing' })
  expect([answer.status, (await adapter.getUserByEmail!(fresh))?.email]).toEqual([400, fresh])
})

it('`allow` decides, mails are limited, and options of the wrong shape are refused', async () => {
  const { signIn, ask, mails } = await world('database', { allow: ({ to }) => to.endsWith('@new.example') })
  const client = await signIn(ada)
  expect((await ask(client, 'ada@other.example')).response.status).toBe(400)
  for (const typed of ['', 'no address', ada, 'a@b.example, c@d.example']) expect((await ask(client, typed)).response.status).toBe(400)
  const before = mails.length
  for (let each = 0; each < 7; each++) await ask(client, fresh)
  expect(mails.length - before).toBe(3)
  expect(() => addressPlugin({ allow: true as never })).toThrow('`allow` must be a function')
  expect(() => addressPlugin({ maxAge: 0 })).toThrow('`maxAge` must be 30 to 3600')
  expect(() => addressPlugin({ undoDays: 0 })).toThrow('`undoDays` must be 1 to 30')
})

it('speaks five languages, in pages and in mails', async () => {
  for (const [lang, page, mail] of [
    ['de', 'E-Mail-Adresse', 'Diese Adresse verwenden'],
    ['fr', 'Adresse e-mail', 'Utiliser cette adresse'],
    ['es', 'Correo electrónico', 'Usar esta dirección'],
    ['ja', 'メールアドレス', 'このアドレスを使用'],
  ] as const) {
    const { signIn, ask, mails } = await world('jwt')
    const client = await signIn(ada)
    const headers = { 'accept-language': lang }
    expect(await (await client.get('/account/address', headers)).text()).toContain(page)
    await ask(client, fresh, headers)
    expect(mails.at(-1)!.html).toContain(mail)
    expect(mails.at(-1)!.text).toContain('/account/address/confirm?token=')
    expect(mails.at(-1)!.text).not.toContain('Sign in to that account')
  }
})
