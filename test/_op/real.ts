/** The real `oidc-provider` on loopback, with its interactions driven over HTTP the way a browser drives them. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { keys } from './keys.ts'

// The package brings no types.
interface Grant {
  addOIDCScope(scope: string): void
  addOIDCClaims(claims: string[]): void
  addResourceScope(resource: string, scope: string): void
  save(): Promise<string>
}
interface ProviderLike {
  callback(): RequestListener
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{
    prompt: { name: string; details: { missingOIDCClaims?: string[]; missingResourceScopes?: Record<string, string[]> } }
    params: Record<string, unknown>
    session?: { accountId: string }
    grantId?: string
  }>
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object, options?: object): Promise<void>
  Grant: { new (of: { accountId: string; clientId: string }): Grant; find(id: string): Promise<Grant | undefined> }
}
const OidcProvider = Provider as unknown as new (issuer: string, configuration: object) => ProviderLike

const people: Record<string, Record<string, unknown>> = {
  alice: { name: 'Alice Liddell', email: 'Alice@Example.com', email_verified: true, picture: 'https://img.example/alice.png' },
  bob: { name: 'Bob', email: 'bob@example.com', email_verified: false },
}

/** A running provider. */
export interface RealOp {
  issuer: string
  /** Requests by path. */
  hits: Map<string, number>
  /** Goes from the authorization URL through login and consent; the callback URL, or the page of a form_post. */
  visit(location: string, choice?: { login?: string; deny?: boolean; browser?: Map<string, string> }): Promise<string>
  /** Takes it off the network, and back under the same address. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** A name with a certificate. Servers reach the provider by it; `visit` goes the way of a proxy that ends TLS. */
export interface TlsName {
  host: string
  key: string
  cert: string
}

/** Starts a provider with the given clients. */
export async function realOp(clients: object[], more: object = {}, tls?: TlsName): Promise<RealOp> {
  let handle = (_request: IncomingMessage, response: ServerResponse): unknown => response.writeHead(503).end()
  const hits = new Map<string, number>()
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    hits.set(path, (hits.get(path) ?? 0) + 1)
    handle(request, response)
  })
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const plain = `http://127.0.0.1:${port}`
  const secure = tls && createTlsServer(tls, (request, response) => void server.emit('request', request, response))
  await new Promise<void>((resolve) => (secure ? secure.listen(0, '127.0.0.1', resolve) : resolve()))
  const issuer = tls && secure ? `https://${tls.host}:${(secure.address() as AddressInfo).port}` : plain
  const provider = new OidcProvider(issuer, {
    clients,
    jwks: { keys: [keys.k1, keys.es256, keys.ed25519].map(({ privateJwk: { alg: _alg, ...key } }) => key) },
    cookies: { keys: ['a key for the cookies of the test provider'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    conformIdTokenClaims: false,
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA', 'HS256'] },
    features: { devInteractions: { enabled: false }, jwtUserinfo: { enabled: true } },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    interactions: { url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 3600, Interaction: 600, Grant: 3600, Session: 3600 },
    // Its own dispatcher refuses loopback, where the tests receive logout tokens.
    fetch: (url: string, { dispatcher: _own, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
    ...more,
  })
  if (tls) Object.assign(provider, { proxy: true })
  const callback = provider.callback()
  handle = (request, response) =>
    request.url?.startsWith('/interaction/') ? interact(provider, request, response) : callback(request, response)

  return {
    issuer,
    hits,
    visit: (location, choice = {}) => visit({ issuer, plain }, location, choice),
    async stop() {
      secure?.closeAllConnections()
      secure?.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    start: () => listen(port),
  }
}

// Login and consent as two forms would post them: `?login=` or `?deny=1` is what the person chose.
async function interact(provider: ProviderLike, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chosen = new URL(request.url ?? '', 'http://op').searchParams
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
  if (request.method === 'GET') return void response.end(prompt.name)
  if (chosen.has('deny')) {
    return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'The person said no' })
  }
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: chosen.get('login') ?? '' } })
  }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const grant = known ?? new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) })
  grant.addOIDCScope(String(params['scope']))
  const { missingOIDCClaims, missingResourceScopes = {} } = prompt.details
  if (missingOIDCClaims) grant.addOIDCClaims(missingOIDCClaims)
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) grant.addResourceScope(resource, scopes.join(' '))
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
}

async function visit(
  { issuer, plain }: { issuer: string; plain: string },
  location: string,
  { login = 'alice', deny, browser = new Map() }: { login?: string; deny?: boolean; browser?: Map<string, string> },
): Promise<string> {
  let target = location
  let method = 'GET'
  for (let hop = 0; hop < 12; hop++) {
    const cookie = [...browser].map(([name, value]) => `${name}=${value}`).join('; ')
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': new URL(issuer).host }
    const headers = { ...(cookie !== '' && { cookie }), ...(plain !== issuer && forwarded) }
    const response = await fetch(target.replace(issuer, plain), { method, redirect: 'manual', headers })
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      if (attributes.some((attribute) => /expires=thu, 01 jan 1970/i.test(attribute))) browser.delete(name)
      else browser.set(name, value)
    }
    const next = response.headers.get('location')
    if (next !== null) {
      target = new URL(next, target).href
      method = 'GET'
      if (!target.startsWith(issuer)) return target
    } else if (target.includes('/interaction/')) {
      const prompt = await response.text()
      target += deny ? '?deny=1' : prompt === 'login' ? `?login=${login}` : ''
      method = 'POST'
    } else {
      return response.text()
    }
  }
  throw new Error(`the journey does not end: ${target}`)
}
