/** What a provider's word does to the sessions of apps, which go with the sign-in of the browser that granted them. */
import { createAuth } from 'authkernel'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { type Jwk, jws, keys } from '../_op/keys.ts'
import { discover, origin, signIn as signInApp } from './_app.ts'

let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

// Claimed by the app, so that no DNS query is needed.
const redirect = 'https://app.example/signed-in'
let number = 0
function site(strategy: 'jwt' | 'database') {
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    adapter: memoryAdapter(),
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
  })
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    .use(singleLogoutPlugin())
    .use(bearerPlugin({ apps: [{ id: 'desktop', name: 'Desktop', redirectUris: [redirect], scopes: ['read'] }] }))
  return {
    auth,
    async signIn(claims: Jwk): Promise<Client> {
      op.reset({ claims: (own) => ({ ...own, ...claims, email: `${String(claims['sub'])}@example.com` }) })
      const browser = new Client(auth)
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      return browser
    },
    async logout(change: Jwk): Promise<number> {
      const now = Math.floor(Date.now() / 1000)
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
      const claims = { iss: op.issuer, aud: op.clientId, iat: now, exp: now + 120, jti: `apps-${number++}`, events, ...change }
      const token = jws({ alg: keys.k1.alg, kid: keys.k1.kid, typ: 'logout+jwt' }, claims, keys.k1)
      const body = new URLSearchParams({ logout_token: token })
      return (await auth.handler(new Request(`${origin}/auth/backchannel-logout/acme`, { method: 'POST', body }))).status
    },
    isLive: async (token: string): Promise<boolean> =>
      (await auth.session(new Request(origin, { headers: { authorization: `Bearer ${token}` } }))) !== null,
  }
}

it.each(['jwt', 'database'] as const)(
  'a logout token with the `sid` of a person and the `sub` of another ends no app session, %s sessions',
  async (strategy) => {
    const { auth, signIn, logout, isLive } = site(strategy)
    const browser = await signIn({ sub: 'alice', sid: 'one' })
    const { access_token: token } = await signInApp(await discover(auth), browser, redirect)
    expect([await logout({ sid: 'one', sub: 'bob' }), await isLive(token), (await browser.session()) !== null]).toEqual([200, true, true])
    expect([await logout({ sid: 'one', sub: 'alice' }), await isLive(token), await browser.session()]).toEqual([200, false, null])
  },
)
