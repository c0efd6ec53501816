/** Passwords: an address belongs to no user until it is proved, a link works once, and old hashes become new ones. */
import { gunzipSync } from 'node:zlib'
import bcrypt from 'bcryptjs'
import { describe, expect, it } from 'vitest'
import type { AuthConfig } from 'authkernel/kernel'
import { bcryptHash, type PasswordsOptions, pwned } from 'authkernel/plugins/passwords'
import { Client } from '../_setup.ts'
import { ada, good, other, where, world } from './_passwords.ts'

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  const start = (options?: PasswordsOptions) => world(options, { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } })

  it('registers, activates in the asking browser, signs in, and refuses wrong passwords', async () => {
    const { signUp, signIn, adapter } = await start()
    const { client, response, token } = await signUp()
    expect([where(response), await adapter.getUserByEmail!(ada)]).toEqual(['/auth/passwords/mailed', null])
    expect((await signIn(good)).session).toBeNull()
    const page = await client.get(`/passwords/confirm?token=${token}`)
    expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    expect(await adapter.getUserByEmail!(ada)).toBeNull()
    await client.post('/passwords/confirm', { token })
    expect((await client.session())?.user?.email).toBe(ada)
    expect((await adapter.getUserByEmail!(ada))?.emailVerified).toBeInstanceOf(Date)
    expect((await signIn(good)).session?.user?.email).toBe(ada)
    expect((await signIn(other)).session).toBeNull()
    expect((await signIn(good, 'eve@example.com')).session).toBeNull()
  })

  it('the password of a stranger who typed the address never goes live', async () => {
    const { auth, signUp, signIn } = await start()
    const { token } = await signUp('the attacker waits here')
    const owner = new Client(auth)
    expect(await (await owner.get(`/passwords/confirm?token=${token}`)).text()).toContain('new-password')
    expect((await owner.post('/passwords/confirm', { token })).status).toBe(400)
    await owner.post('/passwords/confirm', { token, password: good })
    expect((await owner.session())?.user?.email).toBe(ada)
    expect((await signIn('the attacker waits here')).session).toBeNull()
    expect((await signIn(good)).session).not.toBeNull()
  })

  it('of four who use a reset link one wins, and all sessions end', async () => {
    const { auth, own, reset, signIn } = await start()
    const before = await own()
    const { token } = await reset()
    const clients = Array.from({ length: 4 }, () => new Client(auth))
    const passwords = clients.map((_client, i) => `${other} number ${'abcd'[i]}`)
    await Promise.all(clients.map((client, i) => client.post('/passwords/new', { token, password: passwords[i]! })))
    const wins = await Promise.all(passwords.map(async (password) => (await signIn(password)).session !== null))
    expect(wins.filter(Boolean)).toHaveLength(1)
    expect([await before.session(), (await signIn(good)).session]).toEqual([null, null])
  })

  it('a change needs the present password, ends other sessions and renews this one', async () => {
    const { own, signIn, mails, settle } = await start()
    const here = await own()
    const elsewhere = (await signIn(good)).client
    expect((await here.post('/passwords/change', { current: other, password: other })).status).toBe(400)
    expect((await here.post('/passwords/change', { password: other })).status).toBe(400)
    const cookies = here.cookieHeader()
    expect(where(await here.post('/passwords/change', { current: good, password: other }))).toBe('/auth/passwords/change')
    expect([(await here.session())?.user?.email, await elsewhere.session()]).toEqual([ada, null])
    expect(here.cookieHeader()).not.toBe(cookies)
    expect([(await signIn(good)).session, (await signIn(other)).session?.user?.email]).toEqual([null, ada])
    await settle()
    expect(mails.at(-1)?.subject).toContain('was changed')
  })

  it('a username where no plugin knows any: the log says so, and the visitor hears what every wrong sign-in is told', async () => {
    const told: string[] = []
    const error = ({ message }: Error) => void told.push(message)
    const { signIn } = await world({}, { session: { strategy: 'database' }, logger: { error, warn: () => {}, debug: () => {} } })
    const named = await signIn(good, 'ada_l')
    expect(told).toEqual([expect.stringContaining('no plugin knows usernames: use usernamesPlugin()')])
    expect([named.session, where(named.response)]).toEqual([null, where((await signIn(good, 'eve@example.com')).response)])
  })

  it('an imported hash signs in once it is replaced, and a short one leads to a longer password', async () => {
    const { auth, user, signIn } = await start({ verify: [bcryptHash()] })
    await user()
    await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync('short one', 4) }])
    const { client, session, response } = await signIn('short one')
    expect([where(response), session]).toEqual(['/auth/passwords/longer', null])
    expect(await (await client.get('/passwords/longer')).text()).toContain('at least 15 characters to go on')
    expect((await client.post('/passwords/longer', { password: 'short two' })).status).toBe(400)
    expect(where(await client.post('/passwords/longer', { password: good }))).toBe('/app')
    expect((await client.session())?.user?.email).toBe(ada)
    expect([(await signIn('short one')).session, (await signIn(good)).session?.user?.email]).toEqual([null, ada])
  })
})

describe('links', () => {
  it('known and unknown addresses get the same answers, and only the owner learns more', async () => {
    const { own, signUp, mails, reset } = await world()
    await own()
    const known = await signUp()
    const knownMail = mails.at(-1)
    const unknown = await signUp(good, 'eve@example.com')
    const shape = async ({ response, client }: typeof known) => [
      response.status,
      response.headers.get('location'),
      await response.text(),
      [...response.headers.keys()],
      [...client.cookies.keys()],
    ]
    expect(await shape(known)).toEqual(await shape(unknown))
    expect([knownMail?.subject, known.token]).toEqual(['You have an account at localhost:3000', ''])
    const count = mails.length
    await reset(undefined, 'nobody@example.com')
    expect(mails).toHaveLength(count)
  })

  it('a newer reset voids the older, a link ends after 20 minutes, and three mails go out in ten', async () => {
    const { own, reset, signIn, runtime, mails } = await world()
    await own()
    runtime.advance(601_000)
    const first = await reset()
    const second = await reset()
    expect((await first.client.post('/passwords/new', { token: first.token, password: other })).status).toBe(400)
    expect(where(await first.client.post('/passwords/new', { token: second.token, password: other }))).toBe('/auth/signin')
    expect((await signIn(other)).session).not.toBeNull()
    const late = await reset()
    const count = mails.length
    await reset()
    expect(mails).toHaveLength(count)
    runtime.advance(1_201_000)
    expect((await late.client.post('/passwords/new', { token: late.token, password: good })).status).toBe(400)
  })

  it('"Send it again" mails a new link within the limit, voids the former one, and looks the same for every address', async () => {
    const { signUp, mails, settle, user, reset } = await world()
    const { client, token } = await signUp()
    const page = async (who: Client) => (await who.get('/passwords/mailed')).text()
    expect(await page(client)).toContain(ada)
    const before = mails.length
    expect(where(await client.post('/passwords/resend', {}))).toBe('/auth/passwords/mailed')
    for (let turns = 0; turns < 25 && mails.length === before; turns++) await settle()
    const renewed = /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
    expect(renewed).not.toBe(token)
    for (let turns = 0; turns < 3; turns++) await settle()
    expect((await client.post('/passwords/confirm', { token })).status).toBe(400)
    // A third mail is the last in ten minutes, and the answer stays the same.
    for (const count of [before + 2, before + 2]) {
      expect(where(await client.post('/passwords/resend', {}))).toBe('/auth/passwords/mailed')
      for (let turns = 0; turns < 25; turns++) await settle()
      expect(mails).toHaveLength(count)
    }
    await client.post('/passwords/confirm', { token: /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]! })
    expect((await client.session())?.user?.email).toBe(ada)
    // A known address and an unknown one: the same page, but for the address.
    await user('known@example.com', 'known')
    const texts = await Promise.all(
      ['known@example.com', 'other@example.com'].map(async (email) => {
        const { client: visitor } = await reset(undefined, email)
        return (await page(visitor))
          .replaceAll(email, '')
          .replaceAll(/(nonce|value)="[^"]*"/g, '')
          .replaceAll(/nonce-[^']*/g, '')
      }),
    )
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).toContain('action="http://localhost:3000/auth/passwords/reset"')
    // Without the cookie nothing is sent.
    const stranger = new Client((await world()).auth)
    expect(where(await stranger.post('/passwords/resend', {}))).toBe('/auth/signin')
  })

  it('the estimate of strength is one script, for browsers with and without gzip', async () => {
    const { auth } = await world()
    const get = (headers: Record<string, string> = {}) =>
      auth.handler(new Request('http://localhost:3000/auth/passwords/strength.js', { headers }))
    const [plain, zipped] = await Promise.all([get(), get({ 'Accept-Encoding': 'br, gzip' })])
    expect([plain.status, plain.headers.get('content-type'), zipped.headers.get('content-encoding')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'gzip',
    ])
    expect(plain.headers.get('cache-control')).toContain('max-age=86400')
    const [text, bytes] = [await plain.text(), Buffer.from(await zipped.arrayBuffer())]
    expect(gunzipSync(bytes).toString()).toBe(text)
    expect(bytes.length).toBeLessThan(300_000)
    const scores: ((typed: string) => number)[] = []
    const run = new Function('dispatchEvent', 'CustomEvent', text)
    run(
      ({ detail }: { detail: (typed: string) => number }) => scores.push(detail),
      function (this: object, _name: string, init: object) {
        Object.assign(this, init)
      },
    )
    expect(['password123password', 'iloveyouiloveyou1', good].map(scores[0]!)).toEqual([1, 1, 4])
  })

  it('the link leads to the own origin, whatever Host says', async () => {
    const { auth, own, mails, settle, runtime } = await world({}, {
      trustHost: false,
      env: { AUTH_URL: 'http://localhost:3000/auth' },
    } as AuthConfig)
    await own()
    runtime.advance(601_000)
    await new Client(auth).post('/passwords/reset', { email: ada }, { host: 'evil.example', 'x-forwarded-host': 'evil.example' })
    await settle()
    expect(mails.at(-1)?.text).toContain('http://localhost:3000/auth/passwords/new')
    expect(mails.at(-1)?.text).not.toContain('evil.example')
  })

  it('a cookie that was planted activates nothing by itself, and a fourth registration pushes out the oldest', async () => {
    const { auth, signUp, runtime } = await world()
    const tokens: string[] = []
    for (let i = 0; i < 4; i++) {
      tokens.push((await signUp(`${good} ${i}`)).token)
      runtime.advance(601_000)
    }
    const planted = new Client(auth)
    planted.cookies.set('authjs.password-sign-up', 'a'.repeat(64))
    expect((await planted.get(`/passwords/confirm?token=${tokens[0]}`)).status).toBe(400)
    const page = await planted.get(`/passwords/confirm?token=${tokens[3]}`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('new-password')])
    expect((await planted.post('/passwords/confirm', { token: tokens[3]! })).status).toBe(400)
    expect(await planted.session()).toBeNull()
  })

  it('a first password is set within five minutes of a sign-in with a proved address, else by mail', async () => {
    const { auth, signUp, runtime, signIn, settle, mails, reset } = await world()
    const { token } = await signUp()
    const owner = new Client(auth)
    await owner.post('/passwords/confirm', { token, without: '1' })
    expect((await owner.session())?.user?.email).toBe(ada)
    runtime.advance(601_000)
    expect(where(await owner.post('/passwords/change', { password: other }))).toBe('/auth/passwords/mailed')
    await settle()
    expect([mails.at(-1)?.subject, (await signIn(other)).session]).toEqual(['A new password for localhost:3000', null])
    const { token: link } = await reset()
    await owner.post('/passwords/new', { token: link, password: other })
    expect((await signIn(other)).session?.user?.email).toBe(ada)
    const { token: again } = await signUp(good, 'eve@example.com')
    const eve = new Client(auth)
    await eve.post('/passwords/confirm', { token: again, without: '1' })
    expect(where(await eve.post('/passwords/change', { password: good }))).toBe('/auth/passwords/change')
    expect((await signIn(good, 'eve@example.com')).session?.user?.email).toBe('eve@example.com')
  })

  it('a reset for a user whose address is unverified proves it', async () => {
    const { user, reset, adapter, signIn } = await world()
    await user(ada, 'ada', null)
    const { client, token } = await reset()
    await client.post('/passwords/new', { token, password: good })
    expect((await adapter.getUserByEmail!(ada))?.emailVerified).toBeInstanceOf(Date)
    expect((await signIn(good)).session?.user?.email).toBe(ada)
  })
})

describe('what may be chosen', () => {
  it.each([
    ['short'],
    ['fourteen chars'],
    ['password1234567'],
    ['aaaaaaaaaaaaaaaaaaaa'],
    ['abcabcabcabcabcabc'],
    ['qwertyuiopasdfghjkl'],
    ['ada@example.com123'],
    ['iloveyou iloveyou'],
    ['x'.repeat(257)],
    ['otters\0otters and more'],
  ])('%j is refused', async (password) => {
    const { auth, mails, settle } = await world()
    const client = new Client(auth)
    expect((await client.post('/passwords/sign-up', { email: ada, password })).status).toBe(400)
    await settle()
    expect(mails).toEqual([])
  })

  it('64 letters and emoji count as they are typed', async () => {
    const { own, signIn } = await world()
    const password = `${'🦦 und ein Bär im Wald, '.repeat(3)}Ende`
    await own(password)
    expect((await signIn(password)).session).not.toBeNull()
  })

  it.each([['array'], ['object'], ['number'], ['1 MB']])('a password as %s is no 500', async (kind) => {
    const { auth } = await world()
    const client = new Client(auth)
    const csrfToken = await client.csrfToken()
    const password = { array: ['x'], object: { $ne: '' }, number: 12, '1 MB': 'x'.repeat(1_048_576) }[kind]
    for (const path of ['/callback/passwords', '/passwords/sign-up']) {
      const body = JSON.stringify({ csrfToken, email: ada, password })
      const response = await client.send(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      expect(response.status).toBeLessThan(500)
    }
    expect(await client.session()).toBeNull()
  })

  it('the range query sends five digits; an answer that fails or hangs blocks no user', async () => {
    const asked: string[] = []
    const digest = Buffer.from(await crypto.subtle.digest('SHA-1', Buffer.from(good)))
      .toString('hex')
      .toUpperCase()
    const fetch = (async (url: string | URL | Request) => {
      asked.push(String(url instanceof Request ? url.url : url))
      return new Response(`${digest.slice(5)}:3\r\n${'0'.repeat(35)}:0`)
    }) as typeof globalThis.fetch
    const one = await world({ breached: pwned({ fetch }) })
    expect((await one.signUp()).response.status).toBe(400)
    expect(asked).toEqual([`https://api.pwnedpasswords.com/range/${digest.slice(0, 5)}`])
    const hanging = (() => new Promise(() => {})) as typeof globalThis.fetch
    const two = await world({ breached: pwned({ fetch: hanging, timeout: 50 }) })
    expect(where((await two.signUp()).response)).toBe('/auth/passwords/mailed')
  })
})
