/** Attacks of RFC 9700 on the provider, and sessions that may not let clients in. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { adminPlugin } from 'authkernel/plugins/admin'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { Client } from '../_setup.ts'
import { serveDocuments } from './_client-documents.ts'
import {
  begin,
  api,
  discover,
  finish,
  issuer,
  redirect,
  refusal,
  secret,
  signIn,
  ticketOf,
  visit,
  world,
  type World,
} from './_authorization-server.ts'

let host: World
let config: openid.Configuration
let ada: Client

beforeAll(async () => {
  host = await world({}, {}, [
    apiKeysPlugin({ routes: true }),
    guestPlugin(),
    adminPlugin({ can: ({ admin }) => admin.id === 'eve' }),
    impersonationPlugin({ can: ({ admin }) => admin.id === 'eve' }),
  ])
  config = await discover(host.auth)
  ada = await host.browser()
  await signIn(config, ada)
})

const basic = { authorization: `Basic ${btoa(`partner:${secret}`)}` }
const errorOf = async (response: Response): Promise<unknown> => ((await response.json()) as { error?: unknown }).error
/** What the authorization endpoint answers to a changed request. */
async function ask(change: (params: URLSearchParams) => void, browser: Client = ada): Promise<Response> {
  const { url } = await begin(config)
  change(url.searchParams)
  return browser.get(String(url))
}
const errorAt = (response: Response): string | null => new URL(response.headers.get('location') ?? 'none:').searchParams.get('error')

describe('redirects', () => {
  it.each([
    'https://partner.example/cb/',
    'https://partner.example/cb?x=1',
    'https://partner.example/CB',
    'https://partner.example:443/cb',
    'https://partner.example@evil.example/cb',
    'https://partner.example.evil.example/cb',
    'https://partner.example/cb/../evil',
    'https://partner.example/cb#x',
    'http://partner.example/cb',
    'javascript:alert(1)',
    '//partner.example/cb',
  ])('%s is not the registered address: the browser stays here', async (uri) => {
    const answer = await ask((params) => params.set('redirect_uri', uri))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  it('a native client may use any port of its loopback address, and no other host or path', async () => {
    const to = async (uri: string) =>
      (await ask((params) => (params.set('client_id', 'tool'), params.set('redirect_uri', uri), params.set('scope', 'read')))).status
    expect([await to('http://127.0.0.1:50123/cb'), await to('http://localhost:8080/cb'), await to('com.example.tool:/cb')]).toEqual([
      200, 200, 200,
    ])
    expect([
      await to('http://127.0.0.2:1/cb'),
      await to('http://127.0.0.1:1/cb2'),
      await to('http://127.0.0.1:1@evil.example/cb'),
      await to('com.example.tool:/other'),
    ]).toEqual([400, 400, 400, 400])
  })

  it('repeated parameters are rejected, and client_id and redirect_uri lead nowhere', async () => {
    expect(errorAt(await ask((params) => params.append('scope', 'write')))).toBe('invalid_request')
    expect((await ask((params) => params.append('client_id', 'own'))).status).toBe(400)
    expect((await ask((params) => params.append('redirect_uri', 'https://evil.example/'))).status).toBe(400)
  })
})

describe('codes', () => {
  it('PKCE is needed, and plain is rejected', async () => {
    expect(errorAt(await ask((params) => params.delete('code_challenge')))).toBe('invalid_request')
    expect(errorAt(await ask((params) => params.set('code_challenge_method', 'plain')))).toBe('invalid_request')
    expect(errorAt(await ask((params) => params.delete('code_challenge_method')))).toBe('invalid_request')
    expect(errorAt(await ask((params) => params.set('response_type', 'code id_token')))).toBe('unsupported_response_type')
  })

  it('a code that another client, another verifier or another address brings is worth nothing, also to its owner afterwards', async () => {
    for (const change of [{ client_id: 'own' }, { code_verifier: 'x'.repeat(43) }, { redirect_uri: 'https://partner.example/other' }]) {
      const begun = await begin(config)
      const location = await visit(ada, begun.url)
      const code = new URL(location).searchParams.get('code')!
      const fields = { grant_type: 'authorization_code', code, code_verifier: begun.verifier, redirect_uri: redirect, ...change }
      const stolen = await host.post('/oauth2/token', fields, 'client_id' in change ? {} : basic)
      expect([stolen.status, await errorOf(stolen)]).toEqual([400, 'invalid_grant'])
      expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    }
  })

  it('a code that comes twice ends what it gave', async () => {
    const begun = await begin(config)
    const location = await visit(ada, begun.url)
    const tokens = await finish(config, begun, location)
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    expect((await openid.tokenIntrospection(config, tokens.access_token)).active).toBe(false)
  })

  it('of twenty exchanges of one code at once at most one gives tokens', async () => {
    const begun = await begin(config)
    const location = await visit(ada, begun.url)
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => finish(config, begun, location)))
    expect(all.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
  })

  it('the answer names the issuer, so that a client notices a mix-up (RFC 9207)', async () => {
    const begun = await begin(config)
    const location = new URL(await visit(ada, begun.url))
    expect(location.searchParams.get('iss')).toBe(issuer)
    location.searchParams.set('iss', 'https://evil.example')
    await expect(finish(config, begun, String(location))).rejects.toThrow()
  })
})

describe('refresh tokens', () => {
  it('a copied one ends the grant when it comes back', async () => {
    const tokens = await signIn(config, ada)
    await openid.refreshTokenGrant(config, tokens.refresh_token!)
    host.runtime.advance(11_000)
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
    expect((await openid.tokenIntrospection(config, tokens.access_token)).active).toBe(false)
  })

  it('another client that brings one ends it, and more scopes than granted are refused', async () => {
    const tokens = await signIn(config, ada, { scope: 'openid read' })
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!, { scope: 'openid read write' }))).toBe('invalid_scope')
    const stolen = await host.post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token!, client_id: 'own' })
    expect(await errorOf(stolen)).toBe('invalid_grant')
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
  })
})

describe('audiences', () => {
  it('a resource server learns nothing of tokens for others, and a public client of none', async () => {
    const own = await discover(host.auth, 'own')
    const tokens = await signIn(own, ada, { redirect_uri: 'https://own.example/cb', scope: 'openid email' })
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false })
    const asked = await host.post('/oauth2/introspect', { client_id: 'own', token: tokens.access_token })
    expect([asked.status, await errorOf(asked)]).toEqual([401, 'invalid_client'])
    const given = await host.post('/oauth2/revoke', { token: tokens.access_token }, basic)
    expect(await errorOf(given)).toBe('invalid_grant')
    expect((await openid.fetchUserInfo(own, tokens.access_token, 'ada')).sub).toBe('ada')
  })

  it('a token for an API opens no userinfo where the client named the API', async () => {
    const tokens = await signIn(config, ada, { scope: 'openid read', resource: api })
    await expect(openid.fetchUserInfo(config, tokens.access_token, 'ada')).rejects.toThrow()
    expect(errorAt(await ask((params) => params.set('resource', 'https://other.example/')))).toBe('invalid_target')
  })
})

describe('consent', () => {
  const eveAsks = async () => {
    const eve = await host.browser('eve')
    return { eve, ticket: ticketOf(await (await eve.get(String((await begin(config)).url))).text()) }
  }

  it('only the user who saw the question answers it, once', async () => {
    const { eve, ticket } = await eveAsks()
    expect((await ada.post('/oauth2/consent', { ticket, decision: 'allow' })).status).toBe(400)
    expect((await eve.post('/oauth2/consent', { ticket, decision: 'allow' })).headers.get('location')).toContain('code=')
    expect((await eve.post('/oauth2/consent', { ticket, decision: 'allow' })).status).toBe(400)
    const forged = await eve.send('/oauth2/consent', { method: 'POST', body: new URLSearchParams({ ticket, decision: 'allow' }) })
    expect(forged.headers.get('location') ?? '').not.toContain('code=')
    await host.auth.authorizationServer.disconnect('eve', 'partner')
  })

  it('a no goes back to the client and gives nothing', async () => {
    const { eve, ticket } = await eveAsks()
    const answer = await eve.post('/oauth2/consent', { ticket, decision: 'deny' })
    expect([errorAt(answer), (await eve.get('/account')).status]).toEqual(['access_denied', 200])
    expect(await host.auth.authorizationServer.connectedApps('eve')).toEqual([])
  })

  it('is never drawn in a frame', async () => {
    const eve = await host.browser('eve')
    const page = await eve.get(String((await begin(config)).url))
    expect([page.headers.get('x-frame-options'), page.headers.get('content-security-policy')]).toEqual([
      'DENY',
      expect.stringContaining("frame-ancestors 'none'"),
    ])
  })

  it('a client on the device is asked for each time, since another program may pretend to be it', async () => {
    const tool = await discover(host.auth, 'tool')
    for (let time = 0; time < 2; time++) {
      const { url } = await begin(tool, { redirect_uri: 'http://127.0.0.1:5001/cb', scope: 'openid read' })
      expect(ticketOf(await (await ada.get(String(url))).text())).not.toBe('')
    }
  })

  it('an administrator who acts as the user, an API key, a guest and a visitor let no client in', async () => {
    const { url } = await begin(config)
    const eve = await host.browser('eve')
    const request = new Request(issuer, { headers: { cookie: eve.cookieHeader() } })
    const acting = await (host.auth as unknown as ImpersonationApi).impersonation.start(request, {
      userId: 'ada',
      reason: 'A user asked for help',
      returnTo: '/',
    })
    for (const line of acting.headers.getSetCookie()) {
      const [name, ...value] = line.split(';')[0]!.split('=')
      eve.cookies.set(name!, value.join('='))
    }
    expect((await eve.session())?.user?.['id']).toBe('ada')
    expect(errorAt(await eve.get(String(url)))).toBe('access_denied')
    const key = await (host.auth as unknown as ApiKeysApi).apiKeys.create({ userId: 'ada' }, { name: 'k' })
    expect(errorAt(await host.auth.handler(new Request(String(url), { headers: { 'x-api-key': key.key } })))).toBe('access_denied')
    const guest = new Client(host.auth)
    await guest.post('/guest')
    expect((await guest.session())?.user).toBeTruthy()
    for (const browser of [guest, new Client(host.auth)]) {
      expect((await browser.get(String(url))).headers.get('location')).toContain('/signin?')
      url.searchParams.set('prompt', 'none')
      expect(errorAt(await browser.get(String(url)))).toBe('login_required')
      url.searchParams.delete('prompt')
    }
  })
})

describe('bad input', () => {
  it.each([
    ['/oauth2/token', {}],
    ['/oauth2/token', { grant_type: 'password', client_id: 'own' }],
    ['/oauth2/token', { grant_type: 'authorization_code', client_id: 'own' }],
    ['/oauth2/token', { grant_type: 'refresh_token', client_id: 'own', refresh_token: 'rt.x' }],
    ['/oauth2/token', { grant_type: 'refresh_token', client_id: 'own', resource: api }],
    ['/oauth2/token', { grant_type: 'client_credentials', client_id: 'https://evil.example/client' }],
    ['/oauth2/token', { client_assertion: 'a.b.c', client_assertion_type: 'x' }],
    ['/oauth2/par', { client_id: 'own', response_type: 'code' }],
    ['/oauth2/introspect', { client_id: 'own' }],
    ['/oauth2/revoke', { client_id: 'own' }],
  ] as [string, Record<string, string>][])('%s %j is answered with an error of RFC 6749 and not with 500', async (path, fields) => {
    const answer = await host.post(path, fields)
    const body = (await answer.json()) as { error: string }
    expect([400, 401]).toContain(answer.status)
    expect(body.error).toMatch(/^[a-z_]+$/)
    expect(host.log.errors.filter((error) => error.name !== 'AuthError' && !('type' in error))).toEqual([])
  })
})

describe('a pushed request with a DPoP proof (RFC 9449 section 10.1)', () => {
  type Keys = Awaited<ReturnType<typeof generateKeyPair>>
  const makeKeys = (): Promise<Keys> => generateKeyPair('ES256', { extractable: true })
  const prove = async ({ publicKey, privateKey }: Keys, htu: string): Promise<string> =>
    new SignJWT({ jti: crypto.randomUUID(), htm: 'POST', htu, iat: Math.floor(host.runtime.now() / 1000) })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
      .sign(privateKey)

  async function push(params: Record<string, string> = {}) {
    const keys = await makeKeys()
    const { url, verifier } = await begin(config, params)
    const form = Object.fromEntries(url.searchParams)
    const answer = await host.post('/oauth2/par', form, { ...basic, dpop: await prove(keys, `${issuer}/oauth2/par`) })
    return { status: answer.status, body: (await answer.json()) as { request_uri?: string; error?: string }, keys, verifier }
  }
  /** The user allows the pushed request; the code is redeemed with these headers. */
  async function redeem({ body, verifier }: Awaited<ReturnType<typeof push>>, headers: Record<string, string>) {
    const target = `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id: 'partner', request_uri: body.request_uri! })}`
    const code = new URL(await visit(ada, target)).searchParams.get('code')!
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirect }
    return (await (await host.post('/oauth2/token', form, { ...basic, ...headers })).json()) as Record<string, string>
  }

  it('binds the code to the key of the proof: another key, and none, get no tokens', async () => {
    expect(await redeem(await push(), {})).toMatchObject({ error: 'invalid_grant' })
    const dpop = await prove(await makeKeys(), `${issuer}/oauth2/token`)
    expect(await redeem(await push(), { dpop })).toMatchObject({ error: 'invalid_grant' })
  })

  it('gives tokens to the key of the proof', async () => {
    const pushed = await push()
    const dpop = await prove(pushed.keys, `${issuer}/oauth2/token`)
    expect(await redeem(pushed, { dpop })).toMatchObject({ token_type: 'DPoP' })
  })

  it('that names another key by dpop_jkt is rejected, and so is a proof for another endpoint', async () => {
    const { status, body } = await push({ dpop_jkt: 'A'.repeat(43) })
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
    const { url } = await begin(config)
    const wrong = await prove(await makeKeys(), `${issuer}/oauth2/token`)
    const refused = await host.post('/oauth2/par', Object.fromEntries(url.searchParams), { ...basic, dpop: wrong })
    expect(await errorOf(refused)).toBe('invalid_dpop_proof')
  })
})

it('an assertion of a client that must push is for the issuer alone: the address of an endpoint and a list are another audience', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
  const keyed = {
    client_name: 'Bank',
    jwks,
    token_endpoint_auth_method: 'private_key_jwt' as const,
    grant_types: ['client_credentials' as const],
    scope: 'read',
  }
  const strict = { client_id: 'strict', ...keyed, require_pushed_authorization_requests: true }
  const other = await world({ clients: [strict, { client_id: 'older', ...keyed }] })
  const call = async (id: string, audience: string | string[]) => {
    const now = Math.floor(other.runtime.now() / 1000)
    const client_assertion = await new SignJWT({ jti: `${id} ${Math.random()}`, iss: id, sub: id, aud: audience, iat: now, exp: now + 60 })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey)
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    return (await other.post('/oauth2/token', { grant_type: 'client_credentials', scope: 'read', client_assertion, client_assertion_type }))
      .status
  }
  const endpoint = `${issuer}/oauth2/token`
  expect([await call('strict', issuer), await call('strict', endpoint), await call('strict', [issuer])]).toEqual([200, 401, 401])
  expect([await call('older', issuer), await call('older', endpoint), await call('older', [issuer, 'https://other.example'])]).toEqual([
    200, 200, 401,
  ])
})

it('one network that makes the server fetch keys of documents does not use up what other networks need', async () => {
  const documents = await serveDocuments((id, path) =>
    path.startsWith('/jwks')
      ? undefined
      : {
          client_id: id,
          redirect_uris: ['https://agent.example/cb'],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: `${new URL(id).origin}/jwks${path}`,
        },
  )
  try {
    const other = await world({ clientDocuments: true }, {}, [documents.publicFetch])
    const { privateKey } = await generateKeyPair('ES256')
    const call = async (path: string, address: string) => {
      const id = `${documents.origin}/${path}`
      const now = Math.floor(other.runtime.now() / 1000)
      const client_assertion = await new SignJWT({ jti: crypto.randomUUID(), iss: id, sub: id, aud: issuer, iat: now, exp: now + 60 })
        .setProtectedHeader({ alg: 'ES256' })
        .sign(privateKey)
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_assertion, client_assertion_type })
      const request = new Request(`${issuer}/oauth2/token`, { method: 'POST', body })
      return (await other.auth.handler(request, { clientAddress: address })).status
    }
    const flood: number[] = []
    for (let count = 0; count < 70; count++) flood.push(await call('a', '203.0.113.7'))
    expect([flood[0], flood.at(-1)]).toEqual([401, 429])
    expect(await call('b', '198.51.100.7')).toBe(401)
  } finally {
    await documents.close()
  }
})

describe('a client that registered itself and changes its name or where it leads users', () => {
  async function registered(other: World) {
    const send = async (method: string, path: string, body: object, token?: string) => {
      const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      const answer = await other.auth.handler(new Request(path, { method, headers, body: JSON.stringify(body) }))
      return (await answer.json()) as Record<string, string>
    }
    const first = { client_name: 'Notes', redirect_uris: ['https://notes.example/cb'], token_endpoint_auth_method: 'none' }
    const made = await send('POST', `${issuer}/oauth2/register`, first)
    const change = (more: object) =>
      send('PUT', made['registration_client_uri']!, { client_id: made['client_id'], ...first, ...more }, made['registration_access_token'])
    return { id: made['client_id']!, change, params: { redirect_uri: 'https://notes.example/cb' } }
  }

  it('is another one for the page that was open: no code, and no consent for what the user did not see', async () => {
    const other = await world({ registration: {} })
    const { id, change, params } = await registered(other)
    const browser = await other.browser()
    const server = await discover(other.auth, id)
    const page = await (await browser.get(String((await begin(server, params)).url))).text()
    await change({ client_name: 'Bank', redirect_uris: ['https://notes.example/cb', 'https://evil.example/cb'] })
    const answer = await browser.post('/oauth2/consent', { ticket: ticketOf(page), decision: 'allow' })
    expect(answer.status).toBe(400)
    expect(await other.auth.authorizationServer.connectedApps('ada')).toEqual([])
  })
})
