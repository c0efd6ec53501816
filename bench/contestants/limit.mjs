/** What the work itself costs: synchronous `node:crypto` without a framework, openid-client for the provider. No checks beyond the necessary. */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import * as openid from 'openid-client'
import { mapAdapter } from './_map-adapter.mjs'
import { cookiesOf, fourProviders, issuer, client, origin, person, post, prove, providerFetch, secret } from './_setup.mjs'

const month = 30 * 86_400
const key = Buffer.from(hkdfSync('sha256', secret, 'limit', 'limit', 64))
const csrfKey = Buffer.from(hkdfSync('sha256', secret, 'limit', 'csrf', 32))
const header = Buffer.from('{"alg":"dir","enc":"A256CBC-HS512"}').toString('base64url')
const noStore = { 'content-type': 'application/json', 'cache-control': 'private, no-store' }

export async function contestant() {
  const adapter = mapAdapter()
  const token = seal(person, month)
  const request = (value) => new Request(`${origin}/auth/session`, { headers: { cookie: `theme=dark; session=${value}` } })
  const csrf = makeCsrf()
  // Of its µs nearly all are the platform's: it looks at every byte of a header, before any library sees the request.
  const oversized = { cookie: `theme=dark; ${[0, 1, 2, 3].map((n) => `session.${n}=${'x'.repeat(3000)}`).join('; ')}` }
  const formCookie = `csrf=${encodeURIComponent(csrf)}`
  const rows = {
    'csrf, none': () => csrfAnswer(new Request(`${origin}/auth/csrf`)).text(),
    'csrf, cookie': () => csrfAnswer(new Request(`${origin}/auth/csrf`, { headers: { cookie: formCookie } })).text(),
    'sign-in page': () => signInPage(new Request(`${origin}/auth/signin`, { headers: { cookie: formCookie } })).text(),
    credentials: () =>
      byPassword(
        post(`${origin}/auth/callback/credentials`, formCookie, { csrfToken: csrf.split('|')[0], username: 'ada', password: 'secret' }),
      ),
    oidc: await byProvider(),
    decode: async () => open(token),
    encode: async () => seal(person, month),
    getToken: async () => open(cookieOf({ get: () => `session=${token}` }, 'session')),
    'jwt handler': () => sessionAnswer(open(cookieOf(request(token).headers, 'session'))).text(),
    'jwt session': async () => toSession(open(cookieOf(request(token).headers, 'session'))),
    'jwt session, oversized': async () => refused(new Request(`${origin}/auth/session`, { headers: oversized }).headers),
    'database handler': async () => sessionAnswer(await fromStore(request('token'))).text(),
    'database session': () => fromStore(request('token')),
    express: async () => toSession(open(cookieOf({ get: () => `theme=dark; session=${token}` }, 'session'))),
  }
  async function fromStore({ headers }) {
    const { session, user } = await adapter.getSessionAndUser(cookieOf(headers, 'session'))
    if (session.expires < new Date()) return null
    return { user: { name: user.name, email: user.email, image: user.image }, expires: session.expires.toISOString() }
  }
  return prove(rows, {
    decode: ({ name }) => name === person.name,
    'jwt session': ({ user }) => user.name === person.name,
    'jwt session, oversized': (session) => session === null,
    'database session': ({ user }) => user.name === person.name,
    credentials: (response) => response.headers.getSetCookie()[0].startsWith('session='),
    oidc: (response) => response.headers.getSetCookie()[0].startsWith('session='),
  })
}

function seal(payload, seconds) {
  const now = Math.floor(Date.now() / 1000)
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', key.subarray(32), iv)
  const text = JSON.stringify({ ...payload, iat: now, exp: now + seconds, jti: randomUUID() })
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `${header}..${iv.toString('base64url')}.${body.toString('base64url')}.${tagOf(iv, body).toString('base64url')}`
}

function open(token) {
  const [, , vector, text, tag] = token.split('.')
  const iv = Buffer.from(vector, 'base64url')
  const body = Buffer.from(text, 'base64url')
  if (!timingSafeEqual(tagOf(iv, body), Buffer.from(tag, 'base64url'))) return null
  const decipher = createDecipheriv('aes-256-cbc', key.subarray(32), iv)
  const payload = JSON.parse(Buffer.concat([decipher.update(body), decipher.final()]).toString())
  return payload.exp > Date.now() / 1000 ? payload : null
}

function tagOf(iv, body) {
  const length = Buffer.alloc(8)
  length.writeUInt32BE(header.length * 8, 4)
  return createHmac('sha512', key.subarray(0, 32)).update(header).update(iv).update(body).update(length).digest().subarray(0, 32)
}

function cookieOf(headers, name) {
  for (const pair of headers.get('cookie')?.split('; ') ?? [])
    if (pair.startsWith(`${name}=`)) return decodeURIComponent(pair.slice(name.length + 1))
}

/** A cookie in parts that is no token. */
function refused(headers) {
  const parts = headers
    .get('cookie')
    .split('; ')
    .filter((pair) => pair.startsWith('session.'))
  const token = parts.map((pair) => pair.slice(pair.indexOf('=') + 1)).join('')
  return token.includes('.') ? toSession(open(token)) : null
}

function makeCsrf(token = randomBytes(32).toString('hex')) {
  return `${token}|${createHmac('sha256', csrfKey).update(token).digest('hex')}`
}

function knownCsrf(headers) {
  const value = cookieOf(headers, 'csrf')
  return value !== undefined && value === makeCsrf(value.split('|')[0]) ? value.split('|')[0] : undefined
}

function csrfAnswer({ headers }) {
  const known = knownCsrf(headers)
  if (known) return new Response(JSON.stringify({ csrfToken: known }), { headers: noStore })
  const made = makeCsrf()
  return new Response(JSON.stringify({ csrfToken: made.split('|')[0] }), {
    headers: { ...noStore, 'set-cookie': `csrf=${encodeURIComponent(made)}; Path=/; HttpOnly; SameSite=Lax` },
  })
}

const form = (id, name, token) =>
  `<form method="post" action="/auth/signin/${id}"><input type="hidden" name="csrfToken" value="${token}"><button>${name}</button></form>`

function signInPage({ headers }) {
  const token = knownCsrf(headers)
  const forms = fourProviders.map(({ id, name }) => form(id, name, token)).join('')
  return new Response(
    `<!doctype html><title>Sign in</title><style>${'/* styles */'.repeat(600)}</style>${forms}${form('credentials', 'Password', token)}`,
    {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'private, no-store',
        'content-security-policy': "default-src 'none'",
      },
    },
  )
}

async function byPassword(request) {
  const fields = new URLSearchParams(await request.text())
  if (fields.get('csrfToken') !== knownCsrf(request.headers) || fields.get('password') !== 'secret')
    return new Response(null, { status: 401 })
  return signedIn(person)
}

function signedIn(payload) {
  return new Response(null, {
    status: 302,
    headers: { location: origin, 'set-cookie': `session=${seal(payload, month)}; Path=/; HttpOnly; SameSite=Lax` },
  })
}

async function byProvider() {
  const fetch = await providerFetch()
  const config = await openid.discovery(new URL(issuer), client.clientId, client.clientSecret, undefined, { [openid.customFetch]: fetch })
  config[openid.customFetch] = fetch
  // The signature of the ID token is checked, as everybody else here does.
  openid.enableNonRepudiationChecks(config)
  return async () => {
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: `${origin}/auth/callback/acme`,
      scope: 'openid profile email',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
    })
    const started = new Response(null, {
      status: 302,
      headers: { location: url.href, 'set-cookie': `flow=${seal({ verifier, state }, 900)}; Path=/; HttpOnly` },
    })
    const callback = new Request(`${origin}/auth/callback/acme?code=code&state=${state}`, { headers: { cookie: cookiesOf(started) } })
    const flow = open(cookieOf(callback.headers, 'flow'))
    const tokens = await openid.authorizationCodeGrant(config, new URL(callback.url), {
      pkceCodeVerifier: flow.verifier,
      expectedState: flow.state,
      idTokenExpected: true,
    })
    const { sub, name, email, picture } = tokens.claims()
    return signedIn({ sub, name, email, picture })
  }
}

function toSession({ name, email, picture, exp }) {
  return { user: { name, email, image: picture }, expires: new Date(exp * 1000).toISOString() }
}

function sessionAnswer(payload) {
  const session = payload.user ? payload : toSession(payload)
  return new Response(JSON.stringify(session), { headers: noStore })
}
