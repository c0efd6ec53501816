/** What ordinary OAuth clients find (RFC 8414): with each plugin for machines alone and with all of them; and what the routes named there never do. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { type JwtOptions, jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { origin } from './_app.ts'

const place = '/.well-known/oauth-authorization-server'
const secret = 's'.repeat(32)
const audience = 'https://api.example'
const introspection = { clients: [{ id: 'api', secret, audiences: [audience] }], apiKey: () => [audience] }
const apps = [{ id: 'tv', name: 'TV', redirectUris: ['http://127.0.0.1/cb'], scopes: ['watch'] }]
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

async function host(...plugins: readonly Plugin[]) {
  const base = baseConfig({
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
  })
  const store = memoryAdapter()
  const auth = createAuth(base).use(adapterPlugin(store))
  for (const plugin of plugins) auth.use(plugin)
  await auth.ready()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: null })
  return auth
}
type Host = Awaited<ReturnType<typeof host>>

const at = (auth: Host, path: string, from = origin) =>
  auth.handler(new Request(`${from}${path}`, { headers: { origin: 'https://spa.example' } }))
const read = async (auth: Host, path = place) => (await (await at(auth, path)).json()) as Record<string, unknown>
const found = (auth: Host, issuer: string, id: string, how?: openid.ClientAuth) =>
  openid.discovery(new URL(issuer), id, secret, how, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: (url, init) => auth.handler(new Request(url, init as RequestInit)),
  })

describe('the metadata at the root', () => {
  it('is there with jwtPlugin alone: openid-client finds the keys and the introspection endpoint, and both answer', async () => {
    const jwt = jwtPlugin({ audiences: [audience], introspection })
    const auth = (await host(apiKeysPlugin(), jwt)) as unknown as Host & Parameters<typeof tokenOf>[0]
    const answer = await at(auth, place)
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect([answer.headers.get('cache-control'), answer.headers.getSetCookie()]).toEqual(['public, max-age=300', []])
    expect(await answer.json()).toEqual({
      issuer: origin,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      introspection_endpoint: `${origin}/auth/jwt/introspect`,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'Bearer'],
      response_types_supported: [],
      grant_types_supported: [],
    })
    const token = await tokenOf(auth)
    for (const how of [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)]) {
      const config = await found(auth, origin, 'api', how)
      expect(await openid.tokenIntrospection(config, token)).toMatchObject({ active: true, aud: audience, token_type: 'Bearer' })
      const keys = await at(auth, new URL(config.serverMetadata().jwks_uri!).pathname)
      expect(((await keys.json()) as { keys: unknown[] }).keys).toHaveLength(1)
    }
  })

  it('names no introspection where there is none, and lies below the path of the issuer', async () => {
    expect(Object.keys(await read(await host(jwtPlugin())))).toEqual([
      'issuer',
      'jwks_uri',
      'response_types_supported',
      'grant_types_supported',
    ])
    const auth = await host(jwtPlugin({ issuer: 'http://localhost:3000/tokens' }))
    expect((await at(auth, place)).status).toBe(400)
    expect((await read(auth, `${place}/tokens`))['issuer']).toBe(`${origin}/tokens`)
    // At another address the document would name an issuer that is not there.
    expect((await at(auth, `${place}/tokens`, 'http://127.0.0.1:3000')).status).toBe(404)
  })

  it('is one document with all plugins, in any order of them, and each address in it answers', async () => {
    const make = [
      () => jwtPlugin({ audiences: [audience], introspection }),
      () => bearerPlugin({ apps, accessToken: { format: 'jwt' } }),
      () => deviceFlowPlugin({ apps: ['tv'] }),
    ]
    const documents = await Promise.all(
      [
        [0, 1, 2],
        [1, 0, 2],
        [1, 2, 0],
      ].map(async (order) => read(await host(...order.map((index) => make[index]!())))),
    )
    for (const one of documents) {
      expect(one).toMatchObject({
        issuer: origin,
        grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant],
        device_authorization_endpoint: `${origin}/auth/oauth/device`,
        jwks_uri: `${origin}/.well-known/jwks.json`,
        introspection_endpoint: `${origin}/auth/jwt/introspect`,
        response_types_supported: ['code'],
        scopes_supported: ['watch'],
      })
    }
    const auth = await host(...make.map((one) => one()))
    const browser = new Client(auth)
    await browser.post('/callback/credentials', { user: 'ada' })
    const cookie = browser.cookieHeader()
    const endpoints = Object.entries(documents[0]!).filter(([name]) => /_endpoint$|_uri$/.test(name)) as [string, string][]
    expect(endpoints.map(([name]) => name).sort()).toEqual([
      'authorization_endpoint',
      'device_authorization_endpoint',
      'introspection_endpoint',
      'jwks_uri',
      'revocation_endpoint',
      'token_endpoint',
    ])
    for (const [name, url] of endpoints) {
      const isRead = name === 'jwks_uri' || name === 'authorization_endpoint'
      const headers = { cookie, ...(!isRead && { 'content-type': 'application/x-www-form-urlencoded' }) }
      const answer = await auth.handler(
        new Request(url, isRead ? { headers } : { method: 'POST', headers, body: 'client_id=nobody&token=x' }),
      )
      // Only the page for people has cookies.
      expect([name, answer.status]).toEqual([name, { jwks_uri: 200, authorization_endpoint: 400 }[name] ?? 401])
      if (name === 'authorization_endpoint') continue
      expect([name, answer.headers.getSetCookie()]).toEqual([name, []])
      if (answer.status === 401) expect(await answer.json()).toEqual({ error: 'invalid_client' })
    }
  })

  it('names the issuer of the signed tokens: two different ones are refused at start', async () => {
    const issuer = 'https://id.example'
    const both = (jwt: JwtOptions, own?: string) =>
      host(jwtPlugin(jwt), bearerPlugin({ apps, issuer: own, accessToken: { format: 'jwt' } }))
    await expect(both({ issuer })).rejects.toThrow(/`issuer` is not set, and that of plugin "jwt" is https:\/\/id\.example/)
    await expect(both({}, issuer)).rejects.toThrow(/Give both the same one/)
    await expect(both({ issuer }, issuer)).resolves.toBeDefined()
  })
})

describe('routes for programs', () => {
  it('say with 401 how to authenticate (RFC 9110 section 11.6.1)', async () => {
    const auth = await host(apiKeysPlugin({ routes: true }), jwtPlugin({ audiences: [audience], routes: true, introspection }))
    const ask = (path: string, method: string) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin }
      return auth.handler(
        new Request(`${origin}/auth${path}`, method === 'GET' ? {} : { method, headers, body: `audience=${audience}&token=x` }),
      )
    }
    for (const [path, method, scheme] of [
      ['/api-keys', 'GET', 'Bearer'],
      ['/jwt/token', 'POST', 'Bearer'],
      ['/jwt/key-token', 'POST', 'Bearer'],
      ['/jwt/introspect', 'POST', 'Basic'],
    ] as const) {
      const answer = await ask(path, method)
      expect([path, answer.status, answer.headers.get('www-authenticate')?.split(' ')[0]]).toEqual([path, 401, scheme])
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })

  it('/oauth/session is for tokens: a cookie is signed out there', async () => {
    const auth = await host(apiKeysPlugin(), bearerPlugin({ apps }))
    const browser = new Client(auth)
    await browser.post('/callback/credentials', { user: 'ada' })
    const { key } = await (auth as unknown as ApiKeysApi).apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const read = (headers: Record<string, string>) => auth.handler(new Request(`${origin}/auth/oauth/session`, { headers }))
    const cookie = { cookie: browser.cookieHeader() }
    const nobody = await read(cookie)
    expect([nobody.status, nobody.headers.get('www-authenticate')?.startsWith('Bearer realm='), nobody.headers.getSetCookie()]).toEqual([
      401,
      true,
      [],
    ])
    const answer = await read({ ...cookie, 'x-api-key': key })
    expect([answer.status, await answer.json()]).toMatchObject([200, { user: { id: 'ada' } }])
    expect((await read({ ...cookie, authorization: 'Bearer at.x' })).headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  it('answer a body that is too long as RFC 6749 says', async () => {
    const auth = await host(jwtPlugin({ introspection }), bearerPlugin({ apps }), deviceFlowPlugin({ apps: ['tv'] }))
    for (const path of ['token', 'revoke', 'device']) {
      const body = new URLSearchParams({ client_id: 'tv', token: 'x'.repeat(20_000) })
      const answer = await auth.handler(new Request(`${origin}/auth/oauth/${path}`, { method: 'POST', body }))
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 413, { error: 'invalid_request' }])
    }
    const withTokens = await host(jwtPlugin({ audiences: [audience], routes: true, introspection }))
    for (const path of ['introspect', 'token', 'key-token']) {
      const body = new URLSearchParams({ token: 'x'.repeat(20_000) })
      const answer = await withTokens.handler(new Request(`${origin}/auth/jwt/${path}`, { method: 'POST', body, headers: { origin } }))
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 413, { error: 'invalid_request' }])
    }
  })

  it('answer scripts of other origins where a program in a browser needs them, and with no cookies', async () => {
    const auth = await host(
      jwtPlugin({ audiences: [audience], routes: true, introspection }),
      bearerPlugin({ apps }),
      deviceFlowPlugin({ apps: ['tv'] }),
    )
    const allowed = async (path: string, method: string) => {
      const headers = { origin: 'https://spa.example', 'access-control-request-method': method }
      const answer = await auth.handler(new Request(`${origin}${path}`, { method: 'OPTIONS', headers }))
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      return [answer.headers.get('access-control-allow-origin'), answer.headers.get('access-control-allow-headers')]
    }
    for (const path of ['/auth/oauth/token', '/auth/oauth/revoke'])
      expect(await allowed(path, 'POST')).toEqual(['*', 'authorization, content-type, dpop'])
    expect(await allowed('/auth/oauth/session', 'GET')).toEqual(['*', 'authorization, content-type, dpop'])
    expect((await allowed('/auth/oauth/device', 'POST'))[0]).toBe('*')
    expect(await allowed('/auth/jwt/key-token', 'POST')).toEqual(['*', 'authorization, content-type, x-api-key, dpop'])
    for (const path of [place, '/.well-known/jwks.json']) expect((await allowed(path, 'GET'))[0]).toBe('*')
    for (const path of ['/auth/jwt/token', '/auth/jwt/introspect']) expect((await allowed(path, 'POST'))[0]).toBeNull()
  })
})

async function tokenOf(auth: {
  apiKeys: { create(who: { service: string }, wanted: { name: string }): Promise<{ key: string }> }
  jwt: { issue(request: Request, wanted: { audience: string }): Promise<{ accessToken: string } | null> }
}): Promise<string> {
  const { key } = await auth.apiKeys.create({ service: 'ci' }, { name: 'k' })
  return (await auth.jwt.issue(new Request(origin, { headers: { 'x-api-key': key } }), { audience }))!.accessToken
}
