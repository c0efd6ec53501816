/** Attacks on tokens, sign-outs and signals of a provider that have no place in the tests of one plugin. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Auth } from 'authkernel/kernel'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi } from 'authkernel/plugins/provider-tokens'
import { sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { type Jwk, jws, keys } from '../_op/keys.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const revoked = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

let number = 0
const origin = 'http://localhost:3000'
const isIn = async (browser: Client): Promise<boolean> => (await browser.session()) !== null

interface Site {
  auth: Auth<ProviderTokensApi>
  errors: Error[]
  users: string[]
  signIn(claims: Jwk, at?: string): Promise<Client>
  /** Posts a logout token. */
  logout(change: Jwk, header?: Jwk, at?: string): Promise<number>
  signal(change: Jwk, header?: Jwk): Promise<number>
}
function site(strategy: 'jwt' | 'database', provider: object = {}, config: AuthConfig = {}): Site {
  const errors: Error[] = []
  const users: string[] = []
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error: (error) => void errors.push(error), warn() {} },
    adapter: memoryAdapter(),
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    ...config,
  })
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, ...provider }))
    .use(singleLogoutPlugin({ providers: { acme: { frontChannel: true } } }))
    .use(sharedSignalsPlugin({ providers: { acme: { revoke: true } } }))
    .use(providerTokensPlugin())
  auth.on('signIn', ({ user }) => void users.push(user.id ?? ''))
  const signed = (change: Jwk, header: Jwk): string => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: op.issuer, aud: op.clientId, iat: now, exp: now + 120, jti: `attack-${number++}`, ...change }
    return jws({ alg: keys.k1.alg, kid: keys.k1.kid, ...header }, claims, keys.k1)
  }
  return {
    auth,
    errors,
    users,
    async signIn(claims, at = origin) {
      op.reset({
        claims: (own) => ({ ...own, ...claims, email: `${String(claims['sub'])}${String(claims['iss'] ?? '').slice(-1)}@example.com` }),
      })
      const browser = new Client(auth, { origin: at })
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      expect([errors, await isIn(browser)]).toEqual([[], true])
      return browser
    },
    async logout(change, header = {}, at = origin) {
      const body = new URLSearchParams({
        logout_token: signed({ events: { [logoutEvent]: {} }, ...change }, { typ: 'logout+jwt', ...header }),
      })
      return (await auth.handler(new Request(`${at}/auth/backchannel-logout/acme`, { method: 'POST', body }))).status
    },
    async signal(change, header = {}) {
      const { exp: _none, ...claims } = { events: { [revoked]: {} }, ...change } as Jwk
      const body = signed({ ...claims, exp: undefined }, { typ: 'secevent+jwt', ...header })
      const headers = { 'content-type': 'application/secevent+jwt' }
      return (await auth.handler(new Request(`${origin}/auth/signals/acme`, { method: 'POST', body, headers }))).status
    },
  }
}
const requestOf = (browser: Client, at = origin): Request =>
  new Request(`${at}/`, { headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') } })

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  it('each person gets tokens of the own account, and none those of another', async () => {
    const { auth, signIn, users } = site(strategy)
    op.reset()
    const [alice, bob] = [await signIn({ sub: 'alice', sid: 'a' }), await signIn({ sub: 'bob', sid: 'b' })]
    const [hers, his] = [await auth.tokens.get(requestOf(alice), 'acme'), await auth.tokens.get(requestOf(bob), 'acme')]
    expect([hers?.accessToken === his?.accessToken, new Set(users).size]).toEqual([false, 2])
    // Ids of providers are all that a caller can name: an account of another user is none of them.
    for (const name of ['alice', users[0] ?? '', 'acme/alice', '__proto__'])
      expect(await auth.tokens.get(requestOf(bob), name), name).toBeNull()
    expect(await auth.tokens.revoke(requestOf(bob), 'acme')).toBe(true)
    expect((await auth.tokens.get(requestOf(alice), 'acme'))?.accessToken).toBe(hers?.accessToken)
    expect(await auth.tokens.get(requestOf(new Client(auth)), 'acme')).toBeNull()
  })

  it('a user who acts for another gets no token of that person', async () => {
    const { auth, signIn, users } = site(strategy)
    auth.use(stepUpPlugin()).use(impersonationPlugin({ can: () => true }))
    await signIn({ sub: 'alice', sid: 'a' })
    const admin = await signIn({ sub: 'admin', sid: 'b' })
    const [userId = ''] = users
    const { impersonation } = auth as unknown as ImpersonationApi
    const begun = await impersonation.start(requestOf(admin), { userId, reason: 'a question', returnTo: '/' })
    for (const line of begun.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      admin.cookies.set(name, value)
    }
    expect((await admin.session()) as object).toHaveProperty('actor')
    for (const name of ['get', 'revoke'] as const)
      await expect(auth.tokens[name](requestOf(admin), 'acme')).rejects.toMatchObject({ type: 'AccessDenied' })
    expect(await auth.tokens.get({ userId }, 'acme')).not.toBeNull()
  })

  it('an ID token is no logout token, a logout token no ID token and no signal, and a signal no logout', async () => {
    const { auth, signIn, logout, signal } = site(strategy)
    const browser = await signIn({ sub: 'alice', sid: 'a' })
    let idToken = ''
    op.reset({ idToken: ({ token }) => (idToken = token) })
    const other = new Client(auth)
    await other.get(await op.authorize(locationOf(await other.signIn('acme'))))
    expect(idToken).toMatch(/^eyJ/)
    const body = new URLSearchParams({ logout_token: idToken })
    expect((await auth.handler(new Request(`${origin}/auth/backchannel-logout/acme`, { method: 'POST', body }))).status).toBe(400)
    expect(await logout({ sid: 'a', events: { [revoked]: {} } }, { typ: 'secevent+jwt' })).toBe(400)
    expect(await logout({ sid: 'a' }, { typ: 'secevent+jwt' })).toBe(400)
    expect(await signal({ sid: 'a', events: { [logoutEvent]: {} } }, { typ: 'logout+jwt' })).toBe(400)
    expect(await isIn(browser)).toBe(true)
    // The reverse: with all that an ID token has, but the nonce, which a logout token must not have.
    op.reset({
      idToken: ({ claims }) => {
        const { nonce: _none, ...rest } = claims
        return jws({ alg: keys.k1.alg, kid: keys.k1.kid, typ: 'logout+jwt' }, { ...rest, events: { [logoutEvent]: {} } }, keys.k1)
      },
    })
    const thief = new Client(auth)
    await thief.get(await op.authorize(locationOf(await thief.signIn('acme'))))
    expect(await isIn(thief)).toBe(false)
  })

  it('issuers that depend on the token: each ends its own, and a token that names another tenant than its issuer ends nothing', async () => {
    const perTenant = {
      issuerOf: (claims: Record<string, unknown>): string => {
        const tenant = String(claims['tid'] ?? String(claims['iss']).split('/').at(-1))
        if (!/^tenant-[ab]$/.test(tenant)) throw new Error(`tenant ${tenant} may not sign in`)
        return `${op.issuer}/${tenant}`
      },
    }
    const { signIn, logout, signal, auth, errors } = site(strategy, perTenant)
    const iss = (tenant: string): string => `${op.issuer}/tenant-${tenant}`
    const people = [
      await signIn({ iss: iss('a'), tid: 'tenant-a', sub: 'alice', sid: 'one' }),
      await signIn({ iss: iss('b'), tid: 'tenant-b', sub: 'bob', sid: 'two' }),
    ]
    const alive = async (): Promise<boolean[]> => Promise.all(people.map(isIn))
    const foreign: Jwk[] = [
      { iss: iss('c') },
      { iss: op.issuer },
      { iss: 'https://evil.example/tenant-a' },
      { iss: iss('a'), tid: 'tenant-b' },
    ]
    for (const change of foreign) expect(await logout({ sid: 'one', ...change }), JSON.stringify(change)).toBe(400)
    for (const change of foreign)
      expect(await signal({ sub_id: { format: 'iss_sub', iss: change['iss'], sub: 'alice' }, ...change })).toBe(400)
    const frame = (of: string, sid: string): Promise<Response> =>
      auth.handler(new Request(`${origin}/auth/frontchannel-logout/acme?${new URLSearchParams({ iss: of, sid })}`))
    expect((await frame(iss('c'), 'one')).status).toBe(400)
    expect(await alive()).toEqual([true, true])
    expect(await logout({ sid: 'one', iss: iss('a') })).toBe(200)
    expect(await alive()).toEqual([false, true])
    expect((await frame(iss('b'), 'two')).headers.get('content-security-policy')).toContain(new URL(op.issuer).origin)
    expect(await alive()).toEqual([false, false])
    errors.length = 0
    const again = await signIn({ iss: iss('b'), tid: 'tenant-b', sub: 'bob', sid: 'three' })
    expect(await signal({ iss: iss('b'), sub_id: { format: 'iss_sub', iss: iss('b'), sub: 'bob' } })).toBe(202)
    expect(await isIn(again)).toBe(false)
  })

  it('one `sub` and one `sid` of two issuers are two people and two sessions, and an account from before issuers were told apart goes on', async () => {
    const iss = (tenant: string): string => `${op.issuer}/tenant-${tenant}`
    const issuerOf = (claims: Record<string, unknown>): string => iss(String(claims['iss']).split('-').at(-1) ?? '')
    const adapter = memoryAdapter()
    const { signIn, logout, signal, users, auth } = site(strategy, { issuerOf }, { adapter })
    // As the version before wrote it.
    const stored = await adapter.createUser!({ id: 'old', email: 'old@example.com', name: 'Old', emailVerified: null } as never)
    const token = jws({ alg: keys.k1.alg, kid: keys.k1.kid }, { iss: iss('a'), sub: 'carol' }, keys.k1)
    await adapter.linkAccount!({ userId: stored.id, type: 'oidc', provider: 'acme', providerAccountId: 'carol', id_token: token } as never)
    const people = [await signIn({ iss: iss('a'), sub: 'alice', sid: 'one' }), await signIn({ iss: iss('b'), sub: 'alice', sid: 'one' })]
    expect(new Set(users).size).toBe(2)
    const alive = async (): Promise<boolean[]> => Promise.all(people.map(isIn))
    // The same `jti` of two issuers is no repetition either.
    expect([await logout({ sid: 'one', iss: iss('b'), jti: 'same' }), await alive()]).toEqual([200, [true, false]])
    expect([await logout({ sid: 'one', iss: iss('a'), jti: 'same' }), await alive()]).toEqual([200, [false, false]])
    people.splice(
      0,
      2,
      await signIn({ iss: iss('a'), sub: 'alice', sid: 'two' }),
      await signIn({ iss: iss('b'), sub: 'alice', sid: 'two' }),
    )
    expect([users[2] === users[0], users[3] === users[1]]).toEqual([true, true])
    const told: (string | undefined)[] = []
    auth.on('signalReceived', ({ userId }) => void told.push(userId))
    expect([await signal({ iss: iss('a'), sub_id: { format: 'iss_sub', iss: iss('a'), sub: 'alice' } }), await alive()]).toEqual([
      202,
      [false, true],
    ])
    expect([await logout({ sub: 'alice', iss: iss('a') }), await alive()]).toEqual([200, [false, true]])
    expect([await logout({ sub: 'alice', iss: iss('b') }), await alive()]).toEqual([200, [false, false]])
    expect(told).toEqual([users[0]])
    users.length = 0
    await signIn({ iss: iss('b'), sub: 'carol', sid: 'three' })
    expect(users[0]).not.toBe('old')
    await signIn({ iss: iss('a'), sub: 'carol', sid: 'three' })
    expect(users[1]).toBe('old')
  })

  it('`profile()` with an id of its own: logouts and signals find the user by the `sub` of the ID token', async () => {
    const profile = ({ sub, email }: Record<string, unknown>): object => ({
      id: `employee-${String(sub).length}-${String(sub)}`,
      email,
      name: sub,
    })
    const { signIn, logout, signal, users, auth } = site(strategy, { profile })
    const told: (string | undefined)[] = []
    auth.on('signalReceived', ({ userId }) => void told.push(userId))
    const first = await signIn({ sub: 'alice', sid: 'one' })
    const userId = users[0] ?? ''
    const hasTokens = async (): Promise<boolean> => (await auth.tokens.get({ userId }, 'acme')) !== null
    expect(await hasTokens()).toBe(true)
    expect([await signal({ sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'alice' } }), await isIn(first)]).toEqual([202, false])
    const second = await signIn({ sub: 'alice', sid: 'two' })
    // The `sub` of another user beside her `sid` ends nothing of hers.
    expect([await logout({ sub: 'bob', sid: 'two' }), await isIn(second), await hasTokens()]).toEqual([200, true, true])
    expect([await logout({ sub: 'employee-5-alice' }), await isIn(second), await hasTokens()]).toEqual([200, true, true])
    expect([await logout({ sub: 'alice' }), await isIn(second), await hasTokens()]).toEqual([200, false, false])
    const third = await signIn({ sub: 'alice', sid: 'three' })
    expect(await hasTokens()).toBe(true)
    expect([await logout({ sub: 'alice', sid: 'three' }), await isIn(third), await hasTokens()]).toEqual([200, false, false])
    expect(await signal({ sub_id: { format: 'iss_sub', iss: op.issuer, sub: 'nobody' } })).toBe(202)
    expect(told).toEqual([users[0], undefined])
  })

  it('a provider of tenant B ends no session and finds no token of tenant A', async () => {
    const namespaceOf = (name: string): { namespace: string; origin: string } => ({ namespace: name, origin: `http://${name}.example` })
    const { auth, signIn, logout, users } = site(strategy)
    auth.use(
      tenantsPlugin({
        settings: (request) => namespaceOf(new URL(request.url).hostname.split('.')[0] ?? ''),
        tenant: (name) => namespaceOf(name),
      }),
    )
    const [a, b] = ['http://a.example', 'http://b.example'] as const
    const browser = await signIn({ sub: 'alice', sid: 'one' }, a)
    const [userId = ''] = users
    expect(await auth.tokens.get({ userId, tenant: 'a' }, 'acme')).not.toBeNull()
    expect(await auth.tokens.get({ userId, tenant: 'b' }, 'acme')).toBeNull()
    expect(await auth.tokens.revoke({ userId, tenant: 'b' }, 'acme')).toBe(false)
    expect(await auth.tokens.get(requestOf(browser, b), 'acme')).toBeNull()
    expect(await logout({ sid: 'one', sub: 'alice' }, {}, b)).toBe(200)
    expect(await logout({ sid: undefined, sub: 'alice' }, {}, b)).toBe(200)
    const query = new URLSearchParams({ iss: op.issuer, sid: 'one' })
    expect((await auth.handler(new Request(`${b}/auth/frontchannel-logout/acme?${query}`))).status).toBe(200)
    expect(await isIn(browser)).toBe(true)
    expect((await auth.tokens.get(requestOf(browser, a), 'acme'))?.accessToken).toEqual(expect.any(String))
    expect(await logout({ sid: 'one', sub: 'alice' }, {}, a)).toBe(200)
    expect(await isIn(browser)).toBe(false)
  })
})
