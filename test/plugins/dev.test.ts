/** The development panel: for the developer's browser on the developer's machine, and for no other request. */
import { createAuth } from 'authkernel'
import { type DevOptions, devPlugin } from 'authkernel/plugins/dev'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { startMailServer } from '../flows/_mail-server.ts'

const origin = 'http://localhost:3000'

function world(options: Partial<DevOptions> = {}, config: object = {}) {
  const printed: string[] = []
  const auth = createAuth(baseConfig({ origin, adapter: memoryAdapter(), session: { strategy: 'database' }, ...config }))
    .use(passwordsPlugin({ breached: false }))
    .use(devPlugin({ development: true, print: (text) => void printed.push(text), ...options }))
  const client = new Client(auth)
  return { auth, printed, client }
}

/** Follows the link that the terminal shows. */
async function open({ client, printed }: ReturnType<typeof world>): Promise<string> {
  await client.get('/session')
  const key = /\/dev\?key=(\w{32})$/m.exec(printed.join('\n'))?.[1] ?? ''
  expect((await client.get(`/dev?key=${key}`)).headers.get('location')).toBe(`${origin}/auth/dev`)
  return key
}
const panel = async (client: Client, query = ''): Promise<string> => (await client.get(`/dev${query}`)).text()

describe('who may open it', () => {
  it('the browser that opened the printed link, once per start, and no other', async () => {
    const app = world()
    const key = await open(app)
    expect(await panel(app.client)).toContain('Development panel')
    expect(app.printed.filter((text) => text.includes('/dev?key='))).toHaveLength(1)
    const other = new Client(app.auth)
    expect((await other.get('/dev')).status).toBe(403)
    expect((await other.get(`/dev?key=${'0'.repeat(32)}`)).status).toBe(403)
    expect((await other.get(`/dev?key=${key}x`)).status).toBe(403)
    expect((await other.post('/dev', { act: 'signIn', user: 'ann@example.test' })).status).toBe(403)
    expect(await (await other.get('/session')).json()).toBeNull()
  })

  it.each([
    ['a name that points to this machine (DNS rebinding)', { host: 'evil.example' }],
    ['a proxy that names its host', { 'x-forwarded-host': 'app.example' }],
    ['a proxy that names a client', { 'x-forwarded-for': '203.0.113.7, 127.0.0.1' }],
    ['a proxy with the standard header', { forwarded: 'for=203.0.113.7;host=localhost' }],
  ])('with the key, not through %s', async (_, headers) => {
    const app = world()
    await open(app)
    expect((await app.client.get('/dev', headers)).status).toBe(404)
    expect((await app.client.post('/dev', { act: 'signIn', user: 'ann@example.test' }, headers)).status).toBe(404)
  })

  it('not for another machine, although it says localhost', async () => {
    const app = world()
    const key = await open(app)
    const ask = (clientAddress: string) => app.auth.handler(new Request(`${origin}/auth/dev?key=${key}`), { clientAddress })
    expect((await ask('192.168.1.20')).status).toBe(404)
    for (const local of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect((await ask(local)).status).toBe(302)
  })

  it.each(['cross-site', 'same-site'])('not by a request of another site (%s), nor with a form of it', async (site) => {
    const app = world()
    const key = await open(app)
    expect((await app.client.get('/dev', { 'sec-fetch-site': site })).status).toBe(403)
    expect((await new Client(app.auth).get(`/dev?key=${key}`, { 'sec-fetch-site': site })).status).toBe(403)
    const forged = { 'sec-fetch-site': site, origin: 'http://localhost:4000' }
    await app.client.post('/dev', { act: 'signIn', user: 'ann@example.test' }, forged)
    expect(await (await app.client.get('/session')).json()).toBeNull()
  })

  it('a POST without the token of the form signs nobody in', async () => {
    const app = world()
    await open(app)
    await app.client.post('/dev', { csrfToken: 'wrong', act: 'signIn', user: 'ann@example.test' })
    expect(await (await app.client.get('/session')).json()).toBeNull()
  })
})

describe('production', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each([false, undefined])('with development: %s it has no route, no mail transport and no clock', async (development) => {
    const auth = createAuth(baseConfig({ origin })).use(devPlugin({ development }))
    expect((await new Client(auth).get('/dev')).status).toBe(400)
    expect(auth.inspect().services['mailTransport']).toBeUndefined()
    expect(() => auth.dev.catchMessage({ to: '+49', text: '1' })).toThrow('works in development only')
  })

  it('with NODE_ENV production, and for an origin that is public, the app does not start', () => {
    expect(() => createAuth(baseConfig({ origin: 'https://app.example' })).use(devPlugin({ development: true }))).toThrow(
      'the origin of the app is https://app.example',
    )
    vi.stubEnv('NODE_ENV', 'production')
    expect(() => devPlugin({ development: true })).toThrow('NODE_ENV is "production"')
  })

  it('a plugin that needs mails says so at start where the panel is off', async () => {
    const auth = createAuth(baseConfig({ origin, adapter: memoryAdapter(), session: { strategy: 'database' } }))
      .use(passwordsPlugin())
      .use(devPlugin({ development: false }))
    await expect(auth.ready()).rejects.toThrow(/mail/)
  })
})

describe('what it shows and does', () => {
  it('signs in as a test user, who is stored, and as any stored user; the steps of a sign-in run', async () => {
    const app = world()
    const seen: string[] = []
    app.auth.on('signIn', ({ user }) => void seen.push(user.email ?? ''))
    await open(app)
    await app.client.post('/dev', { act: 'signIn', user: 'ann@example.test' })
    expect(await (await app.client.get('/session')).json()).toMatchObject({ user: { email: 'ann@example.test' } })
    expect(seen).toEqual(['ann@example.test'])
    const list = await panel(app.client)
    const id = /value="id:([^"]+)"/.exec(list)?.[1] ?? ''
    expect(await panel(app.client, `?tab=users&user=${id}`)).toMatch(/ann@example\.test[\s\S]*Sessions/)
    await app.client.post('/signout')
    await app.client.post('/dev', { act: 'signIn', user: `id:${id}` })
    expect(await (await app.client.get('/session')).json()).toMatchObject({ user: { email: 'ann@example.test' } })
    expect((await app.client.post('/dev', { act: 'signIn', user: 'id:unknown' })).status).toBe(404)
  })

  it('asks for the second factor of the user', async () => {
    const app = world()
    app.auth.use(twoFactorPlugin({ required: () => true }))
    await open(app)
    const response = await app.client.post('/dev', { act: 'signIn', user: 'bob@example.test' })
    expect(response.headers.get('location')).toContain('two-factor')
    expect(await (await app.client.get('/session')).json()).toBeNull()
  })

  it('works without an adapter, with a session in a cookie', async () => {
    const printed: string[] = []
    const auth = createAuth(baseConfig({ origin })).use(devPlugin({ development: true, print: (text) => void printed.push(text) }))
    const client = new Client(auth)
    await open({ auth, client, printed } as never)
    await client.post('/dev', { act: 'signIn', user: 'ann@example.test' })
    expect(await (await client.get('/session')).json()).toMatchObject({ user: { email: 'ann@example.test' } })
  })

  it('prints and shows mails where the app has no transport, and messages that it is given', async () => {
    const app = world()
    await open(app)
    await app.client.post('/passwords/sign-up', { email: 'eve@example.test', password: 'a long enough pass phrase' })
    await vi.waitFor(() => expect(app.printed.join('\n')).toContain('mail to eve@example.test'))
    const url = /http:\/\/localhost:3000\/auth\/passwords\/\S+/.exec(app.printed.join('\n'))?.[0]
    expect(url).toBeDefined()
    expect(await panel(app.client, '?tab=mails')).toContain('eve@example.test')
    app.auth.dev.catchMessage({ to: '+4915112345678', text: 'Your code is 123456 <b>' })
    expect(await panel(app.client, '?tab=mails')).toContain('Your code is 123456 &lt;b&gt;')
  })

  it('a transport of the app still sends; the panel has a copy', async () => {
    const sent: string[] = []
    const app = world({}, { plugins: undefined })
    app.auth.use({
      name: 'own-mails',
      setup: (kernel) => kernel.provide('mailTransport', { send: ({ to }) => void sent.push(to) }),
    })
    await open(app)
    await app.client.post('/passwords/sign-up', { email: 'eve@example.test', password: 'a long enough pass phrase' })
    await vi.waitFor(() => expect(sent).toEqual(['eve@example.test']))
    expect(app.printed.join('\n')).not.toContain('mail to')
    expect(await panel(app.client, '?tab=mails')).toContain('eve@example.test')
  })

  it('the server of a sign-in by email sends too: two plugins with a default of their own', async () => {
    const mails = await startMailServer()
    const app = world()
    app.auth.use(emailPlugin({ server: `smtp://127.0.0.1:${mails.port}`, from: 'a@acme.example' }))
    await open(app)
    await app.client.post('/passwords/sign-up', { email: 'eve@example.test', password: 'a long enough pass phrase' })
    await vi.waitFor(() => expect(mails.delivered.map(({ recipients }) => recipients)).toEqual([['eve@example.test']]))
    expect(app.printed.join('\n')).not.toContain('mail to')
    expect(await panel(app.client, '?tab=mails')).toContain('eve@example.test')
    await mails.close()
  })

  it('has traces of requests with the answers of hooks, and none of its own requests', async () => {
    const app = world()
    app.auth.hook('session', ({ session }) => session)
    await open(app)
    await app.client.post('/dev', { act: 'signIn', user: 'ann@example.test' })
    await app.client.get('/session')
    const requests = await panel(app.client, '?tab=requests')
    expect(requests).toContain('GET /auth/session')
    expect(requests).toContain('hook session, host')
    expect(requests).not.toContain('GET /auth/dev')
    expect(await panel(app.client, '?tab=hooks')).toMatch(/session[\s\S]*host[\s\S]*\{ userId, expires, user \}/)
    expect(await panel(app.client, '?tab=routes')).toContain('/passwords/sign-up')
    await app.client.post('/dev', { act: 'clear' })
    expect(await panel(app.client, '?tab=requests')).not.toContain('GET /auth/session')
  })

  it('moves the clock forward, so that a session ends, and sets it back to the real time', async () => {
    const app = world()
    await open(app)
    await app.client.post('/dev', { act: 'signIn', user: 'ann@example.test' })
    await app.client.post('/dev', { act: 'clock', seconds: String(31 * 86_400) })
    expect(await panel(app.client, '?tab=clock')).toContain('31 days')
    expect(await (await app.client.get('/session')).json()).toBeNull()
    await app.client.post('/dev', { act: 'clock', seconds: '0' })
    expect(await panel(app.client, '?tab=clock')).toMatch(/Ahead of the real time[\s\S]*no/)
    for (const seconds of ['-5', '1.5', 'x', String(401 * 86_400)])
      expect((await app.client.post('/dev', { act: 'clock', seconds })).status).toBe(400)
  })
})

it('wrong options are named', () => {
  expect(() => devPlugin({ development: true, users: [{ email: 'ann' }] })).toThrow('each of `users` needs an `email`')
  expect(() => devPlugin({ development: true, panel: 1 } as never)).toThrow('panel')
})
