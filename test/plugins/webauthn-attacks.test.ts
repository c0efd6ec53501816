/** Everything that must not sign anybody in (SECURITY 1.4, D27, D35). */
import { describe, expect, it } from 'vitest'
import { Authenticator } from './_authenticator.ts'
import { type App, type Browser, challengeCookie, createApp, origin, sessionCookie, target } from './_webauthn.ts'
import passkey from 'authkernel/providers/passkey'
import webauthn from 'authkernel/providers/webauthn'
import type { AuthConfig } from 'authkernel'
import type { Adapter } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'

async function registered(config: AuthConfig = {}, store?: Adapter): Promise<{ app: App; key: Authenticator; browser: Browser }> {
  const app = createApp(config, (plain) => store ?? plain)
  const key = new Authenticator(origin)
  await app.browser().register(key, 'email=ada@example.com')
  return { app, key, browser: app.browser() }
}

function refused(app: App, response: Response, type: string, shown: string): void {
  expect(target(response).pathname + target(response).search).toBe(`/auth/error?error=${shown}`)
  expect(app.errors.at(-1)?.type).toBe(type)
  expect(app.failures.at(-1)).toMatchObject({ provider: 'passkey', error: { type } })
  expect(response.headers.getSetCookie().filter((cookie) => cookie.startsWith(sessionCookie))).toEqual([])
}

describe('challenge', () => {
  it('row 246: sealed, 15 minutes, HttpOnly, SameSite=Lax, Secure', async () => {
    const browser = createApp().browser()
    const response = await browser.get('/webauthn-options/passkey')
    const { options } = (await response.json()) as { options: { challenge: string } }
    const [cookie = ''] = response.headers.getSetCookie().filter((one) => one.startsWith(challengeCookie))
    expect(cookie).toMatch(/Max-Age=900/)
    expect(cookie).toMatch(/HttpOnly/)
    expect(cookie).toMatch(/Secure/)
    expect(cookie).toMatch(/SameSite=Lax/i)
    expect(cookie).not.toContain(options.challenge)
    expect(cookie.split('=')[1]?.split('.')).toHaveLength(5)
  })

  it('row 246: a replayed assertion is rejected, even with the old cookie', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    const kept = browser.cookies.get(challengeCookie) ?? ''
    const fields = { action: 'authenticate', data: key.get(options) }
    await browser.post('/callback/passkey', fields)
    expect(browser.cookies.has(challengeCookie)).toBe(false)
    const attacker = app.browser()
    attacker.cookies.set(challengeCookie, kept)
    refused(app, await attacker.post('/callback/passkey', fields), 'InvalidCheck', 'Configuration')
    expect(await attacker.session()).toBeNull()
  })

  it('row 246: ten answers at once make one session', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    const fields = { action: 'authenticate', data: key.get(options) }
    await browser.get('/csrf')
    const before = app.data.sessions.size
    await Promise.all(Array.from({ length: 10 }, () => browser.post('/callback/passkey', fields)))
    expect(app.data.sessions.size).toBe(before + 1)
    expect(app.failures.map(({ error }) => error.type)).toEqual(Array(9).fill('InvalidCheck'))
  })

  it('row 246: a failed answer spends it too', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    const kept = browser.cookies.get(challengeCookie) ?? ''
    const bad = await browser.post('/callback/passkey', {
      action: 'authenticate',
      data: key.get(options, { origin: 'https://evil.example' }),
    })
    refused(app, bad, 'WebAuthnVerificationError', 'WebAuthnVerificationError')
    expect(browser.cookies.has(challengeCookie)).toBe(false)
    browser.cookies.set(challengeCookie, kept)
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it('row 246: expires after 15 minutes on the server', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    app.clock.now += 15 * 60 * 1000 + 1000
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it('none pending: InvalidCheck', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    browser.cookies.delete(challengeCookie)
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it("another browser's challenge is no use, nor is a garbled cookie", async () => {
    const { app, key, browser } = await registered()
    const options = await app.browser().options<'authenticate'>('')
    await browser.options('')
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'WebAuthnVerificationError',
      'WebAuthnVerificationError',
    )
    browser.cookies.set(challengeCookie, 'a.b.c.d.e')
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it('D12: several tabs, each with its own challenge; the oldest of six is forgotten', async () => {
    const { app, key, browser } = await registered()
    const tabs = []
    for (let i = 0; i < 6; i++) tabs.push(await browser.options<'authenticate'>(''))
    for (const tab of [3, 5, 1]) {
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(tabs[tab]!) })
      expect(await browser.session()).not.toBeNull()
      browser.cookies.delete(sessionCookie)
    }
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(tabs[0]!) }),
      'WebAuthnVerificationError',
      'WebAuthnVerificationError',
    )
  })

  it("D12: another provider's challenge is refused", async () => {
    const { app, key, browser } = await registered({ providers: [passkey(), webauthn({ enableConditionalUI: false })] })
    const options = await browser.options<'authenticate'>('', 'webauthn')
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it('D12: a challenge for one ceremony is refused in the other', async () => {
    const { app, key, browser } = await registered()
    const signIn = await browser.options<'authenticate'>('')
    const creation = { ...signIn, rp: { id: 'app.example', name: '' } } as never
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'register', data: key.create(creation) }),
      'InvalidCheck',
      'Configuration',
    )
    const register = await browser.options<'register'>('action=register&email=new@example.com')
    const request = { ...register, rpId: 'app.example' } as never
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(request) }),
      'InvalidCheck',
      'Configuration',
    )
  })

  it('a new person with a very long name does not outgrow the cookie', async () => {
    const user = { email: 'a@example.com', name: 'x'.repeat(1500) }
    const app = createApp({ providers: [passkey({ getUserInfo: () => ({ user, exists: false }) })] })
    const browser = app.browser()
    for (let i = 0; i < 4; i++) await browser.options('action=register')
    expect((browser.cookies.get(challengeCookie) ?? '').length).toBeLessThan(4096)
    await browser.register(new Authenticator(origin))
    expect(await browser.session()).toMatchObject({ user })
  })
})

describe('verification', () => {
  const wrong: [string, Parameters<Authenticator['get']>[1]][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['a sub-domain', { origin: 'https://x.app.example' }],
    ['another port', { origin: 'https://app.example:8443' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['no user verification', { verified: false }],
  ]

  it.each(wrong)('row 252: %s is refused at sign-in', async (_, bend) => {
    const { app, key, browser } = await registered()
    refused(app, await browser.authenticate(key, '', bend), 'WebAuthnVerificationError', 'WebAuthnVerificationError')
    expect([...app.data.authenticators.values()][0]?.counter).toBe(0)
    expect(await browser.session()).toBeNull()
  })

  it.each(wrong)('row 252: %s is refused at registration', async (_, bend) => {
    const app = createApp()
    const response = await app.browser().register(new Authenticator(origin), 'email=new@example.com', bend)
    refused(app, response, 'WebAuthnVerificationError', 'WebAuthnVerificationError')
    expect(app.data.users.size).toBe(0)
  })

  it('row 252: another relying party is refused', async () => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    const data = key.get({ ...options, rpId: 'evil.example' })
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'authenticate', data }),
      'WebAuthnVerificationError',
      'WebAuthnVerificationError',
    )
  })

  it('row 252: a signature of another key over the credential id of another user is refused', async () => {
    const { app, key, browser } = await registered()
    const forged = new Authenticator(origin, key.id)
    refused(app, await browser.authenticate(forged), 'WebAuthnVerificationError', 'WebAuthnVerificationError')
  })

  it('an unknown credential is refused', async () => {
    const { app, browser } = await registered()
    const response = await browser.authenticate(new Authenticator(origin))
    // On the sign-in page, with a type that tells the script which passkey the password manager should forget.
    expect(target(response).pathname + target(response).search).toBe('/auth/signin?error=UnknownPasskey')
    expect(app.errors.at(-1)?.type).toBe('UnknownPasskey')
    expect(response.headers.getSetCookie().filter((cookie) => cookie.startsWith(sessionCookie))).toEqual([])
    expect(browser.cookies.has(challengeCookie)).toBe(false)
  })

  it('a credential of another provider is refused', async () => {
    const app = createApp({ providers: [passkey(), webauthn({ enableConditionalUI: false })] })
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com', {}, 'webauthn')
    refused(app, await app.browser().authenticate(key), 'AuthError', 'Configuration')
  })

  it("another user's credential while signed in: AccountNotLinked, the session stays", async () => {
    const { app, key } = await registered()
    const bob = app.browser()
    await bob.register(new Authenticator(origin), 'email=bob@example.com')
    expect(target(await bob.authenticate(key)).search).toBe('?error=AccountNotLinked')
    expect(await bob.session()).toMatchObject({ user: { email: 'bob@example.com' } })
  })

  it('rows that contradict each other sign no user in', async () => {
    const { app, key, browser } = await registered()
    await app.browser().register(new Authenticator(origin), 'email=bob@example.com')
    const bob = [...app.data.users.values()].find(({ email }) => email === 'bob@example.com')
    for (const row of app.data.authenticators.values()) if (row.credentialID === key.storedId) row.userId = bob?.id ?? ''
    refused(app, await browser.authenticate(key), 'AuthError', 'Configuration')
  })

  it.each([
    ['', 'AuthError'],
    ['{', 'AuthError'],
    ['null', 'AuthError'],
    ['[]', 'AuthError'],
    ['{"id":7}', 'AuthError'],
    ['{"id":""}', 'AuthError'],
    ['{"id":"a b"}', 'AuthError'],
    ['{"id":"\\u0000"}', 'AuthError'],
    [`{"id":"${'A'.repeat(1400)}"}`, 'AuthError'],
    ['{"__proto__":{"id":"AAAA"}}', 'AuthError'],
    ['{"id":"AAAA"}', 'AuthError'],
    ['{"id":"AAAA","response":{"clientDataJSON":"e30"}}', 'AuthError'],
    ['{"id":"AAAA","response":{"clientDataJSON":"%%%"}}', 'AuthError'],
  ])('garbage in data (%s) is refused and spends the challenge', async (data, type) => {
    const { app, browser } = await registered()
    await browser.options('')
    refused(app, await browser.post('/callback/passkey', { action: 'authenticate', data }), type, 'Configuration')
    expect(browser.cookies.has(challengeCookie)).toBe(false)
  })

  it.each(['', 'delete', 'REGISTER'])('action %j is refused', async (action) => {
    const { app, key, browser } = await registered()
    const options = await browser.options<'authenticate'>('')
    refused(app, await browser.post('/callback/passkey', { action, data: key.get(options) }), 'AuthError', 'Configuration')
  })

  it('an answer of the wrong shape in a registration is refused', async () => {
    const app = createApp()
    const browser = app.browser()
    await browser.options('action=register&email=new@example.com')
    const data = '{"id":"AAAA","rawId":"AAAA","type":"public-key","response":{"attestationObject":"AAAA"}}'
    refused(
      app,
      await browser.post('/callback/passkey', { action: 'register', data }),
      'WebAuthnVerificationError',
      'WebAuthnVerificationError',
    )
  })
})

describe('what a passkey says of itself', () => {
  it('a backup flag that flips is another key: refused', async () => {
    const { app, key, browser } = await registered()
    refused(app, await browser.authenticate(key, '', { backedUp: true }), 'WebAuthnVerificationError', 'WebAuthnVerificationError')
  })

  it.each(['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x', 'Zm9yZWlnbg=='])(
    'the user handle %s of another user is refused',
    async (userHandle) => {
      const { app, key, browser } = await registered({}, memoryAdapter())
      refused(app, await browser.authenticate(key, '', { userHandle }), 'WebAuthnVerificationError', 'WebAuthnVerificationError')
    },
  )

  it('its own user handle signs in', async () => {
    const { app, key, browser } = await registered({}, memoryAdapter())
    expect(key.handle).not.toBe('')
    const before = app.errors.length
    await browser.authenticate(key, '', { userHandle: 'own' })
    expect(app.errors.slice(before)).toEqual([])
  })
})

describe('counter', () => {
  it.each([
    [5, 4],
    [5, 5],
    [5, 0],
    [1, 1],
  ])('row 251: stored %i, received %i: refused, reported, not stored', async (stored, received) => {
    const { app, key, browser } = await registered()
    const [row] = app.data.authenticators.values()
    row!.counter = stored
    refused(app, await browser.authenticate(key, '', { counter: received }), 'WebAuthnVerificationError', 'WebAuthnVerificationError')
    expect(app.errors.at(-1)?.cause).toMatchObject({ credentialID: key.storedId, userId: row!.userId, stored, received })
    expect(app.data.authenticators.get(key.storedId)?.counter ?? row!.counter).toBe(stored)
  })

  it.each([
    [0, 0],
    [0, 1],
    [5, 6],
    [5, 4_294_967_295],
  ])('D27: stored %i, received %i: signed in', async (stored, received) => {
    const { app, key, browser } = await registered()
    for (const row of app.data.authenticators.values()) row.counter = stored
    await browser.authenticate(key, '', { counter: received })
    expect(await browser.session()).not.toBeNull()
    expect([...app.data.authenticators.values()].map(({ counter }) => counter)).toEqual([received])
  })

  it('the alarm of a cloned key takes a valid signature', async () => {
    const { app, key, browser } = await registered()
    for (const row of app.data.authenticators.values()) row.counter = 5
    await browser.authenticate(new Authenticator(origin, key.id), '', { counter: 1 })
    expect(app.errors.at(-1)?.type).toBe('WebAuthnVerificationError')
    expect(app.errors.at(-1)?.message).not.toContain('counter')
  })
})
