/** `client.<plugin>` of the plugins that have routes for pages: the typed methods through the real kernel, and what they refuse. */
import { createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { guestPlugin } from 'authkernel/plugins/guest'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { emailCode, totp, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { expect, it, onTestFinished, vi } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'

const good = 'seven purple otters sing'
const other = 'nine yellow llamas dance'
const where = ({ url }: { url: string }): string => new URL(url).pathname

/** Everything at once: each method finds its own plugin among the others. */
async function world() {
  const base = baseConfig({
    session: { strategy: 'database' },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        authorize: ({ user }) => ({ id: String(user), name: String(user), email: `${String(user)}@example.com` }),
      },
    ],
  })
  const adapter = memoryAdapter()
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin())
    .use(twoFactorPlugin({ issuer: 'Acme', factors: [totp(), emailCode()], trustedDevices: true }))
    .use(apiKeysPlugin({ routes: true }))
    .use(guestPlugin())
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'boss' }))
    .use(adminPlugin({ can: ({ admin }) => admin.id === 'boss', pages: true }))
    .use(jwtPlugin({ audiences: ['https://api.example'], routes: true }))
  await auth.ready()
  for (const id of ['ada', 'boss'])
    await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: new Date(base.runtime.now()) })
  const client = createAuthClient<typeof auth>()
  /** From now on the requests of the client are those of this browser. */
  const browse = (jar = new Client(auth)): Client => {
    vi.stubGlobal('fetch', (input: string, init: RequestInit) => {
      const headers = new Headers(init.headers)
      if (init.method === 'POST') headers.set('origin', 'http://localhost:3000')
      return jar.send(`http://localhost:3000${input}`, { ...init, headers })
    })
    return jar
  }
  vi.stubGlobal('location', { href: 'http://localhost:3000/page' })
  onTestFinished(() => void vi.unstubAllGlobals())
  const signIn = async (user: string): Promise<Client> => {
    const jar = browse()
    await jar.post('/callback/credentials', { user, callbackUrl: '/app' })
    return jar
  }
  const name = async (jar: Client): Promise<unknown> => (await jar.session())?.user?.['name']
  return { auth, client, browse, signIn, name, mails, runtime: base.runtime }
}
const refused = (error: string, status: number): object => ({ name: 'AuthClientError', error, status })

it('twoFactor: an app is added, asked for, and taken away', async () => {
  const { client, signIn, name, runtime } = await world()
  await signIn('ada')
  expect(await client.twoFactor.getQuestion()).toBeNull()
  expect(await client.twoFactor.list()).toEqual([])
  const { id, secret, uri, qr } = await client.twoFactor.addApp()
  expect(uri).toContain('issuer=Acme')
  expect(qr?.path).toMatch(/^(?:M\d+ \d+h1v1h-1z)+$/)
  const key = secret.replaceAll(' ', '')
  const wrong = totpAt(key, runtime.now() - 3_600_000)
  await expect(client.twoFactor.confirm({ id, code: wrong })).rejects.toMatchObject(refused('WrongSecondFactor', 401))
  const { codes } = await client.twoFactor.confirm({ id, code: totpAt(key, runtime.now()) })
  expect([codes.length, (await client.twoFactor.list()).map(({ kind }) => kind)]).toEqual([10, ['totp']])
  expect(JSON.stringify(await client.twoFactor.list())).not.toContain(key)
  runtime.advance(30_000)

  const jar = await signIn('ada')
  expect(await name(jar)).toBeUndefined()
  expect(await client.twoFactor.getQuestion()).toEqual({ factors: ['totp'], backupCode: true, remember: true })
  await expect(client.twoFactor.verify({ code: wrong })).rejects.toMatchObject(refused('WrongSecondFactor', 401))
  await expect(client.twoFactor.verify({} as never)).rejects.toMatchObject(refused('InvalidInput', 400))
  expect(where(await client.twoFactor.verify({ code: totpAt(key, runtime.now()), remember: true }))).toBe('/app')
  expect(await name(jar)).toBe('ada')
  const [browser] = await client.twoFactor.listBrowsers()
  expect([await client.twoFactor.forgetBrowser({ id: browser!.id }), await client.twoFactor.forgetBrowser({ id: browser!.id })]).toEqual([
    true,
    false,
  ])
  const fresh = (await client.twoFactor.renewCodes()).codes
  expect(fresh.some((code) => codes.includes(code))).toBe(false)
  expect(await client.twoFactor.remove({ id: 'of nobody' })).toBe(false)
  expect(await client.twoFactor.remove({ id })).toBe(true)
  expect(await client.twoFactor.list()).toEqual([])
})

it('twoFactor: no session, an old proof, and too many tries are refused', async () => {
  const { client, browse, signIn, name, runtime } = await world()
  browse()
  await expect(client.twoFactor.list()).rejects.toMatchObject(refused('AccessDenied', 403))
  await expect(client.twoFactor.addApp()).rejects.toMatchObject(refused('AccessDenied', 403))
  await expect(client.twoFactor.verify({ code: '123456' })).rejects.toMatchObject(refused('NoLoginWaits', 409))
  await expect(client.twoFactor.sendCode()).rejects.toMatchObject(refused('NoLoginWaits', 409))
  await expect(client.twoFactor.getPasskeyOptions()).rejects.toMatchObject(refused('NoLoginWaits', 409))
  await expect(client.twoFactor.verify({ data: '{}' })).rejects.toMatchObject(refused('NoLoginWaits', 409))
  await expect(client.twoFactor.verify({ data: {} as never })).rejects.toMatchObject(refused('InvalidInput', 400))
  const owner = await signIn('ada')
  const { id, secret } = await client.twoFactor.addApp()
  const key = secret.replaceAll(' ', '')
  await client.twoFactor.confirm({ id, code: totpAt(key, runtime.now()) })
  runtime.advance(301_000)
  for (const act of [client.twoFactor.addApp(), client.twoFactor.remove({ id }), client.twoFactor.renewCodes()])
    await expect(act).rejects.toMatchObject(refused('ProofTooOld', 403))
  // A person who knows the password gets five tries, and then no login waits any more.
  const thief = await signIn('ada')
  const answers: (string | undefined)[] = []
  for (let tries = 0; tries < 7; tries++)
    answers.push(
      await client.twoFactor.verify({ code: '000000' }).then(
        () => 'in',
        (error: { error?: string }) => error.error,
      ),
    )
  expect(answers).toEqual([...Array(5).fill('WrongSecondFactor'), 'TooManySecondFactors', 'NoLoginWaits'])
  expect(await name(thief)).toBeUndefined()
  browse(owner)
  // Another user's browser forgets nothing of ada's, and removes no factor of hers.
  await signIn('boss')
  expect([await client.twoFactor.remove({ id }), await client.twoFactor.forgetBrowser({ id })]).toEqual([false, false])
})

it('passwords: registration, sign-in, change and reset; forms of the pages go on', async () => {
  const { client, browse, mails } = await world()
  const jar = browse()
  const email = 'new@example.com'
  expect(await client.passwords.getRule()).toEqual({ minLength: 15, maxLength: 256 })
  expect(where(await client.passwords.signUp({ email, password: good, callbackUrl: '/app?from=sign-up' }))).toBe('/auth/passwords/mailed')
  for (const [password, why] of [
    ['short', 'PasswordTooShort'],
    ['passwordpassword', 'PasswordBreached'],
    [1 as never, 'PasswordTooShort'],
  ] as const)
    await expect(client.passwords.signUp({ email, password })).rejects.toMatchObject(refused(why, 400))
  await expect(client.passwords.signUp({ email: 'nobody', password: good })).rejects.toMatchObject(refused('PasswordAddress', 400))
  const link = await vi.waitFor(() => /token=([\w-]+)/.exec(mails.at(-1)?.text ?? '')![1]!)
  const confirmed = await jar.post('/passwords/confirm', { token: link })
  expect(new URL(confirmed.headers.get('location') ?? '').href).toBe('http://localhost:3000/app?from=sign-up')
  expect((await jar.session())?.user?.email).toBe(email)
  expect(await client.passwords.hasPassword()).toBe(true)
  await expect(client.passwords.change({ current: 'not this one at all', password: other })).rejects.toMatchObject(
    refused('PasswordWrong', 400),
  )
  expect(where(await client.passwords.change({ current: good, password: other }))).toBe('/auth/passwords/change')
  expect((await client.signIn('passwords', { email, password: good, redirect: false }))?.error).toBe('CredentialsSignin')
  expect((await client.signIn('passwords', { email, password: other, redirect: false }))?.ok).toBe(true)
  const before = mails.length
  // Another origin is not where the mail leads to.
  const known = await client.passwords.requestReset({ email, callbackUrl: 'https://attacker.example/' })
  expect(await client.passwords.requestReset({ email: 'unknown@example.com' })).toEqual(known)
  await vi.waitFor(() => expect(mails.length).toBe(before + 1))
  await expect(client.passwords.requestReset({ email: 'nobody' })).rejects.toMatchObject(refused('PasswordAddress', 400))
  // The path is that of the page's form, too.
  const page = await browse().post('/passwords/sign-up', { email, password: 'short' })
  expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
    400,
    expect.stringContaining('text/html'),
    expect.stringContaining('new-password'),
  ])
  await expect(client.passwords.hasPassword()).rejects.toMatchObject(refused('AccessDenied', 403))
  await expect(client.passwords.change({ password: good })).rejects.toMatchObject(refused('AccessDenied', 403))
})

it('usernames: the own name, and why not another', async () => {
  const { client, browse, signIn } = await world()
  await signIn('ada')
  expect(await client.usernames.getName()).toBeNull()
  expect(await client.usernames.setName({ name: 'lovelace' })).toEqual({ name: 'lovelace' })
  expect(await client.usernames.getName()).toBe('lovelace')
  await signIn('boss')
  expect(await client.usernames.setName({ name: 'lovelace' })).toEqual({ error: 'UserNameTaken' })
  expect(await client.usernames.setName({ name: {} as never })).toMatchObject({ error: expect.any(String) })
  browse()
  await expect(client.usernames.getName()).rejects.toMatchObject(refused('AccessDenied', 403))
})

it('apiKeys: made, listed, rotated and ended by their owner alone', async () => {
  const { client, browse, signIn } = await world()
  const jar = await signIn('ada')
  expect(await client.apiKeys.getChoices()).toEqual({ scopes: null, maxAge: null })
  const made = await client.apiKeys.create({ name: 'robot' })
  expect(made.key).toMatch(/^ak_/)
  const [listed] = await client.apiKeys.list()
  expect([listed?.name, JSON.stringify(listed).includes(made.key)]).toEqual(['robot', false])
  await expect(client.apiKeys.create({ name: '' })).rejects.toMatchObject({ status: 400 })
  await signIn('boss')
  expect(await client.apiKeys.list()).toEqual([])
  await expect(client.apiKeys.revoke({ id: made.id })).rejects.toMatchObject({ status: 404 })
  browse(jar)
  const next = await client.apiKeys.rotate({ id: made.id })
  expect(next.key).not.toBe(made.key)
  expect(await client.apiKeys.revoke({ id: next.id })).toBe(true)
  // A key makes no key, and a visitor has none.
  const robot = browse()
  const { key } = await (browse(jar), client.apiKeys.create({ name: 'other' }))
  vi.stubGlobal('fetch', (input: string, init: RequestInit) =>
    robot.send(`http://localhost:3000${input}`, { ...init, headers: { ...(init.headers as object), authorization: `Bearer ${key}` } }),
  )
  await expect(client.apiKeys.list()).rejects.toMatchObject(refused('AccessDenied', 403))
  browse()
  await expect(client.apiKeys.list()).rejects.toMatchObject({ status: 401 })
})

it('guest, impersonation and jwt', async () => {
  const { auth, client, browse, signIn, name } = await world()
  const jar = browse()
  await client.guest.start()
  expect((await jar.session())?.user?.id).toEqual(expect.any(String))
  await expect(client.impersonation.stop()).rejects.toMatchObject(refused('AccessDenied', 403))
  const boss = await signIn('boss')
  const headers = { cookie: boss.cookieHeader() }
  const started = await auth.impersonation.start(new Request('http://localhost:3000/', { headers }), { userId: 'ada', reason: 'a ticket' })
  for (const line of started.headers.getSetCookie()) boss.cookies.set(line.split('=')[0]!, line.slice(line.indexOf('=') + 1).split(';')[0]!)
  expect(await name(boss)).toBe('ada')
  await client.impersonation.stop()
  expect(await name(boss)).toBe('boss')
  const { access_token, expires_in } = await client.jwt.token({ audience: 'https://api.example' })
  expect([access_token.split('.').length, expires_in]).toEqual([3, 600])
  await expect(client.jwt.token({ audience: 'https://evil.example' })).rejects.toMatchObject(refused('invalid_request', 400))
})

it('admin: `can` is asked before every act', async () => {
  const { client, signIn, runtime } = await world()
  await signIn('ada')
  const order = { userId: 'boss', reason: 'because' }
  for (const act of [client.admin.list({}), client.admin.get({ userId: 'boss' }), client.admin.ban(order), client.admin.signOut(order)])
    await expect(act).rejects.toMatchObject(refused('AccessDenied', 403))
  await signIn('boss')
  expect((await client.admin.list({ email: 'ada' })).users.map(({ id }) => id)).toEqual(['ada'])
  const until = new Date(runtime.now() + 60_000).toISOString()
  expect(await client.admin.ban({ userId: 'ada', reason: 'spam', until })).toBeNull()
  expect((await client.admin.get({ userId: 'ada' }))?.ban).toMatchObject({ reason: 'spam', until })
  expect([
    await client.admin.unban({ userId: 'ada', reason: 'a mistake' }),
    await client.admin.unban({ userId: 'ada', reason: 'again' }),
  ]).toEqual([true, false])
  for (const wrong of [
    { userId: 'ada', reason: '' },
    { userId: 'ada', reason: 'x', until: 'yesterday' },
    { userId: 'boss', reason: 'me' },
  ])
    await expect(client.admin.ban(wrong)).rejects.toMatchObject({ status: 400 })
  await expect(client.admin.verifyAddress({ userId: 'nobody', reason: 'x' })).rejects.toMatchObject({ status: 404 })
})
