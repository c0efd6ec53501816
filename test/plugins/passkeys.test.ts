/** The passkeys of a user: the section of the account page, `client.passkeys`, names, removal, and what browsers are told. In Chromium: test/flows/passkeys-page.test.ts. */
import { type AuthConfig, createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adminPlugin } from 'authkernel/plugins/admin'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import passkey from 'authkernel/providers/passkey'
import { type AnyContext, definePlugin, type Kernel, type Provider } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { recordingLogger } from '../_setup.ts'
import { Authenticator } from './_authenticator.ts'
import { Browser, origin } from './_webauthn.ts'

const icloud = 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd'
const login: Provider = {
  id: 'pw',
  name: 'Password',
  type: 'credentials',
  credentials: { name: {} },
  authorize: ({ name }) => ({ id: String(name) }),
}

/** Jane has a database session by a fresh sign-in. `records`: false for a store of Auth.js. */
async function host({ records = true, acting = false, provider = {} as Parameters<typeof passkey>[0], config = {} as AuthConfig } = {}) {
  const data: MemoryData = memoryData()
  const { records: store, ...plain } = memoryAdapter(data)
  const adapter = records ? { ...plain, records: store } : plain
  for (const id of ['jane', 'eve']) await adapter.createUser?.({ id, name: id, email: `${id}@mail.example`, emailVerified: new Date(0) })
  await adapter.linkAccount?.({ userId: 'jane', type: 'oidc', provider: 'acme', providerAccountId: 'jane-at-acme' })
  const clock = { now: Date.UTC(2030, 0, 1) }
  const logger = recordingLogger()
  const acme: Provider = { id: 'acme', name: 'Acme', type: 'oidc', issuer: 'https://acme.example', clientId: 'i', clientSecret: 's' }
  const base = createAuth({
    secret: 'a secret of more than thirty-two characters',
    origin,
    trustHost: true,
    env: false,
    adapter,
    providers: [login, acme],
    session: { strategy: 'database' },
    runtime: { now: () => clock.now },
    logger,
    ...config,
  }).use(webauthnPlugin(passkey(provider)))
  let kernel: Kernel | undefined
  base.use(definePlugin({ name: 'probe', setup: (given) => void (kernel = given) }))
  // Where sessions keep attributes, their proof has an age.
  if (records) base.use(accountsPlugin())
  if (acting)
    base
      .use(stepUpPlugin())
      .use(adminPlugin({ can: () => true }))
      .use(impersonationPlugin({ can: () => true }))
  const auth = base
  /** Of Jane's only passkey. */
  const changeRecord = async (change: { aaguid: string } | 'delete'): Promise<void> => {
    const ctx: AnyContext = await kernel!.contextOf(new Request(origin))
    const table = ctx.records('passkeyHandle')
    const [row] = (await table.find({ where: { userId: 'jane' } })).rows
    if (change === 'delete') await table.delete(row!.id)
    else await table.update(row!.id, change)
  }
  const events: string[] = []
  auth.on('credentialChanged', ({ kind, action, user }) => void events.push(`${kind} ${action} ${user?.id}`))
  const browser = async (name = 'jane'): Promise<Browser> => {
    const one = new Browser((request) => auth.handler(request), origin)
    await one.post('/callback/pw', { name })
    return one
  }
  const clientOf = (one: Browser) =>
    createAuthClient<typeof auth>({
      baseURL: origin,
      fetch: async (url, init) => {
        const cookie = [...one.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
        const response = await auth.handler(
          new Request(url, { ...init, headers: { ...(init.headers as object), cookie, origin, host: 'app.example' } }),
        )
        for (const each of response.headers.getSetCookie()) {
          const [key = '', value = ''] = each.slice(0, each.indexOf(';')).split('=')
          if (/Max-Age=0/i.test(each)) one.cookies.delete(key)
          else one.cookies.set(key, value)
        }
        return response
      },
    })
  return { auth, data, changeRecord, clock, logger, events, browser, clientOf }
}
const page = async (browser: Browser, path = '/account'): Promise<string> => (await browser.get(path)).text()
const refusal = (status: number, error?: string) => expect.objectContaining({ status, ...(error && { error }) })

describe('client.passkeys', () => {
  it('lists, renames and removes; the newest comes first; nothing of another user', async () => {
    const { browser, clientOf, clock, events } = await host()
    const jane = await browser()
    const [first, second] = [new Authenticator(origin), new Authenticator(origin)]
    await jane.register(first)
    clock.now += 60_000
    await jane.register(second)
    const client = clientOf(jane)
    const [newest, oldest] = await client.passkeys.list()
    expect(newest).toMatchObject({
      id: second.id.toString('base64url'),
      name: null,
      synced: false,
      created: new Date(clock.now).toISOString(),
      lastUsed: null,
    })
    expect(oldest?.id).toBe(first.id.toString('base64url'))
    expect(JSON.stringify(newest)).not.toMatch(/publicKey|counter|userId/i)

    expect(await client.passkeys.rename({ id: newest!.id, name: '  Work laptop ' })).toBe(true)
    expect((await client.passkeys.list())[0]?.name).toBe('Work laptop')
    for (const name of ['', ' ', 'a'.repeat(101), 'a\nb'])
      await expect(client.passkeys.rename({ id: newest!.id, name })).rejects.toEqual(refusal(400))
    expect(await client.passkeys.rename({ id: newest!.id, name: '👩‍💻'.repeat(30) })).toBe(true)

    const eve = clientOf(await browser('eve'))
    expect(await eve.passkeys.list()).toEqual([])
    expect(await eve.passkeys.rename({ id: newest!.id, name: 'mine' })).toBe(false)
    expect(await eve.passkeys.remove({ id: newest!.id })).toBe(false)
    expect(await client.passkeys.remove({ id: newest!.id })).toBe(true)
    expect(await client.passkeys.remove({ id: newest!.id })).toBe(false)
    expect(await client.passkeys.list()).toHaveLength(1)
    expect(events).toEqual(['passkey added jane', 'passkey added jane', 'passkey removed jane'])
  })

  it('a removed passkey signs in no more, its record is gone, and the other sessions of the user end', async () => {
    const { auth, browser, clientOf, data } = await host()
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const thief = new Browser((request) => auth.handler(request), origin)
    await thief.authenticate(key)
    const beginning = new Browser((request) => auth.handler(request), origin)
    const options = await beginning.options<'authenticate'>('action=authenticate')
    expect([await jane.session(), await thief.session()]).toMatchObject([{ user: { id: 'jane' } }, { user: { id: 'jane' } }])
    expect(await clientOf(jane).passkeys.remove({ id: key.id.toString('base64url') })).toBe(true)
    expect([await jane.session(), await thief.session()]).toMatchObject([{ user: { id: 'jane' } }, null])
    expect(data.authenticators.size).toBe(0)
    expect([...data.accounts.values()].map(({ provider }) => provider)).toEqual(['acme'])
    // A ceremony that began before ends nowhere.
    await beginning.post('/callback/passkey', { action: 'authenticate', data: key.get(options) })
    expect(await beginning.session()).toBeNull()
  })

  it('shows when a passkey last signed in, also for one from before this was kept', async () => {
    const { auth, browser, clientOf, clock, changeRecord } = await host()
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const client = clientOf(jane)
    await changeRecord('delete')
    expect((await client.passkeys.list())[0]).toMatchObject({ created: null, lastUsed: null })
    clock.now += 5000
    await new Browser((request) => auth.handler(request), origin).authenticate(key)
    expect((await client.passkeys.list())[0]).toMatchObject({ created: null, lastUsed: new Date(clock.now).toISOString() })
  })

  it('never removes the last way in; two removals at once leave one', async () => {
    const { browser, clientOf, data } = await host()
    const eve = await browser('eve')
    const keys = [new Authenticator(origin), new Authenticator(origin)]
    for (const key of keys) await eve.register(key)
    const client = clientOf(eve)
    const ids = keys.map((key) => key.id.toString('base64url'))
    const done = await Promise.allSettled(ids.map((id) => client.passkeys.remove({ id })))
    const left = [...data.authenticators.values()]
    expect(left.length).toBeGreaterThanOrEqual(1)
    expect([...data.accounts.values()].filter(({ userId }) => userId === 'eve')).toHaveLength(left.length)
    expect(done.some(({ status }) => status === 'rejected')).toBe(true)
    for (const { id } of (await client.passkeys.list()).slice(1)) await client.passkeys.remove({ id })
    const [last] = await client.passkeys.list()
    await expect(client.passkeys.remove({ id: last!.id })).rejects.toEqual(refusal(409, 'LastAccount'))
    expect(await client.passkeys.list()).toHaveLength(1)
  })

  it('a passkey whose account is gone may go: it signs no user in', async () => {
    const { browser, clientOf, data, events } = await host()
    const eve = await browser('eve')
    const key = new Authenticator(origin)
    await eve.register(key)
    data.accounts.clear()
    expect(await clientOf(eve).passkeys.remove({ id: key.id.toString('base64url') })).toBe(true)
    expect(data.authenticators.size).toBe(0)
    expect(events.at(-1)).toBe('passkey removed eve')
  })

  it('visitors get 401; an old proof neither adds nor removes', async () => {
    const { auth, browser, clientOf, clock } = await host()
    const visitor = clientOf(new Browser((request) => auth.handler(request), origin))
    await expect(visitor.passkeys.list()).rejects.toEqual(refusal(401))
    await expect(visitor.passkeys.rename({ id: 'a', name: 'b' })).rejects.toEqual(refusal(401))
    await expect(visitor.passkeys.remove({ id: 'a' })).rejects.toEqual(refusal(401))
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const id = key.id.toString('base64url')
    clock.now += 301_000
    const client = clientOf(jane)
    await expect(client.passkeys.remove({ id })).rejects.toEqual(refusal(403, 'StepUpRequired'))
    expect((await jane.get('/webauthn-options/passkey?action=register')).status).toBe(200)
    clock.now += 600_000
    const response = await jane.get('/webauthn-options/passkey?action=register')
    expect([response.status, await response.json()]).toEqual([403, { error: 'StepUpRequired' }])
    expect(await client.passkeys.rename({ id, name: 'still mine' })).toBe(true)
    for (const input of [{}, { id: 7, name: 'x' }, { id, name: null }])
      await expect(client.passkeys.rename(input as never)).rejects.toEqual(refusal(400))
  })

  it('an administrator who acts as the user sees no section, and changes nothing', async () => {
    const { auth, browser, clientOf } = await host({ acting: true })
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const eve = await browser('eve')
    const started = await (
      auth as unknown as { impersonation: { start(request: Request, input: object): Promise<Response> } }
    ).impersonation
      .start(new Request(`${origin}/`, { headers: { cookie: [...eve.cookies].map(([name, value]) => `${name}=${value}`).join('; ') } }), {
        userId: 'jane',
        reason: 'ticket 1',
      })
      .catch((error: Error) => error)
    if (!(started instanceof Response)) throw started
    for (const each of started.headers.getSetCookie())
      eve.cookies.set(each.split('=')[0]!, each.slice(each.indexOf('=') + 1, each.indexOf(';')))
    expect(await eve.session()).toMatchObject({ user: { id: 'jane' }, actor: { id: 'eve' } })
    await expect(clientOf(eve).passkeys.remove({ id: key.id.toString('base64url') })).rejects.toEqual(refusal(403))
    expect(await page(eve)).not.toContain('id="passkeys"')
  })
})

describe('the account page', () => {
  it('has a section with names, facts and buttons; passkeys are not listed twice', async () => {
    const { browser, clientOf, clock } = await host()
    const jane = await browser()
    expect(await page(jane)).toContain('No passkeys yet')
    const key = new Authenticator(origin)
    await jane.register(key)
    await clientOf(jane).passkeys.rename({ id: key.id.toString('base64url'), name: '<b>Phone' })
    clock.now += 3_600_000
    const text = await page(jane)
    expect(text).toContain('<bdi>&lt;b&gt;Phone</bdi>')
    expect(text).toContain('on one device')
    expect(text).toMatch(/added <time[^>]*>1 hour ago/)
    expect(text.match(/id="method-/g)).toHaveLength(1)
    expect(text).toContain('data-passkeys="{&quot;rpId&quot;:&quot;app.example&quot;')
    // An hour later the button leads to a proof, and not to the ceremony.
    expect(text).not.toContain('id="passkey-add-form"')
    expect(text).toContain('action="https://app.example/auth/account/passkeys/prove"')
  })

  it('without JavaScript: pages rename and remove; a wrong name keeps what was typed', async () => {
    const { browser, clientOf } = await host()
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const id = key.id.toString('base64url')
    expect(await page(jane, `/account/passkeys/rename?id=${id}`)).toContain(`name="passkey" value="${id}"`)
    const wrong = await jane.post('/account/passkeys/rename', { passkey: id, name: `${'x'.repeat(101)}` })
    const shown = await wrong.text()
    expect(wrong.status).toBe(400)
    expect(shown).toContain(`value="${'x'.repeat(101)}"`)
    expect(shown).toContain('Type a name of 1 to 100 characters.')
    expect((await jane.post('/account/passkeys/rename', { passkey: id, name: 'Phone' })).headers.get('location')).toContain(
      '/auth/account?done=',
    )
    expect(await page(jane, `/account/passkeys/remove?id=${id}`)).toContain('Remove <bdi>Phone</bdi>?')
    expect((await jane.post('/account/passkeys/remove', { passkey: id })).headers.get('location')).toContain('/auth/account?done=')
    expect(await clientOf(jane).passkeys.list()).toEqual([])
    // Another user's, or none: the sign-in page, and nothing of what exists.
    for (const path of ['rename', 'remove']) expect((await jane.get(`/account/passkeys/${path}?id=${id}`)).status).toBe(302)
  })

  it('the last way in stays, and the page says why', async () => {
    const { browser } = await host()
    const eve = await browser('eve')
    const key = new Authenticator(origin)
    await eve.register(key)
    const response = await eve.post('/account/passkeys/remove', { passkey: key.id.toString('base64url') })
    const place = new URL(response.headers.get('location')!)
    expect(place.search).toBe('?passkeys=LastAccount')
    expect(await page(eve, `/account${place.search}`)).toContain('This is your last sign-in method.')
  })

  it('a store of Auth.js without records: listed and removed, not renamed', async () => {
    const { browser, clientOf } = await host({ records: false })
    const jane = await browser()
    const key = new Authenticator(origin)
    await jane.register(key)
    const client = clientOf(jane)
    const [only] = await client.passkeys.list()
    expect(only).toMatchObject({ name: null, created: null, lastUsed: null })
    await expect(client.passkeys.rename({ id: only!.id, name: 'x' })).rejects.toEqual(refusal(501))
    const text = await page(jane)
    expect(text).toContain('Remove')
    expect(text).not.toContain('Rename')
    expect(await client.passkeys.remove({ id: only!.id })).toBe(true)
  })
})

describe('names of authenticators', () => {
  it('come from the package, or from the list of the host with pictures', async () => {
    const authenticators = async () => ({
      default: { [icloud]: { name: 'My Keychain', icon_light: 'data:image/svg+xml;base64,PHN2Zy8+' } },
    })
    for (const [provider, expected] of [
      [{}, { name: 'Apple Passwords', authenticator: 'Apple Passwords', icon: null }],
      [{ authenticators }, { name: 'My Keychain', icon: 'data:image/svg+xml;base64,PHN2Zy8+' }],
      [{ authenticators: async () => ({ [icloud]: { name: 'X', icon_light: 'https://evil.example/a.png' } }) }, { name: 'X', icon: null }],
      [{ authenticators: async () => null }, { name: null }],
    ] as const) {
      const { browser, clientOf, changeRecord } = await host({ provider })
      const jane = await browser()
      await jane.register(new Authenticator(origin))
      await changeRecord({ aaguid: icloud })
      expect((await clientOf(jane).passkeys.list())[0]).toMatchObject(expected)
    }
  })

  it('a list that cannot be loaded is logged, and the page is there', async () => {
    const { browser, logger, changeRecord } = await host({ provider: { authenticators: () => Promise.reject(new Error('no list')) } })
    const jane = await browser()
    await jane.register(new Authenticator(origin))
    await changeRecord({ aaguid: icloud })
    expect(await page(jane)).toContain('id="passkeys"')
    expect(logger.errors.map(({ message }) => message)).toContain('no list')
  })
})

describe('what browsers are told', () => {
  it('all passkeys of a user have one user handle, and the page names those that are accepted', async () => {
    const { browser } = await host()
    const jane = await browser()
    const keys = [new Authenticator(origin), new Authenticator(origin)]
    for (const key of keys) await jane.register(key)
    expect(keys[0]!.handle).toBe(keys[1]!.handle)
    const facts = JSON.parse(/data-passkeys="([^"]*)"/.exec(await page(jane))![1]!.replaceAll('&quot;', '"')) as Record<string, unknown>
    expect(facts).toEqual({
      rpId: 'app.example',
      accepted: [
        { userId: keys[0]!.handle, allAcceptedCredentialIds: expect.arrayContaining(keys.map((key) => key.id.toString('base64url'))) },
      ],
      name: 'jane@mail.example',
      displayName: 'jane',
    })
    const eve = await browser('eve')
    const hers = new Authenticator(origin)
    await eve.register(hers)
    expect(hers.handle).not.toBe(keys[0]!.handle)
  })

  it('/.well-known/passkey-endpoints names the account page; /.well-known/webauthn the related origins, if there are any', async () => {
    const { auth } = await host()
    const ask = async (one: typeof auth, path: string) => {
      const response = await one.handler(new Request(`${origin}/.well-known/${path}`))
      return [response.status, await response.json(), response.headers.get('set-cookie')] as const
    }
    const manage = `${origin}/auth/account#passkeys`
    expect(await ask(auth, 'passkey-endpoints')).toEqual([200, { enroll: manage, manage }, null])
    expect((await ask(auth, 'webauthn'))[0]).toBe(404)
    const origins = [origin, 'https://app.test']
    const related = await host({ provider: { relayingParty: { id: 'app.example', origin: [...origins, 'android:apk-key-hash:abc'] } } })
    expect(await ask(related.auth, 'webauthn')).toEqual([200, { origins }, null])
  })

  it('a conditional creation is for a password that was typed a moment ago, and proves nothing', async () => {
    const { browser, data, clock } = await host()
    const jane = await browser()
    const create = async (query: string): Promise<number> => {
      const options = await jane.options<'register'>(query)
      await jane.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options, { verified: false }) })
      return data.authenticators.size
    }
    // A passkey that was asked for needs the user.
    expect(await create('action=register')).toBe(0)
    expect(await create('action=register&conditional=1')).toBe(1)
    // The proof of the session is that of the password, and grows old with it.
    clock.now += 301_000
    expect(await create('action=register&conditional=1')).toBe(1)
    clock.now += 600_000
    expect((await jane.get('/webauthn-options/passkey?action=register&conditional=1')).status).toBe(403)
  })

  it('a visitor who is signed out makes none conditionally', async () => {
    const { auth, data } = await host()
    const visitor = new Browser((request) => auth.handler(request), origin)
    const options = await visitor.options<'register'>('action=register&conditional=1&email=new@mail.example')
    await visitor.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options, { verified: false }) })
    expect([data.authenticators.size, data.users.size]).toEqual([0, 2])
  })
})
