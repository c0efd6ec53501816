/** A provider that exists as a fetch function: discovery, keys, token and userinfo, with answers that a flow may bend. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { discoveryDocument } from '../_op/document.ts'
import type { Recorder } from './_recorder.ts'

type Json = Record<string, unknown>

/** Answers of the provider; all have a default. */
export interface OpOptions {
  issuer?: string
  discovery?: Json
  claims?: Json
  /** Header parameters of the ID token. */
  header?: Json
  userinfo?: Json
  userinfoStatus?: number
  tokens?: Json
  tokenStatus?: number
  /** Body of the token endpoint as it is. */
  tokenBody?: string
  /** Default: only the client of the type oauth gets none. */
  noIdToken?: boolean
  /** What the authorization endpoint puts into its answer, over code, state and iss. */
  answer?: Record<string, string | undefined>
}

export const issuer = 'https://op.example'
const keys = generateKeyPair('RS256').then(async ({ publicKey, privateKey }) => ({
  privateKey,
  jwk: { ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' },
}))

export class FakeOp {
  readonly #recorder: Recorder
  readonly #asked: Map<string, URLSearchParams> = new Map()
  options: OpOptions
  #codes = 0

  constructor(recorder: Recorder, options: OpOptions = {}) {
    this.#recorder = recorder
    this.options = options
  }

  get issuer(): string {
    return this.options.issuer ?? issuer
  }

  /** What a person does at the authorization endpoint: the URL that the browser is sent back to. */
  authorize(location: string, over: Record<string, string | undefined> = {}): string {
    const { searchParams } = new URL(location)
    const code = `code-${++this.#codes}`
    this.#asked.set(code, searchParams)
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const answer = { code, state: searchParams.get('state') ?? undefined, ...this.options.answer, ...over }
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) back.searchParams.set(name, value)
    return back.href
  }

  /** To be given as the provider's customFetch. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    const form = request.method === 'POST' ? Object.fromEntries(new URLSearchParams(await request.text())) : undefined
    const headers = Object.fromEntries(['authorization', 'content-type'].flatMap((name) => headerOf(request, name)))
    this.#recorder.note('fetch', `${request.method} ${url.pathname}`, { url: url.href, headers, ...(form && { form }) })
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return Response.json(this.#discovery())
      case '/jwks':
        return Response.json({ keys: [(await keys).jwk] })
      case '/token':
        return this.#token(form ?? {})
      case '/userinfo':
        return Response.json(this.options.userinfo ?? this.#claims(), { status: this.options.userinfoStatus ?? 200 })
      default:
        return new Response('Not found', { status: 404 })
    }
  }

  #discovery(): Json {
    return { ...discoveryDocument(this.issuer), ...this.options.discovery }
  }

  #claims(): Json {
    return { sub: 'sub-1', name: 'Ann Example', email: 'Ann@Example.com', picture: 'https://img.example/ann.png', ...this.options.claims }
  }

  async #token(form: Record<string, string>): Promise<Response> {
    const { tokens, tokenStatus = 200, tokenBody, noIdToken, header } = this.options
    if (tokenBody !== undefined) return new Response(tokenBody, { status: tokenStatus, headers: { 'content-type': 'application/json' } })
    const now = Math.floor(Date.now() / 1000)
    const asked = this.#asked.get(form['code'] ?? '')
    const nonce = asked?.get('nonce')
    // The client of the type oauth.
    const plain = noIdToken ?? asked?.get('client_id') === 'client-2'
    const claims = {
      iss: this.issuer,
      aud: asked?.get('client_id') ?? 'client-1',
      iat: now,
      exp: now + 300,
      ...(nonce && { nonce }),
      ...this.#claims(),
    }
    const { privateKey } = await keys
    const id_token = await new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: 'RS256', kid: 'key-1', ...header }).sign(privateKey)
    const answer = { access_token: 'access-1', token_type: 'Bearer', expires_in: 3600, ...(!plain && { id_token }), ...tokens }
    return Response.json(answer, { status: tokenStatus })
  }
}

function headerOf(request: Request, name: string): [string, string][] {
  const value = request.headers.get(name)
  return value === null ? [] : [[name, value]]
}
