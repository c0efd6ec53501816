/** The app as provider: real clients sign in, tokens live and die, and what RFC 9700 warns of is refused. */
import * as openid from 'openid-client'
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { verifyAccessToken } from 'authkernel/jwt'
import {
  begin,
  api,
  discover,
  finish,
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
} from './_authorization-server.ts'

const introspect = async (config: openid.Configuration, token: string) => openid.tokenIntrospection(config, token)

describe('a confidential client', () => {
  it('signs a user in by OpenID Connect: consent once, true claims, userinfo, refresh, introspection, revocation', async () => {
    const { auth, browser, runtime } = await world()
    const config = await discover(auth)
    const user = await browser()
    const signedInAt = Math.floor(runtime.now() / 1000)
    const begun = await begin(config)
    const page = await (await user.get(String(begun.url))).text()
    expect(page).toContain('Partner &lt;Ltd&gt;')
    expect(page).toContain('Example API')
    expect(page).toContain('partner.example')
    const tokens = await finish(config, begun, await visit(user, begun.url))
    expect(tokens.claims()).toMatchObject({
      iss: issuer,
      sub: 'ada',
      aud: 'partner',
      auth_time: signedInAt,
      acr: 'urn:authkernel:acr:1fa',
      email: 'ada@example.com',
      email_verified: true,
    })
    expect(tokens.claims()!['sid']).toMatch(/^[0-9a-f]{32}$/)
    expect(tokens.scope?.split(' ').sort()).toEqual(['email', 'offline_access', 'openid', 'read'])
    expect(await openid.fetchUserInfo(config, tokens.access_token, 'ada')).toEqual({
      sub: 'ada',
      email: 'ada@example.com',
      email_verified: true,
    })
    // The second time nothing is asked.
    expect(await visit(user, (await begin(config)).url)).toContain('code=')
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token!)
    expect(next.refresh_token).not.toBe(tokens.refresh_token)
    expect(await introspect(config, next.access_token)).toMatchObject({
      active: true,
      sub: 'ada',
      client_id: 'partner',
      iss: issuer,
      aud: [api, issuer],
    })
    await openid.tokenRevocation(config, next.refresh_token!)
    expect(await introspect(config, next.access_token)).toEqual({ active: false })
    expect(await refusal(openid.refreshTokenGrant(config, next.refresh_token!))).toBe('invalid_grant')
  })

  it('proves itself by the registered method alone', async () => {
    const { post } = await world()
    const grant = { grant_type: 'client_credentials', resource: api }
    const wrong = await post('/oauth2/token', grant, { authorization: `Basic ${btoa(`partner:${'x'.repeat(40)}`)}` })
    expect([wrong.status, wrong.headers.get('www-authenticate'), await wrong.json()]).toEqual([
      401,
      'Basic realm="token"',
      expect.objectContaining({ error: 'invalid_client' }),
    ])
    const posted = await post('/oauth2/token', {
      grant_type: 'client_credentials',
      client_id: 'partner',
      client_secret: secret,
      resource: api,
    })
    expect([posted.status, await posted.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_client' })])
    const twice = await post(
      '/oauth2/token',
      { grant_type: 'client_credentials', client_id: 'partner', client_secret: secret },
      { authorization: `Basic ${btoa(`partner:${secret}`)}` },
    )
    expect([twice.status, await twice.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })])
  })

  it('gets tokens for itself, for a resource and not for users', async () => {
    const { auth } = await world()
    const config = await discover(auth)
    const tokens = await openid.clientCredentialsGrant(config, { resource: api, scope: 'read' })
    expect([tokens.scope, tokens.refresh_token, tokens.id_token]).toEqual(['read', undefined, undefined])
    expect(await introspect(config, tokens.access_token)).toMatchObject({ active: true, sub: 'partner', aud: api })
    expect(await refusal(openid.clientCredentialsGrant(config, { scope: 'openid email' }))).toBe('invalid_target')
  })

  it('authenticates by a signed assertion, which is good once and for this server', async () => {
    const { auth, post } = await world()
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' } as Record<string, unknown>] }
    const { client_id: id } = await auth.authorizationServer.clients.create({
      client_name: 'Signer',
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: ['client_credentials'],
      jwks,
    })
    let body = ''
    const config = await discover(
      { handler: async (request) => ((body = await request.clone().text()), auth.handler(request)) },
      id,
      openid.PrivateKeyJwt({ key: privateKey, kid: 'k1' }),
    )
    expect((await openid.clientCredentialsGrant(config, { resource: api })).access_token).toMatch(/^at\./)
    const again = await post('/oauth2/token', new URLSearchParams(body))
    expect([again.status, await again.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_client' })])
    expect(await auth.authorizationServer.clients.delete(id)).toBe(true)
    expect(await refusal(openid.clientCredentialsGrant(config, { resource: api }))).toBe('invalid_client')
  })

  it('pushes its request, which counts once', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const user = await browser()
    const verifier = openid.randomPKCECodeVerifier()
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: redirect,
      scope: 'openid read',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: 's',
    })
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const location = await visit(user, url)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location), { pkceCodeVerifier: verifier, expectedState: 's' })
    expect(tokens.scope).toBe('openid read')
    expect((await user.get(String(url))).status).toBe(400)
  })
})

describe('tokens per resource', () => {
  it('a token names its audience: a JWT that the resource verifies itself, and none for another one', async () => {
    const { auth, browser, runtime } = await world()
    const config = await discover(auth)
    const tokens = await signIn(config, await browser(), { scope: 'openid sign read', resource: signedApi })
    const jwks = (await (await auth.handler(new Request(`${origin}/.well-known/jwks.json`))).json()) as { keys: Record<string, unknown>[] }
    const check = (audience: string) =>
      verifyAccessToken(tokens.access_token, { issuer, audience, algorithms: ['ES256'], jwks, now: () => runtime.now() })
    expect(await check(signedApi)).toMatchObject({ sub: 'ada', aud: signedApi, client_id: 'partner', scope: 'openid sign' })
    await expect(check(api)).rejects.toThrow()
    // It is for the resource, and opens nothing here.
    await expect(openid.fetchUserInfo(config, tokens.access_token, 'ada')).rejects.toThrow()
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: api }))).toBe('invalid_target')
    // An ID token is no access token.
    const asAccess = await auth.handler(
      new Request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${tokens.id_token}` } }),
    )
    expect([asAccess.status, asAccess.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  })

  it('DPoP binds the tokens to the key of the client', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const user = await browser()
    const key = await openid.randomDPoPKeyPair('ES256')
    const handle = openid.getDPoPHandle(config, key)
    const begun = await begin(config)
    const location = await visit(user, begun.url)
    const tokens = await openid.authorizationCodeGrant(
      config,
      new URL(location),
      { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce },
      undefined,
      { DPoP: handle },
    )
    expect(tokens.token_type).toBe('dpop')
    expect(await openid.fetchUserInfo(config, tokens.access_token, 'ada', { DPoP: handle })).toMatchObject({ sub: 'ada' })
    const bare = await auth.handler(
      new Request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
    )
    expect(bare.status).toBe(401)
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
  })
})

describe('how the user is signed in', () => {
  it('prompt, max_age and acr_values lead to a proof and back', async () => {
    const { auth, browser, runtime } = await world()
    const config = await discover(auth)
    const user = await browser()
    const silent = async (params: Record<string, string>) =>
      new URL(await visit(user, (await begin(config, { prompt: 'none', ...params })).url)).searchParams.get('error')
    expect(await silent({})).toBe('consent_required')
    await signIn(config, user)
    expect(await silent({})).toBeNull()
    runtime.advance(120_000)
    expect(await silent({ max_age: '60' })).toBe('login_required')
    const begun = await begin(config, { prompt: 'login' })
    const away = (await user.get(String(begun.url))).headers.get('location')!
    expect(away).toContain('/signin?callbackUrl=')
    const back = new URL(away).searchParams.get('callbackUrl')!
    // Without the proof the browser is led away again.
    expect((await user.get(back)).headers.get('location')).toContain('/signin')
    await user.post('/callback/credentials', { user: 'ada' })
    const tokens = await finish(config, begun, await visit(user, back))
    expect(tokens.claims()!['auth_time']).toBe(Math.floor(runtime.now() / 1000))
    // The ticket is of one request.
    const other = new URL((await begin(config, { prompt: 'login' })).url)
    other.searchParams.set('proof', new URL(back).searchParams.get('proof')!)
    expect((await user.get(String(other))).headers.get('location')).toContain('/signin')
    const visitor = new URL(await visit(await browser('nobody-here'), (await begin(config, { prompt: 'none' })).url))
    expect(['login_required', 'consent_required']).toContain(visitor.searchParams.get('error'))
  })

  it('gives pairwise subjects that differ between users and are the same at userinfo', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth, 'apart')
    const subjects = await Promise.all(
      ['ada', 'eve'].map(async (name) => {
        const tokens = await signIn(config, await browser(name), { redirect_uri: 'https://apart.example/cb' })
        const { sub } = tokens.claims()!
        await openid.fetchUserInfo(config, tokens.access_token, sub)
        return sub
      }),
    )
    expect(new Set(['ada', 'eve', ...subjects]).size).toBe(4)
  })
})

describe('endings', () => {
  it.each(['signOutEverywhere', 'ban', 'deletion'] as const)('%s ends tokens, codes and what clients have', async (how) => {
    const { auth, browser, end } = await world()
    const config = await discover(auth)
    const user = await browser()
    const tokens = await signIn(config, user)
    const begun = await begin(config)
    const waiting = await visit(user, begun.url)
    if (how === 'deletion') await auth.users.delete({ userId: 'ada' })
    else await end('ada', how)
    expect(await introspect(config, tokens.access_token)).toEqual({ active: false })
    expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
    expect(await refusal(finish(config, begun, waiting))).toBe('invalid_grant')
  })

  it.each(['database', 'jwt'] as const)(
    'a sign-out ends codes and grants without offline_access and tells the client, %s sessions',
    async (strategy) => {
      const { auth, browser, posts } = await world({}, { session: { strategy, revocable: strategy === 'jwt' } })
      const config = await discover(auth)
      const user = await browser()
      const lasting = await signIn(config, user)
      const brief = await signIn(config, user, { scope: 'openid read' })
      const begun = await begin(config)
      const waiting = await visit(user, begun.url)
      await user.post('/signout')
      expect(await refusal(finish(config, begun, waiting))).toBe('invalid_grant')
      expect(await introspect(config, brief.access_token)).toEqual({ active: false })
      expect((await introspect(config, lasting.access_token)).active).toBe(true)
      expect(posts.map(({ url }) => url)).toEqual(['https://partner.example/back-channel'])
      const token = new URLSearchParams(posts[0]!.body).get('logout_token')!
      const jwks = (await (await auth.handler(new Request(`${origin}/.well-known/jwks.json`))).json()) as never
      const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), {
        issuer,
        audience: 'partner',
        typ: 'logout+jwt',
        currentDate: new Date(),
      })
      expect(payload).toMatchObject({
        sub: 'ada',
        sid: lasting.claims()!['sid'],
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      })
    },
  )

  it('the client signs the user out, who is asked, and the browser goes only to a registered address', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const user = await browser()
    const { id_token: hint } = await signIn(config, user)
    const url = openid.buildEndSessionUrl(config, {
      id_token_hint: hint!,
      post_logout_redirect_uri: 'https://partner.example/bye',
      state: 'x',
    })
    const ticket = ticketOf(await (await user.get(String(url))).text())
    const done = await user.post('/oauth2/logout/confirm', { ticket })
    expect(done.headers.get('location')).toBe('https://partner.example/bye?state=x')
    expect(await user.session()).toBeNull()
    const elsewhere = new URL(url)
    elsewhere.searchParams.set('post_logout_redirect_uri', 'https://evil.example/')
    expect((await user.get(String(elsewhere))).headers.get('location')).toBe(origin)
  })

  it('the account page lists what came in and takes it back', async () => {
    const { auth, browser } = await world()
    const config = await discover(auth)
    const user = await browser()
    const tokens = await signIn(config, user)
    expect(await (await user.get('/account')).text()).toContain('Connected apps')
    expect(await auth.authorizationServer.connectedApps('ada')).toEqual([
      expect.objectContaining({ clientId: 'partner', scopes: expect.arrayContaining(['read']) as string[] }),
    ])
    await user.post('/account/connected-apps', { client: 'partner' })
    expect(await introspect(config, tokens.access_token)).toEqual({ active: false })
    expect(ticketOf(await (await user.get(String((await begin(config)).url))).text())).not.toBe('')
  })
})
