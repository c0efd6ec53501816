/** What an authorization request can say: signed requests (JAR), rich requests (RAR), single claims, and which user and language are meant. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { verifyAccessToken } from 'authkernel/jwt'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { Client } from '../_setup.ts'
import {
  api,
  begin,
  clients,
  discover,
  finish,
  issuer,
  origin,
  refusal,
  signedApi,
  signIn,
  ticketOf,
  visit,
  world,
  type World,
} from './_authorization-server.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
let host: World
let keys: Keys
let config: openid.Configuration
let ada: Client

const payment = { type: 'payment', amount: '10', currency: 'EUR', to: 'Shop <b>' }
const signature = { type: 'signature', document: 'a.pdf' }

beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'ES256' }] }
  host = await world({
    clients: [
      ...clients!,
      {
        client_id: 'signer',
        client_name: 'Signer',
        redirect_uris: ['https://signer.example/cb'],
        jwks,
        require_signed_request_object: true,
        request_uris: ['https://signer.example/request.jwt'],
      },
      { client_id: 'named', client_name: 'Named', redirect_uris: ['https://named.example/cb'], authorization_details_types: ['signature'] },
    ],
    authorizationDetails: {
      payment: {
        resource: api,
        check: ({ amount }) => (typeof amount === 'string' && /^\d+$/.test(amount)) || 'A payment needs an amount.',
        describe: ({ amount, currency, to }) => [
          ['Amount', `${String(amount)} ${String(currency)}`],
          ['To', String(to)],
        ],
      },
      signature: { resource: signedApi },
    },
    claims: ({ requested }) => (requested.includes('department') ? { department: 'R&D', sub: 'evil' } : {}),
  })
  config = await discover(host.auth)
  ada = await host.browser()
})

const errorAt = (location: string | Response): string | null =>
  new URL(typeof location === 'string' ? location : (location.headers.get('location') ?? 'none:')).searchParams.get('error')

describe('signed requests (RFC 9101)', () => {
  const signer = () => discover(host.auth, 'signer', openid.None())
  const to = { redirect_uri: 'https://signer.example/cb', scope: 'openid read' }
  const sign = async (claims: Record<string, unknown>, header: Record<string, unknown> = {}, by = keys) =>
    new SignJWT({
      iss: 'signer',
      aud: issuer,
      client_id: 'signer',
      response_type: 'code',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      exp: Math.floor(Date.now() / 1000) + 60,
      ...to,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'oauth-authz-req+jwt', ...header })
      .sign(by.privateKey)
  const ask = async (request: string, more: Record<string, string> = {}) =>
    ada.get(`/oauth2/authorize?${new URLSearchParams({ client_id: 'signer', request, ...more }).toString()}`)

  it('openid-client signs one in by the browser and by PAR', async () => {
    const signing = await signer()
    for (const way of ['browser', 'par'] as const) {
      const { url, verifier, state, nonce } = await begin(signing, to)
      const signed = await openid.buildAuthorizationUrlWithJAR(signing, url.searchParams, { key: keys.privateKey, kid: 'k' })
      expect([...signed.searchParams.keys()].sort()).toEqual(['client_id', 'request'])
      const target = way === 'browser' ? signed : await openid.buildAuthorizationUrlWithPAR(signing, signed.searchParams)
      const tokens = await finish(signing, { url, verifier, state, nonce }, await visit(ada, target))
      expect(tokens.scope).toBe('openid read')
    }
    expect(signing.serverMetadata()).toMatchObject({ request_parameter_supported: true, require_request_uri_registration: true })
  })

  it('parameters beside the object do not count, and a client that must sign cannot leave it out', async () => {
    const answer = await ask(await sign({}), { scope: 'openid read write', redirect_uri: 'https://evil.example/', state: 'evil' })
    const location = answer.headers.get('location') ?? ''
    expect(location).toMatch(/^https:\/\/signer\.example\/cb\?code=/)
    expect(location).not.toContain('state=')
    const { url } = await begin(await signer(), to)
    expect((await ada.get(String(url))).status).toBe(400)
    const pushed = await host.post('/oauth2/par', Object.fromEntries(url.searchParams))
    expect([pushed.status, ((await pushed.json()) as { error: string }).error]).toEqual([400, 'invalid_request_object'])
  })

  it.each([
    ['another issuer', { iss: 'partner' }],
    ['another server', { aud: 'https://other.example' }],
    ['too old', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['no end', { exp: undefined }],
    ['an end too far', { exp: Math.floor(Date.now() / 1000) + 90_000 }],
    ['another client', { client_id: 'partner' }],
    ['an assertion of the client', { sub: 'signer' }],
    ['an object within', { request: 'x' }],
    ['an address within', { request_uri: 'https://signer.example/request.jwt' }],
    ['an address that is not registered', { redirect_uri: 'https://evil.example/cb' }],
  ] as [string, Record<string, unknown>][])('%s: the browser stays here', async (_, claims) => {
    const answer = await ask(await sign(claims))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  it('another key, another kind of JWT, and none', async () => {
    const stranger = await generateKeyPair('ES256')
    const plain = `${btoa(JSON.stringify({ alg: 'none' }))}.${btoa(JSON.stringify({ client_id: 'signer', ...to }))}.`
    for (const request of [await sign({}, {}, stranger), await sign({}, { typ: 'dpop+jwt' }), plain, 'x'])
      expect((await ask(request)).status).toBe(400)
  })

  it('request_uri is fetched only where the client registered it', async () => {
    for (const uri of [
      'https://evil.example/r.jwt',
      'https://169.254.169.254/r.jwt',
      'http://signer.example/request.jwt',
      'file:///etc/passwd',
    ]) {
      const answer = await ada.get(`/oauth2/authorize?${new URLSearchParams({ client_id: 'signer', request_uri: uri }).toString()}`)
      expect([answer.status, answer.headers.get('location')], uri).toEqual([400, null])
    }
    expect(host.posts.map(({ url }) => url)).toEqual([])
  })
})

describe('rich requests (RFC 9396)', () => {
  const details = (...list: object[]) => ({ authorization_details: JSON.stringify(list) })

  it('are shown, allowed each time, and stand in tokens, responses and introspection of their resource', async () => {
    const begun = await begin(config, { scope: 'openid', ...details(payment, signature) })
    const page = await (await ada.get(String(begun.url))).text()
    expect(page).toContain('10 EUR')
    expect(page).toContain('Shop &lt;b&gt;')
    const tokens = await finish(config, begun, await visit(ada, begun.url))
    expect(tokens['authorization_details']).toEqual([payment, signature])
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({ authorization_details: [payment, signature] })
    const { caller } = await host.auth.authorizationServer.authorize(
      new Request(api, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
      { resource: api },
    )
    expect(caller?.details).toEqual([payment])
    // Allowed once says nothing about the next payment.
    const again = await ada.get(String((await begin(config, { scope: 'openid', ...details(payment) })).url))
    expect([again.status, ticketOf(await again.text()) !== '']).toEqual([200, true])
    expect(errorAt(await visit(ada, (await begin(config, { scope: 'openid', prompt: 'none', ...details(payment) })).url))).toBe(
      'consent_required',
    )
  })

  it('a token may have some of them, in a JWT too, and never another one', async () => {
    const tokens = await signIn(config, ada, { scope: 'openid offline_access', ...details(payment, signature) })
    const less = await openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: signedApi, ...details(signature) })
    const claims = await verifyAccessToken(less.access_token, {
      issuer,
      audience: signedApi,
      algorithms: ['ES256'],
      jwks: await host.auth.jwt.jwks(new Request(origin)),
    })
    expect(claims['authorization_details']).toEqual([signature])
    const only = await openid.refreshTokenGrant(config, less.refresh_token!, { resource: api, ...details(payment) })
    expect((await openid.tokenIntrospection(config, only.access_token))['authorization_details']).toEqual([payment])
    expect(await refusal(openid.refreshTokenGrant(config, only.refresh_token!, details({ ...payment, amount: '1000' })))).toBe(
      'invalid_authorization_details',
    )
    // What was refused used nothing up.
    expect((await openid.refreshTokenGrant(config, only.refresh_token!)).access_token).toBeTruthy()
  })

  it.each([
    ['no JSON', 'x'],
    ['no list', JSON.stringify(payment)],
    ['an empty list', '[]'],
    ['no type', '[{}]'],
    ['an unknown type', JSON.stringify([{ type: 'root' }])],
    ['a wrong form', JSON.stringify([{ ...payment, amount: 10 }])],
    ['too many', JSON.stringify(Array.from({ length: 11 }, () => payment))],
  ])('%s is refused', async (_, text) => {
    expect(errorAt(await visit(ada, (await begin(config, { authorization_details: text })).url))).toBe('invalid_authorization_details')
  })

  it('a client asks only for the types that it registered', async () => {
    const named = await discover(host.auth, 'named')
    const to = { redirect_uri: 'https://named.example/cb', scope: 'openid' }
    expect(errorAt(await visit(ada, (await begin(named, { ...to, ...details(payment) })).url))).toBe('invalid_authorization_details')
    expect((await signIn(named, ada, { ...to, ...details(signature) }))['authorization_details']).toEqual([signature])
  })
})

describe('the parameter claims', () => {
  const wants = (claims: object) => ({ claims: JSON.stringify(claims) })

  it('gives single claims where they were asked for, and the consent page says so', async () => {
    const eve = await host.browser('eve')
    const begun = await begin(config, {
      scope: 'openid',
      ...wants({ id_token: { email: null }, userinfo: { name: null, department: null } }),
    })
    const page = await (await eve.get(String(begun.url))).text()
    expect([page.includes('See your email'), page.includes('See your name')]).toEqual([true, true])
    const tokens = await finish(config, begun, await visit(eve, begun.url))
    expect(tokens.claims()).toMatchObject({ sub: 'eve', email: 'eve@example.com' })
    expect(tokens.claims()).not.toHaveProperty('name')
    expect(await openid.fetchUserInfo(config, tokens.access_token, 'eve')).toEqual({ sub: 'eve', name: 'eve', department: 'R&D' })
  })

  it('a client that may have some scopes only gets no claim of another one', async () => {
    const tool = await discover(host.auth, 'tool')
    const begun = await begin(tool, { redirect_uri: 'http://127.0.0.1:5001/cb', scope: 'openid', ...wants({ id_token: { email: null } }) })
    const page = await (await ada.get(String(begun.url))).text()
    expect([ticketOf(page) !== '', page.includes('See your email')]).toEqual([true, false])
    expect((await finish(tool, begun, await visit(ada, begun.url))).claims()).not.toHaveProperty('email')
  })

  it('a user without a second factor that is essential is refused, and one that is a wish is told', async () => {
    const two = 'urn:authkernel:acr:2fa'
    const essential = await begin(config, { scope: 'openid', ...wants({ id_token: { acr: { essential: true, values: [two] } } }) })
    const back = (await ada.get(String(essential.url))).headers.get('location')!
    const target = new URL(back, origin).searchParams.get('callbackUrl')!
    expect(errorAt(await visit(ada, target))).toBe('unmet_authentication_requirements')
    const wish = await begin(config, { scope: 'openid', ...wants({ id_token: { acr: { values: [two] } } }) })
    const way = new URL((await ada.get(String(wish.url))).headers.get('location')!, origin).searchParams.get('callbackUrl')!
    expect((await finish(config, wish, await visit(ada, way))).claims()?.['acr']).toBe('urn:authkernel:acr:1fa')
  })

  it.each(['x', '[]', '{"id_token":1}', `{"userinfo":{${Array.from({ length: 51 }, (_, at) => `"c${at}":null`).join()}}}`])(
    '%s is refused',
    async (claims) => {
      expect(errorAt(await visit(ada, (await begin(config, { claims })).url))).toBe('invalid_request')
    },
  )
})

describe('which user', () => {
  it('another user than id_token_hint and the claim sub name gets no code', async () => {
    const { id_token } = await signIn(config, ada)
    const eve = await host.browser('eve')
    const silent = async (browser: Client, params: Record<string, string>) =>
      errorAt(await visit(browser, (await begin(config, { prompt: 'none', ...params })).url))
    expect([await silent(ada, { id_token_hint: id_token! }), await silent(eve, { id_token_hint: id_token! })]).toEqual([
      null,
      'login_required',
    ])
    expect(await silent(ada, { id_token_hint: 'a.b.c' })).toBe('login_required')
    const sub = { claims: JSON.stringify({ id_token: { sub: { value: 'ada' } } }) }
    expect([await silent(ada, sub), await silent(eve, sub)]).toEqual([null, 'login_required'])
    expect((await eve.get(String((await begin(config, sub)).url))).headers.get('location')).toContain('/auth/signin?')
  })

  it('login_hint fills in the sign-in page, and ui_locales chooses its language and that of the question', async () => {
    const visitor = new Client(host.auth)
    const { url } = await begin(config, { login_hint: '"><b>@example.com', ui_locales: 'xx fr-CA de' })
    const way = (await visitor.get(String(url))).headers.get('location')!
    const page = await (await visitor.get(way)).text()
    expect([page.includes('lang="fr"'), page.includes('"><b>@')]).toEqual([true, false])
    const asked = await host.browser('eve')
    const question = await (await asked.get(String((await begin(config, { prompt: 'consent', ui_locales: 'de' })).url))).text()
    expect(question).toContain('zulassen?')
  })

  it('select_account leads to the accounts of the browser and back, once', async () => {
    const several = await world({}, {}, [multiSessionPlugin()])
    const own = await discover(several.auth)
    const browser = await several.browser()
    await signIn(own, browser)
    const begun = await begin(own, { prompt: 'select_account' })
    const chooser = (await browser.get(String(begun.url))).headers.get('location')!
    expect(chooser).toContain('/auth/switch?callbackUrl=')
    const page = await (await browser.get(chooser)).text()
    const callbackUrl = /name="callbackUrl" value="([^"]+)"/.exec(page)![1]!.replaceAll('&amp;', '&')
    const kept = await browser.post('/switch', { action: 'keep', callbackUrl })
    const back = kept.headers.get('location')!
    expect(back).toContain('/oauth2/authorize?')
    expect((await finish(own, begun, await visit(browser, back))).claims()?.sub).toBe('ada')
    // The ticket is of one request.
    const other = await begin(own, { prompt: 'select_account' })
    other.url.searchParams.set('account', new URL(back).searchParams.get('account')!)
    expect((await browser.get(String(other.url))).headers.get('location')).toContain('/auth/switch?')
    const added = await browser.post('/switch', { action: 'add', callbackUrl })
    expect(new URL(added.headers.get('location')!, origin).searchParams.get('callbackUrl')).toBe(callbackUrl)
  })
})
