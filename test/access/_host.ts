/** A server with every way in that needs no provider: sign-ins, parked sign-ins, codes of apps, approvals of devices, API keys. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, Runtime } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type BearerApi, bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { baseConfig, Client } from '../_setup.ts'
import { termsPlugin } from './_terms.ts'

const origin = 'http://localhost:3000'
const redirectUri = 'https://app.example/signed-in'
const verifier = 'v'.repeat(43)
// SHA-256 of the verifier, in base64url.
const challenge = '7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM'

/** How access may be gained here. */
export const waysIn = ['password', 'parked', 'app', 'device', 'apiKey'] as const
export type WayIn = (typeof waysIn)[number]
export type Strategy = 'jwt' | 'database'
/** Headers that open something. */
export type Credential = Record<string, string>

/** What tests ask of the server. */
export type AccessHost = Auth<AccountsApi & AdminApi & ApiKeysApi & BearerApi>

/** The server; each call makes a process of its own. */
export function accessHost(adapter: Adapter, strategy: Strategy, runtime?: Runtime): AccessHost {
  const config = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    ...(runtime && { runtime }),
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        authorize: ({ user }) => ({ id: String(user), name: String(user) }),
      },
    ],
  })
  const auth = createAuth(config)
    .use(adapterPlugin(adapter))
    .use(accountsPlugin())
    .use(adminPlugin({ can: () => true }))
    .use(apiKeysPlugin())
    .use(bearerPlugin({ apps: [{ id: 'app', name: 'App', redirectUris: [redirectUri], scopes: ['read'] }] }))
    .use(deviceFlowPlugin({ apps: ['app'] }))
    .use(termsPlugin(({ account }) => account['terms'] === true))
  auth.hook('signIn', ({ account, credentials }) => {
    if (credentials?.['terms'] === '1') Object.assign(account, { terms: true })
    return true
  })
  return auth
}

/** A browser in which the user is signed in. */
export async function signedIn(auth: AccessHost, fields: Record<string, string> = {}): Promise<Client> {
  const client = new Client(auth)
  await client.post('/callback/credentials', { user: 'ada', ...fields })
  return client
}

const post = (auth: AccessHost, path: string, fields: Record<string, string>): Promise<Response> =>
  auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields) }))

/** Whether a credential opens anything now. */
export async function opens(auth: AccessHost, headers: Credential): Promise<boolean> {
  return (await auth.session(new Request(origin, { headers }))) !== null
}

/** Each way in; `copied` is a browser whose cookies an attacker has. Undefined: it was refused. */
export const enter: Record<WayIn, (auth: AccessHost, copied: Client, user?: string) => Promise<Credential | undefined>> = {
  async password(auth, _copied, user = 'ada') {
    const client = await signedIn(auth, { user })
    return { cookie: client.cookieHeader() }
  },
  async parked(auth, _copied, user = 'ada') {
    const client = await signedIn(auth, { user, terms: '1' })
    await client.post('/terms')
    return { cookie: client.cookieHeader() }
  },
  async app(auth, copied) {
    const query = {
      response_type: 'code',
      client_id: 'app',
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    const answer = await copied.get(`/oauth/authorize?${new URLSearchParams(query).toString()}`)
    const code = new URL(answer.headers.get('location') ?? origin, origin).searchParams.get('code')
    if (!code) return undefined
    const form = { grant_type: 'authorization_code', client_id: 'app', redirect_uri: redirectUri, code, code_verifier: verifier }
    const tokens = (await (await post(auth, '/oauth/token', form)).json()) as { access_token?: string }
    return tokens.access_token === undefined ? undefined : { authorization: `Bearer ${tokens.access_token}` }
  },
  async device(auth, copied) {
    const started = (await (await post(auth, '/oauth/device', { client_id: 'app' })).json()) as Record<string, string>
    const page = await (await copied.post('/device', { user_code: started['user_code'] ?? '' })).text()
    const ticket = /name="ticket" value="([^"]+)"/.exec(page)?.[1]
    if (ticket === undefined) return undefined
    await copied.post('/device/decide', { ticket, decision: 'allow' })
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'app', device_code: started['device_code'] ?? '' }
    const tokens = (await (await post(auth, '/oauth/token', form)).json()) as { access_token?: string }
    return tokens.access_token === undefined ? undefined : { authorization: `Bearer ${tokens.access_token}` }
  },
  async apiKey(auth, copied) {
    const request = new Request(origin, { headers: { cookie: copied.cookieHeader() } })
    const { key } = await auth.apiKeys.create(request, { name: 'copied' })
    return { 'x-api-key': key }
  },
}
