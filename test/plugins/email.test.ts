import { createHmac, hkdfSync } from 'node:crypto'
import type { AdapterUser, VerificationRequest } from 'authkernel'
import { describe, expect, it } from 'vitest'
import { emailPlugin } from '../../plugins/sign-in/email/index.ts'
import { counted, createHost, errorAt, origin, to, verifyRequest } from './_email-host.ts'

describe('asking for a link', () => {
  it('rows 212, 214, 219: stores a hashed token, mails a link, answers with the verify-request page', async () => {
    const host = createHost()
    const ada = host.person()
    const response = await ada.post('/signin/mail', { email: 'Ada@Mail.Example', callbackUrl: '/dash?a=1' })
    expect(response.status).toBe(302)
    expect(to(response)).toBe(verifyRequest)
    const [mail] = host.mails
    const { searchParams, pathname } = new URL(mail!.url)
    expect(pathname).toBe('/auth/callback/mail')
    expect([...searchParams.keys()]).toEqual(['callbackUrl', 'token', 'email'])
    expect(searchParams.get('callbackUrl')).toBe(`${origin}/dash?a=1`)
    expect(searchParams.get('email')).toBe('ada@mail.example')
    const [row] = host.data.tokens.values()
    expect(row).toMatchObject({ identifier: 'ada@mail.example' })
    expect(JSON.stringify(row)).not.toContain(searchParams.get('token'))
    expect(host.errors).toEqual([])
  })

  it('the page that follows names the address and sends the link again, and forgets it with the sign-in', async () => {
    const host = createHost()
    const ada = host.person()
    await ada.post('/signin/mail', { email: 'ada@mail.example', callbackUrl: '/dash' }, { Accept: 'text/html' })
    const page = await ada.get('/verify-request?provider=mail&type=email')
    const text = await page.text()
    expect(text).toContain('<bdi>ada@mail.example</bdi>')
    expect(text).toContain(`action="${origin}/auth/signin/mail"`)
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
    await ada.post('/signin/mail', { email: 'ada@mail.example' })
    expect(host.mails).toHaveLength(2)
    expect(new URL(host.mails[1]!.url).searchParams.get('callbackUrl')).toBe(`${origin}/dash`)
    await ada.open(host.link())
    expect(await (await ada.get('/verify-request?provider=mail&type=email')).text()).not.toContain('ada@mail.example')
    // A visitor who asked for nothing sees no form.
    const other = await host.person().get('/verify-request?provider=mail&type=email')
    expect(other.headers.get('content-security-policy')).toContain("form-action 'none'")
  })

  it('rows 213, 355: the token is 64 hex digits, the row holds a keyed hash of it', async () => {
    const host = createHost()
    await host.person().ask('ada@mail.example')
    const { token } = host.mails[0]!
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    const [row] = host.data.tokens.values()
    expect(row?.token).toMatch(/^[0-9a-f]{64}$/)
    expect(row?.token).not.toBe(token)
  })

  it('row 213: provider.secret keys the hash instead of the instance secret', async () => {
    const ids = [undefined, 'one own secret of a provider', 'another own secret of a provider']
    const hashes = new Set<string | undefined>()
    for (const own of ids) {
      const host = createHost({ secret: own, generateVerificationToken: () => 'same-token-for-all-of-them' })
      await host.person().ask('ada@mail.example')
      hashes.add([...host.data.tokens.values()][0]?.token)
      expect(await host.person().open(host.link())).toBe(origin)
    }
    expect(hashes.size).toBe(3)
    // HMAC under an HKDF key (D3), never a plain hash that a leaked table could be searched with.
    const plain = createHmac('sha256', Buffer.from(hkdfSync('sha256', 'one own secret of a provider', '', '', 32)))
    expect(hashes).not.toContain(plain.update('same-token-for-all-of-them').digest('hex'))
  })

  it('row 215: sendVerificationRequest gets identifier, url, expires, provider, token, theme, request', async () => {
    const bodies: unknown[] = []
    const seen: VerificationRequest[] = []
    const host = createHost(
      {
        async sendVerificationRequest(mail) {
          seen.push(mail)
          bodies.push(await mail.request.json())
        },
      },
      { theme: { brandColor: '#123456' } },
    )
    await host.person().ask('ada@mail.example', { callbackUrl: '/x', extra: 'captcha' })
    const [mail] = seen
    expect(Object.keys(mail!).sort()).toEqual(['expires', 'identifier', 'provider', 'request', 'theme', 'token', 'url'])
    expect(mail).toMatchObject({
      identifier: 'ada@mail.example',
      theme: { brandColor: '#123456' },
      provider: { id: 'mail', type: 'email', signinUrl: `${origin}/auth/signin/mail` },
    })
    expect(mail?.expires).toBeInstanceOf(Date)
    expect(mail?.request).toBeInstanceOf(Request)
    expect(mail?.request.url).toBe(`${origin}/auth/signin/mail`)
    expect(bodies[0]).toMatchObject({ email: 'ada@mail.example', extra: 'captcha' })
  })

  it.each([
    [undefined, 600],
    [60, 60],
    [86_400, 86_400],
  ])('row 216, D29: maxAge %s makes a link that lives %i seconds', async (maxAge, seconds) => {
    const host = createHost({ maxAge })
    await host.person().ask('ada@mail.example')
    expect(host.mails[0]?.expires).toEqual(new Date(host.clock.now() + seconds * 1000))
    expect([...host.data.tokens.values()][0]?.expires).toEqual(new Date(host.clock.now() + seconds * 1000))
  })

  it('row 217: generateVerificationToken and normalizeIdentifier are used', async () => {
    const host = createHost({
      generateVerificationToken: async () => 'my-own-token-that-is-long-enough',
      normalizeIdentifier: (text) => text.trim().toLowerCase().replace(/\+.*@/, '@'),
    })
    await host.person().ask(' Ada+List@Mail.Example')
    expect(host.mails[0]).toMatchObject({ identifier: 'ada@mail.example', token: 'my-own-token-that-is-long-enough' })
    expect(host.link()).toContain('token=my-own-token-that-is-long-enough&email=ada%40mail.example')
  })

  it.each([
    ['an empty token', { generateVerificationToken: () => '' }],
    ['a token that is no text', { generateVerificationToken: () => 7 as never }],
    [
      'a generator that throws',
      {
        generateVerificationToken: () => {
          throw new Error('no entropy')
        },
      },
    ],
    [
      'a normaliser that throws',
      {
        normalizeIdentifier: () => {
          throw new Error('not from here')
        },
      },
    ],
    ['a normaliser that makes two of one', { normalizeIdentifier: () => 'a@b.example,c@d.example' }],
  ])('row 217: %s ends on the error page, with one log entry and no mail', async (_what, provider) => {
    const host = createHost(provider)
    expect(await host.person().ask('ada@mail.example')).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    expect(host.mails).toEqual([])
    expect(host.data.tokens.size).toBe(0)
  })

  it.each([
    ['nothing', ''],
    ['two addresses', 'a@b.example,c@d.example'],
    ['no address', 'ada'],
    ['quotes', '"a@b.example"@mail.example'],
    ['a header', 'ada@mail.example\r\nBcc: eve@evil.example'],
  ])('row 218, D39: %s is refused with a redirect to the error page', async (_what, email) => {
    const host = createHost()
    expect(await host.person().ask(email)).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    expect(host.mails).toEqual([])
  })

  it('row 218, GHSA-xv97-c62v-4587: a repeated field, an array and an object are refused', async () => {
    const host = createHost()
    const ada = host.person()
    const csrfToken = await ada.csrfToken()
    const post = (body: string, type: string): Promise<Response> =>
      ada.send('/signin/mail', { method: 'POST', body, headers: { 'content-type': type } })
    const answers = [
      await post(`email=ada@mail.example&email=eve@evil.example&csrfToken=${csrfToken}`, 'application/x-www-form-urlencoded'),
      await post(JSON.stringify({ email: ['ada@mail.example', 'eve@evil.example'], csrfToken }), 'application/json'),
      await post(JSON.stringify({ email: { address: 'eve@evil.example' }, csrfToken }), 'application/json'),
    ]
    expect(answers.map(to)).toEqual(Array.from({ length: 3 }, () => errorAt('Configuration')))
    expect(host.mails).toEqual([])
  })

  it('row 218: a JSON body with one address is fine', async () => {
    const host = createHost()
    const ada = host.person()
    const body = JSON.stringify({ email: 'ada@mail.example', csrfToken: await ada.csrfToken() })
    const answer = await ada.send('/signin/mail', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(to(answer)).toBe(verifyRequest)
    expect(host.mails.map(({ identifier }) => identifier)).toEqual(['ada@mail.example'])
  })

  it('row 229, D17: known and unknown addresses get the same answer and the same work', async () => {
    const calls: string[] = []
    const host = createHost({}, {}, (adapter) => counted(adapter, calls))
    host.adapter.createUser({ id: 'u1', email: 'known@mail.example', emailVerified: null } as AdapterUser)
    const looks = []
    for (const email of ['known@mail.example', 'unknown@mail.example']) {
      calls.length = 0
      const response = await host.person().post('/signin/mail', { email })
      const headers = [...response.headers].filter(([name]) => name !== 'set-cookie')
      looks.push({ status: response.status, headers, body: await response.text(), calls: [...calls] })
    }
    expect(looks[0]).toEqual(looks[1])
    expect(looks[0]?.calls).toEqual(['getUserByEmail', 'createVerificationToken'])
    expect(host.mails).toHaveLength(2)
  })

  it('the link names the configured origin, whatever the Host header says', async () => {
    const host = createHost()
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    await host.person().post('/signin/mail', { email: 'ada@mail.example' }, headers)
    expect(new URL(host.link()).origin).toBe(origin)
  })

  it('row 225: without an adapter the configuration is refused', async () => {
    const host = createHost({}, { adapter: undefined })
    await expect(host.auth.ready()).rejects.toMatchObject({ type: 'MissingAdapter' })
  })

  it('row 160: an adapter that cannot keep tokens is refused with their names', async () => {
    const host = createHost({}, {}, ({ createVerificationToken: _create, useVerificationToken: _use, ...rest }) => rest)
    await expect(host.auth.ready()).rejects.toThrow(/createVerificationToken, useVerificationToken/)
  })

  it('row 226: nodemailer without a server makes ready() throw with provider, option and remedy', async () => {
    const host = createHost({ sendVerificationRequest: undefined })
    await expect(host.auth.ready()).rejects.toThrow(/Email provider "mail": it has no "server": give transport options/)
  })

  it('emailPlugin is named after its providers', () => {
    const send = (): void => {}
    const provider = { id: 'one', name: 'One', type: 'email' as const, sendVerificationRequest: send }
    expect(emailPlugin().name).toBe('email')
    expect(emailPlugin(provider, () => ({ ...provider, id: 'two' })).name).toBe('email:one,two')
  })

  it('row 59: AUTH_<ID>_KEY is the key of an HTTP mailer', async () => {
    const keys: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      keys.push(new Headers(init?.headers).get('authorization'))
      return new Response('{}')
    }
    const api = { url: 'https://mail.example/send', headers: { authorization: 'Bearer {apiKey}' }, body: { to: '{to}' } }
    const host = createHost({ api }, { env: { AUTH_MAIL_KEY: 'from-the-environment' }, runtime: { fetch } })
    expect(await host.person().ask('ada@mail.example')).toBe(verifyRequest)
    expect(keys).toEqual(['Bearer from-the-environment'])
  })
})
