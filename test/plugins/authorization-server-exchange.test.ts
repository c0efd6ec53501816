/** Token exchange (RFC 8693): chains of actors, policies, and that no exchange gives more than the token had or outlives what it rests on. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { verifyAccessToken } from 'authkernel/jwt'
import type { AuthorizationServerOptions, ExchangeMode, ExchangeQuestion } from 'authkernel/plugins/authorization-server'
import {
  api,
  clients,
  discover,
  issuer,
  origin,
  refusal,
  secret,
  signedApi,
  signIn,
  type Tokens,
  world,
  type World,
} from './_authorization-server.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'
const jwt = 'urn:ietf:params:oauth:token-type:jwt'
const later = 'https://later.example/'
const service = (client_id: string) => ({
  client_id,
  client_name: client_id,
  client_secret: secret,
  grant_types: ['client_credentials' as const, grantType as typeof grantType],
})
const resources: AuthorizationServerOptions['resources'] = [
  { resource: api, scopes: ['read', 'write'], introspectedBy: ['gateway', 'worker'] },
  { resource: signedApi, scopes: ['sign'], format: 'jwt', introspectedBy: ['gateway'] },
  { resource: later, scopes: ['read'], introspectedBy: ['stranger'] },
]

interface Exchanging extends World {
  exchange(fields: Record<string, string>, as?: string): Promise<openid.TokenEndpointResponse>
  introspect(token: string, as?: string): Promise<openid.IntrospectionResponse>
  tokens(params?: Record<string, string>): Promise<Tokens>
  config: openid.Configuration
  questions: ExchangeQuestion[]
}

async function start(answer: (question: ExchangeQuestion) => ExchangeMode | false | undefined = () => 'delegation'): Promise<Exchanging> {
  const host = await world({
    clients: [
      ...clients!,
      service('gateway'),
      service('worker'),
      service('stranger'),
      { client_id: 'guarded', client_name: 'Guarded', redirect_uris: ['https://guarded.example/cb'], may_act: { sub: 'worker' } },
    ],
    resources,
  })
  const questions: ExchangeQuestion[] = []
  host.auth.hook('tokenExchange', (question) => {
    questions.push(question)
    return answer(question)
  })
  const config = await discover(host.auth)
  const configs = new Map<string, openid.Configuration>()
  for (const id of ['gateway', 'worker', 'stranger']) configs.set(id, await discover(host.auth, id, openid.ClientSecretBasic(secret)))
  const ada = await host.browser()
  return {
    ...host,
    config,
    questions,
    exchange: (fields, as = 'gateway') =>
      openid.genericGrantRequest(configs.get(as)!, grantType, { subject_token_type: accessToken, ...fields }),
    introspect: (token, as = 'gateway') => openid.tokenIntrospection(configs.get(as)!, token),
    tokens: (params = {}) => signIn(config, ada, { scope: 'openid read write offline_access', resource: api, ...params }),
  }
}

describe('an exchange', () => {
  it('gives the recipient of a token one for itself, with the actor in it, and no more', async () => {
    const { exchange, introspect, tokens, questions } = await start()
    const given = await tokens()
    const made = await exchange({ subject_token: given.access_token, scope: 'read', resource: api })
    expect(made).toMatchObject({ issued_token_type: accessToken, token_type: 'bearer', scope: 'read' })
    expect(made.refresh_token).toBeUndefined()
    expect(made.expires_in).toBeLessThanOrEqual(600)
    expect(await introspect(made.access_token)).toMatchObject({
      active: true,
      sub: 'ada',
      client_id: 'gateway',
      aud: api,
      scope: 'read',
      act: { sub: 'gateway' },
    })
    expect(questions).toEqual([
      expect.objectContaining({
        client: 'gateway',
        subject: { userId: 'ada', clientId: 'partner', scopes: ['openid', 'read', 'write', 'offline_access'] },
        actor: { sub: 'gateway', userId: null, clientId: 'gateway' },
        wanted: 'impersonation',
        scopes: ['read'],
        audiences: [api],
      }),
    ])
  })

  it('makes a chain: the newest actor outside, the earlier ones inside', async () => {
    const { exchange, introspect, tokens, config, auth } = await start()
    const first = await exchange({ subject_token: (await tokens()).access_token })
    const own = await openid.clientCredentialsGrant(await discover(auth, 'worker', openid.ClientSecretBasic(secret)), { resource: api })
    const second = await exchange(
      { subject_token: first.access_token, actor_token: own.access_token, actor_token_type: accessToken },
      'worker',
    )
    expect((await introspect(second.access_token))['act']).toEqual({ sub: 'worker', act: { sub: 'gateway' } })
    const guard = await auth.authorizationServer.authorize(
      new Request(api, { headers: { authorization: `Bearer ${second.access_token}` } }),
      { resource: api, scopes: ['read'] },
    )
    expect(guard.caller).toMatchObject({ userId: 'ada', clientId: 'worker', actors: ['worker', 'gateway'] })
    expect(config.serverMetadata().grant_types_supported).toContain(grantType)
  })

  it('impersonation names no new actor, and hides no earlier one', async () => {
    let mode: ExchangeMode = 'impersonation'
    const { exchange, introspect, tokens } = await start(() => mode)
    const plain = await exchange({ subject_token: (await tokens()).access_token })
    expect(await introspect(plain.access_token)).not.toHaveProperty('act')
    mode = 'delegation'
    const acting = await exchange({ subject_token: (await tokens()).access_token })
    mode = 'impersonation'
    const again = await exchange({ subject_token: acting.access_token }, 'worker')
    expect((await introspect(again.access_token))['act']).toEqual({ sub: 'gateway' })
  })

  it('for a resource with JWTs gives one that the resource verifies itself', async () => {
    const { exchange, tokens, auth, runtime } = await start()
    const given = await tokens({ scope: 'openid sign', resource: signedApi })
    const made = await exchange({ subject_token: given.access_token, subject_token_type: jwt, requested_token_type: jwt })
    const claims = await verifyAccessToken(made.access_token, {
      issuer,
      audience: signedApi,
      algorithms: ['ES256'],
      jwks: await auth.jwt.jwks(new Request(origin)),
      now: runtime.now,
    })
    expect(claims).toMatchObject({ sub: 'ada', client_id: 'gateway', act: { sub: 'gateway' }, scope: 'sign' })
    const opaque = (await tokens()).access_token
    expect(await refusal(exchange({ subject_token: opaque, requested_token_type: jwt }))).toBe('invalid_request')
  })
})

describe('never more than the token', () => {
  it('no scope, audience or life that the token did not have', async () => {
    const { exchange, introspect, tokens, runtime } = await start()
    const given = await tokens({ scope: 'openid read offline_access' })
    const subject = { subject_token: given.access_token }
    expect(await refusal(exchange({ ...subject, scope: 'read write' }))).toBe('invalid_scope')
    expect(await refusal(exchange({ ...subject, scope: 'offline_access' }))).toBe('invalid_scope')
    expect(await refusal(exchange({ ...subject, resource: later }))).toBe('invalid_target')
    expect(await refusal(exchange({ ...subject, audience: issuer }))).toBe('invalid_target')
    expect(await refusal(exchange({ ...subject, audience: 'https://unknown.example' }))).toBe('invalid_target')
    runtime.advance(400_000)
    const made = await exchange(subject)
    expect(made.expires_in).toBeLessThanOrEqual(200)
    runtime.advance(201_000)
    expect(await introspect(made.access_token)).toEqual({ active: false })
    expect(await refusal(exchange(subject))).toBe('invalid_request')
  })

  it('no client that the token was not for, no public client, no stranger', async () => {
    const { exchange, tokens, post } = await start()
    const { access_token } = await tokens()
    expect(await refusal(exchange({ subject_token: access_token }, 'stranger'))).toBe('invalid_request')
    const fields = { grant_type: grantType, subject_token: access_token, subject_token_type: accessToken }
    for (const client_id of ['own', 'tool']) {
      const answer = await post('/oauth2/token', { ...fields, client_id })
      expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, 'unauthorized_client'])
    }
  })

  it('no actor token of another client, of a user who is banned, or that is no token', async () => {
    const { exchange, tokens, auth } = await start()
    const { access_token: subject_token } = await tokens()
    const strange = await openid.clientCredentialsGrant(await discover(auth, 'worker', openid.ClientSecretBasic(secret)), { resource: api })
    const as = (actor_token: string) => exchange({ subject_token, actor_token, actor_token_type: accessToken })
    expect(await refusal(as(strange.access_token))).toBe('invalid_request')
    expect(await refusal(as('at.x'))).toBe('invalid_request')
    expect(await refusal(exchange({ subject_token, actor_token_type: accessToken }))).toBe('invalid_request')
    expect(await refusal(exchange({ subject_token, actor_token: strange.access_token }))).toBe('invalid_request')
  })

  it('a token that names its actor (may_act) serves that one alone', async () => {
    const { exchange, introspect, browser, auth } = await start()
    const guarded = await discover(auth, 'guarded')
    const given = await signIn(guarded, await browser(), {
      redirect_uri: 'https://guarded.example/cb',
      scope: 'openid read',
      resource: api,
    })
    expect((await introspect(given.access_token))['may_act']).toEqual({ sub: 'worker' })
    expect(await refusal(exchange({ subject_token: given.access_token }, 'gateway'))).toBe('invalid_request')
    expect((await exchange({ subject_token: given.access_token }, 'worker')).access_token).toMatch(/^at\./)
  })

  it('without a policy, or with one that says no, nothing is exchanged and the server does not offer it', async () => {
    const refusing = await start(() => false)
    expect(await refusal(refusing.exchange({ subject_token: (await refusing.tokens()).access_token }))).toBe('access_denied')
    const silent = await start(() => undefined)
    expect(await refusal(silent.exchange({ subject_token: (await silent.tokens()).access_token }))).toBe('access_denied')
    const without = await world()
    expect((await discover(without.auth)).serverMetadata().grant_types_supported).not.toContain(grantType)
  })

  it('a token bound to a key gives a bound one only', async () => {
    const { exchange, introspect, config, browser, auth } = await start()
    const handle = async (of: openid.Configuration) => openid.getDPoPHandle(of, await openid.randomDPoPKeyPair('ES256'))
    const bound = await signInBound(config, await browser(), await handle(config))
    expect(await refusal(exchange({ subject_token: bound }))).toBe('invalid_request')
    const gateway = await discover(auth, 'gateway', openid.ClientSecretBasic(secret))
    const made = await openid.genericGrantRequest(
      gateway,
      grantType,
      { subject_token: bound, subject_token_type: accessToken },
      { DPoP: await handle(gateway) },
    )
    expect((await introspect(made.access_token))['cnf']).toEqual({ jkt: expect.any(String) })
  })

  it('a chain has eight actors at most', async () => {
    const { exchange, tokens } = await start()
    let { access_token: subject_token } = await tokens()
    for (let count = 0; count < 8; count++) subject_token = (await exchange({ subject_token })).access_token
    expect(await refusal(exchange({ subject_token }))).toBe('invalid_request')
  })
})

async function signInBound(
  config: openid.Configuration,
  browser: Awaited<ReturnType<World['browser']>>,
  DPoP: openid.DPoPHandle,
): Promise<string> {
  const { begin, visit } = await import('./_authorization-server.ts')
  const begun = await begin(config, { scope: 'openid read', resource: api })
  const tokens = await openid.authorizationCodeGrant(
    config,
    new URL(await visit(browser, begun.url)),
    { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce },
    undefined,
    { DPoP },
  )
  return tokens.access_token
}

describe('what ends with what', () => {
  it.each(['revocation', 'ban', 'disconnect', 'theft', 'deletion of the client'] as const)('%s of the subject', async (how) => {
    const { exchange, introspect, tokens, config, end, auth, runtime } = await start()
    const given = await tokens()
    const first = await exchange({ subject_token: given.access_token })
    const second = await exchange({ subject_token: first.access_token }, 'worker')
    expect((await introspect(second.access_token)).active).toBe(true)
    if (how === 'revocation') await openid.tokenRevocation(config, given.access_token)
    if (how === 'ban') await end('ada', 'ban')
    if (how === 'disconnect') await auth.authorizationServer.disconnect('ada', 'partner')
    if (how === 'deletion of the client') await auth.authorizationServer.clients.delete('partner')
    if (how === 'theft') {
      await openid.refreshTokenGrant(config, given.refresh_token!)
      runtime.advance(11_000)
      expect(await refusal(openid.refreshTokenGrant(config, given.refresh_token!))).toBe('invalid_grant')
    }
    for (const { access_token } of [first, second]) expect(await introspect(access_token)).toEqual({ active: false })
    expect(await refusal(exchange({ subject_token: given.access_token }))).toBe('invalid_request')
  })

  it('a token of the actor ends what it acts with', async () => {
    const { exchange, introspect, tokens, auth } = await start()
    const worker = await discover(auth, 'worker', openid.ClientSecretBasic(secret))
    const own = await openid.clientCredentialsGrant(worker, { resource: api })
    const made = await exchange(
      { subject_token: (await tokens()).access_token, actor_token: own.access_token, actor_token_type: accessToken },
      'worker',
    )
    await openid.tokenRevocation(worker, own.access_token)
    expect(await introspect(made.access_token)).toEqual({ active: false })
  })

  it('of exchanges and a revocation at the same moment no token is left', async () => {
    const { exchange, introspect, tokens, config } = await start()
    const given = await tokens()
    const [, ...made] = await Promise.all([
      openid.tokenRevocation(config, given.access_token),
      ...Array.from({ length: 12 }, () => exchange({ subject_token: given.access_token }).catch(() => undefined)),
    ])
    for (const one of made) if (one) expect(await introspect(one.access_token)).toEqual({ active: false })
  })
})
