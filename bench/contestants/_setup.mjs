/** What every contestant is given: one person, one secret, one provider of OpenID Connect that answers at once. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export const secret = 'a secret of at least thirty-two characters'
export const origin = 'http://localhost:3000'
export const person = { name: 'Ada Lovelace', email: 'ada@example.com', picture: 'https://example.com/ada.png', sub: '1' }
export const quiet = { error() {}, warn() {}, debug() {} }
export const issuer = 'https://op.example.com'
export const client = { clientId: 'client', clientSecret: 'secret' }

/** Four redirecting providers as data; with the password form there are five. */
export const fourProviders = Array.from({ length: 4 }, (_, i) => ({
  id: `op${i}`,
  name: `Provider ${i}`,
  type: 'oauth',
  ...client,
  authorization: `https://op${i}.example.com/authorize`,
  token: `https://op${i}.example.com/token`,
  userinfo: `https://op${i}.example.com/userinfo`,
}))

/** What the provider says of itself (OpenID Connect Discovery 1.0 section 3). */
export const discovery = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
}

/** A `fetch` that is the provider. Its ID token is signed once, so that the provider's own work does not count. */
export async function providerFetch() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256', use: 'sig' }
  const idToken = await new SignJWT({ name: person.name, email: person.email, picture: person.picture })
    .setProtectedHeader({ alg: 'RS256', kid: '1' })
    .setIssuer(issuer)
    .setAudience(client.clientId)
    .setSubject(person.sub)
    .setIssuedAt()
    .setExpirationTime('1d')
    .sign(privateKey)
  const answers = {
    '/.well-known/openid-configuration': discovery,
    '/jwks': { keys: [jwk] },
    '/token': { access_token: 'access', token_type: 'bearer', expires_in: 3600, id_token: idToken },
  }
  return async (input) => {
    const { pathname } = new URL(typeof input === 'string' || input instanceof URL ? input : input.url)
    return Response.json(answers[pathname], { status: pathname in answers ? 200 : 404 })
  }
}

/** Name and value of each cookie that a response sets, as a Cookie header; those of `before` are kept. */
export function cookiesOf(response, before = '') {
  const jar = new Map(before.split('; ').filter(Boolean).map(split))
  for (const line of response.headers.getSetCookie()) {
    const [name, value] = split(line.split(';')[0])
    if (value === '' || /max-age=0/i.test(line)) jar.delete(name)
    else jar.set(name, value)
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
}

function split(pair) {
  const at = pair.indexOf('=')
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** A form as a browser posts it. */
export function post(url, cookie, fields) {
  return new Request(url, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
}

/** Refuses a contestant that does nothing: it would be the fastest of all. */
export async function prove(rows, proofs) {
  for (const [name, holds] of Object.entries(proofs)) {
    if (rows[name] && !(await holds(await rows[name]()))) throw new Error(`${name} does not do what it is measured for`)
  }
  return rows
}
