/** Plugins of strangers that stand in the way of a sign-in, alone and together. */
import { createAuth } from 'authkernel'
import type { AuthConfig, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, fakeRuntime } from '../_setup.ts'
import { secondFactorPlugin, totp } from './plugins/01-second-factor.ts'
import { freshProofPlugin } from './plugins/02-step-up.ts'
import { rateLimitPlugin } from './plugins/06-rate-limit.ts'
import { maintenancePlugin } from './plugins/11-maintenance.ts'
import { widgetCaptchaPlugin } from './plugins/12-captcha.ts'
import { inviteOnlyPlugin } from './plugins/14-invite.ts'

const credentials = {
  id: 'password',
  name: 'Password',
  type: 'credentials' as const,
  credentials: { name: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
  authorize: ({ name, password }: Record<string, unknown>) =>
    password === 'right' ? { id: String(name), name: String(name), email: `${String(name)}@example.com` } : null,
}
async function world<E>(plugin: Plugin<E>, config: AuthConfig = {}) {
  const base = baseConfig({ providers: [credentials], ...config })
  const adapter = memoryAdapter()
  await adapter.createUser!({ id: 'ada', name: 'ada', email: 'ada@example.com', emailVerified: null })
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(plugin)
  const signIn = (client: Client, password = 'right', more: Record<string, string> = {}) =>
    client.post('/callback/password', { name: 'ada', password, callbackUrl: '/app', ...more })
  return { auth, adapter, base, browser: () => new Client(auth), signIn }
}
const where = (response: Response): string => new URL(response.headers.get('location') ?? 'http://none', 'http://localhost:3000').pathname
const keyIn = async (response: Response): Promise<string> => /<code>([A-Z2-7]+)<\/code>/.exec(await response.text())?.[1] ?? ''
const stepOf = (auth: { runtime: { now(): number } }): number => Math.floor(auth.runtime.now() / 30_000)

describe('01 second factor', () => {
  it('enrols at the first sign-in, asks at the next, takes each code once', async () => {
    const { base, browser, signIn } = await world(secondFactorPlugin())
    const first = browser()
    expect(where(await signIn(first))).toBe('/auth/second-factor')
    expect(await first.session()).toBeNull()
    const secret = await keyIn(await first.get('/second-factor'))
    const wrong = await first.post('/second-factor', { code: '000000' })
    expect([wrong.status, (await wrong.text()).includes('That code does not fit.'), await first.session()]).toEqual([200, true, null])
    const code = await totp(secret, stepOf(base))
    expect(where(await first.post('/second-factor', { code }))).toBe('/app')
    expect((await first.session())?.user?.['name']).toBe('ada')

    const second = browser()
    await signIn(second)
    expect(await (await second.get('/second-factor')).text()).not.toContain('otpauth:')
    await second.post('/second-factor', { code })
    expect(await second.session()).toBeNull()
    base.runtime.advance(30_000)
    await second.post('/second-factor', { code: await totp(secret, stepOf(base)) })
    expect((await second.session())?.user?.['name']).toBe('ada')
  })

  it('with a second plugin that parks, both are asked, and the login ends', async () => {
    const terms: Plugin = {
      name: 'terms',
      setup(kernel) {
        kernel.hook('login', ({ login, ctx }) => ctx.park(login, { to: '/terms' }))
        kernel.messages({ en: { 'terms.title': 'Terms', 'terms.accept': 'Accept' } })
        kernel.page(
          'terms',
          async (_ctx, { say, form, submit }) => ({ title: say('terms.title'), body: await form('/terms', submit(say('terms.accept'))) }),
          { path: '/terms' },
        )
        kernel.route({
          method: 'POST',
          path: '/terms',
          flow: 'callback',
          async handler(ctx) {
            const parked = await ctx.parked()
            return parked ? ctx.resume(parked) : ctx.page('signIn')
          },
        })
      },
    }
    const { auth, base, browser, signIn } = await world(secondFactorPlugin())
    auth.use(terms)
    const client = browser()
    expect(where(await signIn(client))).toBe('/auth/terms')
    const next = await client.post('/terms')
    expect(where(next)).toBe('/auth/second-factor')
    const secret = await keyIn(await client.get(next.headers.get('location') ?? ''))
    const done = await client.post('/second-factor', { code: await totp(secret, stepOf(base)) })
    expect([where(done), (await client.session())?.user?.['name']]).toEqual(['/app', 'ada'])
  })
})

it('02 step-up: asks for the way in again when the proof is old', async () => {
  const { auth, base, browser, signIn } = await world(freshProofPlugin())
  const client = browser()
  await signIn(client)
  const request = (): Request => new Request('http://localhost:3000/pay?x=1', { headers: { cookie: client.cookieHeader() } })
  expect(await auth.freshProof.require(request(), { maxAge: 300 })).toBeNull()
  base.runtime.advance(600_000)
  const asked = await auth.freshProof.require(request(), { maxAge: 300 })
  expect(asked?.headers.get('location')).toContain('/auth/fresh-proof?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fpay%3Fx%3D1')
  const html = await (await client.get(asked?.headers.get('location') ?? '')).text()
  expect(html).toMatch(/action="[^"]*\/auth\/callback\/password"/)
  expect(html).toContain('value="http://localhost:3000/pay?x=1"')
  await signIn(client)
  expect(await auth.freshProof.require(request(), { maxAge: 300 })).toBeNull()
  expect((await auth.freshProof.evidence(request()))?.provider).toBe('password')
})

it('06 rate limit: wrong passwords are counted, whichever way the path is written, and right ones are not', async () => {
  const { auth, browser, signIn } = await world(rateLimitPlugin({ account: { max: 2, seconds: 60 } }))
  const told: unknown[] = []
  auth.on('signInLimited', ({ provider, retryAfter }) => told.push([provider, retryAfter]))
  for (let i = 0; i < 5; i++) expect(where(await signIn(browser()))).toBe('/app')
  await signIn(browser(), 'wrong')
  await signIn(browser(), 'wrong')
  const refused = await signIn(browser())
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  const client = browser()
  const other = await client.post('/callback/password/', { name: 'ada', password: 'right' })
  expect([other.status, await client.session()]).toEqual([429, null])
  expect(told).toEqual([
    ['password', 60],
    ['password', 60],
  ])
})

it('11 maintenance: administrators alone, and those who come by the side door', async () => {
  const door = 'a-side-door-of-many-letters'
  const { auth, browser, signIn } = await world(maintenancePlugin({ isAdmin: ({ user }) => user?.name === 'ada', door }))
  const client = browser()
  const page = await client.get('/signin', { accept: 'text/html' })
  expect([page.status, page.headers.get('retry-after')]).toEqual([503, '600'])
  expect((await client.get('/session')).status).toBe(200)
  expect((await client.get(`/signin?door=${door}`)).status).toBe(200)
  expect(where(await signIn(client))).toBe('/app')
  client.cookies.delete('authkernel.maintenance-door')
  expect((await client.get('/signin')).status).toBe(200)
  auth.remove('maintenance')
  expect((await browser().get('/signin')).status).toBe(200)
  expect(() => maintenancePlugin({ isAdmin: () => false, door: 'short' })).toThrow('at least 20 characters')
})

it('12 captcha: a widget on the page that may load it, and no sign-in without an answer', async () => {
  const asked: string[] = []
  const fetch = (async (url: string, { body }: RequestInit) => {
    asked.push(`${url} ${String(body)}`)
    return Response.json({ success: String(body).includes('response=good') })
  }) as typeof globalThis.fetch
  const plugin = widgetCaptchaPlugin({
    siteKey: 'site',
    secretKey: 'key',
    script: 'https://challenges.example/api.js',
    verify: 'https://challenges.example/verify',
  })
  const { auth, browser, signIn } = await world(plugin, { runtime: fakeRuntime(fetch) })
  const failures: string[] = []
  auth.on('signInFailed', ({ error, provider }) => failures.push(`${provider} ${error.type}`))
  const page = await browser().get('/signin')
  expect(await page.text()).toContain('data-sitekey="site"')
  expect(page.headers.get('content-security-policy')).toContain('https://challenges.example')
  const error = await browser().get('/error?error=Configuration')
  expect(error.headers.get('content-security-policy')).not.toContain('challenges.example')
  const client = browser()
  expect(where(await signIn(client))).toBe('/auth/signin')
  expect(where(await signIn(client, 'right', { 'captcha-response': 'bad' }))).toBe('/auth/signin')
  expect(where(await signIn(client, 'right', { 'captcha-response': 'good' }))).toBe('/app')
  expect(asked).toHaveLength(2)
  expect(failures).toEqual(['password CredentialsSignin', 'password CredentialsSignin'])
})

describe('14 invitations', () => {
  const start = async () => {
    const mails: string[] = []
    const email = {
      id: 'mail',
      name: 'Mail',
      type: 'email' as const,
      from: 'x@example.com',
      sendVerificationRequest: ({ url }: { url: string }) => void mails.push(url),
    }
    const made = await world(inviteOnlyPlugin(), { providers: [email] })
    // Who is refused sees the same page, and no mail is sent.
    const signUp = async (client: Client, address: string): Promise<string> => {
      const sent = await client.post('/signin/mail', { email: address })
      const link = mails.pop()
      return link === undefined ? where(sent) : where(await client.get(link))
    }
    return { ...made, signUp }
  }

  it('no user signs up without one; an invited user does, and stays a member', async () => {
    const { auth, browser, signUp } = await start()
    expect(await signUp(browser(), 'eve@example.com')).toBe('/auth/verify-request')
    await auth.invites.create({ email: 'Ada@example.com' })
    expect(await signUp(browser(), 'ada@example.com')).toBe('/')
    expect(await signUp(browser(), 'ada@example.com')).toBe('/')
    expect(await signUp(browser(), 'eve@example.com')).toBe('/auth/verify-request')
  })

  it('a link works for each holder, once', async () => {
    const { auth, browser, signUp } = await start()
    const { path } = await auth.invites.create()
    const [one, two] = [browser(), browser()]
    for (const client of [one, two]) expect(where(await client.get(`http://localhost:3000${path}`))).toBe('/auth/signin')
    expect(await signUp(one, 'one@example.com')).toBe('/')
    expect(await signUp(two, 'two@example.com')).toBe('/auth/verify-request')
    expect(where(await browser().get('/invite/nonsense'))).toBe('/auth/error')
  })
})
