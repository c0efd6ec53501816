/** Fields of users that a session shows: in every kind of session alike, by cookie, API key, app token, device and DPoP. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AdditionalFields } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { begin, discover, origin, signIn, ticketOf, visit } from './_app.ts'

const additionalFields = {
  role: { type: 'string', session: true },
  score: { type: 'number', session: true },
  note: { type: 'text' },
} as const satisfies AdditionalFields
const scopes = ['read']
const user = { id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null, role: 'editor', score: 7, note: 'secret' }

async function world(strategy: 'jwt' | 'database') {
  const store = { ...memoryAdapter(), additionalFields }
  const providers = [{ id: 'credentials', name: 'P', type: 'credentials', authorize: () => user }] as const
  const auth = createAuth(
    baseConfig({
      providers: [...providers],
      session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
      runtime: { now: () => Date.now() },
    }),
  )
    .use(adapterPlugin(store))
    .use(apiKeysPlugin({ scopes }))
    .use(bearerPlugin({ apps: [{ id: 'desktop', name: 'Desktop', redirectUris: ['http://127.0.0.1/cb'], scopes }] }))
    .use(deviceFlowPlugin({ apps: ['desktop'], scopes }))
  await auth.ready()
  await store.createUser!(user)
  const browser = new Client(auth)
  await browser.post('/callback/credentials', {})
  const by = async (headers: Record<string, string>, url = `${origin}/`) => (await auth.session(new Request(url, { headers })))?.user
  const ask = async (path: string, fields: Record<string, string>): Promise<Record<string, string>> => {
    const answer = await auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields) }))
    return (await answer.json()) as Record<string, string>
  }
  return { auth, browser, by, ask }
}

describe.each(['jwt', 'database'] as const)('%s', (strategy) => {
  const shown = { id: 'ada', role: 'editor', score: 7 }
  const hidden = { note: expect.anything() as unknown }

  it('by cookie', async () => {
    const { browser, by } = await world(strategy)
    const seen = await by({ cookie: browser.cookieHeader() })
    expect(seen).toMatchObject(shown)
    expect(seen).not.toMatchObject(hidden)
  })

  it('by API key', async () => {
    const { auth, by } = await world(strategy)
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes })
    const seen = await by({ authorization: `Bearer ${key}` })
    expect(seen).toMatchObject(shown)
    expect(seen).not.toMatchObject(hidden)
  })

  it('by app token', async () => {
    const { auth, browser, by } = await world(strategy)
    const { access_token: token } = await signIn(await discover(auth), browser)
    const seen = await by({ authorization: `Bearer ${token}` })
    expect(seen).toMatchObject(shown)
    expect(seen).not.toMatchObject(hidden)
  })

  it('by a device', async () => {
    const { browser, by, ask } = await world(strategy)
    const { user_code = '', device_code = '' } = await ask('/oauth/device', { client_id: 'desktop', scope: 'read' })
    const ticket = ticketOf(await (await browser.post('/device', { user_code })).text())
    await browser.post('/device/decide', { ticket, decision: 'allow' })
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const { access_token } = await ask('/oauth/token', { grant_type, device_code, client_id: 'desktop' })
    expect(await by({ authorization: `Bearer ${access_token}` })).toMatchObject(shown)
  })

  it('by DPoP', async () => {
    const { auth, browser } = await world(strategy)
    const config = await discover(auth)
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    const begun = await begin(config)
    const answer = new URL(await visit(browser, begun.url))
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state }
    const tokens = await openid.authorizationCodeGrant(config, answer, checks, {}, { DPoP })
    const seen: unknown[] = []
    config[openid.customFetch] = async (url, init) => {
      const session = await auth.session(new Request(url, { headers: init.headers as HeadersInit }))
      seen.push(session?.user)
      return new Response('{}')
    }
    await openid.fetchProtectedResource(config, tokens.access_token, new URL(`${origin}/things`), 'GET', null, undefined, { DPoP })
    expect(seen).toEqual([expect.objectContaining(shown)])
  })
})
