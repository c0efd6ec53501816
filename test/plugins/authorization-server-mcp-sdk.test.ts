/** The client of `@modelcontextprotocol/sdk` signs in by its own code at servers of the same SDK: in fetch, Hono and Express, by document and by registration. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import express from 'express'
import express4 from 'express4'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Auth, Plugin } from 'authkernel/kernel'
import { expressBinding } from 'authkernel/bindings/express'
import { honoBinding } from 'authkernel/bindings/hono'
import type { AuthorizationServerApi, NodeLikeRequest, NodeLikeResponse } from 'authkernel/plugins/authorization-server'
import { Client } from '../_setup.ts'
import { discover, signIn, visit, world } from './_authorization-server.ts'
import { type DocumentServer, serveDocuments } from './_client-documents.ts'

const loopback = 'http://127.0.0.1:33418/cb'
const scopes = ['tools.read', 'tools.write']
let documents: DocumentServer
const open: Server[] = []

beforeAll(async () => {
  documents = await serveDocuments((id) => ({
    client_id: id,
    client_name: 'SDK agent',
    redirect_uris: [loopback],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
  }))
})
afterAll(async () => {
  await documents.close()
  for (const server of open) await new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)))
})

/** A server of the SDK with a tool that says who calls. */
function tools(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerTool('whoami', { description: 'Who calls' }, ({ authInfo }) => ({
    content: [{ type: 'text', text: `${authInfo?.extra?.['userId']} ${authInfo?.clientId} ${authInfo?.scopes.join(' ')}` }],
  }))
  return server
}

interface Site {
  auth: Auth<AuthorizationServerApi>
  resource: string
  /** What the client speaks through. */
  fetch: typeof globalThis.fetch
  browser(user?: string): Promise<Client>
}
type Mount = (auth: Auth<AuthorizationServerApi>, resource: string) => Promise<{ fetch: typeof globalThis.fetch }>

/** A call of `tools/call` needs `tools.write`, all else `tools.read`. */
async function neededScopes(request: Request): Promise<readonly string[]> {
  const body = request.method === 'POST' ? await request.clone().text() : ''
  return body.includes('"tools/call"') ? ['tools.write'] : ['tools.read']
}

/** The handler of an MCP server for `fetch`. */
async function answerTools(
  request: Request,
  authInfo: NonNullable<Parameters<WebStandardStreamableHTTPServerTransport['handleRequest']>[1]>['authInfo'],
) {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await tools().connect(transport as never /* its optional members are typed for exactOptionalPropertyTypes: false */)
  return transport.handleRequest(request, { ...(authInfo && { authInfo }) })
}

const plain: Mount = async (auth, resource) => {
  const protect = (needed: readonly string[]) =>
    auth.authorizationServer.protectMcp((request, caller) => answerTools(request, caller.authInfo), { resource, scopes: needed })
  const fetch = (async (url: string | URL, init?: RequestInit) => {
    const request = new Request(url, init)
    return new URL(request.url).pathname === '/mcp' ? protect(await neededScopes(request))(request) : auth.handler(request)
  }) as typeof globalThis.fetch
  return { fetch }
}

const hono: Mount = async (auth, resource) => {
  const app = new Hono()
  const binding = (auth as unknown as { hono: { handler: never; root: never } /* the binding is used below */ }).hono
  app.use('/auth/*', binding.handler)
  app.use(binding.root)
  app.all('/mcp', async (c) =>
    auth.authorizationServer.protectMcp((request, caller) => answerTools(request, caller.authInfo), {
      resource,
      scopes: await neededScopes(c.req.raw),
    })(c),
  )
  return { fetch: (async (url: string | URL, init?: RequestInit) => app.fetch(new Request(url, init))) as typeof globalThis.fetch }
}

/** On a port of its own: the SDK's transport for Node writes to the response itself. */
const onNode =
  (make: typeof express): Mount =>
  async (auth, resource) => {
    const app = make()
    const binding = (auth as unknown as { express: { handler: never; root: never } /* the binding is used below */ }).express
    app.use('/auth', binding.handler)
    app.use(binding.root)
    const protect = (needed: readonly string[]) =>
      auth.authorizationServer.protectMcp(
        async (req: express.Request, res: express.Response) => {
          const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
          await tools().connect(transport as never /* its optional members are typed for exactOptionalPropertyTypes: false */)
          await transport.handleRequest(req, res, req.body)
        },
        { resource, scopes: needed },
      )
    app.all('/mcp', make.json(), (req: express.Request, res: express.Response, next: express.NextFunction) => {
      const call = JSON.stringify(req.body ?? '').includes('"tools/call"')
      void protect(call ? ['tools.write'] : ['tools.read'])(req, res, next)
    })
    servers.get(resource)!.on('request', app)
    return { fetch: globalThis.fetch }
  }
const servers = new Map<string, Server>()

async function start(mount: Mount, isNode: boolean): Promise<Site> {
  let origin = 'http://localhost:3000'
  if (isNode) {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    servers.set(`${origin}/mcp`, server)
    open.push(server)
  }
  const resource = `${origin}/mcp`
  const resources = [
    { resource, name: 'Notes', scopes },
    { resource: `${origin}/other`, name: 'Other', scopes },
  ]
  const plugins: Plugin[] = [documents.publicFetch, expressBinding(), honoBinding()]
  const host = await world({ resources, clientDocuments: true, registration: {} }, {}, plugins)
  const { fetch } = await mount(host.auth, resource)
  const browser = async (user = 'ada') => {
    const client = new Client(host.auth, origin)
    await client.post('/callback/credentials', { user })
    return client
  }
  return { auth: host.auth, resource, fetch, browser }
}

/** What an app with the SDK keeps; the "browser" of the user answers the consent page. */
class AgentApp implements OAuthClientProvider {
  information: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  /** Scopes that the user was asked for. */
  readonly asked: (string | null)[] = []
  code: string | undefined
  #verifier = ''
  readonly #browser: Client
  readonly clientMetadataUrl?: string
  readonly redirectUrl = loopback
  readonly clientMetadata = {
    client_name: 'SDK agent',
    redirect_uris: [loopback],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    grant_types: ['authorization_code'],
  }
  constructor(browser: Client, document?: string) {
    this.#browser = browser
    if (document !== undefined) this.clientMetadataUrl = document
  }
  clientInformation = () => this.information
  saveClientInformation = (information: OAuthClientInformationMixed) => void (this.information = information)
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => void (this.kept = tokens)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
  async redirectToAuthorization(url: URL) {
    this.asked.push(url.searchParams.get('scope'))
    this.code = new URL(await visit(this.#browser, url)).searchParams.get('code') ?? undefined
  }
}

/** Connects as an app does: the first attempt sends the user away, the second has a token. */
async function connect(site: Site, app: AgentApp): Promise<{ client: McpClient; transport: StreamableHTTPClientTransport }> {
  const transport = () => new StreamableHTTPClientTransport(new URL(site.resource), { authProvider: app, fetch: site.fetch })
  const first = transport()
  const client = new McpClient({ name: 'agent', version: '1.0.0' })
  await expect(client.connect(first as never /* its optional members are typed for exactOptionalPropertyTypes: false */)).rejects.toThrow(
    UnauthorizedError,
  )
  await first.finishAuth(app.code ?? '')
  const second = transport()
  const connected = new McpClient({ name: 'agent', version: '1.0.0' })
  await connected.connect(second as never /* its optional members are typed for exactOptionalPropertyTypes: false */)
  return { client: connected, transport: second }
}

describe.each([
  ['fetch', plain, false],
  ['Hono', hono, false],
  ['Express 5', onNode(express), true],
  ['Express 4', onNode(express4 as never /* the same API, typed by Express 5 */), true],
] as const)('an MCP server of the SDK in %s', (_name, mount, isNode) => {
  it.each(['document', 'registration'] as const)(
    'the SDK signs in by its own code with a client by %s, asks for more scopes by step-up, and calls a tool',
    async (kind) => {
      const site = await start(mount, isNode)
      const id = `${documents.origin}/sdk.json`
      const app = new AgentApp(await site.browser(), kind === 'document' ? id : undefined)
      const { client, transport } = await connect(site, app)
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami'])
      const clientId = app.information!.client_id
      expect(kind === 'document' ? clientId === id : /^[0-9a-f]{32}$/.test(clientId)).toBe(true)
      expect([app.asked, app.kept?.scope]).toEqual([['tools.read'], 'tools.read'])
      // 403 with `insufficient_scope`: the SDK sends the user away once more.
      await expect(client.callTool({ name: 'whoami' })).rejects.toThrow(UnauthorizedError)
      expect(app.asked).toEqual(['tools.read', 'tools.write'])
      await transport.finishAuth(app.code ?? '')
      const { content } = (await client.callTool({ name: 'whoami' })) as { content: { text: string }[] }
      expect(content[0]!.text).toBe(`ada ${clientId} tools.write`)
      // The token is for this resource alone, and ends when the user takes the consent back.
      const request = new Request(site.resource, { headers: { authorization: `Bearer ${app.kept!.access_token}` } })
      const other = await site.auth.authorizationServer.authorize(request, { resource: site.resource.replace('/mcp', '/other') })
      expect(other.response?.status).toBe(401)
      await site.auth.authorizationServer.disconnect('ada', clientId)
      const refused = await site.fetch(site.resource, { headers: { authorization: `Bearer ${app.kept!.access_token}` } })
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer error="invalid_token", scope="tools.read", resource_metadata="${site.resource.replace('/mcp', '/.well-known/oauth-protected-resource/mcp')}"`,
      ])
      await client.close()
    },
  )
})

describe('a request of Node', () => {
  const resource = 'http://localhost:3000/mcp'
  const make = async () => (await world({ resources: [{ resource, scopes }] })).auth.authorizationServer.protectMcp
  const answer = () => {
    const sent: { status?: number; body?: string } = {}
    return { sent, res: { writeHead: (status: number) => void (sent.status = status), end: (body: string) => void (sent.body = body) } }
  }
  it.each([
    ['a host that is none', { url: '/mcp', headers: { host: 'a b' } }],
    ['a method that a web request cannot have', { method: 'TRACE', url: '/mcp', headers: { host: 'localhost:3000' } }],
  ])('with %s gets 400, and its handler does not run', async (_name, req) => {
    const protectMcp = await make()
    let ran = false
    const { sent, res } = answer()
    await protectMcp((_req: NodeLikeRequest, _res: NodeLikeResponse) => void (ran = true), { resource })(req, res)
    expect([sent.status, ran]).toEqual([400, false])
  })
  it('of an absolute target is one for our own host', async () => {
    const { sent, res } = answer()
    await (
      await make()
    )((_req: NodeLikeRequest, _res: NodeLikeResponse) => undefined, { resource })(
      { url: 'http://evil.example/mcp', headers: { host: 'localhost:3000' } },
      res,
    )
    expect(sent.status).toBe(401)
  })
  it('hands a fault of its handler to `next`, and rejects without one', async () => {
    const host = await world({ resources: [{ resource, scopes }] })
    const fault = new Error('a fault of the handler')
    const route = host.auth.authorizationServer.protectMcp((_req: NodeLikeRequest, _res: NodeLikeResponse) => Promise.reject(fault), {
      resource,
    })
    const { access_token: token } = await signIn(await discover(host.auth), await host.browser(), { scope: 'openid tools.read', resource })
    const req = { url: '/mcp', headers: { host: 'localhost:3000', authorization: `Bearer ${token}` } }
    const seen: unknown[] = []
    await route({ ...req }, answer().res, (error) => void seen.push(error))
    expect(seen).toEqual([fault])
    await expect(route({ ...req }, answer().res)).rejects.toBe(fault)
  })
})
