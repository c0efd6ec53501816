/** An MCP server and its clients: discovery from a 401, clients that register or bring a document, scopes by step-up, and floods. */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issuer, origin, visit, world, type World } from './_authorization-server.ts'
import { type DocumentServer, serveDocuments } from './_client-documents.ts'

const resource = 'http://localhost:3000/mcp'
const loopback = 'http://127.0.0.1:33418/cb'
const resources = [
  { resource, name: 'Acme tools', scopes: ['tools.read', 'tools.write'] },
  { resource: 'http://localhost:3000/other', scopes: ['tools.read'] },
]
let documents: DocumentServer

beforeAll(async () => {
  documents = await serveDocuments((id, path) => {
    const own = {
      client_id: id,
      client_name: 'Agent',
      redirect_uris: [loopback, 'https://agent.example/cb'],
      token_endpoint_auth_method: 'none',
    }
    const shown: Record<string, object> = {
      '/client.json': own,
      '/other.json': { ...own, client_id: id.replace('other', 'client') },
      '/secret.json': { ...own, token_endpoint_auth_method: 'client_secret_basic' },
      '/script.json': { ...own, redirect_uris: ['javascript:alert(1)'] },
      '/logout.json': { ...own, backchannel_logout_uri: 'https://10.0.0.1/' },
    }
    return shown[path]
  })
})
afterAll(() => documents.close())

/** An MCP server that tells who calls, and the provider beside it, behind one `fetch`. */
async function start() {
  const host = await world({ resources, clientDocuments: true, registration: {} }, {}, [documents.publicFetch])
  const mcp = host.auth.authorizationServer.protectMcp((_request, caller) => Response.json(caller), { resource, scopes: ['tools.read'] })
  const write = host.auth.authorizationServer.protectMcp(() => new Response('written'), { resource, scopes: ['tools.write'] })
  const fetch = (async (url: string | URL, init?: RequestInit) => {
    const request = new Request(url, init)
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp') return mcp(request)
    return pathname === '/mcp/write' ? write(request) : host.auth.handler(request)
  }) as typeof globalThis.fetch
  return { host, fetch, options: { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true } }
}

/** What an MCP client does with a 401: the metadata of the resource, then that of the server. */
async function discover({ fetch, options }: Awaited<ReturnType<typeof start>>): Promise<oauth.AuthorizationServer> {
  const refused = await fetch(resource)
  expect(refused.status).toBe(401)
  const challenge = refused.headers.get('www-authenticate') ?? ''
  expect(challenge).toContain('scope="tools.read"')
  const address = /resource_metadata="([^"]+)"/.exec(challenge)![1]!
  expect(address).toBe(`${origin}/.well-known/oauth-protected-resource/mcp`)
  const found = await oauth.resourceDiscoveryRequest(new URL(resource), options as never /* both symbols are there */)
  const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(new URL(resource), found)
  expect(servers).toEqual([issuer])
  const metadata = await oauth.discoveryRequest(
    new URL(servers![0]!),
    { algorithm: 'oauth2', ...options } as never /* both symbols are there */,
  )
  return oauth.processDiscoveryResponse(new URL(issuer), metadata)
}

async function signIn(
  made: Awaited<ReturnType<typeof start>>,
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  scope = 'tools.read',
): Promise<oauth.TokenEndpointResponse> {
  const verifier = oauth.generateRandomCodeVerifier()
  const url = new URL(server.authorization_endpoint!)
  const params = {
    client_id: client.client_id,
    redirect_uri: loopback,
    response_type: 'code',
    scope,
    resource,
    state: 's',
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  url.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(verifier))
  const location = new URL(await visit(await made.host.browser(), url))
  const answer = oauth.validateAuthResponse(server, client, location, 's')
  const extra = { additionalParameters: { resource }, ...made.options }
  const tokens = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    loopback,
    verifier,
    extra as never /* both symbols are there */,
  )
  return oauth.processAuthorizationCodeResponse(server, client, tokens)
}

describe('an MCP client', () => {
  it('registers, signs in and calls; more scopes need another sign-in; the token opens no other resource', async () => {
    const made = await start()
    const server = await discover(made)
    const request = await oauth.dynamicClientRegistrationRequest(
      server,
      {
        client_name: 'Old agent',
        redirect_uris: [loopback],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
      made.options as never /* both symbols are there */,
    )
    const client = (await oauth.processDynamicClientRegistrationResponse(request)) as oauth.Client
    const { access_token: token, scope } = await signIn(made, server, client)
    expect(scope).toBe('tools.read')
    const call = (url: string) => made.fetch(url, { headers: { authorization: `Bearer ${token}` } })
    expect(await (await call(resource)).json()).toMatchObject({ userId: 'ada', clientId: client.client_id, scopes: ['tools.read'] })
    const more = await call(`${resource}/write`)
    expect([more.status, more.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringMatching(/^Bearer error="insufficient_scope", scope="tools.write", resource_metadata=/),
    ])
    const wider = await signIn(made, server, client, 'tools.read tools.write')
    expect(await (await made.fetch(`${resource}/write`, { headers: { authorization: `Bearer ${wider.access_token}` } })).text()).toBe(
      'written',
    )
    const other = await made.host.auth.authorizationServer.authorize(
      new Request(origin, { headers: { authorization: `Bearer ${token}` } }),
      { resource: 'http://localhost:3000/other' },
    )
    expect([other.caller, other.response?.status]).toEqual([undefined, 401])
    // The user takes it back.
    await made.host.auth.authorizationServer.disconnect('ada', client.client_id)
    expect((await call(resource)).status).toBe(401)
  })

  it('brings a document, which is fetched once and shown with its host', async () => {
    const made = await start()
    const server = await discover(made)
    expect(server['client_id_metadata_document_supported']).toBe(true)
    const id = `${documents.origin}/client.json`
    const before = documents.fetched.length
    const { access_token: token } = await signIn(made, server, { client_id: id })
    expect((await made.fetch(resource, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    expect(documents.fetched.length - before).toBe(1)
    const url = new URL(`${issuer}/oauth2/authorize?response_type=code&code_challenge_method=S256&code_challenge=${'x'.repeat(43)}`)
    url.searchParams.set('client_id', id)
    url.searchParams.set('redirect_uri', 'https://agent.example/cb')
    const page = await (await (await made.host.browser('eve')).get(String(url))).text()
    expect(page).toContain(new URL(documents.origin).host)
    expect(page).toContain('not verified')
  })

  it.each(['/other.json', '/secret.json', '/script.json', '/logout.json', '/missing.json'])(
    'a document %s that does not fit is refused',
    async (path) => {
      const { host } = await start()
      const answer = await host.post('/oauth2/token', {
        grant_type: 'authorization_code',
        client_id: `${documents.origin}${path}`,
      })
      expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([401, 'invalid_client'])
      expect(host.log.errors).toEqual([])
    },
  )

  it.each([
    'https://10.0.0.1/client',
    'https://inside.example/client',
    'https://[::1]/client',
    'https://169.254.169.254/latest/meta-data',
    'http://agent.example/client.json',
    'https://user:pw@agent.example/client.json',
    'https://agent.example/a/../client.json',
    'https://agent.example/',
  ])('%s is no address that the server calls', async (id) => {
    const { host } = await start()
    const before = documents.fetched.length
    const answer = await host.post('/oauth2/token', { grant_type: 'authorization_code', client_id: id })
    expect([answer.status, documents.fetched.length - before]).toEqual([401, 0])
  })
})

describe('registration', () => {
  const register = (host: World, body: object, headers: Record<string, string> = {}) =>
    host.auth.handler(
      new Request(`${issuer}/oauth2/register`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
  const good = { client_name: 'App', redirect_uris: ['https://app.example/cb'], token_endpoint_auth_method: 'none' }
  const manage = (
    host: World,
    method: string,
    made: { registration_client_uri: string; registration_access_token: string },
    body?: object,
  ) =>
    host.auth.handler(
      new Request(made.registration_client_uri, {
        method,
        headers: { authorization: `Bearer ${made.registration_access_token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )

  it('a client reads, changes and deletes itself by its token, and no other', async () => {
    const { host } = await start()
    const made = (await (await register(host, good)).json()) as {
      client_id: string
      registration_client_uri: string
      registration_access_token: string
    }
    expect(((await (await manage(host, 'GET', made)).json()) as { client_name: string }).client_name).toBe('App')
    expect((await manage(host, 'GET', { ...made, registration_access_token: 'x' })).status).toBe(401)
    const changed = await manage(host, 'PUT', made, { ...good, client_id: made.client_id, client_name: 'New name' })
    expect([changed.status, ((await changed.json()) as { client_name: string }).client_name]).toEqual([200, 'New name'])
    expect((await manage(host, 'DELETE', made)).status).toBe(204)
    expect((await manage(host, 'GET', made)).status).toBe(401)
  })

  it.each([
    [{ ...good, redirect_uris: ['http://app.example/cb'] }, 'invalid_redirect_uri'],
    [{ ...good, redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    [{ ...good, redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ ...good, grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ ...good, backchannel_logout_uri: 'https://app.example/x' }, 'invalid_client_metadata'],
    [{ ...good, client_name: 'a\u202eb' }, 'invalid_client_metadata'],
    [{ ...good, jwks: { keys: [{ kty: 'oct', k: 'x' }] }, token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [{ ...good, response_types: ['token'] }, 'invalid_client_metadata'],
  ])('%j is rejected', async (body, error) => {
    const { host } = await start()
    const answer = await register(host, body)
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, error])
  })

  it('a flood ends at the limit, an unused client after a day, and the address is not there without the option', async () => {
    const { host } = await start()
    const statuses = []
    for (let one = 0; one < 12; one++) statuses.push((await register(host, good)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(201), 429, 429])
    expect((await host.auth.authorizationServer.clients.list({ source: 'registration' })).items.length).toBe(10)
    host.runtime.advance(86_400_000)
    expect((await host.auth.authorizationServer.clients.list({ source: 'registration' })).items).toEqual([])
    const closed = await world()
    expect((await register(closed, good)).status).toBe(400)
    const guarded = await world({ registration: { initialAccessTokens: ['t'.repeat(32)] } })
    expect([
      (await register(guarded, good)).status,
      (await register(guarded, good, { authorization: `Bearer ${'t'.repeat(32)}` })).status,
    ]).toEqual([401, 201])
  })
})
