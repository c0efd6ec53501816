/** better-auth, set up as its documentation shows. What it has no counterpart for is not in its rows: CSRF tokens and a page of its own. */
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { getCookieCache } from 'better-auth/cookies'
import { symmetricDecodeJWT, symmetricEncodeJWT } from 'better-auth/crypto'
import { fromNodeHeaders } from 'better-auth/node'
import { genericOAuth } from 'better-auth/plugins'
import { client, cookiesOf, issuer, origin, person, prove, providerFetch, secret } from './_setup.mjs'

const salt = 'better-auth-session'

export async function contestant() {
  // It takes no `fetch` of the host.
  const provider = await providerFetch()
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => (String(input?.url ?? input).startsWith(issuer) ? provider(input) : fetch(input, init))
  const make = (options) =>
    betterAuth({
      secret,
      baseURL: origin,
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      emailAndPassword: {
        enabled: true,
        password: { hash: async (value) => value, verify: async ({ hash, password }) => hash === password },
      },
      rateLimit: { enabled: false },
      telemetry: { enabled: false },
      logger: { disabled: true },
      ...options,
    })
  const auth = make()
  // Its counterpart to sessions in an encrypted cookie.
  const cached = make({ session: { cookieCache: { enabled: true, strategy: 'jwe', maxAge: 86_400 } } })
  const discoveryUrl = `${issuer}/.well-known/openid-configuration`
  // The ID token of this bench is signed once, so it cannot carry a nonce of each sign-in.
  const config = [{ providerId: 'acme', discoveryUrl, ...client, disableIdTokenNonceBinding: true, mapProfileToUser }]
  const acme = make({ plugins: [genericOAuth({ config })] })

  const body = { email: person.email, password: 'correct horse battery', name: person.name }
  const cookie = `theme=dark; ${cookiesOf(await auth.api.signUpEmail({ body, asResponse: true }))}`
  const cachedCookie = `theme=dark; ${cookiesOf(await cached.api.signUpEmail({ body, asResponse: true }))}`
  const request = (value) => new Request(`${origin}/api/auth/get-session`, { headers: { cookie: value } })
  const token = await symmetricEncodeJWT(person, secret, salt)
  const rows = {
    decode: () => symmetricDecodeJWT(token, secret, salt),
    encode: () => symmetricEncodeJWT(person, secret, salt),
    getToken: () => getCookieCache(request(cachedCookie), { secret, strategy: 'jwe', isSecure: false }),
    'jwt handler': async () => (await cached.handler(request(cachedCookie))).text(),
    'jwt session': () => cached.api.getSession({ headers: request(cachedCookie).headers }),
    'database handler': async () => (await auth.handler(request(cookie))).text(),
    'database session': () => auth.api.getSession({ headers: request(cookie).headers }),
    express: () => cached.api.getSession({ headers: fromNodeHeaders({ cookie: cachedCookie, host: 'localhost:3000' }) }),
    credentials: () => auth.api.signInEmail({ body: { email: body.email, password: body.password }, asResponse: true }),
    oidc: () => byProvider(acme),
  }
  return prove(rows, {
    decode: ({ name }) => name === person.name,
    getToken: ({ user }) => user.name === person.name,
    'jwt session': ({ user }) => user.name === person.name,
    'database session': ({ user }) => user.name === person.name,
    express: ({ user }) => user.name === person.name,
    credentials: (response) => response.status === 200,
    oidc: (response) => /session_token=./.test(response.headers.getSetCookie().join()),
  })
}

function mapProfileToUser() {
  return { name: person.name, email: person.email, image: person.picture }
}

async function byProvider({ handler }) {
  const headers = { 'content-type': 'application/json', origin }
  const started = await handler(
    new Request(`${origin}/api/auth/sign-in/social`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ provider: 'acme', callbackURL: '/' }),
    }),
  )
  const { url } = await started.json()
  const query = new URLSearchParams({ code: 'code', state: new URL(url).searchParams.get('state') })
  const response = await handler(new Request(`${origin}/api/auth/callback/acme?${query}`, { headers: { cookie: cookiesOf(started) } }))
  if (!/session_token=./.test(response.headers.getSetCookie().join()))
    throw new Error(`no session by OpenID Connect: ${response.status} ${response.headers.get('location')} ${await response.text()}`)
  return response
}
