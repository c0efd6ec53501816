/** A provider on the other side of `fetch`: it behaves as the facts say and remembers what it was asked. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { accessToken, clientId, clientSecret, tokenRequest, userinfoRequest, valuesOf } from './_expected.ts'
import type { Fact } from './_facts.ts'
import type { Sample } from './_samples.ts'

const { publicKey, privateKey } = await generateKeyPair('RS256')
const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }

/** A request that arrived. */
export interface Seen {
  method: string
  url: URL
  headers: Headers
  text: string
}
export interface Stub {
  fetch: typeof fetch
  seen: { token: Seen[]; userinfo: Seen[]; other: Seen[] }
  /** The `nonce` that the ID token must carry. */
  nonce: string | undefined
  /** Seconds since the epoch, of the test's clock. */
  now: number
  issuer: string
  discovery: string
}

/** `answer`: userinfo, or claims. */
export function createStub(fact: Fact, sample: Sample, answer: Record<string, unknown>): Stub {
  const values = valuesOf(fact, sample)
  const base = String(values['issuer'])
  const tenant = answer['tid'] as string | undefined
  const token = tokenRequest(fact, values)?.url ?? `${base.replace(/\/$/, '')}/oauth/token`
  const userinfo =
    fact.type === 'oauth'
      ? userinfoRequest(fact, values).url || String(sample.options?.['userinfo'])
      : `${base.replace(/\/$/, '')}/userinfo`
  const stub: Stub = {
    seen: { token: [], userinfo: [], other: [] },
    nonce: undefined,
    now: 0,
    issuer: issuerOf(fact.id, base),
    discovery: discoveryOf(fact.id, base),
    fetch: async (input, init) => {
      const request = new Request(input as RequestInfo, init)
      const seen: Seen = { method: request.method, url: new URL(request.url), headers: request.headers, text: await request.text() }
      const place = seen.url.origin + decodeURIComponent(seen.url.pathname)
      if (place === stub.discovery) return Response.json(document())
      if (place === 'https://keys.example/jwks') return Response.json({ keys: [jwk] })
      if (place === token) {
        stub.seen.token.push(seen)
        return tokens()
      }
      if (place === userinfo) {
        stub.seen.userinfo.push(seen)
        return fact.id === 'bankid-no' ? signedAnswer() : Response.json(answer)
      }
      stub.seen.other.push(seen)
      return others[place] ?? Response.json({ error: `nothing at ${place}` }, { status: 404 })
    },
  }
  const others: Record<string, Response> = {
    'https://graph.microsoft.com/v1.0/me/photos/48x48/$value': new Response(new Uint8Array([0xff, 0xd8, 0xff]), {
      headers: { 'content-type': 'image/jpeg' },
    }),
  }

  const document = () => ({
    issuer: fact.id.startsWith('microsoft') || fact.id === 'azure-ad' ? base.replace('common', '{tenantid}') : stub.issuer,
    authorization_endpoint: `${base.replace(/\/$/, '')}/oauth/authorize`,
    token_endpoint: token,
    userinfo_endpoint: userinfo,
    jwks_uri: 'https://keys.example/jwks',
    code_challenge_methods_supported: ['S256'],
  })
  const tokens = async () => {
    const body: Record<string, unknown> = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 3600,
      ...(fact.type === 'oidc' && { id_token: await idToken() }),
      ...sample.tokens,
    }
    for (const [name, value] of Object.entries(body)) if (name === 'token_type' && value === null) delete body[name]
    // WeChat says text/plain; FusionAuth sends a challenge with good answers.
    const headers = {
      'content-type': fact.id === 'wechat' ? 'text/plain' : 'application/json',
      ...(fact.id === 'fusionauth' && { 'www-authenticate': 'Bearer' }),
    }
    return new Response(JSON.stringify(body), { headers })
  }
  const idToken = () => {
    const own = fact.idToken === false ? { sub: answer['sub'] } : answer
    const jwt = new SignJWT({ ...own, ...(stub.nonce && { nonce: stub.nonce }) })
      .setIssuer(tenant ? stub.issuer.replace('common', tenant) : stub.issuer)
      .setAudience(clientId)
      .setIssuedAt(stub.now)
      .setExpirationTime(stub.now + 300)
    // LINE signs with the channel secret.
    if (fact.id === 'line') return jwt.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(clientSecret))
    return jwt.setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(privateKey)
  }
  const signedAnswer = async () => {
    const jwt = await new SignJWT(answer)
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuer(stub.issuer)
      .setAudience(clientId)
      .setIssuedAt(stub.now)
      .setExpirationTime(stub.now + 300)
      .sign(privateKey)
    return new Response(jwt, { headers: { 'content-type': 'application/jwt' } })
  }
  return stub
}

// These two publish their document, and issue their tokens, below a path that hosts may leave out of `issuer`.
const below: Record<string, string> = { asgardeo: '/oauth2/token', onelogin: '/oidc/2' }

function issuerOf(id: string, base: string): string {
  const path = below[id]
  return path && !base.endsWith(path) ? base + path : base
}

function discoveryOf(id: string, base: string): string {
  const issuer = id === 'frontegg' ? `${base}/oauth` : issuerOf(id, base)
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}
