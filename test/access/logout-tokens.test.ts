/** A logout token of the provider ends all that rests on its session: codes, approvals, parked sign-ins, and callbacks that are under way. */
import { createAuth } from 'authkernel'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { jws, keys } from '../_op/keys.ts'
import { termsPlugin } from './_terms.ts'

const origin = 'http://localhost:3000'
const redirectUri = 'https://app.example/signed-in'
const verifier = 'v'.repeat(43)
const challenge = '7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM'
let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

let tokens = 0

async function send(browser: Client, path: string, fields: Record<string, string> = {}): Promise<Response> {
  return browser.post(path, { csrfToken: await browser.csrfToken(), ...fields })
}

function world(strategy: 'jwt' | 'database') {
  const state = { parks: false, gate: Promise.resolve() as Promise<unknown>, waiting: () => {} }
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter: memoryAdapter(),
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
  })
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    .use(singleLogoutPlugin())
    .use(bearerPlugin({ apps: [{ id: 'app', name: 'App', redirectUris: [redirectUri], scopes: ['read'] }] }))
    .use(deviceFlowPlugin({ apps: ['app'] }))
    .use(termsPlugin(() => state.parks))
  auth.hook('signIn', async () => {
    state.waiting()
    await state.gate
    return true
  })
  const post = (path: string, fields: Record<string, string>) =>
    auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields) }))
  const callback = async (browser = new Client(auth), sid = 'one') => {
    op.reset({ claims: (own) => ({ ...own, sid, sub: 'alice', email: 'alice@example.com' }) })
    const location = await op.authorize(locationOf(await browser.signIn('acme')))
    return { browser, go: () => browser.get(location) }
  }
  const signIn = async (sid?: string) => {
    const { browser, go } = await callback(undefined, sid)
    await go()
    return browser
  }
  const logout = async (names: object = { sid: 'one' }) => {
    const now = Math.floor(Date.now() / 1000)
    const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = { iss: op.issuer, aud: op.clientId, iat: now, exp: now + 120, jti: `rest-${tokens++}`, events: event, ...names }
    const token = jws({ alg: keys.k1.alg, kid: keys.k1.kid, typ: 'logout+jwt' }, claims, keys.k1)
    expect((await post('/backchannel-logout/acme', { logout_token: token })).status).toBe(200)
  }
  const code = async (browser: Client): Promise<string> => {
    const query = {
      response_type: 'code',
      client_id: 'app',
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    const answer = await browser.get(`/oauth/authorize?${new URLSearchParams(query).toString()}`)
    return new URL(answer.headers.get('location') ?? origin, origin).searchParams.get('code') ?? ''
  }
  const exchange = async (given: string): Promise<{ error?: string; access_token?: string }> =>
    (
      await post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: 'app',
        redirect_uri: redirectUri,
        code: given,
        code_verifier: verifier,
      })
    ).json() as never
  return { auth, state, post, callback, signIn, logout, code, exchange }
}

const selectors = [{ sid: 'one' }, { sub: 'alice' }, { sid: 'one', sub: 'alice' }]

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it.each(selectors)('a code of an app gives nothing after a logout token with %j', async (names) => {
    const { signIn, logout, code, exchange } = world(strategy)
    const browser = await signIn()
    const before = await code(browser)
    expect((await exchange(await code(browser))).access_token).toBeDefined()
    await logout(names)
    expect((await exchange(before)).error).toBe('invalid_grant')
  })

  it('another session of the same user keeps its code', async () => {
    const { signIn, logout, code, exchange } = world(strategy)
    const kept = await code(await signIn('two'))
    await logout({ sid: 'one' })
    expect((await exchange(kept)).access_token).toBeDefined()
  })

  it('a device that was approved gets nothing', async () => {
    const { signIn, logout, post } = world(strategy)
    const browser = await signIn()
    const started = (await (await post('/oauth/device', { client_id: 'app' })).json()) as Record<string, string>
    const page = await (await send(browser, '/device', { user_code: started['user_code']! })).text()
    await send(browser, '/device/decide', { ticket: /name="ticket" value="([^"]+)"/.exec(page)![1]!, decision: 'allow' })
    await logout()
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'app', device_code: started['device_code']! }
    expect(((await (await post('/oauth/token', form)).json()) as { error?: string }).error).toBe('invalid_grant')
  })

  it('a parked sign-in goes no further, and the next one does', async () => {
    const { state, callback, signIn, logout } = world(strategy)
    state.parks = true
    const { browser, go } = await callback()
    await go()
    await logout()
    await send(browser, '/terms')
    expect(await browser.session()).toBeNull()
    const next = await signIn()
    await send(next, '/terms')
    expect(await next.session()).not.toBeNull()
  })

  it('a callback that is under way signs no user in', async () => {
    const { state, callback, logout } = world(strategy)
    const { browser, go } = await callback()
    let open = (): void => {}
    const reached = new Promise<void>((resolve) => (state.waiting = resolve))
    state.gate = new Promise<void>((resolve) => (open = resolve))
    const under = go()
    await reached
    await logout()
    open()
    await under
    expect(await browser.session()).toBeNull()
  })
})
