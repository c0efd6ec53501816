/** What services that verify JWTs themselves learn of an ending, signed answers, proofs of keys that are replayed, and how long documents of clients count. */
import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { verifyAccessToken } from 'authkernel/jwt'
import {
  api,
  begin,
  clients,
  discover,
  issuer,
  origin,
  redirect,
  refusal,
  secret,
  signedApi,
  signIn,
  ticketOf,
  visit,
  world,
  type World,
} from './_authorization-server.ts'
import { serveDocuments } from './_client-documents.ts'

const basic = { authorization: `Basic ${btoa(`partner:${secret}`)}` }

describe('JWTs of a grant that ended', () => {
  const service = (host: World) => {
    const lists: string[] = []
    const fetch = (async (url: string | URL, init?: RequestInit) => {
      lists.push(String(url))
      return host.auth.handler(new Request(url, init as RequestInit))
    }) as typeof globalThis.fetch
    const verify = async (token: string) =>
      verifyAccessToken(token, {
        issuer,
        audience: signedApi,
        algorithms: ['ES256'],
        jwks: await host.auth.jwt.jwks(new Request(origin)),
        endedGrants: `${issuer}/oauth2/ended-grants`,
        fetch,
        now: host.runtime.now,
      })
    return { verify, lists }
  }

  it.each([
    'revocation',
    'ban',
    'deletion',
    'passwordReset',
    'signOutEverywhere',
    'disconnect',
    'copied refresh token',
    'sign-out of the browser',
  ] as const)('are refused by a service that follows the list: %s', async (how) => {
    const host = await world()
    const config = await discover(host.auth)
    const browser = await host.browser()
    const scope = how === 'sign-out of the browser' ? 'openid sign' : 'openid sign offline_access'
    const tokens = await signIn(config, browser, { scope, resource: signedApi })
    const { verify, lists } = service(host)
    expect((await verify(tokens.access_token)).sub).toBe('ada')
    await verify(tokens.access_token)
    expect(lists).toHaveLength(1)
    if (how === 'revocation') await openid.tokenRevocation(config, tokens.access_token)
    else if (how === 'disconnect') await host.auth.authorizationServer.disconnect('ada', 'partner')
    else if (how === 'sign-out of the browser') await browser.post('/signout')
    else if (how === 'copied refresh token') {
      await openid.refreshTokenGrant(config, tokens.refresh_token!)
      host.runtime.advance(11_000)
      expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
    } else await host.end('ada', how)
    host.runtime.advance(31_000)
    await expect(verify(tokens.access_token)).rejects.toMatchObject({ code: 'invalid_token', message: expect.stringContaining('ended') })
  })

  it('a list that cannot be read lets no token in, and grants without JWTs are not on it', async () => {
    const host = await world()
    const config = await discover(host.auth)
    const tokens = await signIn(config, await host.browser(), { scope: 'openid sign', resource: signedApi })
    const options = {
      issuer,
      audience: signedApi,
      algorithms: ['ES256' as const],
      jwks: await host.auth.jwt.jwks(new Request(origin)),
      now: host.runtime.now,
    }
    const endedGrants = `${issuer}/oauth2/ended-grants`
    for (const answer of [new Response('', { status: 503 }), Response.json({}), new Response('x')])
      await expect(verifyAccessToken(tokens.access_token, { ...options, endedGrants, fetch: async () => answer })).rejects.toMatchObject({
        type: 'KeysUnavailable',
      })
    await expect(verifyAccessToken(tokens.access_token, { ...options, endedGrants: 'http://evil.example/' })).rejects.toThrow(TypeError)
    const opaque = await signIn(config, await host.browser('eve'), { scope: 'openid read', resource: api })
    await openid.tokenRevocation(config, opaque.access_token)
    const list = (await (await host.auth.handler(new Request(endedGrants))).json()) as { grants: string[] }
    expect(list).toMatchObject({ issuer, grants: [] })
  })
})

describe('signed answers', () => {
  it('userinfo for a client that registered an algorithm, and introspection for a caller that asks', async () => {
    const host = await world({
      clients: [
        ...clients!,
        { client_id: 'signed', client_name: 'Signed', redirect_uris: ['https://signed.example/cb'], userinfo_signed_response_alg: 'ES256' },
      ],
    })
    const config = await discover(host.auth, 'signed', openid.None())
    const tokens = await signIn(config, await host.browser(), { redirect_uri: 'https://signed.example/cb', scope: 'openid email' })
    const keys = createLocalJWKSet((await host.auth.jwt.jwks(new Request(origin))) as never)
    const answer = await host.auth.handler(
      new Request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
    )
    expect(answer.headers.get('content-type')).toBe('application/jwt')
    const { payload } = await jwtVerify(await answer.text(), keys, { issuer, audience: 'signed' })
    expect(payload).toMatchObject({ sub: 'ada', email: 'ada@example.com' })

    const own = await signIn(await discover(host.auth), await host.browser(), { scope: 'openid read', resource: api })
    const type = 'application/token-introspection+jwt'
    for (const [token, active] of [
      [own.access_token, true],
      ['at.x', false],
    ] as const) {
      const told = await host.post('/oauth2/introspect', { token }, { ...basic, accept: type })
      expect(told.headers.get('content-type')).toBe(type)
      const claims = await jwtVerify(await told.text(), keys, { issuer, audience: 'partner', typ: 'token-introspection+jwt' })
      expect(claims.payload['token_introspection']).toMatchObject({ active })
    }
    expect(config.serverMetadata()).toMatchObject({ userinfo_signing_alg_values_supported: ['ES256'] })
    await expect(
      world({
        clients: [{ client_id: 'x', client_name: 'X', redirect_uris: ['https://x.example/cb'], userinfo_signed_response_alg: 'RS256' }],
      }),
    ).rejects.toThrow('"x"')
    const wish = { client_name: 'X', redirect_uris: ['https://x.example/cb'], userinfo_signed_response_alg: 'RS256' }
    await expect(host.auth.authorizationServer.clients.create(wish)).rejects.toMatchObject({ status: 400, message: /must be ES256/ })
  })

  it('a client that registers another algorithm is told the one of the server', async () => {
    const { auth } = await world({ registration: {} })
    const answer = await auth.handler(
      new Request(`${issuer}/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: ['https://x.example/cb'],
          token_endpoint_auth_method: 'none',
          id_token_signed_response_alg: 'RS256',
          userinfo_signed_response_alg: 'RS256',
        }),
      }),
    )
    expect(await answer.json()).toMatchObject({ id_token_signed_response_alg: 'ES256', userinfo_signed_response_alg: 'ES256' })
  })
})

describe('front-channel logout', () => {
  it('the page of a sign-out opens the address of each app of the session, with its own sid, and then leads on', async () => {
    const host = await world({
      clients: [
        ...clients!,
        {
          client_id: 'framed',
          client_name: 'F',
          redirect_uris: ['https://framed.example/cb'],
          frontchannel_logout_uri: 'https://framed.example/out?a=1',
        },
        {
          client_id: 'absent',
          client_name: 'A',
          redirect_uris: ['https://absent.example/cb'],
          frontchannel_logout_uri: 'https://absent.example/out',
        },
      ],
    })
    const framed = await discover(host.auth, 'framed', openid.None())
    const user = await host.browser()
    const tokens = await signIn(framed, user, { redirect_uri: 'https://framed.example/cb', scope: 'openid' })
    const ticket = ticketOf(await (await user.get('/oauth2/logout')).text())
    const done = await user.post('/oauth2/logout/confirm', { ticket })
    const page = await done.text()
    const frames = [...page.matchAll(/<iframe src="([^"]+)"/g)].map(([, src]) => new URL(src!.replaceAll('&amp;', '&')))
    expect(frames.map((frame) => [frame.origin, Object.fromEntries(frame.searchParams)])).toEqual([
      ['https://framed.example', { a: '1', iss: issuer, sid: tokens.claims()?.['sid'] }],
    ])
    expect(done.headers.get('content-security-policy')).toMatch(/frame-src [^;]*https:\/\/framed\.example/)
    expect(done.headers.get('refresh')).toBe(`3; url=${origin}`)
    expect(await user.session()).toBeNull()
    expect(framed.serverMetadata()).toMatchObject({ frontchannel_logout_supported: true })
  })

  it.each(['http://framed.example/out', 'javascript:alert(1)', 'https://framed.example/out#x'])(
    '%s is no address of a frame',
    async (uri) => {
      await expect(
        world({
          clients: [{ client_id: 'framed', client_name: 'F', redirect_uris: ['https://framed.example/cb'], frontchannel_logout_uri: uri }],
        }),
      ).rejects.toThrow('frontchannel_logout_uri')
    },
  )
})

describe('games with DPoP', () => {
  async function bound() {
    const first = await world()
    const keys = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(keys.publicKey)
    const prove = async (claims: Record<string, unknown>, by = keys, header: Record<string, unknown> = {}) =>
      new SignJWT({
        jti: crypto.randomUUID(),
        iat: Math.floor(first.runtime.now() / 1000),
        htm: 'POST',
        htu: `${issuer}/oauth2/token`,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(by.publicKey), ...header } as never)
        .sign(by.privateKey)
    const config = await discover(first.auth)
    const browser = await first.browser()
    const code = async (params: Record<string, string> = {}) => {
      const begun = await begin(config, { scope: 'openid read offline_access', resource: api, ...params })
      const found = new URL(await visit(browser, begun.url)).searchParams.get('code')!
      return { grant_type: 'authorization_code', code: found, code_verifier: begun.verifier, redirect_uri: redirect }
    }
    const jkt = await calculateJwkThumbprint(jwk)
    return { first, keys, prove, code, jkt }
  }
  const errorOf = async (answer: Response): Promise<unknown> => ((await answer.json()) as { error?: unknown }).error

  it('a proof for another method, address, time or of another kind gives no tokens, and uses no code up', async () => {
    const { first, prove, code, keys } = await bound()
    const fields = await code()
    const wrong = [
      await prove({ htm: 'GET' }),
      await prove({ htu: `${issuer}/oauth2/userinfo` }),
      await prove({ htu: 'https://evil.example/oauth2/token' }),
      await prove({ iat: 1 }),
      await prove({ jti: undefined }),
      await prove({}, keys, { typ: 'jwt' }),
      await prove({}, keys, { jwk: await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey) }),
      `${await prove({})}, ${await prove({})}`,
    ]
    for (const dpop of wrong)
      expect(await errorOf(await first.post('/oauth2/token', fields, { ...basic, dpop }))).toBe('invalid_dpop_proof')
    expect((await first.post('/oauth2/token', fields, { ...basic, dpop: await prove({}) })).status).toBe(200)
  })

  it('a proof counts once', async () => {
    const { first, prove, code } = await bound()
    const dpop = await prove({})
    expect((await first.post('/oauth2/token', await code(), { ...basic, dpop })).status).toBe(200)
    expect(await errorOf(await first.post('/oauth2/token', await code(), { ...basic, dpop }))).toBe('invalid_dpop_proof')
  })

  it('another key than the promised one, than that of the tokens, and none: no refresh, no resource, and no bearer token', async () => {
    const { first, prove, code, jkt } = await bound()
    const other = await generateKeyPair('ES256', { extractable: true })
    const swapped = await first.post('/oauth2/token', await code({ dpop_jkt: jkt }), { ...basic, dpop: await prove({}, other) })
    expect(await errorOf(swapped)).toBe('invalid_grant')
    const given = await first.post('/oauth2/token', await code({ dpop_jkt: jkt }), { ...basic, dpop: await prove({}) })
    const tokens = (await given.json()) as { access_token: string; refresh_token: string; token_type: string }
    expect(tokens.token_type).toBe('DPoP')
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect(await errorOf(await first.post('/oauth2/token', refresh, { ...basic, dpop: await prove({}, other) }))).toBe('invalid_grant')
    expect(await errorOf(await first.post('/oauth2/token', refresh, basic))).toBe('invalid_grant')
    const ath = async (text: string) =>
      btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replaceAll('=', '')
    const call = async (dpop: string | undefined, scheme = 'DPoP') => {
      const headers = { authorization: `${scheme} ${tokens.access_token}`, ...(dpop !== undefined && { dpop }) }
      const { caller } = await first.auth.authorizationServer.authorize(new Request(api, { headers }), { resource: api })
      return caller?.userId
    }
    // Behind `authorize` the request is at the address of the host.
    const at = { htm: 'GET', htu: new URL(api).href }
    expect(await call(undefined, 'Bearer')).toBeUndefined()
    expect(await call(undefined)).toBeUndefined()
    expect(await call(await prove({ ...at, ath: await ath('another token') }))).toBeUndefined()
    expect(await call(await prove(at))).toBeUndefined()
    expect(await call(await prove({ ...at, ath: await ath(tokens.access_token) }, other))).toBeUndefined()
    // What was refused used nothing up: the owner goes on.
    expect((await first.post('/oauth2/token', refresh, { ...basic, dpop: await prove({}) })).status).toBe(200)
  })

  it('with nonces a proof needs one of this server', async () => {
    const host = await world({ dpop: { nonces: true } })
    const keys = await generateKeyPair('ES256', { extractable: true })
    const prove = async (nonce?: string) =>
      new SignJWT({
        jti: crypto.randomUUID(),
        iat: Math.floor(host.runtime.now() / 1000),
        htm: 'POST',
        htu: `${issuer}/oauth2/token`,
        ...(nonce && { nonce }),
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(keys.publicKey) })
        .sign(keys.privateKey)
    const fields = { grant_type: 'client_credentials', resource: api }
    const first = await host.post('/oauth2/token', fields, { ...basic, dpop: await prove() })
    const nonce = first.headers.get('dpop-nonce')!
    expect(await errorOf(first)).toBe('use_dpop_nonce')
    expect(await errorOf(await host.post('/oauth2/token', fields, { ...basic, dpop: await prove('invented') }))).toBe('use_dpop_nonce')
    expect((await host.post('/oauth2/token', fields, { ...basic, dpop: await prove(nonce) })).status).toBe(200)
    host.runtime.advance(700_000)
    expect(await errorOf(await host.post('/oauth2/token', fields, { ...basic, dpop: await prove(nonce) }))).toBe('use_dpop_nonce')
  })
})

describe('documents of clients', () => {
  it.each([
    ['max-age=3600', {}, 3_500, 3_700],
    ['public, max-age=3600', { age: '3000' }, 500, 700],
    ['no-store', {}, 50, 70],
    ['max-age=999999999', {}, 86_300, 86_500],
    ['', {}, 590, 610],
  ])('with "%s" %j counts by the rules of HTTP', async (control, more, kept, over) => {
    const documents = await serveDocuments(
      (id) => ({ client_id: id, client_name: 'Agent', redirect_uris: ['https://agent.example/cb'], token_endpoint_auth_method: 'none' }),
      () => ({ ...(control !== '' && { 'cache-control': control }), ...more }),
    )
    try {
      const host = await world({ clientDocuments: true }, {}, [documents.publicFetch])
      const browser = await host.browser()
      const id = `${documents.origin}/client.json`
      const look = async () =>
        (
          await browser.get(
            String(
              (await begin(await discover(host.auth), { client_id: id, redirect_uri: 'https://agent.example/cb', scope: 'openid' })).url,
            ),
          )
        ).status
      expect(await look()).toBe(200)
      host.runtime.advance(kept * 1000)
      await look()
      expect(documents.fetched).toHaveLength(1)
      host.runtime.advance((over - kept) * 1000)
      await look()
      expect(documents.fetched).toHaveLength(2)
    } finally {
      await documents.close()
    }
  })
})
