/** An OpenID Provider over real HTTP that can be told to misbehave in any way. Behaves well unless told otherwise. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { discoveryDocument } from './document.ts'
import { b64, type Jwk, jws, keys, type SigningKey } from './keys.ts'

/** An answer as given; `raw` takes over the socket. */
export interface Answer {
  status?: number
  headers?: Record<string, string | string[]>
  body?: string | Buffer | object
  raw?: (response: ServerResponse, request: IncomingMessage) => void
}
type Change<T, R = T> = (value: T, exchange: Exchange) => R

/** What one authorization knows. */
export interface Exchange {
  op: HostileOp
  /** Parameters of the authorization request. */
  request: URLSearchParams
  /** Body of the token request, once it came. */
  token: URLSearchParams
  headers: IncomingMessage['headers']
  accessToken: string
}

/** Departures from good behaviour; each gets the good value and returns what is sent. */
export interface Script {
  discovery?: (document: Jwk, op: HostileOp) => Jwk | Answer
  jwks?: (document: { keys: Jwk[] }, op: HostileOp) => object | Answer
  /** Key that signs, and the header's alg unless `header` says otherwise. */
  key?: SigningKey
  alg?: string
  header?: Change<Jwk>
  claims?: Change<Jwk>
  /** The finished ID token. */
  idToken?: Change<{ header: Jwk; claims: Jwk; token: string }, unknown>
  tokens?: Change<Jwk, object>
  /** The whole token answer. */
  token?: Change<Jwk, Answer>
  userinfo?: Change<Jwk, object | Answer>
  /** Parameters of the callback. */
  callback?: (params: URLSearchParams, op: HostileOp) => URLSearchParams | string
}

const isAnswer = (value: object): value is Answer => ['status', 'headers', 'body', 'raw'].some((key) => key in value)

export class HostileOp {
  issuer = ''
  script: Script = {}
  /** Requests by path. */
  readonly hits: Map<string, number> = new Map()
  readonly exchanges: Map<string, Exchange> = new Map()
  person: Jwk = { sub: 'alice', name: 'Alice', email: 'Alice@Example.com', email_verified: true, picture: 'https://img.example/a.png' }
  readonly clientId: string = 'client-1'
  readonly clientSecret: string = 'op-secret-s3cr3t-canary-value'
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response))

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  reset(script: Script = {}): void {
    this.script = script
    this.hits.clear()
    this.exchanges.clear()
  }

  /** Requests to a path so far. */
  count(path: string): number {
    return this.hits.get(path) ?? 0
  }

  /** What the browser does at the authorization URL: the callback URL it is sent to. */
  async authorize(location: string): Promise<string> {
    const response = await fetch(location, { redirect: 'manual' })
    return response.headers.get('location') ?? ''
  }

  discovery(): Jwk {
    return discoveryDocument(this.issuer)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer)
    this.hits.set(url.pathname, this.count(url.pathname) + 1)
    const body = await read(request)
    const { script } = this
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return send(response, request, script.discovery?.(this.discovery(), this) ?? this.discovery())
      case '/jwks': {
        const document = { keys: [keys.k1.publicJwk] }
        return send(response, request, script.jwks?.(document, this) ?? document)
      }
      case '/authorize':
        return this.#authorize(url.searchParams, response)
      case '/token':
        return this.#token(new URLSearchParams(body), request, response)
      case '/userinfo':
        return this.#userinfo(request, response)
      default:
        return send(response, request, { status: 404, body: {} })
    }
  }

  #authorize(request: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString('hex')
    this.exchanges.set(code, {
      op: this,
      request,
      token: new URLSearchParams(),
      headers: {},
      accessToken: `at-${randomBytes(24).toString('hex')}`,
    })
    const params = new URLSearchParams({ code })
    const state = request.get('state')
    if (state !== null) params.set('state', state)
    const changed = this.script.callback?.(params, this) ?? params
    response.writeHead(302, { location: `${request.get('redirect_uri')}?${changed.toString()}` }).end()
  }

  async #token(token: URLSearchParams, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { script } = this
    const exchange = this.exchanges.get(token.get('code') ?? '') ?? [...this.exchanges.values()].at(-1)
    if (!exchange) return send(response, request, { status: 400, body: { error: 'invalid_grant' } })
    exchange.token = token
    exchange.headers = request.headers
    const body: Jwk = { access_token: exchange.accessToken, token_type: 'Bearer', expires_in: 3600, scope: 'openid profile email' }
    const idToken = this.idToken(exchange)
    if (idToken !== undefined) body['id_token'] = idToken
    const changed = (script.tokens?.(body, exchange) ?? body) as Jwk
    send(response, request, script.token?.(changed, exchange) ?? changed)
  }

  idToken(exchange: Exchange): unknown {
    const { script } = this
    const key = script.key ?? keys.k1
    const now = Math.floor(Date.now() / 1000)
    const nonce = exchange.request.get('nonce')
    const good: Jwk = { iss: this.issuer, aud: this.clientId, exp: now + 3600, iat: now, ...this.person, ...(nonce !== null && { nonce }) }
    const alg = script.alg ?? key.alg
    const header = script.header?.({ alg, kid: key.kid, typ: 'JWT' }, exchange) ?? { alg, kid: key.kid, typ: 'JWT' }
    const claims = script.claims?.(good, exchange) ?? good
    if (script.idToken) return script.idToken({ header, claims, token: jws({ ...header, alg }, claims, key) }, exchange)
    return jws(header, claims, key)
  }

  #userinfo(request: IncomingMessage, response: ServerResponse): void {
    const exchange = [...this.exchanges.values()].find(({ accessToken }) => request.headers.authorization === `Bearer ${accessToken}`)
    if (!exchange)
      return send(response, request, { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: {} })
    send(response, request, this.script.userinfo?.({ ...this.person }, exchange) ?? this.person)
  }
}

/** at_hash and c_hash of RS256 and its like. */
export function leftHash(value: string, bits = 256): string {
  const digest = createHash(`sha${bits}`).update(value).digest()
  return b64(digest.subarray(0, digest.length / 2))
}

function send(response: ServerResponse, request: IncomingMessage, value: object): void {
  const answer: Answer = isAnswer(value) && !('keys' in value) ? value : { body: value }
  if (answer.raw) return answer.raw(response, request)
  const plain = typeof answer.body === 'string' || Buffer.isBuffer(answer.body)
  const body = plain ? (answer.body as string) : JSON.stringify(answer.body ?? {})
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
  response.end(body)
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
