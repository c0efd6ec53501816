/** The service `oauth` at the real `oidc-provider`: what other plugins ask of a provider. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { type Auth, type Context, NetworkError, OAuthRequestError, type OAuthService } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { keys } from '../_op/keys.ts'
import { type RealOp, realOp } from '../_op/real.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
let op: RealOp
beforeAll(async () => {
  const client = { client_id: 'app', client_secret: clientSecret, redirect_uris: ['http://localhost:3000/auth/callback/acme'] }
  op = await realOp([{ ...client, response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'] }], {
    features: { devInteractions: { enabled: false }, revocation: { enabled: true }, introspection: { enabled: true } },
    rotateRefreshToken: true,
  })
})
afterAll(() => op.stop())

interface Setup {
  auth: Auth
  /** Runs work with a context. */
  within<T>(work: (oauth: OAuthService, ctx: Context) => Promise<T>): Promise<T>
  signIn(): Promise<{ access: string; refresh: string }>
}
function setup(provider: object = {}, config: object = {}): Setup {
  let tokens = { access: '', refresh: '' }
  let contextOf: (request: Request) => Promise<Context>
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    callbacks: {
      jwt: ({ token, account }) => {
        if (account?.access_token) tokens = { access: account.access_token, refresh: String(account.refresh_token) }
        return token
      },
    },
    ...config,
  })
    .use(
      oidcPlugin({
        id: 'acme',
        issuer: op.issuer,
        clientId: 'app',
        clientSecret,
        authorization: { params: { scope: 'openid email offline_access', prompt: 'consent' } },
        ...provider,
      }),
    )
    .use(credentialsPlugin({ id: 'pw', authorize: () => null }))
    .use({ name: 'contexts', setup: (kernel) => void (contextOf = (request) => kernel.contextOf(request)) }) as unknown as Auth
  return {
    auth,
    async within(work) {
      const ctx = await contextOf(new Request('http://localhost:3000/'))
      return work(ctx.service('oauth'), ctx)
    },
    async signIn() {
      const browser = new Client(auth)
      await browser.get(await op.visit(locationOf(await browser.signIn('acme'))))
      return tokens
    },
  }
}
const failure = (work: Promise<unknown>): Promise<OAuthRequestError> =>
  work.then(
    () => Promise.reject(new Error('it worked')),
    (error: unknown) => error as OAuthRequestError,
  )

describe('refresh', () => {
  it('brings a fresh set; the used token is refused, and no message holds a token', async () => {
    const { within, signIn } = setup()
    const { refresh, access } = await signIn()
    const fresh = await within((oauth, ctx) => oauth.refresh(ctx, 'acme', refresh, { subject: 'alice' }))
    expect(fresh).toMatchObject({
      token_type: 'bearer',
      expires_at: expect.any(Number) as number,
      access_token: expect.any(String) as string,
    })
    expect([fresh.access_token === access, fresh.refresh_token === refresh]).toEqual([false, false])
    const error = await failure(within((oauth, ctx) => oauth.refresh(ctx, 'acme', refresh)))
    expect(error).toBeInstanceOf(OAuthRequestError)
    expect([error.outcome, error.code]).toEqual(['refused', 'invalid_grant'])
    expect(JSON.stringify([error.message, error.cause]) + String(error.cause?.err?.stack)).not.toContain(refresh)
  })

  it('an ID token of another person is an error', async () => {
    const { within, signIn } = setup()
    const { refresh } = await signIn()
    const error = await failure(within((oauth, ctx) => oauth.refresh(ctx, 'acme', refresh, { subject: 'bob' })))
    expect([error.outcome, error.message]).toEqual(['unknown', expect.stringContaining('another user')])
  })

  const answered =
    (status: number, body: object | string, headers: Record<string, string> = {}) =>
    (): Response =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: { 'content-type': 'application/json', ...headers },
      })
  const broken = (code: string) => (): never => {
    throw Object.assign(new TypeError('fetch failed'), { cause: { code } })
  }
  it.each<[string, string, () => Response]>([
    ['wrong client', 'unused', answered(401, { error: 'invalid_client' })],
    ['too many', 'unused', answered(429, 'slow down', { 'content-type': 'text/plain' })],
    ['503 with an error of OAuth', 'unused', answered(503, { error: 'temporarily_unavailable' })],
    ['503 of a gateway', 'unknown', answered(503, '<html>', { 'content-type': 'text/html' })],
    ['500 with an error of OAuth', 'unknown', answered(500, { error: 'server_error' })],
    ['no JSON', 'unknown', answered(200, 'ok')],
    ['no token', 'unknown', answered(200, { token_type: 'Bearer' })],
    ['refused connection', 'unused', broken('ECONNREFUSED')],
    ['no such host', 'unused', broken('ENOTFOUND')],
    ['a certificate of another host', 'unused', broken('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['reset after sending', 'unknown', broken('ECONNRESET')],
    ['closed socket', 'unknown', broken('UND_ERR_SOCKET')],
  ])('%s: %s', async (_name, outcome, answer) => {
    const fetch = (async (input: RequestInfo | URL, init?: RequestInit) =>
      init?.method === 'POST' ? answer() : globalThis.fetch(input, init)) as typeof globalThis.fetch
    const { within } = setup({}, { runtime: { fetch } })
    expect((await failure(within((oauth, ctx) => oauth.refresh(ctx, 'acme', 'a-refresh-token')))).outcome).toBe(outcome)
  })

  it('knows from the network whether a request was sent', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const { within } = setup({ token: `http://127.0.0.1:${port}/token` })
    const error = await failure(within((oauth, ctx) => oauth.refresh(ctx, 'acme', 'a-refresh-token')))
    expect([error.outcome, error.cause?.err?.name]).toEqual(['unused', NetworkError.name])
  })
})

it('metadata: what the document says, under what the options say', async () => {
  const { within } = setup({ token: 'https://id.example/token' })
  expect(await within((oauth, ctx) => oauth.metadata(ctx, 'acme'))).toMatchObject({
    issuer: op.issuer,
    token_endpoint: 'https://id.example/token',
    revocation_endpoint: `${op.issuer}/token/revocation`,
  })
})

it('revoke and request: the client authenticates, and the token is dead', async () => {
  const { within, signIn } = setup()
  const { access } = await signIn()
  const active = (): Promise<boolean> =>
    within(async (oauth, ctx) => {
      const answer = await oauth.request(ctx, 'acme', 'introspection_endpoint', { token: access })
      return ((await answer.json()) as { active: boolean }).active
    })
  expect(await active()).toBe(true)
  expect(await within((oauth, ctx) => oauth.revoke(ctx, 'acme', access, 'access_token'))).toBe(true)
  expect(await active()).toBe(false)
  expect((await failure(within((oauth, ctx) => oauth.request(ctx, 'acme', 'no_such_endpoint', {})))).message).toContain('no_such_endpoint')
})

it('a provider of another type, or none, is InvalidProvider', async () => {
  const { within } = setup()
  for (const id of ['pw', 'nobody']) {
    await expect(within((oauth, ctx) => oauth.refresh(ctx, id, 'x'))).rejects.toMatchObject({ type: 'InvalidProvider' })
  }
})

describe('verify', () => {
  const now = Math.floor(Date.now() / 1000)
  const good = { aud: 'app', iat: now, exp: now + 120, jti: 'one', sub: 'alice' }
  const token = (claims: Record<string, unknown> = {}, header: object = {}, key = keys.k1): Promise<string> =>
    new SignJWT({ iss: op.issuer, ...good, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'logout+jwt', ...header })
      .sign(key.privateKey)
  const verify = async (jwt: string | Promise<string>): Promise<unknown> => {
    const text = await jwt
    return setup().within((oauth, ctx) => oauth.verify(ctx, 'acme', text, { typ: 'logout+jwt', claims: ['jti'] }))
  }

  it('accepts a token of the issuer for this client', async () => {
    expect(await verify(token())).toMatchObject({ header: { typ: 'logout+jwt' }, claims: { sub: 'alice' } })
    expect(await verify(token({ aud: ['other', 'app'] }, { typ: 'application/Logout+JWT' }))).toBeTruthy()
  })

  it.each<[string, () => string | Promise<string>]>([
    ['another type', () => token({}, { typ: 'JWT' })],
    ['no type', () => token({}, { typ: undefined })],
    ['another issuer', () => token({ iss: 'https://evil.example' })],
    ['another client', () => token({ aud: 'other' })],
    ['no audience', () => token({ aud: undefined })],
    ['a missing claim', () => token({ jti: undefined })],
    ['expired', () => token({ exp: now - 600 })],
    ['a text as time', () => token({ exp: 'never' })],
    ['of the future', () => token({ iat: now + 600 })],
    ['another key', () => token({}, { kid: keys.k1.kid }, keys.k2)],
    [
      'no signature',
      async () => `${Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url')}.${(await token()).split('.')[1]}.`,
    ],
    [
      'the public key as a secret',
      () =>
        new SignJWT({ iss: op.issuer, ...good })
          .setProtectedHeader({ alg: 'HS256', typ: 'logout+jwt' })
          .sign(new TextEncoder().encode(clientSecret)),
    ],
    ['too long', () => 'a'.repeat(70_000)],
  ])('refuses %s', async (_name, jwt) => {
    expect(await failure(verify(jwt()))).toBeInstanceOf(OAuthRequestError)
  })
})
