/** Journeys of machines and apps: tokens through the browser, devices without one, signed access tokens. */
import { createHash, randomBytes } from 'node:crypto'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import type { Client } from '../_setup.ts'
import { ticketOf } from '../plugins/_app.ts'
import { byName, type Ground, type Journey, json, signedInAs } from './_ground.ts'

const redirectUri = 'http://127.0.0.1:49152/cb'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const apps = [{ id: 'tv', name: 'Acme TV', redirectUris: ['http://127.0.0.1/cb'], scopes: ['watch'] }]
const signIn = { providers: [byName as never] }

type Tokens = { access_token?: string; refresh_token?: string; device_code?: string; user_code?: string; error?: string }
async function call(client: Client, path: string, fields: Record<string, string>): Promise<Tokens> {
  const answer = await client.send(`/oauth/${path}`, { method: 'POST', body: new URLSearchParams({ client_id: 'tv', ...fields }) })
  return (await answer.json().catch(() => ({}))) as Tokens
}
async function isSignedIn(ground: Ground, token: string | undefined): Promise<boolean> {
  const answer = await ground.browser().get('/session', { authorization: `Bearer ${token}` })
  return answer.status === 200 && (await answer.json()) !== null
}

export const appJourneys: readonly Journey[] = [
  {
    name: 'bearer: an app signs in, refreshes, signs out',
    slow: true,
    plugins: () => [bearerPlugin({ apps }) as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const [browser, app] = [await signedInAs(ground, who), ground.browser()]
      const verifier = randomBytes(32).toString('base64url')
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: 'tv',
        redirect_uri: redirectUri,
        state: 'state-of-the-app-canary',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })
      const grant = async (): Promise<Record<string, string>> => {
        const asked = await browser.get(`/oauth/authorize?${query}`)
        const ticket = ticketOf(await asked.text())
        const decided = ticket === '' ? asked : await browser.post('/oauth/authorize', { ticket, decision: 'allow' })
        const location = decided.headers.get('location') ?? ''
        const code = URL.canParse(location) ? new URL(location).searchParams.get('code') : null
        return { grant_type: 'authorization_code', redirect_uri: redirectUri, code: code ?? 'none' }
      }
      const wrong = await call(app, 'token', { ...(await grant()), code_verifier: `${verifier}x` })
      mustNot('tokens for a wrong verifier', 'access_token' in wrong)
      const first = await call(app, 'token', { ...(await grant()), code_verifier: verifier })
      const used = await isSignedIn(ground, first.access_token)
      const next = await call(app, 'token', { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? 'none' })
      const fresh = await isSignedIn(ground, next.access_token)
      const ended = await app.send('/oauth/revoke', {
        method: 'POST',
        body: new URLSearchParams({ client_id: 'tv', token: next.refresh_token ?? 'none' }),
      })
      if (ended.status === 200 && next.access_token)
        mustNot('a session by a revoked app session', await isSignedIn(ground, next.access_token))
      const again = await call(app, 'token', { grant_type: 'refresh_token', refresh_token: next.refresh_token ?? 'none' })
      if (ended.status === 200) mustNot('tokens after the app signed out', 'access_token' in again)
      return used && fresh && ended.status === 200
    },
  },
  {
    name: 'device-flow: a code is shown, approved, polled',
    slow: true,
    plugins: () => [bearerPlugin({ apps }) as never, deviceFlowPlugin({ apps: ['tv'], scopes: ['watch'] }) as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const [browser, other, device] = [await signedInAs(ground, who), await signedInAs(ground, `${who}-denies`), ground.browser()]
      const start = (): Promise<Tokens> => call(device, 'device', {})
      const poll = ({ device_code: code = 'none' }: Tokens): Promise<Tokens> =>
        call(device, 'token', { grant_type: deviceGrant, device_code: code })
      const decide = async (by: Client, { user_code: code = 'none' }: Tokens, decision: string): Promise<void> => {
        const ticket = ticketOf(await (await by.post('/device', { user_code: code })).text())
        await by.post('/device/decide', { ticket, decision })
      }
      const refused = await start()
      await decide(other, refused, 'deny')
      mustNot('tokens of a device that was denied', 'access_token' in (await poll(refused)))
      const begun = await start()
      mustNot('tokens before anybody allowed it', 'access_token' in (await poll(begun)))
      ground.runtime.advance(11_000)
      await decide(browser, begun, 'allow')
      ground.runtime.advance(11_000)
      const tokens = await poll(begun)
      ground.runtime.advance(11_000)
      const twice = await poll(begun)
      mustNot('tokens twice', 'access_token' in tokens && 'access_token' in twice)
      // What was polled twice may be stolen: both get nothing.
      return 'access_token' in tokens
    },
  },
  {
    name: 'jwt: issued, introspected, rotated',
    slow: true,
    plugins: () => [
      jwtPlugin({
        routes: true,
        audiences: ['https://api.example'],
        introspection: { clients: [{ id: 'api', secret: 's'.repeat(32), audiences: ['https://api.example'] }] },
      }) as never,
    ],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const client = await signedInAs(ground, who)
      const ask = async (by: Client): Promise<string | undefined> => {
        const body = JSON.stringify({ audience: 'https://api.example', csrfToken: await by.csrfToken() })
        const answer = await by.send('/jwt/token', { method: 'POST', headers: json, body })
        return ((await answer.json().catch(() => ({}))) as { access_token?: string }).access_token
      }
      const introspect = async (token: string | undefined): Promise<boolean | undefined> => {
        const body = new URLSearchParams({ token: token ?? 'none', client_id: 'api', client_secret: 's'.repeat(32) })
        const answer = await ground.browser().send('/jwt/introspect', { method: 'POST', body })
        return ((await answer.json().catch(() => ({}))) as { active?: boolean }).active
      }
      mustNot('a token without a user', (await ask(ground.browser())) !== undefined)
      const token = await ask(client)
      const active = await introspect(token)
      mustNot('a changed token is active', (await introspect(`${token?.slice(0, -4)}AAAA`)) === true)
      ground.runtime.advance(100 * 86_400_000)
      mustNot('a token is active after its end', (await introspect(token)) === true)
      const keys = await client.get('http://localhost:3000/.well-known/jwks.json')
      return token !== undefined && active === true && keys.status === 200
    },
  },
]
