/** A provider with a browser and clients: openid-client speaks to it as to any other, and keeps no cookies. */
import * as openid from 'openid-client'
import { createAuth } from 'authkernel'
import type { Adapter, Auth, AuthConfig, EndReason, Kernel, Plugin } from 'authkernel/kernel'
import { endAccess } from 'authkernel/kernel/users'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import {
  type AuthorizationServerApi,
  type AuthorizationServerOptions,
  authorizationServerPlugin,
} from 'authkernel/plugins/authorization-server'
import { type JwtApi, jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

export const origin = 'http://localhost:3000'
export const issuer: string = 'http://localhost:3000/auth'
export const redirect = 'https://partner.example/cb'
export const api = 'https://api.example/'
export const signedApi = 'https://signed.example/'
export const secret: string = 's'.repeat(40)

export const clients: AuthorizationServerOptions['clients'] = [
  {
    client_id: 'partner',
    client_name: 'Partner <Ltd>',
    client_secret: secret,
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    post_logout_redirect_uris: ['https://partner.example/bye'],
    backchannel_logout_uri: 'https://partner.example/back-channel',
  },
  { client_id: 'own', client_name: 'Own', redirect_uris: ['https://own.example/cb'], first_party: true },
  {
    client_id: 'tool',
    client_name: 'Tool',
    redirect_uris: ['http://127.0.0.1/cb', 'http://localhost/cb', 'com.example.tool:/cb'],
    scope: 'openid read',
  },
  { client_id: 'apart', client_name: 'Apart', redirect_uris: ['https://apart.example/cb'], subject_type: 'pairwise' },
]

export interface World {
  auth: Auth<AuthorizationServerApi & AccountsApi & JwtApi>
  /** Ends the access of a user. */
  end(userId: string, reason: EndReason): Promise<unknown>
  store: ReturnType<typeof memoryAdapter>
  data: MemoryData
  browser(user?: string): Promise<Client>
  post(path: string, fields: Record<string, string> | URLSearchParams, headers?: Record<string, string>): Promise<Response>
  /** What the server sent to clients. */
  posts: { url: string; body: string }[]
  runtime: ReturnType<typeof baseConfig>['runtime']
  log: ReturnType<typeof baseConfig>['logger']
}

export async function world(
  options: Partial<AuthorizationServerOptions> = {},
  config: AuthConfig = {},
  plugins: readonly Plugin[] = [],
  adapter?: Adapter,
): Promise<World> {
  const posts: { url: string; body: string }[] = []
  const fetch = (async (url: string | URL | Request, init?: RequestInit) => {
    posts.push({ url: String(url), body: String(init?.body ?? '') })
    return new Response(null, { status: 200 })
  }) as typeof globalThis.fetch
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    session: { strategy: 'database' },
    ...config,
  })
  base.runtime.fetch = fetch
  // openid-client reads the clock of the process.
  base.runtime.advance(Date.now() - base.runtime.now())
  let inside: Kernel | undefined
  const probe: Plugin = { name: 'probe', setup: (kernel) => void (inside = kernel) }
  const data = memoryData()
  const store = (adapter ?? memoryAdapter(data)) as ReturnType<typeof memoryAdapter>
  const built = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin({ routes: true }))
    .use((plugins.find(({ name }) => name === 'jwt') as Plugin<JwtApi> | undefined) ?? jwtPlugin())
    .use(probe)
  for (const plugin of plugins) if (plugin.name !== 'jwt') built.use(plugin)
  const auth = built.use(
    authorizationServerPlugin({
      clients,
      resources: [
        { resource: api, name: 'Example API', scopes: ['read', 'write'], introspectedBy: ['partner'] },
        { resource: signedApi, scopes: ['sign'], format: 'jwt' },
      ],
      pairwiseSalt: 'p'.repeat(32),
      ...options,
    }),
  )
  await auth.ready()
  for (const id of ['ada', 'eve'])
    if (!(await store.getUser!(id))) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = async (user = 'ada') => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const post = (path: string, fields: Record<string, string> | URLSearchParams, headers: Record<string, string> = {}) =>
    auth.handler(new Request(`${issuer}${path}`, { method: 'POST', body: new URLSearchParams(fields), headers }))
  const end = async (userId: string, reason: EndReason) => endAccess(await inside!.contextOf({ job: 'test' }), { userId }, 'test', reason)
  return { auth, end, store, data, browser, post, posts, runtime: base.runtime, log: base.logger }
}

export interface Host {
  handler(request: Request): Promise<Response>
}

/** Configures openid-client by discovery. */
export async function discover(host: Host, id = 'partner', authentication?: openid.ClientAuth): Promise<openid.Configuration> {
  const fetch: openid.CustomFetch = async (url, init) => {
    const response = await host.handler(new Request(url, init as RequestInit))
    if (response.headers.getSetCookie().length > 0) throw new Error(`${url} set a cookie`)
    return response
  }
  const auth = authentication ?? (id === 'partner' ? openid.ClientSecretBasic(secret) : openid.None())
  return openid.discovery(new URL(issuer), id, undefined, auth, { [openid.customFetch]: fetch, execute: [openid.allowInsecureRequests] })
}

export interface Begun {
  url: URL
  verifier: string
  state: string
  nonce: string
}

export async function begin(config: openid.Configuration, params: Record<string, string> = {}): Promise<Begun> {
  const [verifier, state, nonce] = [openid.randomPKCECodeVerifier(), openid.randomState(), openid.randomNonce()]
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope: 'openid email read offline_access',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...params,
  })
  return { url, verifier, state, nonce }
}

export function ticketOf(page: string): string {
  return /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

/** The user in the browser: asked, and led back. Answers where to. */
export async function visit(
  browser: Pick<Client, 'get' | 'post'>,
  url: URL | string,
  decision: 'allow' | 'deny' = 'allow',
): Promise<string> {
  const answer = await browser.get(String(url))
  if (answer.status === 302) return answer.headers.get('location') ?? ''
  const ticket = ticketOf(await answer.text())
  if (ticket === '') return `${answer.status}`
  const decided = await browser.post('/oauth2/consent', { ticket, decision })
  return decided.headers.get('location') ?? `${decided.status}`
}

export type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers

export async function finish(config: openid.Configuration, { verifier, state, nonce }: Begun, location: string): Promise<Tokens> {
  return openid.authorizationCodeGrant(config, new URL(location), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  })
}

export async function signIn(
  config: openid.Configuration,
  browser: Pick<Client, 'get' | 'post'>,
  params: Record<string, string> = {},
): Promise<Tokens> {
  const begun = await begin(config, params)
  return finish(config, begun, await visit(browser, begun.url))
}

/** The `error` that a call was refused with. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof openid.ResponseBodyError || error instanceof openid.AuthorizationResponseError) return error.error
    throw error
  }
  throw new Error('nothing was refused')
}
