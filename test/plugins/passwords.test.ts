/** Passwords: an address is nobody's until it is proved, a link works once, and old hashes become new ones. */
import { pbkdf2Sync, scryptSync } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import {
  bcryptHash,
  betterAuthHash,
  firebaseScrypt,
  type PasswordsOptions,
  passwordsPlugin,
  pbkdf2Hash,
  pwned,
} from 'authkernel/plugins/passwords'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

const good = 'seven purple otters sing'
const other = 'nine yellow llamas dance'
const ada = 'ada@example.com'

async function world(options: PasswordsOptions = {}, config: AuthConfig = {}) {
  const base = baseConfig({ session: { strategy: 'database' }, ...config })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(passwordsPlugin({ breached: false, ...options }))
  await auth.ready({ warm: true })
  const token = async (before: number): Promise<string> => {
    // Mails leave after the answer, and a busy machine takes its time.
    for (let turns = 0; turns < 25 && mails.length === before; turns++) await settle()
    return /token=([0-9a-f]{64})/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }
  const signIn = async (password: string, email = ada, client = new Client(auth)) => {
    const response = await client.post('/callback/passwords', { email, password, callbackUrl: '/app' })
    return { client, response, session: await client.session() }
  }
  const signUp = async (password = good, email = ada, client = new Client(auth)) => {
    const before = mails.length
    const response = await client.post('/passwords/sign-up', { email, password })
    return { client, response, token: await token(before) }
  }
  const user = (email = ada, id = 'ada', emailVerified: Date | null = new Date()) => adapter.createUser!({ id, email, emailVerified })
  const own = async (password = good) => {
    const { client, token: link } = await signUp(password)
    await client.post('/passwords/confirm', { token: link })
    return client
  }
  const reset = async (client = new Client(auth), email = ada) => {
    const before = mails.length
    await client.post('/passwords/reset', { email })
    return { client, token: await token(before) }
  }
  return { auth, adapter, mails, runtime: base.runtime, signIn, signUp, user, own, reset, settle }
}

const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname

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

  it('a reset for a user whose address nobody proved proves it', async () => {
    const { user, reset, adapter, signIn } = await world()
    await user(ada, 'ada', null)
    const { client, token } = await reset()
    await client.post('/passwords/new', { token, password: good })
    expect((await adapter.getUserByEmail!(ada))?.emailVerified).toBeInstanceOf(Date)
    expect((await signIn(good)).session?.user?.email).toBe(ada)
  })
})

describe('hashes', () => {
  const firebase = {
    signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
    saltSeparator: 'Bw==',
  }
  const salt = '000102030405060708090a0b0c0d0e0f'
  const taken: [string, string, string][] = [
    ['better-auth', good, `${salt}:${scryptSync(good, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }).toString('hex')}`],
    ['bcrypt', good, bcrypt.hashSync(good, 4)],
    // The example of the Firebase scrypt repository.
    [
      'firebase',
      'user1password',
      'firebase:42xEC+ixf3L2lw==:lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    ],
    ['Django', good, `pbkdf2_sha256$1000$pepper$${pbkdf2Sync(good, 'pepper', 1000, 32, 'sha256').toString('base64')}`],
  ]
  const verify = [betterAuthHash(), bcryptHash(), firebaseScrypt(firebase), pbkdf2Hash()]

  it.each(taken)('of %s are read, and re-hashed at the first sign-in', async (_name, password, hash) => {
    const { auth, user, signIn } = await world({ verify, secondFactor: () => true })
    await user()
    expect(await auth.passwords.import([{ userId: 'ada', hash }])).toBe(1)
    expect((await signIn(`${password}x`)).session).toBeNull()
    expect((await signIn(password)).session?.user?.email).toBe(ada)
    expect((await signIn(password)).session?.user?.email).toBe(ada)
  })

  it('after the first sign-in a bcrypt password counts whole', async () => {
    const { auth, user, signIn } = await world({ verify })
    await user()
    const long = 'a lengthy phrase of otters '.repeat(3)
    await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(long, 4) }])
    expect((await signIn(long)).session).not.toBeNull()
    expect((await signIn(`${long.slice(0, 72)} differs`)).session).toBeNull()
  })

  it('an imported password in another normal form signs in before and after', async () => {
    const { auth, user, signIn } = await world({ verify })
    await user()
    const typed = 'ﬁve otters in a ﬁeld'
    await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(typed, 4) }])
    expect((await signIn(typed)).session).not.toBeNull()
    expect((await signIn(typed.normalize('NFKC'))).session).not.toBeNull()
  })

  it('a change while an old hash is checked wins over the re-hash', async () => {
    let release = (): void => {}
    const slow = {
      name: 'slow',
      owns: (stored: string) => stored === 'old',
      verify: () => new Promise<boolean>((resolve) => (release = () => resolve(true))),
    }
    const { auth, user, signIn, reset, settle } = await world({ verify: [slow] })
    await user()
    await auth.passwords.import([{ userId: 'ada', hash: 'old' }])
    const late = signIn(good)
    await settle()
    const { client, token } = await reset()
    await client.post('/passwords/new', { token, password: other })
    release()
    expect((await late).session).toBeNull()
    expect([(await signIn(good)).session, (await signIn(other)).session?.user?.email]).toEqual([null, ada])
  })

  it('absurd parameters are refused at the import', async () => {
    const { auth } = await world({ verify })
    const bad = `pbkdf2_sha256$9000000$pepper$${'A'.repeat(44)}`
    await expect(auth.passwords.import([{ userId: 'ada', hash: bad }])).rejects.toThrow('of no format')
    await expect(auth.passwords.import([{ userId: 'ada', hash: 'plain text' }])).rejects.toThrow('of no format')
  })

  it('scrypt of the runtime stands in for argon2id', async () => {
    const { own, signIn } = await world({ algorithm: 'scrypt' })
    await own()
    expect([(await signIn(good)).session?.user?.email, (await signIn(other)).session]).toEqual([ada, null])
  })

  it('of 100 sign-ins at once the line takes some, and the others are told when to come back', async () => {
    const { own, signIn } = await world({}, { throttle: { credentials: false } } as AuthConfig)
    await own()
    const answers = await Promise.all(Array.from({ length: 100 }, async () => (await signIn(good)).response))
    const full = answers.filter((response) => response.status === 503)
    expect(full.length).toBeGreaterThan(0)
    expect(full.every((response) => response.headers.get('retry-after') === '2')).toBe(true)
    expect((await signIn(good)).session).not.toBeNull()
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

  it('the range query sends five digits; an answer that fails or hangs blocks nobody', async () => {
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
