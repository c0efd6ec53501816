/** A sub-domain beside the app sets cookies for the whole domain. Browsers let it set any name but one with `__Host-`: nothing that it can plant counts. */
import { expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { Context, MailMessage, Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { guestPlugin } from 'authkernel/plugins/guest'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { totp, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { baseConfig, Client } from '../_setup.ts'

const origin = 'https://app.example'
const good = 'seven purple otters sing'

async function world(plugins: readonly Plugin<never>[], config: object = {}) {
  const base = baseConfig({
    session: { strategy: 'database' },
    throttle: false,
    allowedHosts: ['app.example', 'localhost:3000'],
    ...config,
  })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base).use(adapterPlugin(store)).use(postbox)
  for (const plugin of plugins) auth.use(plugin)
  await auth.ready({ warm: true })
  for (const id of ['ada', 'eve']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = () => new Client(auth, origin)
  /** What the pattern finds in the next mail. */
  const mailed = async (before: number, pattern: RegExp): Promise<string> => {
    await vi.waitFor(() => expect(mails.length).toBeGreaterThan(before), 5000)
    return pattern.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }
  return { auth, store, mails, mailed, browser, base }
}

/** All cookies of one browser in another one, as far as a sub-domain can set them: under every name but those with `__Host-`. */
function plant(from: Client, to: Client, wanted: RegExp): string[] {
  const planted: string[] = []
  for (const [name, value] of from.cookies) {
    if (!wanted.test(name)) continue
    const bare = name.replace(/^__(?:Host|Secure)-/, '')
    for (const other of [`__Secure-${bare}`, bare, `__host-${bare}`]) {
      to.cookies.set(other, value)
      planted.push(other)
    }
  }
  return planted
}

it("an attacker's password is not activated by the click of the owner", async () => {
  const { browser, mails, mailed } = await world([passwordsPlugin({ breached: false }) as never])
  const [attacker, owner] = [browser(), browser()]
  await attacker.post('/passwords/sign-up', { email: 'new@example.com', password: good })
  const token = await mailed(0, /token=([0-9a-f]{64})/)
  expect(mails).toHaveLength(1)
  expect(plant(attacker, owner, /password-sign-up/)).not.toEqual([])
  await owner.post('/passwords/confirm', { token })
  expect(await owner.session()).toBeNull()
  await owner.post('/passwords/confirm', { token, without: '1' })
  expect((await owner.session())?.user?.email).toBe('new@example.com')
  const later = browser()
  await later.post('/callback/passwords', { email: 'new@example.com', password: good })
  expect(await later.session()).toBeNull()
})

it("a victim sets up no factor in the attacker's account", async () => {
  const { browser, mails, mailed } = await world([
    codesPlugin({ via: email() }) as never,
    twoFactorPlugin({ factors: [totp()], required: () => true }) as never,
  ])
  const attacker = browser()
  await attacker.post('/signin/codes', { email: 'eve@example.com' })
  const parked = await attacker.post('/callback/codes', { code: await mailed(0, /^\s*(\d{6})\s*$/m) })
  const page = new URL(parked.headers.get('location')!)
  expect(page.pathname).toBe('/auth/two-factor/setup')
  const victim = browser()
  expect(plant(attacker, victim, /parked/)).not.toEqual([])
  const shown = await victim.post(`/two-factor/setup${page.search}`, { action: 'totp' })
  expect(await shown.text()).not.toMatch(/<code>[A-Z2-7 ]{32,}/)
  expect(mails).toHaveLength(1)
})

it("the attacker's account is not in the switcher", async () => {
  const providers = [
    {
      id: 'credentials',
      name: 'Password',
      type: 'credentials',
      authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
    },
  ]
  const { auth, browser } = await world([accountsPlugin() as never, multiSessionPlugin() as never], { providers })
  const [attacker, victim] = [browser(), browser()]
  await attacker.post('/callback/credentials', { user: 'eve' })
  await attacker.post('/switch', { action: 'add' })
  await victim.post('/callback/credentials', { user: 'ada' })
  expect(plant(attacker, victim, /\.sessions/)).not.toEqual([])
  const asks = new Request(`${origin}/`, { headers: { cookie: victim.cookieHeader() } })
  const api = auth as unknown as { multiSession: { list(request: Request): Promise<{ name: string }[]> } }
  expect((await api.multiSession.list(asks)).map(({ name }) => name)).toEqual(['ada'])
})

it('every cookie is named __Host- at `/` without a domain, but those whose names are those of Auth.js', async () => {
  let cookies: Record<string, { name: string; options: { path?: string; domain?: string; secure?: boolean } }> = {}
  const look: Plugin = {
    name: 'look',
    setup(kernel) {
      kernel.route({
        method: 'GET',
        path: '/look',
        handler: (ctx: Context) => ((cookies = ctx.cookies as never), new Response(null)),
      })
    },
  }
  const all = [
    accountsPlugin(),
    codesPlugin({ via: email() }),
    deviceSessionsPlugin({ bind: 'optional' }),
    guestPlugin(),
    impersonationPlugin({ can: () => false }),
    multiSessionPlugin(),
    oidcPlugin({ id: 'acme', issuer: 'https://op.example', clientId: 'c', clientSecret: 's' }),
    organizationsPlugin(),
    passwordsPlugin({ breached: false }),
    singleLogoutPlugin(),
    twoFactorPlugin({ factors: [totp()] }),
    webauthnPlugin(),
    look,
  ] as unknown as Plugin<never>[]
  const { browser } = await world(all, { experimental: { enableWebAuthn: true } })
  await browser().get('/look')
  const open = Object.entries(cookies).filter(([, { name }]) => !name.startsWith('__Host-'))
  expect(open.map(([key]) => key).sort()).toEqual([
    'callbackUrl',
    'nonce',
    'pkceCodeVerifier',
    'sessionToken',
    'state',
    'webauthnChallenge',
  ])
  const closed = Object.values(cookies).filter(({ name }) => name.startsWith('__Host-'))
  expect(closed.length).toBeGreaterThan(15)
  for (const { options } of closed) expect(options).toMatchObject({ path: '/', secure: true })
  const plain = await world([look as never])
  await new Client(plain.auth).get('/look')
  expect(Object.values(cookies).filter(({ name }) => name.startsWith('__'))).toEqual([])
})

it('a cookie of the base path is written where its name demands it', async () => {
  const { browser, auth } = await world([passwordsPlugin({ breached: false }) as never, codesPlugin({ via: email() }) as never])
  const secure = await browser().post('/signin/codes', { email: 'ada@example.com' })
  const plain = await new Client(auth).post('/signin/codes', { email: 'ada@example.com' })
  const lines = [secure, plain].map((response) => response.headers.getSetCookie().find((line) => line.includes('.code=')))
  expect(lines[0]).toMatch(/^__Host-authkernel\.code=[^;]+;.*Path=\/;/)
  expect(lines[1]).toMatch(/^authkernel\.code=[^;]+;.*Path=\/auth;/)
})
