/** Modules of the OpenID Foundation's plans for FAPI 2.0 and for logout that can be run here, by their names. Modules of other plans are in the file beside it. */
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../_setup.ts'
import { api, clients, discover, issuer, redirect, signIn, ticketOf, visit, world, type World } from './_authorization-server.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
type Body = Record<string, string> & { status: number }
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const token = `${issuer}/oauth2/token`
const par = `${issuer}/oauth2/par`
let host: World
let browser: Client
let [own, other, proofs, stranger] = [] as unknown as [Keys, Keys, Keys, Keys]

beforeAll(async () => {
  ;[own, other, proofs, stranger] = (await Promise.all(['', '', '', ''].map(() => generateKeyPair('ES256', { extractable: true })))) as [
    Keys,
    Keys,
    Keys,
    Keys,
  ]
  const bank = async (client_id: string, { publicKey }: Keys) => ({
    client_id,
    client_name: client_id,
    redirect_uris: [redirect],
    token_endpoint_auth_method: 'private_key_jwt' as const,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
    require_pushed_authorization_requests: true,
    dpop_bound_access_tokens: true,
  })
  host = await world({ clients: [...clients!, await bank('bank', own), await bank('bank2', other)] })
  browser = await host.browser()
})

const now = (): number => Math.floor(host.runtime.now() / 1000)
const assertion = async (claims: object = {}, keys = own, id = 'bank', alg = 'ES256'): Promise<Record<string, string>> => ({
  client_assertion_type: assertionType,
  client_assertion: await new SignJWT({ jti: crypto.randomUUID(), iss: id, sub: id, aud: issuer, iat: now(), exp: now() + 60, ...claims })
    .setProtectedHeader({ alg })
    .sign(keys.privateKey),
})
const prove = async (htu: string, claims: object = {}, keys = proofs): Promise<string> =>
  new SignJWT({ jti: crypto.randomUUID(), htm: 'POST', htu, iat: now(), ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(keys.publicKey) })
    .sign(keys.privateKey)
const post = async (url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Body> => {
  const answer = await host.auth.handler(new Request(url, { method: 'POST', body: new URLSearchParams(form), headers }))
  return { ...((await answer.json()) as Record<string, string>), status: answer.status } as Body
}
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const request = {
  response_type: 'code',
  redirect_uri: redirect,
  scope: 'openid read offline_access',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}
const push = async (
  change: Record<string, string | undefined> = {},
  headers: Record<string, string> = {},
  id = 'bank',
  keys = own,
): Promise<Body> => {
  const form = Object.fromEntries(
    Object.entries({ ...request, client_id: id, ...change }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  return post(par, { ...form, ...(await assertion({}, keys, id)) }, headers)
}
const authorize = (uri: string, client_id = 'bank', more: Record<string, string> = {}) =>
  visit(browser, `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id, request_uri: uri, ...more })}`)
const codeOf = async (change: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<URL> =>
  new URL(await authorize((await push(change, headers))['request_uri']!))
const redeem = async (code: string, change: Record<string, string> = {}, dpop?: string): Promise<Body> =>
  post(
    token,
    { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier, ...(await assertion()), ...change },
    { dpop: dpop ?? (await prove(token)) },
  )
const flow = async (change: Record<string, string> = {}) => {
  const location = await codeOf(change)
  return { location, tokens: await redeem(location.searchParams.get('code')!) }
}
const use = async (text: string, dpop: string, scheme = 'DPoP') =>
  (
    await host.auth.authorizationServer.authorize(new Request(api, { headers: { authorization: `${scheme} ${text}`, dpop } }), {
      resource: api,
    })
  ).response?.status ?? 200
const hashed = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url')

describe('FAPI 2.0: a client that behaves', () => {
  it('discovery-end-point-verification, happy-flow: PAR, PKCE, private_key_jwt, DPoP, iss, and an ID token that verifies', async () => {
    const metadata = (await (await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))).json()) as Record<
      string,
      string[]
    >
    expect(metadata).toMatchObject({
      pushed_authorization_request_endpoint: par,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    })
    expect(metadata['token_endpoint_auth_methods_supported']).toContain('private_key_jwt')
    const { location, tokens } = await flow({ nonce: 'n'.repeat(43), state: 's'.repeat(128) })
    expect([location.searchParams.get('iss'), location.searchParams.get('state')]).toEqual([issuer, 's'.repeat(128)])
    expect(tokens).toMatchObject({ status: 200, token_type: 'DPoP' })
    const keys = createLocalJWKSet(await host.auth.jwt.jwks(new Request(issuer)))
    const { payload } = await jwtVerify(tokens['id_token']!, keys, { issuer, audience: 'bank', currentDate: new Date(host.runtime.now()) })
    expect(payload['nonce']).toBe('n'.repeat(43))
  })
  it('without-state-success, without-nonce-success, 64-char-nonce-success, other-scope-order-succeeds', async () => {
    for (const change of [{}, { nonce: 'n'.repeat(64) }, { scope: 'offline_access read openid' }] as Record<string, string>[]) {
      const { location, tokens } = await flow(change)
      expect([location.searchParams.has('state'), tokens.status]).toEqual([false, 200])
    }
  })
  it('user-rejects-authentication', async () => {
    const uri = (await push({ prompt: 'consent', state: 'x' }))['request_uri']!
    const location = await visit(
      browser,
      `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id: 'bank', request_uri: uri })}`,
      'deny',
    )
    expect(Object.fromEntries(new URL(location).searchParams)).toEqual({ error: 'access_denied', state: 'x', iss: issuer })
  })
  it('access-token-type-header-case-sensitivity, check-dpop-proof-nbf-exp, dpopproof-with-iat-10seconds-before-succeeds, -after-succeeds', async () => {
    const { tokens } = await flow()
    const text = tokens['access_token']!
    const ath = await hashed(text)
    for (const [scheme, claims] of [
      ['dpop', {}],
      ['DPOP', {}],
      ['DPoP', { iat: now() - 10 }],
      ['DPoP', { iat: now() + 10 }],
      ['DPoP', { nbf: now() - 5, exp: now() + 60 }],
    ] as const)
      expect(await use(text, await prove(api, { htm: 'GET', ath, ...claims }), scheme), JSON.stringify(claims)).toBe(200)
  })
  it('refresh-token: it needs the client and its key, and is bound to both', async () => {
    const { tokens } = await flow()
    const form = { grant_type: 'refresh_token', refresh_token: tokens['refresh_token']! }
    expect(await post(token, { ...form, client_id: 'bank' }, { dpop: await prove(token) })).toMatchObject({ error: 'invalid_client' })
    expect(await post(token, { ...form, ...(await assertion()) })).toMatchObject({ status: 400 })
    expect(await post(token, { ...form, ...(await assertion()) }, { dpop: await prove(token, {}, stranger) })).toMatchObject({
      error: 'invalid_grant',
    })
    expect(await post(token, { ...form, ...(await assertion()) }, { dpop: await prove(token) })).toMatchObject({
      status: 200,
      token_type: 'DPoP',
    })
    const fresh = (await flow()).tokens['refresh_token']!
    expect(
      await post(token, { ...form, refresh_token: fresh, ...(await assertion({}, other, 'bank2')) }, { dpop: await prove(token) }),
    ).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('FAPI 2.0: DPoP', () => {
  it('ensure-mismatched-dpop-jkt-fails, token-endpoint-fails-with-mismatched-dpop-jkt, -dpop-proof-jkt, par-endpoint-binding-success, auth-code-binding-success', async () => {
    const { calculateJwkThumbprint } = await import('jose')
    const jkt = await calculateJwkThumbprint(await exportJWK(proofs.publicKey))
    expect(await push({ dpop_jkt: jkt }, { dpop: await prove(par, {}, stranger) })).toMatchObject({ status: 400 })
    for (const [change, headers] of [
      [{ dpop_jkt: jkt }, {}],
      [{}, { dpop: await prove(par) }],
    ] as [Record<string, string>, Record<string, string>][]) {
      const wrong = (await codeOf(change, headers)).searchParams.get('code')!
      expect(await redeem(wrong, {}, await prove(token, {}, stranger))).toMatchObject({ error: 'invalid_grant' })
      const fresh = headers['dpop'] === undefined ? headers : { dpop: await prove(par) }
      expect(await redeem((await codeOf(change, fresh)).searchParams.get('code')!)).toMatchObject({ status: 200 })
    }
  })
  it('ensure-holder-of-key-required, dpop-negative-tests', async () => {
    const code = async () => (await codeOf()).searchParams.get('code')!
    const text = (await flow()).tokens['access_token']!
    const ath = await hashed(text)
    const good = await prove(api, { htm: 'GET', ath })
    expect([await use(text, good, 'Bearer'), await use(text, good), await use(text, good)]).toEqual([401, 200, 401])
    for (const claims of [
      { htm: 'POST' },
      { htu: 'https://other.example/' },
      { ath: undefined },
      { ath: 'x' },
      { jti: undefined },
      { iat: now() - 600 },
      { iat: now() + 600 },
      { iat: undefined },
    ])
      expect(await use(text, await prove(api, { htm: 'GET', ath, ...claims })), JSON.stringify(claims)).toBe(401)
    expect(await use(text, await prove(api, { htm: 'GET', ath }, stranger))).toBe(401)
    for (const dpop of ['', 'x', await prove(par)]) expect(await redeem(await code(), {}, dpop)).toMatchObject({ status: 400 })
  })
})

describe('FAPI 2.0: requests that fail', () => {
  it('ensure-unsigned-authorization-request-without-using-par-fails, ensure-redirect-uri-in-authorization-request, ensure-request-object-without-redirect-uri-fails', async () => {
    expect(await visit(browser, `${issuer}/oauth2/authorize?${new URLSearchParams({ ...request, client_id: 'bank' })}`)).toBe('400')
    expect(await push({ redirect_uri: undefined })).toMatchObject({ status: 400 })
    expect(await push({ redirect_uri: 'https://evil.example/cb' })).toMatchObject({ status: 400 })
  })
  it('ensure-response-type-code-idtoken-fails, ensure-response-type-token-fails', async () => {
    for (const response_type of ['code id_token', 'token']) expect(await push({ response_type })).toMatchObject({ status: 400 })
  })
  it('ensure-authorization-request-with-long-nonce, -long-state: 1000 characters are kept, more is an error and is not reflected', async () => {
    expect(await push({ state: 's'.repeat(1000), nonce: 'n'.repeat(1000) })).toMatchObject({ status: 201 })
    for (const change of [{ state: 's'.repeat(1001) }, { nonce: 'n'.repeat(1001) }] as Record<string, string>[])
      expect(await push(change)).toMatchObject({ error: 'invalid_request' })
  })
  it('state-only-outside-request-object-not-used, par-without-duplicate-parameters: nothing beside request_uri counts', async () => {
    const location = new URL(await authorize((await push())['request_uri']!, 'bank', { state: 'outside', scope: 'openid write' }))
    expect([location.searchParams.has('code'), location.searchParams.has('state')]).toEqual([true, false])
  })
  it('par-ensure-pkce-required, par-plain-pkce-rejected, ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected', async () => {
    expect(await push({ code_challenge: undefined, code_challenge_method: undefined })).toMatchObject({ status: 400 })
    expect(await push({ code_challenge_method: 'plain' })).toMatchObject({ status: 400 })
    expect(await redeem((await codeOf()).searchParams.get('code')!, { code_verifier: '' })).toMatchObject({ status: 400 })
    expect(await redeem((await codeOf()).searchParams.get('code')!, { code_verifier: 'x'.repeat(43) })).toMatchObject({
      error: 'invalid_grant',
    })
  })
  it('par-attempt-to-use-expired-request_uri, par-attempt-to-use-request_uri-for-different-client, par-ensure-reused-request-uri-prior-to-auth-completion-succeeds', async () => {
    const uri = (await push({ prompt: 'consent' }))['request_uri']!
    const target = `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id: 'bank', request_uri: uri })}`
    expect(await authorize(uri, 'bank2')).toBe('400')
    for (let looks = 0; looks < 2; looks++) expect(ticketOf(await (await browser.get(target)).text())).not.toBe('')
    expect(await visit(browser, target)).toContain('code=')
    const old = await world({ clients: [{ client_id: 'p', client_name: 'P', redirect_uris: [redirect] }] })
    const pushed = (await (await old.post('/oauth2/par', { ...request, client_id: 'p' })).json()) as Record<string, string>
    old.runtime.advance(601_000)
    expect(
      await visit(
        await old.browser(),
        `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id: 'p', request_uri: pushed['request_uri']! })}`,
      ),
    ).toBe('400')
  })
  it('par-authorization-request-containing-request_uri-form-param, par-attempt-invalid-http-method', async () => {
    expect(await push({ request_uri: 'urn:ietf:params:oauth:request_uri:x' })).toMatchObject({ error: 'invalid_request' })
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await host.auth.handler(new Request(par, { method }))).status).toBeGreaterThanOrEqual(400)
  })
})

describe('FAPI 2.0: clients and codes', () => {
  it('ensure-client-id-in-token-endpoint, ensure-authorization-code-is-bound-to-client, ensure-client-assertion-in-token-endpoint', async () => {
    const code = async () => (await codeOf()).searchParams.get('code')!
    expect(await redeem(await code(), { client_id: 'bank2' })).toMatchObject({ status: 401, error: 'invalid_client' })
    expect(await redeem(await code(), await assertion({}, other, 'bank2'))).toMatchObject({ error: 'invalid_grant' })
    const form = {
      grant_type: 'authorization_code',
      code: await code(),
      redirect_uri: redirect,
      code_verifier: verifier,
      client_id: 'bank',
    }
    expect(await post(token, form, { dpop: await prove(token) })).toMatchObject({ status: 401, error: 'invalid_client' })
  })
  it('ensure-invalid-client-assertions-fail', async () => {
    const call = async (given: Record<string, string>) => (await post(par, { ...request, client_id: 'bank', ...given })).status
    for (const claims of [
      { aud: 'https://other.example' },
      { aud: par },
      { aud: token },
      { aud: [issuer] },
      { aud: [issuer, token] },
      { exp: now() - 300 },
      { exp: undefined },
      { exp: now() + 3600 },
      { nbf: now() + 61 },
      { sub: undefined },
      { sub: 'bank2' },
      { iss: undefined },
      { iss: 'bank2' },
      { jti: undefined },
    ])
      expect(await call(await assertion(claims)), JSON.stringify(claims)).toBe(401)
    expect(await call(await assertion({}, stranger))).toBe(401)
    const once = await assertion({ nbf: now() + 8 })
    expect([await call(once), await call(once)]).toEqual([201, 401])
  })
  it('attempt-reuse-authorization-code-after-one-second, ensure-token-endpoint-fails-with-expired-auth-code', async () => {
    const code = (await codeOf()).searchParams.get('code')!
    const first = await redeem(code)
    const proof = async () => prove(api, { htm: 'GET', ath: await hashed(first['access_token']!) })
    expect(await use(first['access_token']!, await proof())).toBe(200)
    expect(await redeem(code)).toMatchObject({ error: 'invalid_grant' })
    expect(await use(first['access_token']!, await proof())).toBe(401)
    const late = (await codeOf()).searchParams.get('code')!
    host.runtime.advance(61_000)
    expect(await redeem(late)).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('RP-Initiated and Back-Channel Logout', () => {
  const end = (params: Record<string, string>) => `/oauth2/logout?${new URLSearchParams(params)}`
  const bye = 'https://partner.example/bye'

  async function start() {
    const world1 = await world()
    const config = await discover(world1.auth)
    const ada = await world1.browser()
    const { id_token: hint } = await signIn(config, ada)
    /** Asks, and agrees: where the browser is led. */
    const leave = async (params: Record<string, string>) => {
      const answer = await ada.get(end(params))
      const ticket = ticketOf(await answer.text())
      const done = await ada.post('/oauth2/logout/confirm', { ticket })
      return { asked: answer.status === 200 && ticket !== '', to: done.headers.get('location') ?? '' }
    }
    return { ...world1, config, ada, hint: hint!, leave }
  }

  it('oidcc-rp-initiated-logout-discovery-endpoint-verification, oidcc-backchannel-logout-discovery-endpoint-verification, oidcc-frontchannel-logout-discovery-endpoint-verification', async () => {
    const metadata = (await discover(host.auth)).serverMetadata()
    expect(metadata).toMatchObject({
      end_session_endpoint: `${issuer}/oauth2/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported: true,
    })
  })
  it('oidcc-rp-initiated-logout, oidcc-rp-initiated-logout-no-state: back at the client, with its state or none', async () => {
    const first = await start()
    expect((await first.leave({ id_token_hint: first.hint, post_logout_redirect_uri: bye, state: 'x' })).to).toBe(`${bye}?state=x`)
    const second = await start()
    expect((await second.leave({ id_token_hint: second.hint, post_logout_redirect_uri: bye })).to).toBe(bye)
  })
  it('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri, -query-added-to-post-logout-redirect-uri: the user is asked, and not led to the client', async () => {
    for (const uri of ['https://evil.example/', `${bye}?x=1`, `${bye}/`]) {
      const { leave, hint } = await start()
      expect(await leave({ id_token_hint: hint, post_logout_redirect_uri: uri, state: 'x' })).toEqual({
        asked: true,
        to: 'http://localhost:3000',
      })
    }
  })
  it('oidcc-rp-initiated-logout-modified-id-token-hint, -bad-id-token-hint, -no-id-token-hint, also beside a client_id', async () => {
    const { hint } = await start()
    const [, payload] = hint.split('.')
    const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}.`
    for (const params of [
      { id_token_hint: none },
      { id_token_hint: none, client_id: 'partner' },
      { id_token_hint: `${hint}x`, client_id: 'partner' },
      { id_token_hint: 'bad' },
      {},
    ] as Record<string, string>[]) {
      const { leave } = await start()
      expect(await leave({ ...params, post_logout_redirect_uri: bye, state: 'x' }), JSON.stringify(params)).toEqual({
        asked: true,
        to: 'http://localhost:3000',
      })
    }
  })
  it('oidcc-rp-initiated-logout-no-params, -no-post-logout-redirect-uri, -only-state: the user is asked, signed out, and stays here', async () => {
    for (const params of [{}, { state: 'x' }] as Record<string, string>[]) {
      const { leave, ada } = await start()
      expect(await leave(params)).toEqual({ asked: true, to: 'http://localhost:3000' })
      expect(await ada.session()).toBeNull()
    }
    const { leave, hint } = await start()
    expect((await leave({ id_token_hint: hint })).to).toBe('http://localhost:3000')
  })
  it('oidcc-backchannel-rp-initiated-logout: the client gets one logout token that verifies, with sid, events and no nonce', async () => {
    const { leave, hint, posts, auth, runtime } = await start()
    await leave({ id_token_hint: hint, post_logout_redirect_uri: bye })
    const sent = posts.filter(({ url }) => url === 'https://partner.example/back-channel')
    expect(sent.length).toBe(1)
    const keys = createLocalJWKSet(await auth.jwt.jwks(new Request(issuer)))
    const text = new URLSearchParams(sent[0]!.body).get('logout_token')!
    const { payload } = await jwtVerify(text, keys, {
      issuer,
      audience: 'partner',
      typ: 'logout+jwt',
      currentDate: new Date(runtime.now()),
    })
    const { sid } = JSON.parse(Buffer.from(hint.split('.')[1]!, 'base64url').toString()) as { sid: string }
    expect(payload).toMatchObject({
      sub: 'ada',
      sid,
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(payload).not.toHaveProperty('nonce')
  })
})
