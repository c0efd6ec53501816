/** The account page: profile, ways to sign in, sessions, sections of plugins. In Chromium: test/flows/pages-access.test.ts. */
import { createAuth } from 'authkernel'
import { type AuthConfig, definePlugin, type Kernel, type Provider } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { memoryAdapter, memoryData, memoryRecords } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { describe, expect, it } from 'vitest'
import { deviceOf } from '../../plugins/pages/pages/account/device.ts'
import { baseConfig, Client } from '../_setup.ts'

const oauth = (id: string, name: string): Provider => ({
  id,
  name,
  type: 'oauth',
  clientId: 'i',
  clientSecret: 's',
  authorization: `https://${id}.example/a`,
  token: 'https://t.example',
  userinfo: 'https://u.example',
})
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15'

/** Two people with stored sessions; `browser` signs Jane in with a User-Agent. */
async function host(config: Partial<AuthConfig> = {}, setup: (kernel: Kernel) => void = () => {}) {
  const data = memoryData()
  const adapter = memoryAdapter(data)
  for (const id of ['jane', 'eve'])
    await adapter.createUser?.({ id, name: `${id} <b>`, email: `${id}@mail.example`, emailVerified: id === 'jane' ? new Date(0) : null })
  await adapter.linkAccount?.({ userId: 'jane', type: 'oidc', provider: 'acme', providerAccountId: 'subject-4711' })
  const login: Provider = {
    id: 'pw',
    name: 'Password',
    type: 'credentials',
    credentials: { name: {} },
    authorize: ({ name }) => ({ id: String(name) }),
  }
  const options = baseConfig({
    adapter,
    providers: [login, oauth('acme', 'Acme ID'), oauth('hub', 'Hub')],
    session: { strategy: 'database' },
    ...config,
  })
  const auth = createAuth(options)
    .use(accountsPlugin())
    .use(recordsPlugin(memoryRecords()))
    .use(definePlugin({ name: 'extra', setup }))
  const browser = async (userAgent: string, name = 'jane'): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/pw', { name }, { 'user-agent': userAgent })
    return client
  }
  return { auth, browser, logger: options.logger, runtime: options.runtime }
}
const page = async (client: Client, headers?: Record<string, string>): Promise<string> => (await client.get('/account', headers)).text()
const tokenIn = (text: string): string => /name="csrfToken" value="([^"]+)"/.exec(text)?.[1] ?? ''
const post = (client: Client, path: string, body: Record<string, string>): Promise<Response> =>
  client.send(path, { method: 'POST', body: new URLSearchParams(body) })
const signedIn = async (client: Client): Promise<boolean> => (await client.session()) !== null

describe.each(['database', 'jwt'] as const)('the account page, %s', (strategy) => {
  const session = { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } } as Partial<AuthConfig>

  it('asks to sign in first, and comes back', async () => {
    const { auth } = await host(session)
    const answer = await new Client(auth).get('/account')
    expect(answer.headers.get('location')).toBe(
      `http://localhost:3000/auth/signin?callbackUrl=${encodeURIComponent('http://localhost:3000/auth/account')}`,
    )
  })

  it('shows name, address, linked accounts by name, and what can be connected', async () => {
    const { browser } = await host(session)
    const text = await page(await browser(windows))
    expect(text).toContain('<bdi>jane &lt;b&gt;</bdi>')
    expect(text).toMatch(/jane@mail\.example<\/bdi>\s*<span class="ui-tag ok">confirmed/)
    expect(text).toMatch(/<bdi>Acme ID<\/bdi> <span class="ui-tag ok">connected/)
    expect(text).not.toMatch(/oidc|subject-4711|<script(?! nonce)|style="/)
    expect(text).toContain('<form class="stack" action="http://localhost:3000/auth/signin/hub" method="post">')
    expect(text).toContain('Connect Hub')
    expect(text).not.toContain('/signin/acme')
    expect([...text.matchAll(/<section[^>]* id="([^"]+)" aria-labelledby="([^"]+)"/g)].map(([, id, by]) => [id, by])).toEqual(
      ['profile', 'methods', 'sessions', 'delete'].map((id) => [id, `${id}-heading`]),
    )
    expect(await page(await browser(windows, 'eve'))).toContain('not confirmed')
  })

  it('lists devices, ends one, and ends all; of no other user', async () => {
    const { browser } = await host(session)
    const [here, there, stranger] = [await browser(windows), await browser(mac), await browser(windows, 'eve')]
    const text = await page(here)
    expect(text).toContain('Chrome on Windows')
    expect(text).toContain('Safari on macOS')
    expect(text.match(/this device/g)).toHaveLength(1)
    const ids = [...text.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id!)
    expect(ids).toHaveLength(1)
    // Her own session cannot be ended by another user.
    const hers = tokenIn(await page(stranger))
    await post(stranger, '/account/sessions/end', { csrfToken: hers, id: ids[0]! })
    expect(await signedIn(there)).toBe(true)
    // Not without the token of the page.
    expect((await post(here, '/account/sessions/end', { id: ids[0]! })).headers.get('location')).toContain('MissingCSRF')
    const ended = await post(here, '/account/sessions/end', { csrfToken: tokenIn(text), id: ids[0]! })
    expect(ended.headers.get('location')).toBe('http://localhost:3000/auth/account?done=#sessions')
    expect([await signedIn(here), await signedIn(there)]).toEqual([true, false])
    expect(await (await here.get('/account?done=')).text()).toContain('role="status"')

    const third = await browser(mac)
    const all = await post(here, '/account/sessions/end-all', { csrfToken: tokenIn(text) })
    expect(all.headers.get('location')).toBe('http://localhost:3000/auth/signin')
    expect([await signedIn(here), await signedIn(third), await signedIn(stranger)]).toEqual([false, false, true])
  })
})

describe('the account page', () => {
  it('speaks five languages', async () => {
    const { browser } = await host()
    const jane = await browser(windows)
    for (const [lang, heading] of [
      ['de', 'Geräte und Sitzungen'],
      ['fr', 'Appareils et sessions'],
      ['es', 'Dispositivos y sesiones'],
      ['ja', 'デバイスとセッション'],
      ['en', 'Devices and sessions'],
    ] as const)
      expect(await page(jane, { 'accept-language': lang })).toContain(`<h2 id="sessions-heading">${heading}</h2>`)
  })

  it('without a store it shows what the session tells, and nothing that cannot be done', async () => {
    const login: Provider = {
      id: 'pw',
      name: 'Password',
      type: 'credentials',
      authorize: () => ({ id: '1', name: 'Jo', email: 'jo@mail.example' }),
    }
    const client = new Client(createAuth(baseConfig({ providers: [login, oauth('hub', 'Hub')] })))
    await client.post('/callback/pw')
    const text = await page(client)
    expect([...text.matchAll(/<section[^>]* id="([^"]+)"/g)].map(([, id]) => id)).toEqual(['profile'])
    expect(text).toMatch(/Jo<\/bdi>[\s\S]*jo@mail\.example/)
    expect(text).not.toMatch(/confirmed|<form/)
  })

  it('has sections of plugins in their order; one that fails does not take the page with it', async () => {
    const { browser, logger } = await host({}, (kernel) => {
      kernel.accountSection({
        id: 'keys',
        order: 250,
        draw: (_ctx, { html }) => ({
          heading: 'Keys',
          body: html`<p>${'<k>'}</p>`,
          sources: { img: ['https://i.example'] },
          forms: ['https://f.example'],
        }),
      })
      kernel.accountSection({ id: 'nothing', draw: () => undefined })
      kernel.accountSection({ id: 'broken', order: 50, draw: () => Promise.reject(new Error('no such table')) })
      kernel.accountSection({ id: 'wide', draw: (_ctx, { html }) => ({ heading: 'x', body: html``, sources: { script: ['*'] } }) })
      kernel.accountSection({ id: 'profile', order: 100, draw: () => ({ heading: 'Mine', body: 'own profile' }) })
      kernel.slot('account', 'account', (_ctx, { html }) => ({ html: html`<p id="slot"></p>` }))
    })
    const answer = await (await browser(windows)).get('/account')
    const text = await answer.text()
    expect([...text.matchAll(/<section[^>]* id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      'broken',
      'profile',
      'methods',
      'keys',
      'sessions',
      'wide',
      'delete',
    ])
    expect(text).toContain('<p>&lt;k&gt;</p>')
    expect(text).toContain('own profile')
    expect(text).toContain('id="slot"')
    expect(logger.errors.map(({ message }) => message)).toEqual([
      'no such table',
      expect.stringMatching(/account section "wide" of plugin "extra" names the script source/),
    ])
    expect(answer.headers.get('content-security-policy')).toMatch(
      /img-src 'self' data: https:\/\/i\.example;.*form-action [^;]*https:\/\/f\.example/,
    )
  })

  it("is replaced by the host's own URL", async () => {
    const { browser } = await host({ pages: { account: '/me' } })
    expect((await (await browser(windows)).get('/account')).headers.get('location')).toBe('/me')
  })
})

describe('what a browser says it is', () => {
  it.each([
    [windows, 'Chrome', 'Windows'],
    [mac, 'Safari', 'macOS'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox', 'Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0 Mobile/15E148 Safari/604.1',
      'Chrome',
      'iPhone',
    ],
    [`${windows} Edg/130.0.0.0`, 'Edge', 'Windows'],
    ['curl/8.5.0', undefined, undefined],
    [undefined, undefined, undefined],
  ])('%s', (userAgent, browser, system) => expect(deviceOf(userAgent)).toEqual({ browser, system }))
})

describe('disconnecting a sign-in method', () => {
  const linked = async () => {
    const world = await host()
    const jane = await world.browser(windows)
    const text = await page(jane)
    const account = /name="account" value="([^"]+)"/.exec(text)?.[1] ?? ''
    return { ...world, jane, account, token: tokenIn(text) }
  }

  it('asks in a dialog, without JavaScript on a page, and never takes the last way in', async () => {
    const { auth, jane, account, token } = await linked()
    expect(account).toMatch(/^[0-9a-f]{16}$/)
    const asked = await (await jane.get(`/account?disconnect=${account}`)).text()
    expect(asked).toContain('Disconnect <bdi>Acme ID</bdi>?')
    const refused = await post(jane, '/account/disconnect', { csrfToken: token, account })
    expect(refused.headers.get('location')).toBe('http://localhost:3000/auth/account?methods=LastAccount#methods')
    expect(await (await jane.get('/account?methods=LastAccount')).text()).toContain('This is your last sign-in method.')
    expect(await auth.accounts.list({ userId: 'jane' })).toHaveLength(1)
  })

  it('unlinks, ends the other sessions, and keeps this one', async () => {
    const { auth, browser, jane, account, token } = await linked()
    await auth.accounts.link({ userId: 'jane' }, { provider: 'hub', providerAccountId: 'h', type: 'oauth' })
    const there = await browser(mac)
    expect((await post(jane, '/account/disconnect', { account })).headers.get('location')).toContain('MissingCSRF')
    const done = await post(jane, '/account/disconnect', { csrfToken: token, account })
    expect(done.headers.get('location')).toBe('http://localhost:3000/auth/account?done=#methods')
    expect(await auth.accounts.list({ userId: 'jane' })).toEqual([{ provider: 'hub', providerAccountId: 'h', type: 'oauth' }])
    expect([await signedIn(jane), await signedIn(there)]).toEqual([true, false])
  })

  it('takes nothing of another user, and wants a fresh proof', async () => {
    const { auth, browser, jane, account, token, runtime } = await linked()
    await auth.accounts.link({ userId: 'jane' }, { provider: 'hub', providerAccountId: 'h', type: 'oauth' })
    const eve = await browser(windows, 'eve')
    await post(eve, '/account/disconnect', { csrfToken: tokenIn(await page(eve)), account })
    expect((await eve.get(`/account?disconnect=${account}`)).status).toBe(302)
    expect(await auth.accounts.list({ userId: 'jane' })).toHaveLength(2)
    runtime.advance(301_000)
    const response = await post(jane, '/account/disconnect', { csrfToken: token, account })
    expect(new URL(response.headers.get('location')!).pathname).toBe('/auth/signin')
    expect(await auth.accounts.list({ userId: 'jane' })).toHaveLength(2)
  })

  it('two at once leave one way in', async () => {
    const { auth, jane, token } = await linked()
    await auth.accounts.link({ userId: 'jane' }, { provider: 'hub', providerAccountId: 'h', type: 'oauth' })
    const ids = [...(await page(jane)).matchAll(/name="account" value="([^"]+)"/g)].map(([, id]) => id!)
    expect(ids).toHaveLength(2)
    await Promise.all(ids.map((account) => post(jane, '/account/disconnect', { csrfToken: token, account })))
    expect((await auth.accounts.list({ userId: 'jane' })).length).toBeGreaterThanOrEqual(1)
  })
})
