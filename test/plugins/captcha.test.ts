/** Captchas in forms: what is asked of whom, and tokens that do not count. */
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { type AuthConfig, createAuth } from 'authkernel'
import type { Context } from 'authkernel/kernel'
import { altcha, type Captcha, captchaPlugin, type CaptchaOptions, hcaptcha, recaptcha, turnstile } from 'authkernel/plugins/captcha'
import { codesPlugin } from 'authkernel/plugins/codes'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, fakeRuntime } from '../_setup.ts'

const cheap = altcha({ cost: 1, prefix: '0' })

function createHost(captcha: Captcha = cheap, options: CaptchaOptions = {}, config: AuthConfig = {}) {
  const mails: string[] = []
  const settings = baseConfig({
    adapter: memoryAdapter(),
    session: { strategy: 'jwt' },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { username: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
        authorize: ({ username, password }: Record<string, unknown>) => (password === 'right' ? { id: String(username) } : null),
      } as never,
      {
        id: 'mail',
        name: 'Mail',
        type: 'email',
        sendVerificationRequest: ({ identifier }: { identifier: string }) => void mails.push(identifier),
      } as never,
      { id: 'acme', name: 'Acme', type: 'oidc', issuer: 'https://op.example', clientId: 'x', clientSecret: 'y' },
    ],
    ...config,
  })
  const auth = createAuth(settings).use(captchaPlugin(captcha, options))
  const client = (clientAddress = '192.0.2.1') => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const attempt = async (fields: Record<string, string>, browser = client()) => {
    const answer = await browser.post('/callback/credentials', { username: 'ann', password: 'right', ...fields })
    const location = new URL(answer.headers.get('location') ?? 'http://none')
    return location.searchParams.get('error') ?? (location.pathname === '/' && location.host === 'localhost:3000' ? 'in' : location.href)
  }
  return { auth, settings, client, attempt, mails }
}
async function solve(browser: Client, action = '/callback/credentials'): Promise<string> {
  const challenge = (await (await browser.get(`/captcha?action=${action}`)).json()) as Parameters<typeof solveChallenge>[0]['challenge']
  return pack(challenge, (await solveChallenge({ challenge, deriveKey }))!)
}
const pack = (challenge: unknown, solution: unknown): string => btoa(JSON.stringify({ challenge, solution }))
const unpack = (token: string) =>
  JSON.parse(atob(token)) as {
    challenge: { parameters: Record<string, unknown>; signature: string }
    solution: { counter: number; derivedKey: string }
  }

describe('captchaPlugin(altcha())', () => {
  it('a solution counts once, in five minutes, at its tenant and form, and only as it was asked for', async () => {
    const { attempt, client, settings, auth } = createHost()
    const token = await solve(client())
    expect(await attempt({})).toBe('CaptchaRequired')
    expect([await attempt({ altcha: token }), await attempt({ altcha: token })]).toEqual(['in', 'CaptchaRequired'])
    const { challenge, solution } = unpack(await solve(client()))
    const hostile = [
      pack({ ...challenge, parameters: { ...challenge.parameters, keyPrefix: '' } }, solution),
      pack({ ...challenge, parameters: { ...challenge.parameters, data: { until: 9e15 } } }, solution),
      pack({ ...challenge, signature: '0'.repeat(64) }, solution),
      pack(challenge, { ...solution, derivedKey: `0${'1'.repeat(63)}` }),
      pack(challenge, { ...solution, counter: '1' }),
      pack({ parameters: null, signature: 'x' }, solution),
      'x',
      btoa('null'),
      btoa('{"challenge":1}'),
      'A'.repeat(9_000),
      '{}',
    ]
    for (const wrong of hostile) expect(await attempt({ altcha: wrong }), wrong.slice(0, 40)).toBe('CaptchaRequired')
    expect(await attempt({ altcha: pack(challenge, solution) })).toBe('in')
    for (const other of ['/signin/mail', '/callback/credentials2', '/two-factor'])
      expect(await attempt({ altcha: await solve(client(), other) })).toBe('CaptchaRequired')
    for (const none of ['', 'callback', `/${'x'.repeat(201)}`]) expect((await client().get(`/captcha?action=${none}`)).status).toBe(400)
    const late = await solve(client())
    const foreign = await solve(client())
    settings.runtime.advance(299_000)
    expect(await attempt({ altcha: foreign })).toBe('in')
    settings.runtime.advance(2_000)
    expect(await attempt({ altcha: late })).toBe('CaptchaRequired')
    const elsewhere = await solve(client())
    auth.hook('settings', () => ({ namespace: 'two', cookiePrefix: 'two' }))
    expect(await attempt({ altcha: elsewhere })).toBe('CaptchaRequired')
  })

  it('the challenge in a form of the page is good for that form', async () => {
    const { attempt, client } = createHost()
    const text = await (await client().get('/signin')).text()
    const challengeOf = async (action: string) => {
      const form = text.slice(text.indexOf(`/auth${action}"`))
      const json = /data-altcha="([^"]+)"/.exec(form)![1]!.replaceAll('&quot;', '"').replaceAll('&#34;', '"')
      const challenge = JSON.parse(json) as Parameters<typeof solveChallenge>[0]['challenge']
      return pack(challenge, (await solveChallenge({ challenge, deriveKey }))!)
    }
    expect(await attempt({ altcha: await challengeOf('/signin/mail') })).toBe('CaptchaRequired')
    expect(await attempt({ altcha: await challengeOf('/callback/credentials') })).toBe('in')
  })

  it('guards passwords and mails, and neither providers nor mailed links', async () => {
    const { client, mails } = createHost(cheap, { linksWithout: 0 })
    const mail = async (fields = {}) =>
      (await client().post('/signin/mail', { email: 'ann@example.com', ...fields })).headers.get('location')
    expect(await mail()).toContain('error=CaptchaRequired')
    expect(await mail({ altcha: await solve(client()) })).toContain('error=CaptchaRequired')
    expect(await mail({ altcha: await solve(client(), '/signin/mail') })).toContain('verify-request')
    expect(mails).toEqual(['ann@example.com'])
    expect((await client().post('/signin/acme')).headers.get('location')).not.toContain('Captcha')
    expect((await client().get('/callback/mail?token=x&email=ann@example.com')).headers.get('location')).toContain('error=Verification')
  })

  it('without JavaScript a few mailed links an hour are the way in; a wrong token is none', async () => {
    const { client, mails } = createHost(cheap, { linksWithout: 2 })
    const mail = async (at: number, fields = {}) => (await client().post('/signin/mail', { email: `p${at}@example.com`, ...fields })).status
    const page = async (at: number, fields = {}) =>
      (await client().post('/signin/mail', { email: `p${at}@example.com`, ...fields })).headers.get('location')
    expect(await page(0, { altcha: 'nonsense' })).toContain('CaptchaRequired')
    expect([await mail(1), await mail(2)]).toEqual([302, 302])
    expect(await page(3)).toContain('CaptchaRequired')
    expect(mails).toEqual(['p1@example.com', 'p2@example.com'])
  })

  it('after suspicion alone: failures of the network or of the name', async () => {
    const { attempt, client } = createHost(cheap, { when: { failures: 2, seconds: 600 } })
    expect(await attempt({})).toBe('in')
    const shown = async (address?: string) => (await (await client(address).get('/signin')).text()).includes('data-altcha')
    expect(await shown()).toBe(false)
    expect([await attempt({ password: 'x' }), await attempt({ password: 'x' })]).toEqual(['CredentialsSignin', 'CredentialsSignin'])
    expect(await attempt({})).toBe('CaptchaRequired')
    expect([await shown(), await shown('198.51.100.1')]).toEqual([true, false])
    // The name is suspicious everywhere, its neighbour is not.
    expect(await attempt({}, client('198.51.100.1'))).toBe('CaptchaRequired')
    expect(await attempt({ username: 'bob' }, client('198.51.100.1'))).toBe('in')
    expect(await attempt({ altcha: await solve(client()) })).toBe('in')
  })

  it('covers every form that takes something typed, and is asked of everybody after an attack over many names', async () => {
    const { auth, client } = createHost(cheap, { when: { failures: 3 }, linksWithout: 0 })
    auth.use(codesPlugin({ send: () => undefined }))
    const ask = async () => new URL((await client().post('/signin/codes', { email: 'a@x.example' })).headers.get('location')!)
    expect((await ask()).pathname).toBe('/auth/codes')
    const attack = async (ctx: Context) => (await ctx.emit('codesGuessed', { plugin: 'codes' }), new Response(null))
    auth.use({ name: 'attack', setup: (kernel) => kernel.route({ method: 'GET', path: '/attack', handler: attack }) })
    await client().get('/attack')
    expect((await ask()).searchParams.get('error')).toBe('CaptchaRequired')
    expect(await (await client('192.0.2.77').get('/signin')).text()).toMatch(/action="[^"]*signin\/codes"[^]*altcha/)
  })

  it('is in the forms that need it, with a policy that grows by a script alone', async () => {
    const { client } = createHost()
    const page = await client().get('/signin')
    const text = await page.text()
    expect(text.match(/data-altcha=/g)).toHaveLength(2)
    expect(text.slice(text.indexOf('/signin/acme'), text.indexOf('</form>', text.indexOf('/signin/acme')))).not.toContain('data-altcha')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toMatch(/script-src 'nonce-[^']+'(;|$)/)
    expect(policy).not.toMatch(/frame-src|worker-src|https:\/\//)
    expect(await (await client().get('/signin?error=CaptchaRequired')).text()).toContain('not a robot')
  })
})

describe('captchas of others', () => {
  const keys = { siteKey: 'site-key', secretKey: 'very-secret' }
  const service = (answer: () => Response | Promise<Response>) => {
    const calls: { url: string; body: URLSearchParams }[] = []
    const fetch = async (url: unknown, init?: RequestInit) => (
      calls.push({ url: String(url), body: init?.body as URLSearchParams }),
      answer()
    )
    return { calls, runtime: fakeRuntime(fetch as never) }
  }

  it.each([
    [
      'turnstile',
      turnstile(keys),
      'cf-turnstile-response',
      'https://challenges.cloudflare.com/turnstile/v0/siteverify',
      ['https://challenges.cloudflare.com'],
    ],
    ['hcaptcha', hcaptcha(keys), 'h-captcha-response', 'https://api.hcaptcha.com/siteverify', ['https://newassets.hcaptcha.com']],
    [
      'recaptcha',
      recaptcha(keys),
      'g-recaptcha-response',
      'https://www.google.com/recaptcha/api/siteverify',
      ['https://www.google.com', 'https://recaptcha.google.com'],
    ],
  ] as const)('%s: the token is checked once by the server, and the policy names its hosts', async (_name, captcha, field, url, frames) => {
    const { calls, runtime } = service(() => Response.json({ success: true, hostname: 'localhost' }))
    const { attempt, client } = createHost(captcha, {}, { runtime })
    expect(await attempt({ [field]: 'token' })).toBe('in')
    expect(calls.map((call) => [call.url, Object.fromEntries(call.body)])).toEqual([
      [url, { secret: 'very-secret', response: 'token', remoteip: '192.0.2.1' }],
    ])
    expect(await attempt({})).toBe('CaptchaRequired')
    const page = await client().get('/signin')
    const policy = page.headers.get('content-security-policy')!
    expect(policy.split('; ').find((directive) => directive.startsWith('frame-src'))).toBe(`frame-src ${frames.join(' ')}`)
    expect(await page.text()).not.toContain('very-secret')
    expect((await client().get('/error')).headers.get('content-security-policy')).not.toContain(frames[0])
  })

  it.each([
    [{ success: false, 'error-codes': ['timeout-or-duplicate'] }, 'CaptchaRequired'],
    [{ success: 'true' }, 'CaptchaRequired'],
    [{ success: true, hostname: 'evil.example' }, 'CaptchaRequired'],
    [{ success: true, score: 0.1 }, 'CaptchaRequired'],
    [{ success: true, score: 0.9 }, 'in'],
    [{ success: false, 'error-codes': ['invalid-input-secret'] }, 'CaptchaUnavailable'],
    ['nonsense', 'CaptchaUnavailable'],
    [null, 'CaptchaRequired'],
  ])('the answer %j means %s', async (answer, expected) => {
    const { runtime } = service(() => (answer === 'nonsense' ? new Response('<html>', { status: 502 }) : Response.json(answer)))
    const { attempt, settings } = createHost(recaptcha(keys), {}, { runtime })
    expect(await attempt({ 'g-recaptcha-response': 'token' })).toBe(expected)
    expect(settings.logger.errors.map(String).join()).not.toContain('very-secret')
  })

  it('a service that is away refuses, or lets in by option; a magic link goes on', async () => {
    const away = () => service(() => Promise.reject(new TypeError('fetch failed')))
    const { attempt, client, mails, settings } = createHost(turnstile(keys), {}, { runtime: away().runtime })
    expect(await attempt({ 'cf-turnstile-response': 'token' })).toBe('CaptchaUnavailable')
    expect(settings.logger.errors.map(({ message }) => message).join()).toContain('turnstile could not check a token')
    await client().post('/signin/mail', { email: 'ann@example.com', 'cf-turnstile-response': 'token' })
    expect(mails).toEqual(['ann@example.com'])
    const open = createHost(turnstile(keys), { whenUnavailable: 'allow' }, { runtime: away().runtime })
    expect(await open.attempt({ 'cf-turnstile-response': 'token' })).toBe('in')
    expect(await open.attempt({})).toBe('CaptchaRequired')
  })

  it('missing keys and absurd work are refused', () => {
    expect(() => turnstile({ siteKey: 'x', secretKey: '' })).toThrow('turnstile: `secretKey` is missing')
    expect(() => altcha({ cost: 0 })).toThrow('`cost`')
    expect(() => altcha({ prefix: 'zz' })).toThrow('`prefix`')
    expect(() => captchaPlugin(altcha as never)).toThrow('captchaPlugin(altcha())')
  })
})
