/** Apps whose tokens are bound to a key (RFC 9449), and proofs with whatever is wrong with them. */
import { exportJWK, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { type Auth, createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type BearerApi, type BearerOptions, bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { type JwtApi, jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { begin, discover, origin, visit } from './_app.ts'

const redirectUris = ['http://127.0.0.1/cb']
const apps = [
  { id: 'desktop', name: 'Acme Desktop', redirectUris, scopes: ['read', 'write'] },
  { id: 'bank', name: 'Acme Bank', redirectUris, scopes: ['read'], dpopBoundAccessTokens: true },
]
export const audience: string = 'https://api.example'
export const clients: { id: string; secret: string; audiences: string[] }[] = [
  { id: 'api', secret: 's'.repeat(32), audiences: [origin, audience] },
]
export const here: string = `${origin}/things`

interface App {
  config: openid.Configuration
  keys: CryptoKeyPair
  DPoP: openid.DPoPHandle
  tokens: Awaited<ReturnType<typeof openid.authorizationCodeGrant>>
}
export interface DpopWorld {
  auth: Auth<BearerApi & JwtApi>
  browser: Client
  app(id?: string): Promise<App>
  proof(keys: CryptoKeyPair, token: string | undefined, claims?: object, header?: object): Promise<string>
  asks(token: string, dpop?: string, scheme?: string, more?: Record<string, string>): Request
  ask(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>
  later(milliseconds: number): void
}

export async function world(options: Partial<BearerOptions> = {}): Promise<DpopWorld> {
  const base = baseConfig({
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
    runtime: { now: () => Date.now() + ahead },
  })
  let ahead = 0
  const store = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(jwtPlugin({ introspection: { clients }, audiences: [audience], routes: true }))
    .use(bearerPlugin({ apps, ...options }))
    .use(deviceFlowPlugin({ apps: ['desktop'] }))
  await auth.ready()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: null })
  const browser = new Client(auth)
  await browser.post('/callback/credentials', { user: 'ada' })
  /** A signed-in app with a key of its own. */
  const app = async (id = 'desktop') => {
    const config = await discover(auth, id)
    const keys = await openid.randomDPoPKeyPair('ES256')
    const DPoP = openid.getDPoPHandle(config, keys)
    const begun = await begin(config)
    const answer = new URL(await visit(browser, begun.url))
    const tokens = await openid.authorizationCodeGrant(
      config,
      answer,
      { pkceCodeVerifier: begun.verifier, expectedState: begun.state },
      {},
      { DPoP },
    )
    return { config, keys, DPoP, tokens }
  }
  /** A proof, with whatever is wrong with it. */
  const proof = async (keys: CryptoKeyPair, token: string | undefined, claims: object = {}, header: object = {}) => {
    const ath = token === undefined ? {} : { ath: await hashed(token) }
    const jwk = await exportJWK(keys.publicKey)
    return new SignJWT({ jti: crypto.randomUUID(), htm: 'GET', htu: here, iat: Math.floor((Date.now() + ahead) / 1000), ...ath, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
      .sign(keys.privateKey)
  }
  const asks = (token: string, dpop?: string, scheme = 'DPoP', more: Record<string, string> = {}) =>
    new Request(`${here}?page=2`, { headers: { authorization: `${scheme} ${token}`, ...(dpop !== undefined && { dpop }), ...more } })
  const ask = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields), headers }))
  const later = (milliseconds: number) => void (ahead += milliseconds)
  return { auth, browser, app, proof, asks, ask, later }
}

export async function hashed(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url')
}
