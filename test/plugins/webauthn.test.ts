/** The five journeys of a passkey: register, add, sign in, and what the two routes say. */
import { describe, expect, it } from 'vitest'
import { Authenticator } from './_authenticator.ts'
import { type App, challengeCookie, createApp, origin, sessionCookie, target } from './_webauthn.ts'
import passkey from 'authkernel/providers/passkey'
import webauthn from 'authkernel/providers/webauthn'
import type { Adapter } from 'authkernel/kernel'

/** The 19 operations of Auth.js alone. */
function plain({ createUserWithAccount: _transaction, ...adapter }: Adapter): Adapter {
  return adapter
}

describe('options route', () => {
  async function known(): Promise<{ app: App; key: Authenticator }> {
    const app = createApp()
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    return { app, key }
  }

  it('row 245: no user and no action: authenticate, with any passkey of the device', async () => {
    const response = await createApp().browser().get('/webauthn-options/passkey')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toContain('no-store')
    const { action, options } = (await response.json()) as { action: string; options: Record<string, unknown> }
    expect(action).toBe('authenticate')
    expect(options).not.toHaveProperty('allowCredentials')
    expect(options).toMatchObject({ rpId: 'app.example', timeout: 300_000, userVerification: 'required' })
  })

  it('row 245: a new address and no action: register', async () => {
    const answer = await (await createApp().browser().get('/webauthn-options/passkey?email=New@Example.com')).json()
    expect(answer).toMatchObject({
      action: 'register',
      options: { rp: { id: 'app.example', name: 'app.example' }, user: { name: 'new@example.com' } },
    })
  })

  it('rows 245 and 249: a known address and no session: authenticate, never register', async () => {
    const { app } = await known()
    const inferred = await (await app.browser().get('/webauthn-options/passkey?email=ada@example.com')).json()
    expect(inferred).toMatchObject({ action: 'authenticate' })
    const refused = await app.browser().get('/webauthn-options/passkey?action=register&email=ada@example.com')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({ error: 'Invalid request' })
  })

  it('row 245: register and no user named: 400', async () => {
    const response = await createApp().browser().get('/webauthn-options/passkey?action=register')
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'Invalid request' })
  })

  it('row 245: signed in: register on demand, authenticate on demand, 400 without a word', async () => {
    const app = createApp()
    const browser = app.browser()
    await browser.register(new Authenticator(origin), 'email=ada@example.com')
    expect(await (await browser.get('/webauthn-options/passkey?action=register')).json()).toMatchObject({ action: 'register' })
    expect(await (await browser.get('/webauthn-options/passkey?action=authenticate')).json()).toMatchObject({ action: 'authenticate' })
    expect((await browser.get('/webauthn-options/passkey')).status).toBe(400)
    expect((await browser.get('/webauthn-options/passkey?email=other@example.com')).status).toBe(400)
  })

  it.each(['delete', '', 'Register', '__proto__'])('row 245: action %j: 400 Invalid action', async (action) => {
    const response = await createApp().browser().get(`/webauthn-options/passkey?action=${action}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'Invalid action' })
  })

  it.each([
    'a',
    '@b',
    'a@',
    'a b@c',
    'a@b@c',
    '-a@b',
    'a@b%0d%0aBcc:c',
    '%22a%22@b',
    'a,b@c',
    '%D0%B0da@b.c',
    'a@b%5D',
    `${'x'.repeat(260)}@b`,
  ])('an address that is none (%s): 400', async (email) => {
    const response = await createApp().browser().get(`/webauthn-options/passkey?email=${email}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'Invalid request' })
  })

  it('row 253: a known address is asked for its own passkeys, a signed-in user not for those there are', async () => {
    const { app, key } = await known()
    const id = key.id.toString('base64url')
    const options = await app.browser().options<'authenticate'>('action=authenticate&email=ada@example.com')
    expect(options.allowCredentials).toEqual([{ id, type: 'public-key', transports: ['hybrid', 'internal'] }])
    const browser = app.browser()
    await browser.authenticate(key)
    const more = await browser.options<'register'>('action=register')
    expect(more.excludeCredentials).toEqual([{ id, type: 'public-key', transports: ['hybrid', 'internal'] }])
  })

  it('an unknown address gets an answer of the same shape, and always the same one', async () => {
    const { app } = await known()
    const ask = (email: string): Promise<{ allowCredentials?: { id: string }[] }> =>
      app.browser().options<'authenticate'>(`action=authenticate&email=${email}`)
    const real = await ask('ada@example.com')
    const made = await ask('nobody@example.com')
    expect(Object.keys(made)).toEqual(Object.keys(real))
    const shape = (options: object): string => JSON.stringify(options).replace(/"[\w-]{43}"/g, '"…"')
    expect(shape(made)).toBe(shape(real))
    expect((await ask('nobody@example.com')).allowCredentials).toEqual(made.allowCredentials)
    expect((await ask('somebody@example.com')).allowCredentials).not.toEqual(made.allowCredentials)
  })

  it('every challenge and user handle is 256 random bits', async () => {
    const browser = createApp().browser()
    const seen = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const { challenge, user } = await browser.options<'register'>('email=new@example.com')
      for (const value of [challenge, user.id]) {
        expect(Buffer.from(value, 'base64url')).toHaveLength(32)
        seen.add(value)
      }
    }
    expect(seen.size).toBe(40)
  })

  it('row 10: POST is not a method of it', async () => {
    const response = await createApp().browser().post('/webauthn-options/passkey', {})
    expect(target(response).search).toBe('?error=Configuration')
  })

  it('no such provider and another type end on the error page, a store that is down answers JSON', async () => {
    const app = createApp(
      { providers: [passkey(), { id: 'pw', name: 'Password', type: 'credentials', authorize: () => null }] },
      (adapter) => ({ ...adapter, getUserByEmail: () => Promise.reject(new Error('secret detail')) }),
    )
    for (const id of ['nobody', 'pw']) {
      const response = await app.browser().get(`/webauthn-options/${id}`)
      expect(response.headers.get('location')).toMatch(/\/auth\/error\?error=Configuration$/)
    }
    const down = await app.browser().get('/webauthn-options/passkey?email=ada@example.com')
    expect(down.status).toBe(503)
    expect(await down.text()).toBe('{"error":"Server error"}')
  })

  it('getUserInfo names the person', async () => {
    const app = createApp({
      providers: [
        passkey({
          getUserInfo: (_, request) => ({
            user: { email: `${new URL(request.url).searchParams.get('who')}@corp.example`, name: 'Ada' },
            exists: false,
          }),
        }),
      ],
    })
    const options = await app.browser().options<'register'>('action=register&who=ada')
    expect(options.user).toMatchObject({ name: 'ada@corp.example', displayName: 'Ada' })
    const nobody = createApp({ providers: [passkey({ getUserInfo: () => null })] })
    expect(await (await nobody.browser().get('/webauthn-options/passkey?email=a@b.c')).json()).toMatchObject({ action: 'authenticate' })
  })
})

describe('registration', () => {
  it('rows 154 and 247: user, account, authenticator, session, in this order; events after', async () => {
    const app = createApp({ callbacks: { signIn: () => app.log.push('cb.signIn') > 0 } }, plain)
    const key = new Authenticator(origin)
    const browser = app.browser()
    const options = await browser.options<'register'>('action=register&email=ada@example.com')
    app.log.length = 0
    const response = await browser.post('/callback/passkey', { action: 'register', data: key.create(options), callbackUrl: '/home' })
    expect(target(response).href).toBe(`${origin}/home`)
    expect(app.log).toEqual([
      'cb.signIn',
      'ad.getUserByAccount',
      'ad.getUserByEmail',
      'ad.createUser',
      'ad.linkAccount',
      'ad.createAuthenticator',
      'ev.createUser',
      'ev.linkAccount',
      'ad.createSession',
      'ev.signIn',
    ])
    expect(await browser.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  })

  it('rows 173 and 259: rows are stored as Auth.js stores them', async () => {
    const app = createApp()
    // A first byte that base64 and base64url write differently.
    const key = new Authenticator(origin, Buffer.from([0xfb, 0xff, ...Array<number>(28).fill(7)]))
    await app.browser().register(key, 'email=ada@example.com', { backedUp: true })
    const [user] = app.data.users.values()
    const [account] = app.data.accounts.values()
    const [authenticator] = app.data.authenticators.values()
    expect(key.storedId).toMatch(/^[+/]/)
    expect(user).toMatchObject({ email: 'ada@example.com', emailVerified: null })
    expect(account).toEqual({ provider: 'passkey', providerAccountId: key.storedId, type: 'webauthn', userId: user?.id })
    expect(authenticator).toEqual({
      credentialID: key.storedId,
      providerAccountId: key.storedId,
      userId: user?.id,
      credentialPublicKey: key.coseKey().toString('base64'),
      counter: 0,
      credentialDeviceType: 'multiDevice',
      credentialBackedUp: true,
      transports: 'hybrid,internal',
    })
  })

  it.each([
    [undefined, 'hybrid,internal'],
    [[], null],
    ['usb', null],
    [['usb', 7, 'a,b', 'x'.repeat(99), 'nfc'], 'usb,nfc'],
  ])('transports %j are stored as %j', async (transports, stored) => {
    const app = createApp()
    await app.browser().register(new Authenticator(origin), 'email=a@example.com', { transports })
    expect([...app.data.authenticators.values()].map((row) => row.transports)).toEqual([stored])
  })

  it('row 248: a signed-in user gets one more passkey and keeps the session', async () => {
    const app = createApp()
    const browser = app.browser()
    await browser.register(new Authenticator(origin), 'email=ada@example.com')
    const token = browser.cookies.get(sessionCookie)
    app.log.length = 0
    const second = new Authenticator(origin)
    const response = await browser.register(second)
    expect(response.status).toBe(302)
    expect(browser.cookies.get(sessionCookie)).toBe(token)
    expect(app.data.users.size).toBe(1)
    expect([...app.data.authenticators.values()].map((row) => row.userId)).toEqual(Array(2).fill([...app.data.users.keys()][0]))
    expect(app.log).toContain('ev.linkAccount')
    expect(app.log).not.toContain('ad.createSession')
    expect((await app.browser().authenticate(second)).headers.get('location')).toBe(`${origin}/`.replace(/\/$/, ''))
  })

  it('jwt strategy: signUp for a new user, signIn for one more passkey and for every later sign-in', async () => {
    const triggers: unknown[] = []
    const app = createApp({
      session: { strategy: 'jwt' },
      callbacks: { jwt: ({ token, trigger, isNewUser }) => (trigger && triggers.push([trigger, isNewUser]), token) },
    })
    const browser = app.browser()
    const key = new Authenticator(origin)
    await browser.register(key, 'email=ada@example.com')
    await browser.register(new Authenticator(origin))
    expect(app.data.users.size).toBe(1)
    expect(app.data.authenticators.size).toBe(2)
    const later = app.browser()
    await later.authenticate(key)
    expect(await later.session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(triggers).toEqual([
      ['signUp', true],
      ['signIn', false],
      ['signIn', false],
    ])
    expect(app.data.sessions.size).toBe(0)
  })

  it('row 248: the link hook may refuse: nothing is stored, the session stays', async () => {
    const app = createApp({ callbacks: { link: ({ account }) => account.type !== 'webauthn' } })
    const browser = app.browser()
    await browser.register(new Authenticator(origin), 'email=ada@example.com')
    expect(target(await browser.register(new Authenticator(origin))).search).toBe('?error=AccountNotLinked')
    expect(app.data.authenticators.size).toBe(1)
    expect(await browser.session()).not.toBeNull()
  })

  it('the registration of one person cannot end up with another', async () => {
    const app = createApp()
    const [ada, bob] = [app.browser(), app.browser()]
    const bobsKey = new Authenticator(origin)
    await ada.register(new Authenticator(origin), 'email=ada@example.com')
    await bob.register(bobsKey, 'email=bob@example.com')
    const options = await ada.options<'register'>('action=register')
    // The same browser, and another user signs in before the ceremony ends.
    ada.cookies.set(sessionCookie, bob.cookies.get(sessionCookie) ?? '')
    const response = await ada.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options) })
    expect(target(response).search).toBe('?error=Configuration')
    expect(app.errors.at(-1)?.type).toBe('InvalidCheck')
    expect(app.data.authenticators.size).toBe(2)
  })

  it('a registration begun signed out does not link to the user who is signed in at its end', async () => {
    const app = createApp()
    const browser = app.browser()
    const options = await browser.options<'register'>('action=register&email=new@example.com')
    const other = app.browser()
    await other.register(new Authenticator(origin), 'email=ada@example.com')
    browser.cookies.set(sessionCookie, other.cookies.get(sessionCookie) ?? '')
    await browser.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options) })
    expect(app.errors.at(-1)?.type).toBe('InvalidCheck')
    expect(app.data.users.size).toBe(1)
    expect(app.data.authenticators.size).toBe(1)
  })

  it("rows 157 and 249: another person's credential id, forged: AccountNotLinked, with and without a session", async () => {
    const app = createApp()
    const victim = new Authenticator(origin)
    await app.browser().register(victim, 'email=ada@example.com')
    const attacker = app.browser()
    const forged = new Authenticator(origin, victim.id)
    const response = await attacker.register(forged, 'email=eve@example.com')
    expect(target(response).pathname + target(response).search).toBe('/auth/signin?error=AccountNotLinked')
    expect(await attacker.session()).toBeNull()

    const signedIn = app.browser()
    await signedIn.register(new Authenticator(origin), 'email=eve@example.com')
    expect(target(await signedIn.register(forged)).search).toBe('?error=AccountNotLinked')
    expect(await signedIn.session()).toMatchObject({ user: { email: 'eve@example.com' } })
    expect(app.failures.map(({ error }) => error.type)).toEqual(['AccountNotLinked', 'AccountNotLinked'])
    expect([...app.data.authenticators.values()].find((row) => row.credentialID === victim.storedId)?.credentialPublicKey).toBe(
      victim.coseKey().toString('base64'),
    )
  })

  it('row 249: an address that got an owner in the meantime: AccountNotLinked', async () => {
    const app = createApp()
    const browser = app.browser()
    const options = await browser.options<'register'>('action=register&email=ada@example.com')
    await app.browser().register(new Authenticator(origin), 'email=ada@example.com')
    const response = await browser.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options) })
    expect(target(response).search).toBe('?error=AccountNotLinked')
    expect(app.data.users.size).toBe(1)
  })

  it('a failing createAuthenticator leaves no user behind and a retry works', async () => {
    let fails = true
    const app = createApp({}, (adapter) => ({
      ...adapter,
      createAuthenticator: (row) => (fails ? Promise.reject(new Error('disk full')) : adapter.createAuthenticator!(row)),
    }))
    const browser = app.browser()
    const response = await browser.register(new Authenticator(origin), 'email=ada@example.com')
    expect(target(response).search).toBe('?error=Configuration')
    expect([app.data.users.size, app.data.accounts.size, app.data.sessions.size]).toEqual([0, 0, 0])
    expect(await browser.session()).toBeNull()
    fails = false
    await browser.register(new Authenticator(origin), 'email=ada@example.com')
    expect(await browser.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  })
})

describe('sign-in', () => {
  it('row 250: adapter calls and events in order; the counter is stored', async () => {
    const app = createApp({ callbacks: { signIn: () => app.log.push('cb.signIn') > 0 } })
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('')
    app.log.length = 0
    await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) })
    expect(app.log).toEqual([
      'ad.getAuthenticator',
      'ad.updateAuthenticatorCounter',
      'ad.getAccount',
      'ad.getUser',
      'cb.signIn',
      'ad.getUserByAccount',
      'ad.createSession',
      'ev.signIn',
    ])
    expect([...app.data.authenticators.values()][0]?.counter).toBe(1)
    expect(await browser.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  })

  it('data may be sent as an object in JSON', async () => {
    const app = createApp()
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('')
    const { readAnswer } = await import('../../plugins/sign-in/webauthn/credential.ts')
    expect(readAnswer(JSON.parse(key.get(options)))).toMatchObject({ id: key.id.toString('base64url') })
  })

  it('row 259: a row written by Auth.js signs in, and its owner may be asked by address', async () => {
    const app = createApp({ providers: [webauthn()] })
    const key = new Authenticator(origin, Buffer.from([0xfb, 0xef, 0xbe, ...Array<number>(13).fill(0xff)]))
    app.data.users.set('u1', { id: 'u1', email: 'old@example.com', emailVerified: null })
    const account = { provider: 'webauthn', providerAccountId: key.storedId, type: 'webauthn' as const, userId: 'u1' }
    const adapter = (await import('authkernel/plugins/memory')).memoryAdapter(app.data)
    await adapter.linkAccount(account)
    await adapter.createAuthenticator({
      credentialID: key.storedId,
      providerAccountId: key.storedId,
      userId: 'u1',
      credentialPublicKey: key.coseKey().toString('base64'),
      counter: 0,
      credentialDeviceType: 'singleDevice',
      credentialBackedUp: false,
      transports: 'usb,nfc',
    })
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('email=old@example.com', 'webauthn')
    expect(options.allowCredentials).toEqual([{ id: key.id.toString('base64url'), type: 'public-key', transports: ['usb', 'nfc'] }])
    await browser.post('/callback/webauthn', { action: 'authenticate', data: key.get(options) })
    expect(await browser.session()).toMatchObject({ user: { email: 'old@example.com' } })
  })

  it('row 144: a string answer of signIn is where the browser goes', async () => {
    const app = createApp({ callbacks: { signIn: () => '/wait' } })
    const response = await app.browser().register(new Authenticator(origin), 'email=ada@example.com')
    expect(target(response).href).toBe(`${origin}/wait`)
    expect(app.data.users.size).toBe(0)
  })

  it('rows 19 and 20: POST /signin goes to the page, GET /callback is no method', async () => {
    const browser = createApp().browser()
    expect(target(await browser.post('/signin/passkey', {})).pathname).toBe('/auth/signin')
    expect(target(await browser.get('/callback/passkey')).search).toBe('?error=Configuration')
  })

  it('D30: a POST without the CSRF token goes nowhere and spends no challenge', async () => {
    const app = createApp()
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('')
    const data = key.get(options)
    const response = await browser.post('/callback/passkey', { action: 'authenticate', data, csrfToken: 'f'.repeat(64) })
    expect(target(response).search).toBe('?error=MissingCSRF')
    expect(browser.cookies.has(challengeCookie)).toBe(true)
    await browser.post('/callback/passkey', { action: 'authenticate', data })
    expect(await browser.session()).not.toBeNull()
  })
})
