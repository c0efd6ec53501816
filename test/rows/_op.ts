/** An OpenID Provider without a network: answers `fetch`, signs with a real key, runs on the clock it is given. */
import { discoveryDocument } from '../_op/document.ts'
import { type Jwk, jws, keys } from '../_op/keys.ts'

/** What one authorization remembers. */
interface Grant {
  redirectUri: string
  nonce: string | null
}

export class LocalOp {
  readonly issuer = 'https://op.example'
  readonly clientId = 'client-1'
  readonly clientSecret = 'op-secret-s3cr3t-canary-value'
  /** Who consents. */
  person: Jwk = { sub: 'ann-at-op', name: 'Ann', email: 'Ann@Example.com', email_verified: true, picture: 'https://img.example/a.png' }
  /** Replaces the answer of a path: an object is JSON with status 200. */
  answers: Record<string, () => Response | object> = {}
  readonly requests: string[] = []
  readonly #grants: Map<string, Grant> = new Map()
  readonly #now: () => number
  #codes = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Provider options of either type; oauth has its endpoints, oidc finds them. */
  provider(type: 'oidc' | 'oauth', id: string = type): Record<string, unknown> & { id: string; name: string; type: 'oidc' | 'oauth' } {
    const { clientId, clientSecret, issuer } = this
    const base = { id, name: id, type, clientId, clientSecret }
    if (type === 'oidc') return { ...base, issuer }
    return { ...base, authorization: `${issuer}/authorize`, token: `${issuer}/token`, userinfo: `${issuer}/userinfo` }
  }

  /** What the browser does at the authorization URL: the URL it comes back with. */
  authorize(location: string): string {
    const { searchParams } = new URL(location)
    const code = `code-${++this.#codes}-of-local-op`
    this.#grants.set(code, { redirectUri: searchParams.get('redirect_uri') ?? '', nonce: searchParams.get('nonce') })
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    const state = searchParams.get('state')
    if (state !== null) back.searchParams.set('state', state)
    return back.href
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    this.requests.push(pathname)
    const answer = this.answers[pathname]?.() ?? (await this.#answer(pathname, request))
    return answer instanceof Response ? answer : Response.json(answer)
  }

  async #answer(pathname: string, request: Request): Promise<Response | object> {
    const { issuer } = this
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return discoveryDocument(issuer)
      case '/jwks':
        return { keys: [keys.k1.publicJwk] }
      case '/token':
        return this.#token(new URLSearchParams(await request.text()))
      case '/userinfo':
        return this.person
      default:
        return new Response(null, { status: 404 })
    }
  }

  #token(body: URLSearchParams): Response | object {
    const code = body.get('code') ?? ''
    const grant = this.#grants.get(code)
    this.#grants.delete(code)
    if (!grant || grant.redirectUri !== body.get('redirect_uri')) return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const now = Math.floor(this.#now() / 1000)
    const claims = {
      iss: this.issuer,
      aud: this.clientId,
      iat: now,
      exp: now + 3600,
      ...this.person,
      ...(grant.nonce && { nonce: grant.nonce }),
    }
    return {
      access_token: `at-${code}`,
      refresh_token: `rt-${code}`,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile email',
      id_token: jws({ alg: 'RS256', kid: keys.k1.kid }, claims, keys.k1),
    }
  }
}
