/** Tokens of apps that are bound to a key (RFC 9449): openid-client as the app, and what a thief without the key can do with them. */
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import express from 'express'
import { expressBinding } from 'authkernel/bindings/express'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { InvalidAccessToken, verifyAccessToken } from 'authkernel/jwt'
import type { BearerOptions } from 'authkernel/plugins/bearer'
import { serve } from '../bindings/_http.ts'
import { begin, discover, origin, refusal, signIn, ticketOf, visit } from './_app.ts'
import { audience, clients, hashed, here, world } from './_dpop.ts'

const ec = () => generateKeyPair('ES256', { extractable: true }) as Promise<CryptoKeyPair>

describe.each(['opaque', 'jwt'] as const)('an app with a key and %s tokens', (format) => {
  const start = (options: Partial<BearerOptions> = {}) => world({ accessToken: { format }, ...options })

  it('is openid-client: signs in, reads the session, refreshes; server nonces change nothing for it', async () => {
    for (const nonces of [false, true]) {
      const { app } = await start({ dpop: { nonces } })
      const { config, DPoP, tokens } = await app()
      expect(config.serverMetadata()['dpop_signing_alg_values_supported']).toContain('ES256')
      expect(tokens.token_type).toBe('dpop')
      const read = async (token: string) =>
        (await openid.fetchProtectedResource(config, token, new URL(`${origin}/auth/session`), 'GET', null, undefined, { DPoP })).json()
      const thumbprint = await DPoP.calculateThumbprint()
      expect(await read(tokens.access_token)).toMatchObject({ user: { id: 'ada' }, bearer: { clientId: 'desktop', jkt: thumbprint } })
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, {}, { DPoP })
      expect(next.token_type).toBe('dpop')
      expect(await read(next.access_token)).toMatchObject({ user: { id: 'ada' } })
    }
  })

  it('its copied tokens are worth nothing: no downgrade to Bearer, no other key, no refresh, and the thief ends nothing', async () => {
    const { auth, app, asks, proof, browser } = await start()
    const { config, keys, DPoP, tokens } = await app()
    const noted: string[] = []
    auth.on('noted', ({ name, reason }) => void noted.push(`${name} ${reason}`))
    const { access_token: token, refresh_token: refresh } = tokens
    const cookie = { cookie: browser.cookieHeader() }
    const thief = (await ec()) as CryptoKeyPair
    for (const stolen of [
      asks(token, undefined, 'Bearer', cookie),
      asks(token, await proof(keys, token), 'Bearer', cookie),
      asks(token, undefined, 'DPoP', cookie),
      asks(token, await proof(thief, token), 'DPoP', cookie),
      asks(`${token} x`, await proof(keys, token), 'DPoP', cookie),
      asks('x', await proof(keys, 'x'), 'DPoP', cookie),
    ])
      expect(await auth.session(stolen)).toBeNull()
    expect(noted).toEqual([...Array<string>(4).fill('bearer.refused key'), 'bearer.refused unknown', 'bearer.refused unknown'])
    const other = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    expect(await refusal(openid.refreshTokenGrant(config, refresh!))).toBe('invalid_grant')
    expect(await refusal(openid.refreshTokenGrant(config, refresh!, {}, { DPoP: other }))).toBe('invalid_grant')
    const next = await openid.refreshTokenGrant(config, refresh!, {}, { DPoP })
    // The former one within ten seconds: the same key gets the same successor again, any other ends the session.
    expect((await openid.refreshTokenGrant(config, refresh!, {}, { DPoP })).refresh_token).toBe(next.refresh_token)
    expect(await refusal(openid.refreshTokenGrant(config, refresh!, {}, { DPoP: other }))).toBe('invalid_grant')
    expect(await refusal(openid.refreshTokenGrant(config, next.refresh_token!, {}, { DPoP }))).toBe('invalid_grant')
    expect(await auth.session(asks(next.access_token, await proof(keys, next.access_token)))).toBeNull()
  })

  it('a proof is for one request: method, URL, token, time, signature and `jti` are checked', async () => {
    const { auth, app, asks, proof, later } = await start()
    const { keys, tokens } = await app()
    const { access_token: token } = tokens
    const good = asks(token, await proof(keys, token))
    // The session of one request may be read twice.
    for (let i = 0; i < 2; i++) expect((await auth.session(good))?.user?.id).toBe('ada')
    expect(await auth.session(good.clone())).toBeNull()
    const now = Math.floor(Date.now() / 1000)
    const privateJwk = await exportJWK((await ec()).privateKey)
    const symmetric = await new SignJWT({ jti: 'a', htm: 'GET', htu: here, iat: now, ath: await hashed(token) })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'eHh4' } as never })
      .sign(new TextEncoder().encode('x'.repeat(32)))
    const whole = await proof(keys, token)
    const wrong: [string, string][] = [
      ['method', await proof(keys, token, { htm: 'POST' })],
      ['method in lower case', await proof(keys, token, { htm: 'get' })],
      ['host', await proof(keys, token, { htu: 'https://evil.example/things' })],
      ['path', await proof(keys, token, { htu: `${origin}/other` })],
      ['user in URL', await proof(keys, token, { htu: here.replace('//', '//a@') })],
      ['no URL', await proof(keys, token, { htu: 7 })],
      ['old', await proof(keys, token, { iat: now - 61 })],
      ['future', await proof(keys, token, { iat: now + 65 })],
      ['time as text', await proof(keys, token, { iat: String(now) })],
      ['no jti', await proof(keys, token, { jti: undefined })],
      ['long jti', await proof(keys, token, { jti: 'x'.repeat(257) })],
      ['other token', await proof(keys, 'other')],
      ['no ath', await proof(keys, undefined)],
      ['type', await proof(keys, token, {}, { typ: 'JWT' })],
      ['foreign signature', await proof(keys, token, {}, { jwk: await exportJWK((await ec()).publicKey) })],
      ['private key in the header', await proof(keys, token, {}, { jwk: privateJwk })],
      ['HS256', symmetric],
      ['none', `${btoa('{"typ":"dpop+jwt","alg":"none"}').replaceAll('=', '')}.${whole.split('.')[1]}.`],
      ['two', `${whole}, ${await proof(keys, token)}`],
      ['no JWT', 'x'],
      ['too long', `${whole}${'x'.repeat(9000)}`],
    ]
    for (const [what, text] of wrong) expect([what, await auth.session(asks(token, text))]).toEqual([what, null])
    const late = await proof(keys, token)
    later(61_000)
    expect(await auth.session(asks(token, late))).toBeNull()
    expect((await auth.session(asks(token, await proof(keys, token))))?.user?.id).toBe('ada')
  })

  it('a nonce of the server must be fresh, and then the clock of the device does not count', async () => {
    const { auth, app, asks, proof, later } = await start({ dpop: { nonces: true } })
    const { keys, tokens } = await app()
    const { access_token: token } = tokens
    const wanted = await auth.session(asks(token, await proof(keys, token))).then(
      () => null,
      (error: { status: number; headers: Record<string, string> }) => error,
    )
    expect(wanted).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': expect.stringContaining('use_dpop_nonce') as string } })
    const nonce = wanted!.headers['DPoP-Nonce']!
    const slow = { nonce, iat: 1_000_000 }
    expect((await auth.session(asks(token, await proof(keys, token, slow))))?.user?.id).toBe('ada')
    const twice = await proof(keys, token, slow)
    expect((await auth.session(asks(token, twice)))?.user?.id).toBe('ada')
    expect(await auth.session(asks(token, twice))).toBeNull()
    await expect(auth.session(asks(token, await proof(keys, token, { nonce: 'invented' })))).rejects.toMatchObject({ status: 401 })
    later(599_000)
    const renewed = await auth.handler(new Request(`${origin}/auth/session`, { headers: { authorization: `DPoP ${token}`, dpop: 'x' } }))
    expect(await renewed.json()).toBeNull()
    await expect(auth.session(asks(token, await proof(keys, token, { nonce })))).rejects.toMatchObject({ status: 401 })
  })

  it('introspection and a signed token name the key; a token for another service stays bound', async () => {
    const { auth, app, asks, proof, ask } = await start()
    const { keys, DPoP, tokens } = await app()
    const { access_token: token } = tokens
    const jkt = await DPoP.calculateThumbprint()
    const told = await ask('/jwt/introspect', { token, client_id: 'api', client_secret: clients[0]!.secret })
    expect(await told.json()).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt } })
    const jwks = await auth.jwt.jwks(new Request(origin))
    const issued = await auth.jwt.issue(asks(token, await proof(keys, token)), { audience, scope: 'read' })
    expect(issued?.tokenType).toBe('DPoP')
    const { payload } = await jwtVerify(issued!.accessToken, createLocalJWKSet(jwks), { audience })
    expect(payload['cnf']).toEqual({ jkt })
    if (format === 'jwt') expect((await jwtVerify(token, createLocalJWKSet(jwks))).payload['cnf']).toEqual({ jkt })

    const options = { issuer: origin, audience, algorithms: ['ES256' as const], jwks }
    const at = async (dpop: string | undefined, scheme = 'DPoP', text = issued!.accessToken) => {
      const request = new Request(here, { headers: { authorization: `${scheme} ${text}`, ...(dpop !== undefined && { dpop }) } })
      return verifyAccessToken(text, { ...options, proof: { request } }).then(
        () => 'good',
        (error: InvalidAccessToken) => error.challenge,
      )
    }
    const good = await proof(keys, issued!.accessToken)
    expect([await at(good), await at(good)]).toEqual(['good', 'DPoP error="invalid_dpop_proof"'])
    const thief = (await ec()) as CryptoKeyPair
    expect(await at(await proof(thief, issued!.accessToken))).toBe('Bearer error="invalid_token"')
    expect(await at(await proof(keys, issued!.accessToken), 'Bearer')).toBe('Bearer error="invalid_token"')
    expect(await at(undefined)).toBe('DPoP error="invalid_dpop_proof"')
    // Another library checks the same: signature, type, binding and proof.
    const as = (await (
      await auth.handler(new Request(`${origin}/.well-known/oauth-authorization-server`))
    ).json()) as oauth.AuthorizationServer
    const foreign = (scheme: string, dpop: string) =>
      oauth.validateJwtAccessToken(
        as,
        new Request(here, { headers: { authorization: `${scheme} ${issued!.accessToken}`, dpop } }),
        audience,
        { [oauth.customFetch]: (url, init) => auth.handler(new Request(url, init as never)), [oauth.allowInsecureRequests]: true },
      )
    expect(await foreign('DPoP', await proof(keys, issued!.accessToken))).toMatchObject({ sub: 'ada', cnf: { jkt } })
    await expect(foreign('DPoP', await proof(thief, issued!.accessToken))).rejects.toThrow()
    // A service that looks at no proof gets no bound token through.
    await expect(verifyAccessToken(issued!.accessToken, options)).rejects.toBeInstanceOf(InvalidAccessToken)
  })
})

describe('how an app comes to a bound token', () => {
  it('a code that names a key (`dpop_jkt`) is for that key alone', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const own = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    const other = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    const take = async (DPoP?: openid.DPoPHandle) => {
      const begun = await begin(config)
      begun.url.searchParams.set('dpop_jkt', await own.calculateThumbprint())
      const answer = new URL(await visit(browser, begun.url))
      const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state }
      return openid.authorizationCodeGrant(config, answer, checks, {}, DPoP && { DPoP })
    }
    expect((await take(own)).token_type).toBe('dpop')
    expect([await refusal(take(other)), await refusal(take())]).toEqual(['invalid_grant', 'invalid_grant'])
    const begun = await begin(config)
    begun.url.searchParams.set('dpop_jkt', 'short')
    expect(new URL(await visit(browser, begun.url)).searchParams.get('error')).toBe('invalid_request')
  })

  it('a device proves its key when it polls', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    const begun = await openid.initiateDeviceAuthorization(config, {})
    const ticket = ticketOf(await (await browser.post('/device', { user_code: begun.user_code })).text())
    await browser.post('/device/decide', { ticket, decision: 'allow' })
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 0.01 }, undefined, { DPoP })
    expect(tokens.token_type).toBe('dpop')
  })

  it('an app that must prove a key gets nothing without one, and its code is not used up', async () => {
    const { auth, app, browser } = await world()
    const config = await discover(auth, 'bank')
    expect(await refusal(signIn(config, browser))).toBe('invalid_dpop_proof')
    const { tokens } = await app('bank')
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_dpop_proof')
  })

  it('an app that starts to send proofs binds its session at the next refresh; its bearer token ends', async () => {
    const { auth, browser, asks } = await world()
    const config = await discover(auth)
    const before = await signIn(config, browser)
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
    expect((await auth.session(asks(before.access_token, undefined, 'Bearer')))?.user?.id).toBe('ada')
    expect(await auth.session(asks(before.access_token))).toBeNull()
    expect((await openid.refreshTokenGrant(config, before.refresh_token!, {}, { DPoP })).token_type).toBe('dpop')
    expect(await auth.session(asks(before.access_token, undefined, 'Bearer'))).toBeNull()
  })

  it('a bad proof is refused at the token endpoint before anything is used up, readable for scripts of other origins', async () => {
    const { app, proof, ask } = await world({ dpop: { nonces: true } })
    const { keys, tokens } = await app()
    const fields = { grant_type: 'refresh_token', client_id: 'desktop', refresh_token: tokens.refresh_token! }
    const bad = await ask('/oauth/token', fields, { dpop: 'x' })
    expect([bad.status, await bad.json()]).toMatchObject([400, { error: 'invalid_dpop_proof' }])
    const place = { htm: 'POST', htu: `${origin}/auth/oauth/token` }
    const without = await ask('/oauth/token', fields, { dpop: await proof(keys, undefined, place) })
    const nonce = without.headers.get('dpop-nonce')!
    expect([without.status, await without.json()]).toMatchObject([400, { error: 'use_dpop_nonce' }])
    expect(without.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce')
    const once = await proof(keys, undefined, { ...place, nonce })
    expect((await ask('/oauth/token', fields, { dpop: once })).status).toBe(200)
    const replayed = await ask('/oauth/token', fields, { dpop: once })
    expect(await replayed.json()).toMatchObject({ error: 'invalid_dpop_proof' })
  })
  it('a route of the host tells the app what is wrong: WWW-Authenticate of RFC 6750 and RFC 9449', async () => {
    const { auth, app, asks, proof } = await world({ dpop: { nonces: true } })
    const { keys, tokens } = await app()
    const told = async (request: Request) => {
      const answer = await auth.bearer.challenge(request, { scope: 'admin"x' })
      return [answer.status, answer.headers.get('www-authenticate')]
    }
    const [status, both] = await told(new Request(here))
    expect([status, both]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="localhost:3000", scope="adminx", DPoP realm=.*algs="ES256 /),
    ])
    expect(await told(asks('at.x', undefined, 'Bearer'))).toEqual([401, 'Bearer error="invalid_token", scope="adminx"'])
    const wanted = await auth.bearer.challenge(asks(tokens.access_token, await proof(keys, tokens.access_token)))
    expect([wanted.status, await wanted.json()]).toEqual([401, { error: 'use_dpop_nonce' }])
    const nonce = wanted.headers.get('dpop-nonce')!
    const good = asks(tokens.access_token, await proof(keys, tokens.access_token, { nonce }))
    expect(await told(good)).toEqual([403, 'DPoP error="insufficient_scope", scope="adminx"'])
  })

  it('proofs of a stranger fill no store: 300 of one network count in a minute, and a refused one is no mark', async () => {
    const { auth, app, proof, later } = await world()
    const { config, keys, DPoP, tokens } = await app()
    const place = { htm: 'POST', htu: `${origin}/auth/oauth/token` }
    const body = (refresh: string) => new URLSearchParams({ grant_type: 'refresh_token', client_id: 'desktop', refresh_token: refresh })
    const ask = (dpop: string, clientAddress: string) =>
      auth.handler(new Request(`${origin}/auth/oauth/token`, { method: 'POST', body: body('rt.x'), headers: { dpop } }), { clientAddress })
    const answers = await Promise.all(Array.from({ length: 310 }, async () => ask(await proof(keys, undefined, place), '192.0.2.1')))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(300)
    const refused = answers.find(({ status }) => status === 429)!
    expect([await refused.json(), Number(refused.headers.get('retry-after')) > 0]).toEqual([
      expect.objectContaining({ error: 'temporarily_unavailable' }),
      true,
    ])
    const late = await proof(keys, undefined, place)
    expect((await ask(late, '192.0.2.1')).status).toBe(429)
    expect((await ask(await proof(keys, undefined, place), '192.0.2.2')).status).toBe(400)
    expect((await openid.refreshTokenGrant(config, tokens.refresh_token!, {}, { DPoP })).token_type).toBe('dpop')
    later(30_000)
    const answer = await ask(late, '192.0.2.9')
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'invalid_grant' }])
  })

  it('a guard of a binding tells the same, once per request', async () => {
    const { auth: plain, app, asks, proof } = await world({ dpop: { nonces: true } })
    const auth = plain.use(fetchBinding()).use(expressBinding())
    const noted: string[] = []
    auth.on('noted', ({ name }) => void noted.push(name))
    const { keys, tokens } = await app()
    const { access_token: token } = tokens
    const guarded = auth.fetch.protect((_request, { user }) => new Response(user?.name))
    const host = express().get('/things', auth.express.requireSession(), (_req, res) => void res.send(res.locals.session?.user?.name))
    const server = await serve(host)
    try {
      const at = `${server.origin}/things`
      const byNode = (request: Request) => fetch(at, { headers: request.headers })
      for (const [htu, ask] of [
        [here, guarded],
        [at, byNode],
      ] as const) {
        const told = async (request: Request) => {
          const answer = await ask(request)
          return [answer.status, answer.headers.get('www-authenticate'), (await answer.text()).slice(0, 60)]
        }
        expect(await told(asks('at.x', undefined, 'Bearer'))).toEqual([401, 'Bearer error="invalid_token"', '{"error":"invalid_token"}'])
        const wanted = await ask(asks(token, await proof(keys, token, { htu })))
        expect([wanted.status, wanted.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('error="use_dpop_nonce"')])
        const nonce = wanted.headers.get('dpop-nonce')!
        expect((await told(asks(token, await proof(keys, token, { nonce, htu }))))[0]).toBe(200)
        const thief = (await ec()) as CryptoKeyPair
        expect((await told(asks(token, await proof(thief, token, { nonce, htu }))))[1]).toBe('DPoP error="invalid_token"')
        // The invented token, and the thief's.
        expect(noted.splice(0)).toEqual(['bearer.refused', 'bearer.refused'])
      }
    } finally {
      await server.close()
    }
  })
})
