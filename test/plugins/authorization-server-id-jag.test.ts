/** Identity Assertion JWT Authorization Grant, both sides: an identity provider with this plugin, a server of a resource with this plugin, and attackers between them. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { begin, discover, finish, issuer as idp, redirect, secret, signIn, visit, world, type World } from './_authorization-server.ts'

const chat = 'https://chat.example/mcp'
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const jag = 'urn:ietf:params:oauth:token-type:id-jag'
const there = 'https://chat.example/auth'
const basic = (id: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` })
const forged = await generateKeyPair('ES256', { extractable: true })

/** The identity provider: `partner` signs users in here, and is `client-at-chat` at the other server. */
const startIdp = (allow?: () => boolean) =>
  world({
    clients: [
      {
        client_id: 'partner',
        client_name: 'Partner',
        client_secret: secret,
        redirect_uris: [redirect],
        grant_types: ['authorization_code', exchange],
      },
      {
        client_id: 'other',
        client_name: 'Other',
        client_secret: secret,
        redirect_uris: [redirect],
        grant_types: ['authorization_code', exchange],
      },
    ],
    identityAssertions: { issueTo: [{ issuer: there, clients: { partner: 'client-at-chat' }, ...(allow && { allow }) }] },
  })

/** The server of the resource. Its users sign in by the identity provider, as provider `corp`. */
async function startChat(jwks: { keys: Record<string, unknown>[] }) {
  const host = await world(
    {
      clients: [
        { client_id: 'client-at-chat', client_name: 'Partner', client_secret: secret, grant_types: [bearer] },
        { client_id: 'second', client_name: 'Second', client_secret: secret, grant_types: [bearer] },
        { client_id: 'codes', client_name: 'Codes', client_secret: secret, redirect_uris: [redirect] },
      ],
      organizationConsent: { scopes: ['chat.write'] },
      resources: [
        { resource: chat, name: 'Chat', scopes: ['chat.read', 'chat.write'] },
        { resource: 'https://chat.example/files', scopes: ['files.read'] },
      ],
      identityAssertions: { trust: [{ issuer: idp, jwks, provider: 'corp' }] },
    },
    { origin: 'https://chat.example' },
  )
  await host.store.linkAccount!(
    { userId: 'eve', type: 'oidc', provider: 'corp', providerAccountId: 'ada' } as never /* the rest is tokens */,
  )
  const redeem = async (assertion: string, fields: Record<string, string> = {}, client = 'client-at-chat') => {
    const body = new URLSearchParams({ grant_type: bearer, assertion, ...fields })
    const answer = await host.auth.handler(new Request(`${there}/oauth2/token`, { method: 'POST', body, headers: basic(client) }))
    return {
      status: answer.status,
      ...((await answer.json()) as { access_token?: string; error?: string; scope?: string; refresh_token?: string }),
    }
  }
  const call = async (token: string, scopes: string[] = ['chat.read']) =>
    host.auth.authorizationServer.authorize(new Request(chat, { headers: { authorization: `Bearer ${token}` } }), {
      resource: chat,
      scopes,
    })
  return { host, redeem, call }
}

const keysOf = async ({ auth }: World) =>
  (await (await auth.handler(new Request('http://localhost:3000/.well-known/jwks.json'))).json()) as { keys: Record<string, unknown>[] }

async function assert(host: World, idToken: string, fields: Record<string, string> = {}, client = 'partner') {
  const answer = await host.post(
    '/oauth2/token',
    {
      grant_type: exchange,
      requested_token_type: jag,
      subject_token: idToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      audience: there,
      resource: chat,
      scope: 'chat.read',
      ...fields,
    },
    basic(client),
  )
  return {
    status: answer.status,
    ...((await answer.json()) as { access_token: string; error?: string; token_type?: string; issued_token_type?: string }),
  }
}

let provider: World
let idToken: string
let chatServer: Awaited<ReturnType<typeof startChat>>
beforeAll(async () => {
  provider = await startIdp()
  idToken = (await signIn(await discover(provider.auth), await provider.browser(), { scope: 'openid' })).id_token!
  chatServer = await startChat(await keysOf(provider))
})

describe('an identity assertion', () => {
  it('of one server gives an access token of the other, for its own user, without a browser', async () => {
    const made = await assert(provider, idToken)
    expect(made).toMatchObject({ status: 200, token_type: 'N_A', issued_token_type: jag })
    const [head, body] = made.access_token.split('.').map((part) => (part ? Buffer.from(part, 'base64url').toString() : ''))
    expect(JSON.parse(head!)).toMatchObject({ typ: 'oauth-id-jag+jwt' })
    expect(JSON.parse(body!)).toMatchObject({
      iss: idp,
      sub: 'ada',
      aud: there,
      client_id: 'client-at-chat',
      scope: 'chat.read',
      resource: chat,
    })
    const tokens = await chatServer.redeem(made.access_token)
    expect([tokens.status, tokens.scope, tokens.refresh_token]).toEqual([200, 'chat.read', undefined])
    expect((await chatServer.call(tokens.access_token!)).caller).toMatchObject({
      userId: 'eve',
      clientId: 'client-at-chat',
      scopes: ['chat.read'],
    })
    expect((await chatServer.call(tokens.access_token!, ['chat.write'])).response?.status).toBe(403)
    const metadata = async (host: World, at: string) =>
      (await (await host.auth.handler(new Request(`${at}/.well-known/openid-configuration`))).json()) as Record<string, unknown>
    expect((await metadata(provider, idp))['identity_chaining_requested_token_types_supported']).toEqual([jag])
    expect(await metadata(chatServer.host, there)).toMatchObject({
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
      grant_types_supported: expect.arrayContaining([bearer]),
    })
  })

  it('gives no scope that only an administrator of an organization can allow', async () => {
    const { access_token: text } = await assert(provider, idToken, { scope: 'chat.read chat.write' })
    expect(await chatServer.redeem(text)).toMatchObject({ status: 200, scope: 'chat.read' })
  })

  it('gives one token, also when thirty requests bring it at once', async () => {
    const { access_token: text } = await assert(provider, idToken)
    const answers = await Promise.all(Array.from({ length: 30 }, () => chatServer.redeem(text)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ error }) => error))).toEqual(new Set(['invalid_grant']))
  })

  it('is for its client, its resource and its scopes', async () => {
    const fresh = async () => (await assert(provider, idToken)).access_token
    expect(await chatServer.redeem(await fresh(), {}, 'second')).toMatchObject({ error: 'invalid_grant' })
    expect(await chatServer.redeem(await fresh(), {}, 'codes')).toMatchObject({ error: 'unauthorized_client' })
    expect(await chatServer.redeem(await fresh(), { resource: 'https://chat.example/files' })).toMatchObject({ error: 'invalid_target' })
    expect(await chatServer.redeem(await fresh(), { scope: 'chat.write' })).toMatchObject({ error: 'invalid_scope' })
    expect(await chatServer.redeem('')).toMatchObject({ error: 'invalid_request' })
  })

  it.each([
    ['another key', {}, {}, forged.privateKey],
    ['another type', { typ: 'JWT' }, {}, undefined],
    ['another audience', {}, { aud: 'https://other.example' }, undefined],
    ['two audiences', {}, { aud: [there, 'https://other.example'] }, undefined],
    ['an unknown issuer', {}, { iss: 'https://evil.example' }, undefined],
    ['another client', {}, { client_id: 'second' }, undefined],
    ['no client', {}, { client_id: undefined }, undefined],
    ['a user without an account here', {}, { sub: 'stranger' }, undefined],
    ['a life of an hour', {}, { life: 3600 }, undefined],
    ['a time that is over', {}, { life: -60 }, undefined],
    ['no id', {}, { jti: undefined }, undefined],
    ['a key that the request does not prove', {}, { cnf: { jkt: 'x'.repeat(43) } }, undefined],
  ])('with %s is refused', async (_name, head, change, key) => {
    const own = await generateKeyPair('ES256', { extractable: true })
    const { redeem, host } = await startChat({ keys: [{ ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'ES256' }] })
    const now = Math.floor(host.runtime.now() / 1000)
    const { life = 60, ...claims } = change as { life?: number }
    const body = {
      iss: idp,
      aud: there,
      sub: 'ada',
      client_id: 'client-at-chat',
      jti: 'j',
      iat: now,
      exp: now + life,
      scope: 'chat.read',
      ...claims,
    }
    const sign = (claimsOf: object, signer = own.privateKey) =>
      new SignJWT({ ...claimsOf }).setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'oauth-id-jag+jwt', ...head }).sign(key ?? signer)
    expect(await redeem(await sign(body))).toMatchObject({ status: 400, error: 'invalid_grant' })
    expect(host.log.errors).toEqual([])
  })

  it('does not outlive access there: ban, sign-out everywhere, and a refusal', async () => {
    const { redeem, call, host } = await startChat(await keysOf(provider))
    const fresh = async () => (await assert(provider, idToken)).access_token
    const { access_token: token } = await redeem(await fresh())
    await host.end('eve', 'signOutEverywhere')
    expect((await call(token!)).response?.status).toBe(401)
    const refused = await startChat(await keysOf(provider))
    refused.host.auth.hook('access', ({ userId }) => userId !== 'eve')
    expect(await refused.redeem(await fresh())).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('the identity provider', () => {
  it('gives assertions for servers, clients and users of its policy, and for live ID tokens of the client', async () => {
    expect(await assert(provider, idToken, { audience: 'https://other.example' })).toMatchObject({ error: 'invalid_target' })
    expect(await assert(provider, idToken, {}, 'other')).toMatchObject({ error: 'invalid_target' })
    expect(await assert(provider, `${idToken}x`)).toMatchObject({ error: 'invalid_grant' })
    expect(await assert(provider, idToken, { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' })).toMatchObject({
      error: 'invalid_request',
    })
    expect(await assert(provider, (await assert(provider, idToken)).access_token)).toMatchObject({ error: 'invalid_grant' })
    const strict = await startIdp(() => false)
    const token = (await signIn(await discover(strict.auth), await strict.browser(), { scope: 'openid' })).id_token!
    expect(await assert(strict, token)).toMatchObject({ error: 'access_denied' })
  })

  it.each(['ban', 'signOutEverywhere', 'passwordReset'] as const)(
    'gives none after %s, and none after the sign-out of the browser',
    async (reason) => {
      const host = await startIdp()
      const config = await discover(host.auth)
      const browser = await host.browser()
      const begun = await begin(config, { scope: 'openid' })
      const token = (await finish(config, begun, await visit(browser, begun.url))).id_token!
      expect((await assert(host, token)).status).toBe(200)
      if (reason === 'ban') await browser.post('/signout')
      else await host.end('ada', reason)
      expect(await assert(host, token)).toMatchObject({ status: 400, error: 'invalid_grant' })
    },
  )

  it('gives none for an ID token that is over', async () => {
    const host = await startIdp()
    const token = (await signIn(await discover(host.auth), await host.browser(), { scope: 'openid' })).id_token!
    host.runtime.advance(601_000)
    expect(await assert(host, token)).toMatchObject({ error: 'invalid_grant' })
  })
})

it.each([
  [{ issueTo: [{ issuer: 'x', clients: {} }] }, 'is no issuer'],
  [{ trust: [{ issuer: 'https://a.example', provider: 'corp' }] }, 'needs `jwks` or `jwks_uri`'],
  [{ trust: [{ issuer: 'https://a.example', jwks_uri: 'http://a.example/keys', provider: 'corp' }] }, 'must be https'],
  [{ trust: [{ issuer: 'https://a.example', jwks: { keys: [] }, provider: '' }] }, 'needs `provider`'],
])('the option %j is refused', async (identityAssertions, text) => {
  await expect(world({ identityAssertions: identityAssertions as never /* wrong on purpose */ })).rejects.toThrow(text)
})
