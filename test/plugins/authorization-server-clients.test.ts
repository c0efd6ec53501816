/** Clients are administered: changed without lost changes, secrets with overlap, and a client that is disabled gets nothing from that moment. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import type { Plugin } from 'authkernel/kernel'
import { type AuditApi, auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import type { ClientMetadata, MadeClient } from 'authkernel/plugins/authorization-server'
import { serveDocuments } from './_client-documents.ts'
import {
  api,
  begin,
  clients,
  discover,
  finish,
  issuer,
  refusal,
  secret,
  signIn,
  ticketOf,
  visit,
  world,
  type World,
} from './_authorization-server.ts'

const redirect = 'https://shop.example/cb'
const ciba = 'urn:openid:params:grant-type:ciba'
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'
const shop: Partial<ClientMetadata> = {
  client_name: 'Shop',
  token_endpoint_auth_method: 'client_secret_post',
  redirect_uris: [redirect],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', ciba, exchange],
}
const params = { redirect_uri: redirect }

interface Shop extends World {
  made: MadeClient
  config: openid.Configuration
}
async function start(options: Parameters<typeof world>[0] = {}, plugins: readonly Plugin[] = [], metadata = shop): Promise<Shop> {
  const host = await world({ ciba: {}, ...options }, {}, plugins)
  const made = await host.auth.authorizationServer.clients.create(metadata)
  const config = await discover(host.auth, made.client_id, openid.ClientSecretPost(made.client_secret))
  return { ...host, made, config }
}
const store = (host: World) => host.auth.authorizationServer.clients
const isActive = async (config: openid.Configuration, token: string): Promise<boolean> =>
  (await openid.tokenIntrospection(config, token)).active

describe('a list', () => {
  it('has pages, finds by the beginning of a name or the whole id, and by source; it shows no secret', async () => {
    const host = await world()
    const made: string[] = []
    for (const client_name of ['Alpha', 'alpine', 'Beta', 'Émile']) {
      host.runtime.advance(1000)
      made.push((await store(host).create({ ...shop, client_name })).client_id)
    }
    const names = async (search: Parameters<ReturnType<typeof store>['list']>[0]) =>
      (await store(host).list(search)).items.map(({ name }) => name)
    const own = clients!.map(({ client_name }) => client_name)
    expect(await names({})).toEqual([...own, 'Émile', 'Beta', 'alpine', 'Alpha'])
    expect(await names({ source: 'host' })).toEqual(['Émile', 'Beta', 'alpine', 'Alpha'])
    expect(await names({ source: 'options' })).toEqual(own)
    expect(await names({ text: 'ALP' })).toEqual(['Alpha', 'alpine'])
    expect(await names({ text: 'émi' })).toEqual(['Émile'])
    expect(await names({ text: 'partner' })).toEqual(['Partner <Ltd>'])
    expect(await names({ text: made[2] })).toEqual(['Beta'])
    const first = await store(host).list({ source: 'host', limit: 3 })
    const second = await store(host).list({ source: 'host', limit: 3, cursor: first.cursor })
    expect([first.items.length, second.items.map(({ name }) => name), second.cursor]).toEqual([3, ['Alpha'], undefined])
    expect(JSON.stringify(await store(host).list())).not.toMatch(/[0-9a-f]{64}/)
    await expect(store(host).list({ limit: 0 })).rejects.toMatchObject({ status: 400 })
    await expect(store(host).list({ cursor: 'x' })).rejects.toMatchObject({ status: 400 })
    expect([await store(host).get('partner'), await store(host).get(made[0]!), await store(host).get('none')]).toMatchObject([
      { source: 'options', hasSecret: true },
      { source: 'host', name: 'Alpha', version: 1, disabled: null, used: null },
      null,
    ])
  })

  it('says when a client was last used, to the day, with one write', async () => {
    const host = await start()
    const used = async () => (await store(host).get(host.made.client_id))!.used
    await openid.clientCredentialsGrant(host.config, { resource: api })
    const first = await used()
    host.runtime.advance(3600_000)
    await openid.clientCredentialsGrant(host.config, { resource: api })
    expect([first, await used()]).toEqual([first, first])
    host.runtime.advance(86_400_000)
    await openid.clientCredentialsGrant(host.config, { resource: api })
    expect((await used())!.getTime() - first!.getTime()).toBe(90_000_000)
  })
})

describe('a change', () => {
  it('replaces members, removes by null, and refuses what no client may have', async () => {
    const host = await start()
    const { client_id: id } = host.made
    const changed = await store(host).update(id, {
      metadata: { client_name: 'Shop 2', scope: 'openid read', redirect_uris: [redirect, `${redirect}/2`] },
    })
    expect(changed).toMatchObject({ name: 'Shop 2', version: 2, metadata: { scope: 'openid read' } })
    expect(changed).not.toHaveProperty('client_secret')
    expect((await store(host).update(id, { metadata: { scope: null } }))!.metadata).not.toHaveProperty('scope')
    for (const metadata of [
      { redirect_uris: ['http://shop.example/cb'] },
      { client_name: '' },
      { subject_type: 'pairwise' as const },
      { client_name: null },
    ])
      await expect(store(host).update(id, { metadata })).rejects.toMatchObject({ status: 400 })
    expect(await store(host).update('none', { metadata: {} })).toBeNull()
    expect(await store(host).update('partner', { metadata: { client_name: 'X' } })).toBeNull()
  })

  it('of two at once is not lost: the second one is told', async () => {
    const host = await start()
    const { client_id: id, version } = host.made
    const both = await Promise.allSettled(['A', 'B'].map((client_name) => store(host).update(id, { metadata: { client_name }, version })))
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409 } })
  })

  it('of the method makes a secret, or drops it', async () => {
    const host = await start({}, [], { client_name: 'Open', redirect_uris: [redirect], token_endpoint_auth_method: 'none' })
    const { client_id: id } = host.made
    expect(host.made.client_secret).toBeUndefined()
    expect(await store(host).rotate(id)).toBeNull()
    const closed = await store(host).update(id, { metadata: { token_endpoint_auth_method: 'client_secret_post' } })
    expect(closed!.client_secret).toMatch(/^[\w-]{43}$/)
    const config = await discover(host.auth, id, openid.ClientSecretPost(closed!.client_secret))
    expect(await refusal(openid.refreshTokenGrant(config, 'rt.none'))).toBe('invalid_grant')
    await store(host).update(id, { metadata: { token_endpoint_auth_method: 'none' } })
    expect((await store(host).get(id))!.hasSecret).toBe(false)
    expect(await refusal(openid.refreshTokenGrant(config, 'rt.none'))).toBe('invalid_client')
  })
})

describe('a new secret', () => {
  it('counts beside the one before for the overlap, and a second one ends the first', async () => {
    const host = await start()
    const { client_id: id } = host.made
    const works = async (text: string | undefined) =>
      openid.clientCredentialsGrant(await discover(host.auth, id, openid.ClientSecretPost(text)), { resource: api }).then(
        () => true,
        () => false,
      )
    const second = await store(host).rotate(id, { overlap: 3600 })
    expect(second!.formerSecretUntil!.getTime()).toBe(host.runtime.now() + 3600_000)
    expect([await works(host.made.client_secret), await works(second!.client_secret)]).toEqual([true, true])
    host.runtime.advance(3600_000)
    expect([await works(host.made.client_secret), await works(second!.client_secret)]).toEqual([false, true])
    expect((await store(host).get(id))!.formerSecretUntil).toBeNull()
    const third = await store(host).rotate(id)
    const fourth = await store(host).rotate(id)
    expect([await works(second!.client_secret), await works(third!.client_secret), await works(fourth!.client_secret)]).toEqual([
      false,
      true,
      true,
    ])
    const fifth = await store(host).rotate(id, { overlap: 0 })
    expect([await works(fourth!.client_secret), await works(fifth!.client_secret)]).toEqual([false, true])
    for (const overlap of [-1, 2_592_001, 1.5]) await expect(store(host).rotate(id, { overlap })).rejects.toMatchObject({ status: 400 })
  })

  it('is one of two that come at once', async () => {
    const host = await start()
    const both = await Promise.allSettled([1, 2].map(() => store(host).rotate(host.made.client_id)))
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('of a client of the options stands before the old one', async () => {
    const next = 'n'.repeat(40)
    const [partner] = clients!
    const host = await world({ clients: [{ ...partner!, client_secret: [next, secret] }] })
    for (const text of [next, secret])
      expect(
        (await openid.clientCredentialsGrant(await discover(host.auth, 'partner', openid.ClientSecretBasic(text)), { resource: api }))
          .scope,
      ).toBe('read write')
    await expect(world({ clients: [{ ...partner!, client_secret: [next, 'short'] }] })).rejects.toThrow(/shorter than 32/)
    await expect(world({ clients: [{ ...partner!, client_secret: [] }] })).rejects.toThrow(/needs a `client_secret`/)
  })
})

describe('a client that is disabled', () => {
  it('gets nothing from that moment, by no endpoint, and enabled again it begins anew', async () => {
    const host = await start()
    const { config, made } = host
    host.auth.hook('tokenExchange', () => 'delegation')
    const ada = await host.browser()
    const tokens = await signIn(config, ada, params)
    const begun = await begin(config, params)
    const location = await visit(ada, begun.url)
    const asked = await openid.initiateBackchannelAuthentication(config, { scope: 'openid read', login_hint: 'ada@example.com' })
    const partner = await discover(host.auth)
    const apiToken = await openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: api })
    expect(await isActive(partner, apiToken.access_token)).toBe(true)
    const page = await (await ada.get(String((await begin(config, { ...params, scope: 'openid write' })).url))).text()

    expect(await store(host).disable(made.client_id, { reason: 'leaked' })).toBe(true)
    expect(await store(host).disable(made.client_id)).toBe(false)

    const refused: Record<string, () => Promise<unknown>> = {
      code: () => finish(config, begun, location),
      refresh: () => openid.refreshTokenGrant(config, apiToken.refresh_token!),
      'client credentials': () => openid.clientCredentialsGrant(config, { resource: api }),
      introspection: () => openid.tokenIntrospection(config, apiToken.access_token),
      revocation: () => openid.tokenRevocation(config, apiToken.access_token),
      PAR: () =>
        openid.buildAuthorizationUrlWithPAR(config, {
          ...params,
          scope: 'openid',
          code_challenge: 'c'.repeat(43),
          code_challenge_method: 'S256',
        }),
      CIBA: () => openid.initiateBackchannelAuthentication(config, { scope: 'openid', login_hint: 'ada@example.com' }),
      poll: () => openid.genericGrantRequest(config, ciba, { auth_req_id: asked.auth_req_id }),
      exchange: () =>
        openid.genericGrantRequest(config, exchange, { subject_token: apiToken.access_token, subject_token_type: accessToken }),
    }
    for (const [name, work] of Object.entries(refused)) expect(`${name}: ${await refusal(work())}`).toBe(`${name}: invalid_client`)
    // What others ask about its tokens, and what users see.
    expect(await isActive(partner, apiToken.access_token)).toBe(false)
    const userinfo = await host.auth.handler(
      new Request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
    )
    expect(userinfo.status).toBe(401)
    expect(await visit(ada, (await begin(config, params)).url)).toBe('400')
    const answered = await ada.post('/oauth2/consent', { ticket: ticketOf(page), decision: 'allow' })
    expect([answered.status, answered.headers.get('location') ?? '']).toEqual([400, ''])
    const account = await (await ada.get('/account')).text()
    expect(account).not.toContain('/oauth2/approve?request=')
    expect(host.posts).toEqual([])

    expect(await store(host).enable(made.client_id)).toBe(true)
    expect(await store(host).enable(made.client_id)).toBe(false)
    expect(await isActive(partner, apiToken.access_token)).toBe(false)
    expect(await refusal(openid.refreshTokenGrant(config, apiToken.refresh_token!))).toBe('invalid_grant')
    expect((await signIn(config, ada, params)).scope).toContain('openid')
  })

  it.each(['disabled', 'deleted'])('while a grant is written: a client that is %s at that moment gets none', async (how) => {
    let strike: (() => Promise<unknown>) | undefined
    // Asked after the client has proved itself, before the grant is written.
    const ending: Plugin = {
      name: 'ending',
      setup: (kernel) =>
        void kernel.hook('access', async () => {
          const now = strike
          strike = undefined
          await now?.()
          return true
        }),
    }
    const host = await start({}, [ending])
    const { config, made } = host
    const ada = await host.browser()
    const begun = await begin(config, params)
    const location = await visit(ada, begun.url)
    strike = () => (how === 'disabled' ? store(host).disable(made.client_id) : store(host).delete(made.client_id))
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    expect([...host.data.records!.get('oauthGrant')!.values()]).toEqual([])
  })

  it('by its metadata document is kept out by its address', async () => {
    const server = await serveDocuments((id) => ({ client_id: id, client_name: 'Agent', redirect_uris: ['https://agent.example/cb'] }))
    try {
      const host = await world({ clientDocuments: true }, {}, [server.publicFetch])
      const id = `${server.origin}/client.json`
      const config = await discover(host.auth, id)
      const ada = await host.browser()
      const to = { redirect_uri: 'https://agent.example/cb' }
      const tokens = await signIn(config, ada, to)
      const before = server.fetched.length
      expect(await store(host).disable(id, { reason: 'phishing' })).toBe(true)
      expect(await store(host).disable(id)).toBe(false)
      expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_client')
      expect(await visit(ada, (await begin(config, to)).url)).toBe('400')
      expect(server.fetched.length).toBe(before)
      expect((await store(host).list({ source: 'document' })).items).toMatchObject([{ client_id: id }])
      expect([
        await store(host).update(id, { metadata: { client_name: 'X' } }),
        await store(host).rotate(id),
        await store(host).delete(id),
      ]).toEqual([null, null, false])
      expect(await store(host).enable(id)).toBe(true)
      expect((await store(host).list({ source: 'document' })).items).toEqual([])
      expect((await signIn(config, ada, to)).access_token).toMatch(/^at\./)
    } finally {
      await server.close()
    }
  })

  it('which registered itself cannot change or delete itself', async () => {
    const host = await world({ registration: {} })
    const made = await host.auth.handler(
      new Request(`${issuer}/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Tool', redirect_uris: [redirect] }),
      }),
    )
    const { client_id: id, registration_access_token: token } = (await made.json()) as Record<string, string>
    const call = async (method: string, body?: object) =>
      (
        await host.auth.handler(
          new Request(`${issuer}/oauth2/register/${id}`, {
            method,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(body && { body: JSON.stringify(body) }),
          }),
        )
      ).status
    expect(await call('GET')).toBe(200)
    await store(host).disable(id!)
    expect([await call('GET'), await call('PUT', { client_id: id, redirect_uris: [redirect] }), await call('DELETE')]).toEqual([
      401, 401, 401,
    ])
    // An administrator may change what registered itself, by the rules of what registers itself.
    await expect(store(host).update(id!, { metadata: { grant_types: ['client_credentials'] } })).rejects.toMatchObject({ status: 400 })
    expect(await store(host).update(id!, { metadata: { client_name: 'Tool 2' } })).toMatchObject({ name: 'Tool 2', source: 'registration' })
  })
})

it('a client that changes itself loses no change: of thirty at the same moment each is written or refused', async () => {
  const host = await world({ registration: {} })
  const send = async (path: string, method: string, body: object, token = '') =>
    host.auth.handler(
      new Request(`${issuer}/oauth2/register${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
      }),
    )
  const made = await send('', 'POST', { client_name: 'Tool', redirect_uris: [redirect] })
  const { client_id: id, registration_access_token: token } = (await made.json()) as Record<string, string>
  const change = (name: string) => send(`/${id}`, 'PUT', { client_id: id, client_name: name, redirect_uris: [redirect] }, token)
  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => change(`Tool ${at}`)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
  const written = statuses.filter((status) => status === 200).length
  expect(written).toBeGreaterThan(0)
  expect((await store(host).get(id!))?.version).toBe(1 + written)
})

it('a deleted client leaves no consent and no connected app behind', async () => {
  const host = await start()
  await signIn(host.config, await host.browser(), params)
  expect(await host.auth.authorizationServer.connectedApps('ada')).toHaveLength(1)
  expect(await store(host).delete(host.made.client_id)).toBe(true)
  expect(await host.auth.authorizationServer.connectedApps('ada')).toEqual([])
  expect(await store(host).delete(host.made.client_id)).toBe(false)
})

it('each act is in the audit log, with what was changed and why, and no secret', async () => {
  const host = await start({}, [auditPlugin({ sink: recordsSink() })])
  const { client_id: id } = host.made
  await store(host).update(id, { metadata: { client_name: 'Other', redirect_uris: [`${redirect}/2`] } })
  const next = await store(host).rotate(id)
  await store(host).disable(id, { reason: 'leaked, ticket 7' })
  await store(host).enable(id)
  await store(host).delete(id, { reason: 'contract ended' })
  const { audit } = host.auth as unknown as AuditApi
  await audit.flush()
  const { records } = await audit.list({ limit: 100 })
  const told = records.filter(({ name }) => name.startsWith('client.')).toReversed()
  expect(told.map(({ name, actor, target }) => [name, actor.type, target?.['reason']])).toEqual([
    ['client.created', 'system', undefined],
    ['client.updated', 'system', undefined],
    ['client.rotated', 'system', undefined],
    ['client.disabled', 'system', 'leaked, ticket 7'],
    ['client.enabled', 'system', undefined],
    ['client.deleted', 'system', 'contract ended'],
  ])
  expect(told[1]!.target).toMatchObject({ client: id, title: 'Other', members: 'client_name redirect_uris' })
  for (const text of [host.made.client_secret!, next!.client_secret!]) expect(JSON.stringify(records)).not.toContain(text)
})
