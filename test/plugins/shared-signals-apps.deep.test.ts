/** What a signal about an account ends beside sessions of browsers: sessions of apps, codes, approvals of devices, sign-ins under way and provider tokens. */
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { jws, keys } from '../_op/keys.ts'
import { begin, discover, finish, origin, signIn as signInApp, visit } from './_app.ts'

let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

const redirect = 'https://app.example/signed-in'
const signals = {
  'session-revoked': 'caep/event-type/session-revoked',
  'sessions-revoked': 'risc/event-type/sessions-revoked',
  'credential-change': 'caep/event-type/credential-change',
  'account-disabled': 'risc/event-type/account-disabled',
  'account-purged': 'risc/event-type/account-purged',
} as const
type Kind = keyof typeof signals
const kinds = Object.keys(signals) as Kind[]
let number = 0

function site(strategy: 'jwt' | 'database', revoke: boolean | Kind[] = true) {
  const data = memoryData()
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    runtime: { now },
    logger: { error: () => undefined, warn: () => undefined },
  })
    .use(adapterPlugin(memoryAdapter(data)))
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    .use(oidcPlugin({ id: 'other', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    .use(providerTokensPlugin())
    .use(sharedSignalsPlugin({ providers: { acme: { revoke } } }))
    .use(bearerPlugin({ apps: [{ id: 'desktop', name: 'Desktop', redirectUris: [redirect], scopes: ['read'] }] }))
    .use(deviceFlowPlugin({ apps: ['desktop'] }))
  const post = async (path: string, fields: Record<string, string>): Promise<Record<string, string>> =>
    (await (
      await auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields) }))
    ).json()) as Record<string, string>
  return {
    auth,
    data,
    clock,
    post,
    async signIn(id = 'acme'): Promise<Client> {
      const at = Math.floor(now() / 1000)
      op.reset({ claims: (own) => ({ ...own, sid: 'one', iat: at, exp: at + 600, email: `${id}@example.com` }) })
      const browser = new Client(auth)
      await browser.get(await op.authorize(locationOf(await browser.signIn(id))))
      expect((await browser.session())?.user).toBeDefined()
      return browser
    },
    signal(kind: Kind, change: object = {}): string {
      const claims = {
        iss: op.issuer,
        aud: op.clientId,
        iat: Math.floor(now() / 1000),
        jti: `apps-${number++}`,
        sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'alice' },
        events: { [`https://schemas.openid.net/secevent/${signals[kind]}`]: {} },
        ...change,
      }
      return jws({ alg: keys.k1.alg, kid: keys.k1.kid, typ: 'secevent+jwt' }, claims, keys.k1)
    },
    async push(token: string): Promise<void> {
      const headers = { 'content-type': 'application/secevent+jwt', accept: 'application/json' }
      expect((await auth.handler(new Request(`${origin}/auth/signals/acme`, { method: 'POST', body: token, headers }))).status).toBe(202)
    },
    isLive: async (token: string): Promise<boolean> =>
      (await auth.session(new Request(origin, { headers: { authorization: `Bearer ${token}` } }))) !== null,
    /** A device that asks, and the user who lets it in. */
    async approve(browser: Client): Promise<() => Promise<Record<string, string>>> {
      const started = await post('/oauth/device', { client_id: 'desktop' })
      const page = await (await browser.post('/device', { user_code: started['user_code'] ?? '' })).text()
      await browser.post('/device/decide', { ticket: /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '', decision: 'allow' })
      const form = {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'desktop',
        device_code: started['device_code'] ?? '',
      }
      return () => post('/oauth/token', form)
    },
  }
}

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  it.each(kinds)('%s ends the sessions of browsers and apps, codes and approvals that came from the account', async (kind) => {
    const { auth, signIn, signal, push, isLive, approve } = site(strategy)
    const browser = await signIn()
    const app = await discover(auth)
    const { access_token: token } = await signInApp(app, browser, redirect)
    const begun = await begin(app, redirect)
    const withCode = await visit(browser, begun.url)
    const fetchTokens = await approve(browser)
    expect(await isLive(token)).toBe(true)
    await push(signal(kind))
    expect([await isLive(token), await browser.session()]).toEqual([false, null])
    await expect(finish(app, begun, withCode)).rejects.toThrow()
    expect(await fetchTokens()).toMatchObject({ error: expect.any(String) as string })
  })

  it('an app that signed in while the signal was on its way ends with the session that it came from', async () => {
    const { auth, signIn, signal, push, isLive, clock } = site(strategy)
    const browser = await signIn()
    const late = signal('account-disabled')
    clock.ahead = 90_000
    const { access_token: token } = await signInApp(await discover(auth), browser, redirect)
    const again = await signIn()
    const { access_token: later } = await signInApp(await discover(auth), again, redirect)
    await push(late)
    expect([await isLive(token), await browser.session()]).toEqual([false, null])
    expect([await isLive(later), (await again.session()) !== null]).toEqual([true, true])
  })

  it('a sign-in that is under way when the signal comes gives nothing', async () => {
    const { auth, signal, push, signIn } = site(strategy)
    await signIn()
    let signals = 0
    auth.hook('signIn', async () => {
      if (signals++ === 0) await push(signal('account-disabled'))
      return true
    })
    op.reset({ claims: (own) => ({ ...own, sid: 'two' }) })
    const browser = new Client(auth)
    await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
    expect([signals, await browser.session()]).toEqual([1, null])
    expect(await (await signIn()).session()).not.toBeNull()
  })

  it('sessions by another way in, and signals that are not listed, are left alone', async () => {
    const { signIn, signal, push } = site(strategy, ['account-disabled'])
    const [own, other] = [await signIn(), await signIn('other')]
    await push(signal('account-purged'))
    expect(await own.session()).not.toBeNull()
    await push(signal('account-disabled'))
    expect(await own.session()).toBeNull()
    expect(await other.session()).not.toBeNull()
  })
})

it.each([
  ['account-disabled', 0],
  ['account-purged', 0],
  ['session-revoked', 1],
] as const)('%s leaves %s sets of provider tokens', async (kind, left) => {
  const { data, signIn, signal, push } = site('database')
  await signIn()
  const rows = () => data.records?.get('providerToken')?.size
  expect(rows()).toBe(1)
  await push(signal(kind))
  expect(rows()).toBe(left)
})
