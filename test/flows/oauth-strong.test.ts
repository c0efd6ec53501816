/** Bound tokens, signed requests, encrypted ID tokens and the FAPI 2.0 Security Profile at the real `oidc-provider`. */
import { createPublicKey, type webcrypto } from 'node:crypto'
import { createAuth } from 'authkernel'
import type { Auth } from 'authkernel/kernel'
import { memoryAdapter, memoryRecords } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi } from 'authkernel/plugins/provider-tokens'
import { recordsPlugin } from 'authkernel/plugins/records'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { keys, type SigningKey } from '../_op/keys.ts'
import { type RealOp, realOp } from '../_op/real.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const pkcs8 = (key: SigningKey): Uint8Array<ArrayBuffer> => new Uint8Array(key.privateKey.export({ type: 'pkcs8', format: 'der' }))
const imported = (
  key: SigningKey,
  algorithm: webcrypto.RsaHashedImportParams | webcrypto.EcKeyImportParams | 'Ed25519',
  use: KeyUsage,
): Promise<CryptoKey> => crypto.subtle.importKey('pkcs8', pkcs8(key), algorithm, false, [use])
const published = (key: SigningKey, use: 'sig' | 'enc' = 'sig', kid = key.kid): object => ({
  ...createPublicKey(key.privateKey).export({ format: 'jwk' }),
  kid,
  use,
})
const redirect_uris = ['http://localhost:3000/auth/callback/acme']
const base = { client_secret: clientSecret, redirect_uris, response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'] }
const clientKeys = { jwks: { keys: [published(keys.es256), published(keys.k2, 'enc', 'mine')] } }

let op: RealOp
let fapi: RealOp
let signing: CryptoKey
let opening: CryptoKey
/** What went to the provider: path, DPoP proof, authorization, body and the status of the answer. */
let sent: { path: string; proof: string | null; authorization: string | null; body: string; status: number }[] = []

beforeAll(async () => {
  signing = await imported(keys.es256, { name: 'ECDSA', namedCurve: 'P-256' }, 'sign')
  opening = await imported(keys.k2, { name: 'RSA-OAEP', hash: 'SHA-256' }, 'decrypt')
  const dPoP = { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true }
  const encryption = { id_token_encrypted_response_alg: 'RSA-OAEP-256', id_token_encrypted_response_enc: 'A256GCM' }
  const ttl = {
    AccessToken: 300,
    AuthorizationCode: 60,
    IdToken: 3600,
    Interaction: 600,
    Grant: 36_000,
    Session: 36_000,
    RefreshToken: 36_000,
  }
  op = await realOp(
    [
      { client_id: 'dpop', dpop_bound_access_tokens: true, ...base },
      { client_id: 'plain', ...base },
      { client_id: 'jar', require_signed_request_object: true, request_object_signing_alg: 'ES256', ...clientKeys, ...base },
      { client_id: 'jwe', ...clientKeys, ...encryption, ...base },
      {
        client_id: 'jwe-userinfo',
        userinfo_signed_response_alg: 'ES256',
        userinfo_encrypted_response_alg: 'RSA-OAEP-256',
        userinfo_encrypted_response_enc: 'A128CBC-HS256',
        ...clientKeys,
        ...encryption,
        ...base,
      },
    ],
    {
      features: {
        devInteractions: { enabled: false },
        jwtUserinfo: { enabled: true },
        encryption: { enabled: true },
        pushedAuthorizationRequests: { enabled: true },
        requestObjects: { enabled: true },
        claimsParameter: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => false,
          getResourceServerInfo: (_ctx: unknown, resource: string) => ({
            scope: 'openid email read',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 300,
          }),
        },
        dPoP,
      },
      enabledJWA: { idTokenSigningAlgValues: ['RS256', 'PS256', 'ES256'], dPoPSigningAlgValues: ['ES256', 'EdDSA'] },
      acrValues: ['urn:example:silver', 'urn:example:gold'],
      scopes: ['openid', 'offline_access', 'email', 'read'],
      rotateRefreshToken: true,
      ttl,
    },
  )
  fapi = await realOp(
    [
      {
        client_id: 'fapi',
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        id_token_signed_response_alg: 'PS256',
        dpop_bound_access_tokens: true,
        require_pushed_authorization_requests: true,
        ...clientKeys,
        ...base,
        client_secret: undefined,
      },
      {
        client_id: 'signs-rs256',
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        id_token_signed_response_alg: 'RS256',
        ...clientKeys,
        ...base,
        client_secret: undefined,
      },
    ],
    {
      features: {
        devInteractions: { enabled: false },
        pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
        fapi: { enabled: true, profile: '2.0' },
        dPoP,
      },
      scopes: ['openid', 'offline_access', 'email'],
      rotateRefreshToken: false,
      ttl,
    },
  )
})
afterAll(() => Promise.all([op.stop(), fapi.stop()]))
beforeEach(() => {
  sent = []
})

const spy = (async (input: string, init: RequestInit = {}) => {
  const headers = new Headers(init.headers)
  const answer = await fetch(input, init)
  const body = typeof init.body === 'string' || init.body instanceof URLSearchParams ? String(init.body) : ''
  sent.push({
    path: new URL(input).pathname,
    proof: headers.get('dpop'),
    authorization: headers.get('authorization'),
    body,
    status: answer.status,
  })
  return answer
}) as typeof fetch

interface World {
  auth: Auth<ProviderTokensApi>
  browser: Client
  errors: Error[]
  accounts: Record<string, unknown>[]
  written: string[]
  request(): Request
  start(query?: string): Promise<URL>
  signIn(query?: string): Promise<string>
}
function world(provider: object, at: RealOp = op): World {
  const errors: Error[] = []
  const accounts: Record<string, unknown>[] = []
  const written: string[] = []
  const records = memoryRecords()
  const write = records.write.bind(records)
  records.write = (...args) => (written.push(JSON.stringify(args)), write(...args))
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    adapter: memoryAdapter(),
    logger: { error: (error) => void errors.push(error), warn() {} },
    runtime: { fetch: spy },
  })
    .use(recordsPlugin(records))
    .use(oidcPlugin({ id: 'acme', issuer: at.issuer, clientId: 'dpop', clientSecret, ...provider }))
    .use(providerTokensPlugin({ providers: { acme: { resources: [at.issuer] } } }))
  auth.on('signIn', ({ account }) => void accounts.push({ ...account }))
  const browser = new Client(auth)
  const start = async (query = ''): Promise<URL> => new URL(locationOf(await browser.signIn('acme', {}, query)))
  return {
    auth,
    browser,
    errors,
    accounts,
    written,
    request: () =>
      new Request('http://localhost:3000/', {
        headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      }),
    start,
    signIn: async (query) => locationOf(await browser.get(await at.visit((await start(query)).href))),
  }
}
const home = 'http://localhost:3000'
const offline = { scope: 'openid email offline_access', authorization: { params: { prompt: 'consent' } } }
const reasonOf = ([error]: Error[]): string => String((error?.cause as { err?: Error } | undefined)?.err?.message ?? error?.message)

describe('DPoP', () => {
  it('tokens of a sign-in are bound, the nonce of the server is used, and a thief of the token gets nothing', async () => {
    const { signIn, errors, accounts } = world({ dpop: true })
    expect([await signIn(), errors]).toEqual([home, []])
    const [account] = accounts
    expect(account).toMatchObject({ token_type: 'dpop', dpop_key: expect.stringContaining('"d":') as string })
    const asked = sent.filter(({ path }) => path === '/token')
    expect(asked.map(({ status }) => status)).toEqual([400, 200])
    const proof = decodeJwt(asked[1]?.proof ?? '')
    expect([proof, decodeProtectedHeader(asked[1]?.proof ?? '')]).toEqual([
      expect.objectContaining({ htm: 'POST', htu: `${op.issuer}/token`, nonce: expect.any(String) as string }),
      expect.objectContaining({ typ: 'dpop+jwt', alg: 'ES256' }),
    ])
    const stolen = await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${String(account?.['access_token'])}` } })
    expect(stolen.status).toBe(401)
  })

  it.each(['ES256', 'Ed25519'] as const)('userinfo is asked with proof, signed with %s', async (dpop) => {
    const { signIn, errors, browser } = world({ dpop, idToken: false })
    expect([await signIn(), errors]).toEqual([home, []])
    expect(await browser.session()).toMatchObject({ user: { name: 'Alice Liddell' } })
    const [me] = sent.filter(({ path, status }) => path === '/me' && status === 200)
    expect(me?.authorization).toMatch(/^DPoP /)
    expect(decodeJwt(me?.proof ?? '')).toMatchObject({ htm: 'GET', htu: `${op.issuer}/me`, ath: expect.any(String) as string })
  })

  it('auth.tokens.fetch proves the key, also after a refresh, with another nonce, and from a job; the key is stored sealed', async () => {
    const { auth, signIn, request, errors, written, accounts } = world({ dpop: true, ...offline })
    expect([await signIn(), errors]).toEqual([home, []])
    const url = `${op.issuer}/me?a=b`
    const me = await auth.tokens.fetch(request(), 'acme', url, {
      headers: { authorization: 'Bearer other', dpop: 'x', accept: 'application/json' },
    })
    expect([me.status, await me.json()]).toEqual([200, expect.objectContaining({ sub: 'alice' })])
    expect(decodeJwt(sent.at(-1)?.proof ?? '')).toMatchObject({ htu: `${op.issuer}/me` })
    expect(await auth.tokens.get(request(), 'acme')).toMatchObject({ tokenType: 'dpop' })
    const jkt = (proof: string | null | undefined): unknown => (decodeProtectedHeader(proof ?? '') as { jwk?: { x?: string } }).jwk?.x
    const before = jkt(sent.at(-1)?.proof)

    expect((await auth.tokens.get(request(), 'acme', { minValid: 400 }))?.tokenType).toBe('dpop')
    const refreshed = sent.filter(({ body, status }) => body.includes('grant_type=refresh_token') && status === 200)
    expect(refreshed.map(({ proof }) => jkt(proof))).toEqual([before])
    const again = await auth.tokens.fetch(request(), 'acme', url, { method: 'POST', body: new URLSearchParams({ a: 'b' }) })
    expect([again.status, jkt(sent.at(-1)?.proof)]).toEqual([200, before])
    const secret = (JSON.parse(String(accounts[0]?.['dpop_key'])) as { d: string }).d
    expect(written.join()).toContain('providerToken')
    expect(written.join()).not.toContain(secret)
    expect(errors).toEqual([])
  })

  it('what the resource refuses is handed on, and a body that is a stream is sent once', async () => {
    const { auth, signIn, request } = world({ dpop: true, ...offline })
    await signIn()
    const body = new ReadableStream({ start: (controller) => (controller.enqueue(new TextEncoder().encode('a=b')), controller.close()) })
    const before = sent.length
    const answer = await auth.tokens.fetch(request(), 'acme', `${op.issuer}/me`, { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect([answer.status, answer.headers.get('www-authenticate'), sent.length - before]).toEqual([
      401,
      expect.stringContaining('use_dpop_nonce'),
      1,
    ])
  })

  it('a bearer token where a bound one was asked for is refused', async () => {
    const { signIn, errors, browser } = world({
      clientId: 'plain',
      dpop: true,
      token: {
        conform: async (answer: Response) =>
          answer.ok ? Response.json({ ...((await answer.json()) as object), token_type: 'Bearer' }) : undefined,
      },
    })
    expect(await signIn()).toContain('error=')
    expect([reasonOf(errors), await browser.session()]).toEqual([expect.stringContaining('token type "bearer"'), null])
  })

  it('works with a pushed request', async () => {
    const { signIn, start, errors } = world({ dpop: true, pushedAuthorization: true })
    expect([...(await start()).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    expect([await signIn(), errors]).toEqual([home, []])
  })
})

describe('JAR', () => {
  it.each([
    ['in the browser', {}, 'request'],
    ['pushed', { pushedAuthorization: true }, 'request_uri'],
  ])('%s: the request is signed, and the sign-in works', async (_name, more, carried) => {
    const { start, signIn, errors } = world({
      clientId: 'jar',
      signedRequest: true,
      token: { clientPrivateKey: { key: signing, kid: 'es256' } },
      client: { token_endpoint_auth_method: 'client_secret_basic' },
      ...more,
    })
    const url = await start('?login_hint=ann')
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', carried].sort())
    const object = url.searchParams.get('request') ?? new URLSearchParams(sent.at(-1)?.body).get('request') ?? ''
    expect(decodeProtectedHeader(object)).toMatchObject({ alg: 'ES256', kid: 'es256', typ: 'oauth-authz-req+jwt' })
    expect(decodeJwt(object)).toMatchObject({
      aud: op.issuer,
      iss: 'jar',
      login_hint: 'ann',
      response_type: 'code',
      state: expect.any(String) as string,
    })
    expect([await signIn(), errors]).toEqual([home, []])
  })
  it('without it this client is refused by the provider', async () => {
    const { browser } = world({ clientId: 'jar' })
    const page = await op.visit(locationOf(await browser.signIn('acme')))
    expect(page).toContain('invalid_request')
  })
})

describe('what is asked for', () => {
  it('resource, claims, max_age and acr_values reach the provider; the token is for the resource', async () => {
    const { start, signIn, errors, accounts } = world({
      clientId: 'plain',
      resource: 'https://api.example/',
      claims: { id_token: { email: { essential: true } } },
      max_age: 600,
      acr_values: ['urn:example:gold', 'urn:example:silver'],
      scope: 'openid email read',
    })
    const { searchParams } = await start()
    expect(Object.fromEntries(searchParams)).toMatchObject({
      resource: 'https://api.example/',
      claims: '{"id_token":{"email":{"essential":true}}}',
      max_age: '600',
      acr_values: 'urn:example:gold urn:example:silver',
    })
    expect([await signIn(), errors]).toEqual([home, []])
    const [account] = accounts
    expect(decodeJwt(String(account?.['access_token']))['aud']).toBe('https://api.example/')
    expect(decodeJwt(String(account?.['id_token']))).toMatchObject({ auth_time: expect.any(Number) as number })
  })
  it('a client may ask for less, and never for more than the host demands', async () => {
    const { start } = world({ clientId: 'plain', max_age: 600, acr_values: 'urn:example:gold', resource: 'https://api.example/' })
    const weaker = await start('?max_age=9999&acr_values=none&resource=https://evil.example/')
    expect(Object.fromEntries(weaker.searchParams)).toMatchObject({
      max_age: '600',
      acr_values: 'urn:example:gold',
      resource: 'https://api.example/',
    })
    expect((await start('?max_age=5')).searchParams.get('max_age')).toBe('5')
  })
  it('several resources are all named in the request', async () => {
    const { start } = world({ clientId: 'plain', resource: ['https://a.example/', 'https://b.example/'] })
    expect((await start()).searchParams.getAll('resource')).toEqual(['https://a.example/', 'https://b.example/'])
  })
})

describe('encrypted tokens', () => {
  const jwe = (more: object = {}): World => world({ clientId: 'jwe', decryptionKey: { key: opening, kid: 'mine' }, ...more })
  it('an encrypted ID token is opened, checked, and kept as the signed one inside', async () => {
    const { signIn, errors, accounts } = jwe()
    expect([await signIn(), errors]).toEqual([home, []])
    expect(String(accounts[0]?.['id_token']).split('.')).toHaveLength(3)
  })
  it('encrypted and signed userinfo is opened and checked', async () => {
    const { signIn, errors, browser } = jwe({ clientId: 'jwe-userinfo', idToken: false, client: { userinfo_signed_response_alg: 'ES256' } })
    expect([await signIn(), errors]).toEqual([home, []])
    expect(await browser.session()).toMatchObject({ user: { name: 'Alice Liddell' } })
  })
  it('with several keys the `kid` decides', async () => {
    const other = await imported(keys.k1, { name: 'RSA-OAEP', hash: 'SHA-256' }, 'decrypt')
    expect(
      await jwe({
        decryptionKey: [
          { key: other, kid: 'former' },
          { key: opening, kid: 'mine' },
        ],
      }).signIn(),
    ).toBe(home)
    const wrong = jwe({ decryptionKey: { key: other, kid: 'mine' } })
    expect(await wrong.signIn()).toContain('error=')
    const none = jwe({ decryptionKey: { key: opening, kid: 'former' } })
    expect([await none.signIn(), reasonOf(none.errors)]).toEqual([
      expect.stringContaining('error='),
      expect.stringContaining('decryptionKey'),
    ])
  })
  it('a client that registered encryption takes no ID token without it, nor one with another algorithm', async () => {
    const plain = jwe({ clientId: 'plain', client: { id_token_encrypted_response_alg: 'RSA-OAEP-256' } })
    expect([await plain.signIn(), reasonOf(plain.errors)]).toEqual([
      expect.stringContaining('error='),
      expect.stringContaining('not encrypted'),
    ])
    const other = jwe({ client: { id_token_encrypted_response_alg: 'RSA-OAEP' } })
    expect(await other.signIn()).toContain('error=')
  })
  it('without a key an encrypted ID token is refused', async () => {
    expect(await jwe({ decryptionKey: undefined }).signIn()).toContain('error=')
  })
})

describe('FAPI 2.0 Security Profile', () => {
  const strong = (more: object = {}): World =>
    world(
      {
        clientId: 'fapi',
        clientSecret: undefined,
        profile: 'fapi2',
        token: { clientPrivateKey: { key: signing, kid: 'es256' } },
        ...offline,
        ...more,
      },
      fapi,
    )

  it('one option: pushed, PKCE, private_key_jwt for the issuer, bound tokens', async () => {
    const { start, signIn, errors, accounts, browser } = strong()
    expect([...(await start()).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const form = new URLSearchParams(sent.find(({ path }) => path === '/request')?.body)
    expect(Object.fromEntries(form)).toMatchObject({ code_challenge_method: 'S256', response_type: 'code' })
    expect(decodeJwt(form.get('client_assertion') ?? '')['aud']).toBe(fapi.issuer)
    expect([await signIn(), errors]).toEqual([home, []])
    expect(accounts[0]).toMatchObject({ token_type: 'dpop', scope: expect.stringContaining('email') as string })
    expect(decodeProtectedHeader(String(accounts[0]?.['id_token']))['alg']).toBe('PS256')
    expect(await browser.session()).not.toBeNull()
  })
  it('tokens stay fresh and are fetched with, though the provider does not rotate', async () => {
    const { auth, signIn, request } = strong()
    await signIn()
    const token = await auth.tokens.get(request(), 'acme', { minValid: 400 })
    expect(token?.tokenType).toBe('dpop')
    expect((await auth.tokens.fetch(request(), 'acme', `${fapi.issuer}/me`)).status).toBe(200)
  })
  it('an answer without `iss`, and an ID token with RS256, are refused', async () => {
    const { browser, errors, start } = strong()
    const back = new URL(await fapi.visit((await start()).href))
    back.searchParams.delete('iss')
    expect(locationOf(await browser.get(back.href))).toContain('error=')
    expect(reasonOf(errors)).toMatch(/iss/)
    const weak = strong({ clientId: 'signs-rs256' })
    expect([await weak.signIn(), await weak.browser.session()]).toEqual([expect.stringContaining('error='), null])
  })

  it.each<[string, object | (() => Promise<object>), RegExp]>([
    ['a client secret', { clientSecret: 'x' }, /permits no `clientSecret`/],
    ['no key', { token: undefined }, /needs `token\.clientPrivateKey`/],
    ['a secret in a form', { client: { token_endpoint_auth_method: 'client_secret_post' } }, /does not permit .*client_secret_post/],
    ['no pushed requests', { pushedAuthorization: false }, /needs pushed requests/],
    ['no PKCE', { checks: ['state'] }, /needs PKCE/],
    ['no bound tokens', { dpop: false }, /needs bound tokens/],
    ['ID tokens with RS256', { client: { id_token_signed_response_alg: 'RS256' } }, /does not permit .*RS256/],
    [
      'a key of RSA PKCS#1',
      async () => ({ token: { clientPrivateKey: await imported(keys.k2, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, 'sign') } }),
      /does not permit a key of RSASSA/,
    ],
    [
      'a short key',
      async () => ({ token: { clientPrivateKey: await imported(keys.weak, { name: 'RSA-PSS', hash: 'SHA-256' }, 'sign') } }),
      /2048 bits/,
    ],
    ['another profile', { profile: 'fapi1' }, /Use "fapi2", or a function/],
  ])('is refused at compile with %s', async (_name, more, message) => {
    await expect(strong(typeof more === 'function' ? await more() : more).auth.ready()).rejects.toThrow(message)
  })
  it('a mapping of the profile and the security profile go together', async () => {
    const { signIn, browser, errors } = strong({
      profile: ({ sub }: { sub: string }) => ({ id: sub, name: 'Mapped' }),
      securityProfile: 'fapi2',
    })
    expect([await signIn(), errors, await browser.session()]).toEqual([
      home,
      [],
      expect.objectContaining({ user: expect.objectContaining({ name: 'Mapped' }) as unknown }),
    ])
  })
  it('a client with a certificate uses the endpoints for certificates and needs no DPoP', async () => {
    const asked: string[] = []
    const fetching = (async (input: string, init: RequestInit) => {
      asked.push(input)
      if (!input.endsWith('/.well-known/openid-configuration'))
        return Response.json({ request_uri: 'urn:x', expires_in: 60 }, { status: 201 })
      const document = (await (await fetch(input, init)).json()) as object
      return Response.json({ ...document, mtls_endpoint_aliases: { pushed_authorization_request_endpoint: 'http://127.0.0.1:1/mtls/par' } })
    }) as typeof fetch
    const auth = createAuth({
      secret: 'the-secret-of-the-instance-has-40-letters',
      trustHost: true,
      env: false,
      runtime: { fetch: fetching },
    }).use(
      oidcPlugin({
        id: 'acme',
        issuer: fapi.issuer,
        clientId: 'certified',
        profile: 'fapi2',
        client: { token_endpoint_auth_method: 'tls_client_auth', tls_client_certificate_bound_access_tokens: true },
      }),
    )
    const url = new URL(locationOf(await new Client(auth).signIn('acme')))
    expect([asked.at(-1), url.searchParams.get('request_uri')]).toEqual(['http://127.0.0.1:1/mtls/par', 'urn:x'])
  })
})

it.each<[object, RegExp]>([
  [{ dpop: 'RS256' }, /`dpop` must be/],
  [{ signedRequest: true }, /`signedRequest` needs a key/],
  [{ signedRequest: 'yes' }, /`signedRequest` must be/],
  [{ resource: 'api' }, /`resource` has "api"/],
  [{ resource: 'https://api.example/#a' }, /without a fragment/],
  [{ claims: ['email'] }, /`claims` must be an object/],
  [{ max_age: -1 }, /`max_age`/],
  [{ acr_values: [1] }, /`acr_values`/],
  [{ decryptionKey: 'secret' }, /`decryptionKey`/],
  [{ dpop: true, token: { request: () => ({}) } }, /`dpop` cannot bind/],
  [{ dpop: true, userinfo: { token: 'path' } }, /`userinfo\.token`/],
  [{ securityProfile: 'fapi1' }, /`securityProfile`/],
])('a wrong option is named at start: %o', async (option, message) => {
  await expect(world(option).auth.ready()).rejects.toThrow(message)
})
