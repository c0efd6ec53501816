/** Captchas guard what makes a mail leave, and never a request that carries a proof. */
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { createAuth } from 'authkernel'
import type { MailMessage } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { altcha, captchaPlugin, type CaptchaOptions } from 'authkernel/plugins/captcha'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { limitsPlugin } from 'authkernel/plugins/limits'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'
const password = 'seven purple otters sing'

async function world(options: CaptchaOptions = {}) {
  const base = baseConfig({
    session: { strategy: 'database' },
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        credentials: { username: {}, password: { type: 'password' } },
        authorize: () => null,
      },
    ],
  })
  const mails: MailMessage[] = []
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter()))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(twoFactorPlugin())
    .use(captchaPlugin(altcha({ cost: 1, prefix: '0' }), { linksWithout: 0, ...options }))
  await auth.ready({ warm: true })
  const client = (clientAddress = '192.0.2.1') => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const solved = async (browser: Client, action: string) => {
    const challenge = (await (await browser.get(`/captcha?action=${action}`)).json()) as Parameters<typeof solveChallenge>[0]['challenge']
    return { altcha: btoa(JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) })) }
  }
  const sent = async () => (await settle(), mails.length)
  return { auth, mails, client, solved, sent, runtime: base.runtime }
}

describe('captchaPlugin(altcha()) with its defaults', () => {
  it.each([
    ['/passwords/sign-up', { email: ada, password }, '/auth/passwords/sign-up'],
    ['/passwords/reset', { email: ada }, '/auth/passwords/reset'],
    ['/signin/codes', { email: ada }, '/auth/signin'],
  ])('asks before the mail of %s, and leads back to its page, which shows the widget', async (path, fields, back) => {
    const { client, solved, sent } = await world()
    const browser = client()
    const refused = new URL((await browser.post(path, fields)).headers.get('location')!)
    expect([refused.pathname, refused.searchParams.get('error'), await sent()]).toEqual([back, 'CaptchaRequired', 0])
    expect(await (await browser.get(refused.pathname.replace('/auth', '') + refused.search)).text()).toContain('data-altcha=')
    const answer = await browser.post(path, { ...fields, ...(await solved(browser, path)) })
    expect(answer.headers.get('location')).not.toContain('CaptchaRequired')
    // No user has the address yet: a reset mails nothing.
    if (path === '/passwords/reset') expect(await sent()).toBe(0)
    else await expect.poll(sent).toBe(1)
  })

  it('asks the methods of the client too', async () => {
    const { client, sent } = await world()
    const browser = client()
    for (const [path, body] of [
      ['/passwords/sign-up', { email: ada, password }],
      ['/passwords/request-reset', { email: ada }],
      ['/codes/send', { email: ada }],
    ] as const) {
      const csrfToken = await browser.csrfToken()
      const headers = { 'content-type': 'application/json' }
      const answer = await browser.send(path, { method: 'POST', headers, body: JSON.stringify({ ...body, csrfToken }) })
      expect([path, answer.status, await answer.json()]).toEqual([path, 403, expect.objectContaining({ error: 'CaptchaRequired' })])
    }
    expect(await sent()).toBe(0)
  })

  it('asks neither for a link that was mailed nor for a factor', async () => {
    const { client, solved, sent, mails, runtime } = await world()
    const browser = client()
    await browser.post('/passwords/sign-up', { email: ada, password, ...(await solved(browser, '/passwords/sign-up')) })
    await sent()
    const token = /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
    await browser.post('/passwords/confirm', { token })
    expect((await browser.session())?.user?.email).toBe(ada)
    const page = await (await browser.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
    const id = /name="id" value="([^"]+)"/.exec(page)![1]!
    await browser.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
    runtime.advance(30_000)
    const other = client()
    await other.post('/callback/passwords', { email: ada, password, ...(await solved(other, '/callback/passwords')) })
    expect(await (await other.get('/two-factor')).text()).not.toContain('data-altcha=')
    await other.post('/two-factor', { code: totpAt(secret, runtime.now()) })
    expect((await other.session())?.user?.email).toBe(ada)
  })
})

it('a field beside the one that is checked dodges no suspicion', async () => {
  const { client } = await world({ when: { failures: 2, seconds: 600 } })
  const answers: (string | null)[] = []
  for (let at = 0; at < 4; at++) {
    const fields = { username: 'ann', password: 'wrong', email: `dodge${at}@example.com` }
    const answer = await client(`192.0.${at}.1`).post('/callback/credentials', fields)
    answers.push(new URL(answer.headers.get('location')!).searchParams.get('error'))
  }
  expect(answers).toEqual(['CredentialsSignin', 'CredentialsSignin', 'CaptchaRequired', 'CaptchaRequired'])
})

describe('limitsPlugin and known devices', () => {
  async function limited() {
    const base = baseConfig({ session: { strategy: 'database' }, throttle: false })
    const mails: MailMessage[] = []
    const adapter = memoryAdapter()
    const auth = createAuth(base)
      .use(adapterPlugin(adapter))
      .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
      .use(passwordsPlugin({ breached: false }))
      .use(twoFactorPlugin())
      .use(limitsPlugin({ rules: [{ name: 'account', by: 'account', max: 2, seconds: 600, delay: false }] }))
    await auth.ready({ warm: true })
    const join = async (address: string) => {
      const client = new Client(auth)
      await client.post('/passwords/sign-up', { email: address, password })
      await settle()
      await client.post('/passwords/confirm', { token: /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]! })
      return client
    }
    const tryAs = async (client: Client, typed: string, word = 'a wrong password of letters') =>
      (await client.post('/callback/passwords', { email: typed, password: word })).status
    return { auth, join, tryAs, runtime: base.runtime }
  }

  it('the browser of a user with a factor is known once the factor is proved, and not before', async () => {
    const { auth, join, tryAs, runtime } = await limited()
    const first = await join(ada)
    const page = await (await first.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
    const id = /name="id" value="([^"]+)"/.exec(page)![1]!
    await first.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
    runtime.advance(30_000)
    const [owner, thief] = [new Client(auth), new Client(auth)]
    await tryAs(owner, ada, password)
    await owner.post('/two-factor', { code: totpAt(secret, runtime.now()) })
    expect((await owner.session())?.user?.email).toBe(ada)
    // The password without the factor.
    await tryAs(thief, ada, password)
    for (let each = 0; each < 4; each++) await tryAs(new Client(auth), ada)
    expect([await tryAs(thief, ada), await tryAs(owner, ada)]).toEqual([429, 302])
  })

  it('a stranger who signs in as himself does not make his browser known for the address that he types beside', async () => {
    const { auth, join, tryAs } = await limited()
    await join(ada)
    const eve = await join('eve@example.com')
    await eve.post('/callback/passwords', { email: 'eve@example.com', password, username: ada, identifier: ada, login: ada })
    for (let each = 0; each < 4; each++) await tryAs(new Client(auth), ada)
    expect(await tryAs(eve, ada)).toBe(429)
  })
})
