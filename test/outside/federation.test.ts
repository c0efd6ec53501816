/** Plugins of strangers that talk to the provider after the sign-in: the real `oidc-provider` over HTTP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { memoryRecords } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { recordsPlugin } from 'authkernel/plugins/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { accessTokenPlugin } from './plugins/04-access-token.ts'
import { oidcLogoutPlugin } from './plugins/05-logout.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
/** What the provider posts to: the instance of the running test. */
let receive: (request: Request) => Promise<Response>
const answers: number[] = []
const receiver = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', async () => {
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const answer = await receive(
      new Request(`http://localhost:3000${request.url}`, { method: 'POST', headers, body: Buffer.concat(parts) }),
    )
    answers.push(answer.status)
    response.writeHead(answer.status).end(await answer.text())
  })
})
let op: RealOp
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const client = {
    client_id: 'app',
    client_secret: clientSecret,
    redirect_uris: ['http://localhost:3000/auth/callback/acme'],
    post_logout_redirect_uris: ['http://localhost:3000/auth/oidc-logout'],
    backchannel_logout_uri: `http://127.0.0.1:${port}/auth/oidc-logout/acme`,
    backchannel_logout_session_required: true,
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
  }
  op = await realOp([client], {
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: { body: string }, form: string) => void (ctx.body = form),
      },
    },
    // The provider refuses to call loopback addresses by itself.
    fetch: (input: URL, init: RequestInit & { dispatcher?: unknown }) => fetch(input, { ...init, dispatcher: undefined } as RequestInit),
    scopes: ['openid', 'offline_access', 'email'],
    rotateRefreshToken: true,
    ttl: { AccessToken: 300, AuthorizationCode: 60, IdToken: 3600, Interaction: 600, Grant: 36_000, Session: 36_000, RefreshToken: 36_000 },
  })
})
afterAll(async () => {
  await op.stop()
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
})

function world<E>(plugin: Plugin<E>) {
  const clock = { ahead: 0 }
  const { logger } = baseConfig()
  const auth = createAuth({
    secret: 's'.repeat(40),
    trustHost: true,
    env: false,
    logger,
    session: { strategy: 'jwt', revocable: true },
    runtime: { fetch, now: () => Date.now() + clock.ahead },
  })
    .use(recordsPlugin(memoryRecords()))
    .use(
      oidcPlugin({
        id: 'acme',
        issuer: op.issuer,
        clientId: 'app',
        clientSecret,
        authorization: { params: { prompt: 'consent' } },
        scope: 'openid email offline_access',
      }),
    )
    .use(plugin)
  const signIn = async (at = new Map<string, string>(), login = 'alice'): Promise<Client> => {
    const browser = new Client(auth)
    await browser.get(await op.visit(locationOf(await browser.signIn('acme')), { browser: at, login }))
    expect([await browser.session(), ...logger.errors]).toMatchObject([{ user: { email: expect.stringContaining('@') } }])
    return browser
  }
  const requestOf = ({ cookies }: Client): Request =>
    new Request('http://localhost:3000/', { headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } })
  return { auth, clock, signIn, requestOf, logger }
}

it('04 access token: fresh when it is asked for, by one refresh for all who ask', async () => {
  const { auth, clock, signIn, requestOf } = world(accessTokenPlugin())
  expect(await auth.accessToken(new Request('http://localhost:3000/'), 'acme')).toBeNull()
  const browser = await signIn()
  const first = await auth.accessToken(requestOf(browser), 'acme')
  expect(first).toEqual(expect.any(String))
  expect(await auth.accessToken(requestOf(browser), 'acme')).toBe(first)
  clock.ahead = 290_000
  const before = op.hits.get('/token') ?? 0
  const all = await Promise.all(Array.from({ length: 8 }, () => auth.accessToken(requestOf(browser), 'acme')))
  expect([new Set(all).size, all[0] === first, (op.hits.get('/token') ?? 0) - before]).toEqual([1, false, 1])
})

describe('05 logout', () => {
  it('a sign-out ends the session at the provider, which ends the other browser of the person and no other user', async () => {
    const { auth, signIn } = world(oidcLogoutPlugin())
    receive = (request) => auth.handler(request)
    const told: unknown[] = []
    auth.on('backChannelLogout', ({ provider, sid }) => told.push([provider, typeof sid]))
    // Two browsers with one session at the provider: a phone's two apps.
    const atProvider = new Map<string, string>()
    const [here, there, bob] = [await signIn(atProvider), await signIn(atProvider), await signIn(undefined, 'bob')]
    const out = await here.post('/signout', { csrfToken: await here.csrfToken(), callbackUrl: '/bye' })
    const end = new URL(locationOf(out))
    expect([end.origin, end.pathname, end.searchParams.has('id_token_hint')]).toEqual([op.issuer, '/session/end', true])
    const cookie = [...atProvider].map(([name, value]) => `${name}=${value}`).join('; ')
    const page = await fetch(end, { headers: { cookie } })
    const html = await page.text()
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const more = page.headers.getSetCookie().map((line) => line.split(';')[0])
    const done = await fetch(`${op.issuer}/session/end/confirm`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: [cookie, ...more].join('; ') },
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    })
    expect(locationOf(await here.get(locationOf(done)))).toBe('http://localhost:3000/bye')
    expect([await here.session(), await there.session(), answers]).toEqual([null, null, [200]])
    expect((await bob.session())?.user?.email).toBe('bob@example.com')
    expect(told).toEqual([['acme', 'string']])
  })

  it('refuses what is no logout token of the provider', async () => {
    const { auth, signIn } = world(oidcLogoutPlugin())
    const browser = await signIn()
    const post = (fields: Record<string, string>) =>
      auth.handler(new Request('http://localhost:3000/auth/oidc-logout/acme', { method: 'POST', body: new URLSearchParams(fields) }))
    for (const fields of [{}, { logout_token: 'x' }, { logout_token: 'e30.e30.' }]) expect((await post(fields as never)).status).toBe(400)
    expect(await browser.session()).not.toBeNull()
  })
})
