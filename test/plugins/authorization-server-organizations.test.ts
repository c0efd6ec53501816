/** Clients of organizations: their administrators make them, tokens name the organization, members come in where the client says so, and all ends with it. */
import { createAuthClient } from 'authkernel/client'
import type { Kernel, Plugin } from 'authkernel/kernel'
import { mailPlugin } from 'authkernel/plugins/mail'
import type { AuthorizationServerClient, NewOrganizationClient } from 'authkernel/plugins/authorization-server'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { verifyAccessToken } from 'authkernel/jwt'
import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import {
  api,
  begin,
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
} from './_authorization-server.ts'

const redirect = 'https://shop.example/cb'
const shop = {
  client_name: 'Shop',
  token_endpoint_auth_method: 'client_secret_post' as const,
  redirect_uris: [redirect],
  scope: 'openid read sign offline_access',
}
const params = { redirect_uri: redirect, scope: 'openid read sign' }

async function start(options: Parameters<typeof world>[0] = {}, client: Partial<NewOrganizationClient> = {}) {
  let kernel: Kernel | undefined
  const probe: Plugin = { name: 'inside', setup: (given) => void (kernel = given) }
  const host = await world({ organizationClients: { scopes: ['read', 'sign'] }, ...options }, {}, [
    mailPlugin({ transport: { send: () => undefined } }),
    organizationsPlugin(),
    probe,
  ])
  const inside = async () => {
    const ctx = await kernel!.contextOf({ job: 'test' })
    return { ctx, service: ctx.service('organizations') }
  }
  for (const id of ['bob', 'max']) await host.store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const auth = host.auth as typeof host.auth & OrganizationsApi & AuthorizationServerClient
  const { id: organizationId } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme <b>' })
  const bob = { organizationId, userId: 'bob' }
  {
    const { ctx, service } = await inside()
    await service.addMember(ctx, bob)
  }
  const own = host.auth.authorizationServer.organizations.clients
  const made = await own.create(organizationId, { metadata: shop, ...client })
  const config = await discover(host.auth, made.client_id, openid.ClientSecretPost(made.client_secret))
  const active = async (token: string) => (await openid.tokenIntrospection(config, token)).active
  return { ...host, auth, inside, organizationId, bob, own, made, config, active }
}

describe('a client of an organization', () => {
  it('gives tokens that name the organization: opaque, JWT, ID token, userinfo, and what a resource sees', async () => {
    const { auth, browser, config, made, organizationId } = await start()
    const tokens = await signIn(config, await browser('bob'), { ...params, resource: api })
    expect(tokens.claims()).toMatchObject({ org_id: organizationId, sub: 'bob', aud: made.client_id })
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true, org_id: organizationId })
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const { caller } = await auth.authorizationServer.authorize(new Request(api, { headers }), { resource: api, scopes: ['read'] })
    expect(caller).toMatchObject({ organizationId, userId: 'bob' })
    const signed = await signIn(config, await browser('bob'), { ...params, resource: signedApi })
    expect(decodeJwt(signed.access_token)).toMatchObject({ org_id: organizationId, scope: 'openid sign' })
    const whole = await signIn(config, await browser('bob'), { ...params, scope: 'openid' })
    expect(await openid.fetchUserInfo(config, whole.access_token, 'bob')).toMatchObject({ org_id: organizationId })
  })

  it('shows its organization, and that this site has not checked it', async () => {
    const { browser, config } = await start()
    const page = await (await (await browser('bob')).get(String((await begin(config, params)).url))).text()
    expect(page).toContain('Acme &lt;b&gt;')
    expect(page).toContain('not verified')
  })

  it('is for members alone where it says so: another user is led back with access_denied, also with prompt=none', async () => {
    const { browser, config, own, made, organizationId } = await start()
    const to = new URL(await visit(await browser('eve'), (await begin(config, params)).url))
    expect(to.origin).toBe('https://shop.example')
    expect(to.searchParams.get('error')).toBe('access_denied')
    const silent = new URL(await visit(await browser('eve'), (await begin(config, { ...params, prompt: 'none' })).url))
    expect(silent.searchParams.get('error')).toBe('access_denied')
    await own.update(organizationId, made.client_id, { metadata: {}, membersOnly: false })
    const tokens = await signIn(config, await browser('eve'), params)
    expect(tokens.claims()).toMatchObject({ sub: 'eve', org_id: organizationId })
  })

  it('ends what a member has when the membership ends or is suspended, and a code or a page that was open gives nothing', async () => {
    for (const end of ['removeMember', 'suspendMember'] as const) {
      const { browser, config, inside, bob, active } = await start()
      const [window, late] = [await browser('bob'), await browser('bob')]
      const tokens = await signIn(config, window, { ...params, scope: 'openid read offline_access' })
      const begun = await begin(config, { ...params, prompt: 'consent' })
      const location = await visit(window, begun.url)
      const other = await begin(config, { ...params, prompt: 'consent' })
      const ticket = ticketOf(await (await late.get(String(other.url))).text())
      const { ctx, service } = await inside()
      await service[end](ctx, bob)
      expect(await active(tokens.access_token)).toBe(false)
      expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
      expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
      const answer = await late.post('/oauth2/consent', { ticket, decision: 'allow' })
      expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe('access_denied')
    }
  })

  it('keeps no grant of a user who is removed while the code is redeemed', async () => {
    const { browser, config, inside, bob, store } = await start()
    const begun = await begin(config, params)
    const location = await visit(await browser('bob'), begun.url)
    const getUser = store.getUser!.bind(store)
    let count = 0
    // The first look at the owner, after the code was read and before the grant is written.
    store.getUser = async (id: string) => {
      if (id === 'bob' && count++ === 0) {
        const { ctx, service } = await inside()
        await service.removeMember(ctx, bob)
      }
      return getUser(id)
    }
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    const { ctx } = await inside()
    expect(await ctx.records('oauthGrant').count({ userId: 'bob' })).toBe(0)
  })

  it('ends the grants of others when it becomes one for members', async () => {
    const { browser, config, own, made, organizationId, active } = await start({}, { membersOnly: false })
    const [eve, bob] = [await signIn(config, await browser('eve'), params), await signIn(config, await browser('bob'), params)]
    await own.update(organizationId, made.client_id, { metadata: {}, membersOnly: true })
    expect([await active(eve.access_token), await active(bob.access_token)]).toEqual([false, true])
  })

  it('ends with the organization: client, tokens and consents', async () => {
    const { auth, browser, config, own, made, organizationId } = await start()
    const tokens = await signIn(config, await browser('bob'), { ...params, resource: signedApi })
    const keys = { jwks: await auth.jwt.jwks(new Request(issuer)), audience: signedApi, issuer, algorithms: ['ES256'] as const }
    const checks = {
      ...keys,
      endedGrants: `${issuer}/oauth2/ended-grants`,
      fetch: ((url: string) => auth.handler(new Request(url))) as typeof fetch,
    }
    expect(await verifyAccessToken(tokens.access_token, checks)).toMatchObject({ org_id: organizationId })
    await auth.organizations.delete({ userId: 'ada' }, organizationId)
    expect(await own.list(organizationId)).toEqual([])
    expect(await refusal(openid.tokenIntrospection(config, tokens.access_token))).toBe('invalid_client')
    expect((await auth.authorizationServer.connectedApps('bob')).length).toBe(0)
    expect(await auth.authorizationServer.clients.get(made.client_id)).toBeNull()
    const later = { ...checks, fetch: ((url: string) => auth.handler(new Request(url))) as typeof fetch }
    await expect(verifyAccessToken(tokens.access_token, later)).rejects.toThrow('has ended')
  })

  it('works no more once its organization is gone, also where its rows could not be deleted', async () => {
    const { config, inside, organizationId, browser } = await start()
    const { url } = await begin(config, params)
    const { ctx } = await inside()
    await ctx.records('organization').delete(organizationId)
    const page = await (await browser('bob')).get(String(url))
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(await refusal(openid.refreshTokenGrant(config, 'rt'))).toBe('invalid_client')
  })
})

describe('limits of such clients', () => {
  it('have no more than the option gives, and less where it changes', async () => {
    const { own, organizationId, auth, made } = await start()
    const create = (metadata: object) => own.create(organizationId, { metadata: { ...shop, ...metadata } })
    for (const wrong of [
      { scope: 'write' },
      { grant_types: ['client_credentials'] },
      { grant_types: ['urn:openid:params:grant-type:ciba'] },
      { backchannel_logout_uri: 'https://shop.example/out' },
      { frontchannel_logout_uri: 'https://shop.example/out' },
      { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_san_dns: 'shop.example' },
      { client_name: '' },
      { client_name: undefined },
      { redirect_uris: ['http://shop.example/cb'] },
      { jwks_uri: 'http://127.0.0.1/keys' },
    ])
      await expect(create(wrong), JSON.stringify(wrong)).rejects.toMatchObject({ status: 400 })
    await expect(own.create('unknown', { metadata: shop })).rejects.toMatchObject({ status: 404 })
    // An administrator of the app makes no more of it either.
    await expect(auth.authorizationServer.clients.update(made.client_id, { metadata: { scope: 'write' } })).rejects.toMatchObject({
      status: 400,
    })
  })

  it('of the number: of many that are made at the same moment no more than the limit stay', async () => {
    const { own, organizationId } = await start({ organizationClients: { max: 3 } }, { metadata: { ...shop, scope: 'openid' } })
    const metadata = { client_name: 'More', redirect_uris: [redirect] }
    await Promise.allSettled(Array.from({ length: 8 }, () => own.create(organizationId, { metadata })))
    expect((await own.list(organizationId)).length).toBeLessThanOrEqual(3)
    await expect(Promise.all([1, 2, 3].map(() => own.create(organizationId, { metadata })))).rejects.toMatchObject({ status: 409 })
  })

  it('client credentials only where the option says so: the token names the organization and no user', async () => {
    const metadata = { ...shop, grant_types: ['authorization_code' as const, 'client_credentials' as const] }
    const { config, organizationId, auth } = await start(
      { organizationClients: { scopes: ['read', 'sign'], clientCredentials: true } },
      { metadata },
    )
    const { access_token } = await openid.clientCredentialsGrant(config, { resource: api })
    const headers = { authorization: `Bearer ${access_token}` }
    const { caller } = await auth.authorizationServer.authorize(new Request(api, { headers }), { resource: api, scopes: ['read'] })
    expect(caller).toMatchObject({ organizationId, userId: null })
  })

  it('need organizationsPlugin and options of the right shape', async () => {
    await expect(world({ organizationClients: {} })).rejects.toThrow('organizations')
    await expect(start({ organizationClients: { scopes: ['unknown'] } })).rejects.toThrow('`organizationClients`: `scopes`')
    await expect(start({ organizationClients: { max: 0 } })).rejects.toThrow('`max`')
  })
})

describe('administrators of an organization', () => {
  async function client(host: Awaited<ReturnType<typeof start>>, user: string) {
    const browser = await host.browser(user)
    const sender = ((url: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers)
      headers.set('cookie', browser.cookieHeader())
      headers.set('origin', origin)
      return host.auth.handler(new Request(url, { ...init, headers }))
    }) as typeof fetch
    return createAuthClient<typeof host.auth>({ baseURL: origin, fetch: sender }).organizationClients
  }

  it('make, change, rotate and delete clients by the typed client; members, other users and visitors do not', async () => {
    const host = await start()
    const { organizationId } = host
    const ada = await client(host, 'ada')
    // The list is in the order of time.
    host.runtime.advance(1)
    const made = await ada.create({ organizationId, metadata: { ...shop, client_name: 'Second' } })
    expect(made).toMatchObject({ name: 'Second', source: 'organization', organizationId, membersOnly: true, hasSecret: true })
    expect(made.client_secret).toMatch(/^[\w-]{43}$/)
    const { client_id: clientId } = made
    expect((await ada.list({ organizationId })).map(({ name }) => name)).toEqual(['Shop', 'Second'])
    expect(JSON.stringify(await ada.list({ organizationId }))).not.toContain(made.client_secret)
    const changed = await ada.update({
      organizationId,
      clientId,
      metadata: { client_name: 'Third' },
      membersOnly: false,
      version: made.version,
    })
    expect(changed).toMatchObject({ name: 'Third', membersOnly: false })
    await expect(ada.update({ organizationId, clientId, metadata: {}, version: made.version })).rejects.toMatchObject({ status: 409 })
    expect((await ada.rotate({ organizationId, clientId })).client_secret).not.toBe(made.client_secret)
    for (const user of ['bob', 'eve']) {
      const other = await client(host, user)
      await expect(other.list({ organizationId })).rejects.toMatchObject({ status: 403 })
      await expect(other.create({ organizationId, metadata: shop })).rejects.toMatchObject({ status: 403 })
      await expect(other.rotate({ organizationId, clientId })).rejects.toMatchObject({ status: 403 })
      await expect(other.delete({ organizationId, clientId })).rejects.toMatchObject({ status: 403 })
    }
    expect(await ada.delete({ organizationId, clientId })).toBe(true)
    await expect(ada.delete({ organizationId, clientId })).rejects.toMatchObject({ status: 404 })
  })

  it('manage those of their own organization alone, and none of the host', async () => {
    const host = await start()
    const { id: second } = await host.auth.organizations.create({ userId: 'eve' }, { name: 'Other' })
    const eve = await client(host, 'eve')
    const stored = await host.auth.authorizationServer.clients.create({ client_name: 'Host', redirect_uris: [redirect] })
    for (const clientId of [host.made.client_id, stored.client_id, 'partner']) {
      await expect(eve.rotate({ organizationId: second, clientId })).rejects.toMatchObject({ status: 404 })
      await expect(eve.update({ organizationId: second, clientId, metadata: { client_name: 'Mine' } })).rejects.toMatchObject({
        status: 404,
      })
      await expect(eve.delete({ organizationId: second, clientId })).rejects.toMatchObject({ status: 404 })
    }
  })

  it('prove themselves again first', async () => {
    const host = await start()
    const ada = await client(host, 'ada')
    host.runtime.advance(301_000)
    await expect(ada.create({ organizationId: host.organizationId, metadata: shop })).rejects.toMatchObject({
      status: 403,
      error: 'StepUpRequired',
    })
    expect((await ada.list({ organizationId: host.organizationId })).length).toBe(1)
  })

  it('cannot bring back a client that an administrator of the app disabled', async () => {
    const host = await start()
    const { organizationId, made, config, browser } = host
    const tokens = await signIn(config, await browser('bob'), params)
    await host.auth.authorizationServer.clients.disable(made.client_id)
    expect(await refusal(openid.tokenIntrospection(config, tokens.access_token))).toBe('invalid_client')
    const ada = await client(host, 'ada')
    await expect(ada.update({ organizationId, clientId: made.client_id, metadata: { client_name: 'Back' } })).rejects.toMatchObject({
      status: 403,
    })
    await expect(ada.rotate({ organizationId, clientId: made.client_id })).rejects.toMatchObject({ status: 403 })
  })

  it('have a page: a form, the secret once, edit, new secret, delete; members are refused', async () => {
    const { browser, organizationId, own } = await start()
    const [ada, bob] = [await browser('ada'), await browser('bob')]
    const path = `/organizations/apps?organization=${organizationId}`
    const page = await (await ada.get(path)).text()
    expect(page).toContain('Shop')
    expect((await bob.get(path)).status).toBe(403)
    const form = {
      organization: organizationId,
      action: 'create',
      client_name: 'By page',
      redirect_uris: redirect,
      kind: 'client_secret_basic',
      members: 'yes',
    }
    const made = await (await ada.post('/organizations/apps', form)).text()
    const secret = /[\w-]{43}/.exec(made.slice(made.indexOf('Client secret')))?.[0]
    expect(secret).toBeDefined()
    expect(await (await ada.get(path)).text()).not.toContain(secret)
    const client = (await own.list(organizationId)).find(({ name }) => name === 'By page')!
    expect(client).toMatchObject({ membersOnly: true, metadata: { scope: 'openid profile email offline_access' } })
    const wrong = await ada.post('/organizations/apps', { ...form, redirect_uris: 'http://evil.example/cb', client_name: 'Kept name' })
    expect(wrong.status).toBe(400)
    expect(await wrong.text()).toContain('Kept name')
    const edit = { ...form, action: 'update', client: client.client_id, version: String(client.version), client_name: 'Renamed' }
    expect((await ada.post('/organizations/apps', edit)).status).toBe(302)
    expect(await (await ada.get(path)).text()).toContain('Renamed')
    const remove = { organization: organizationId, action: 'delete', client: client.client_id }
    expect((await bob.post('/organizations/apps', remove)).status).toBe(403)
    expect((await ada.post('/organizations/apps', remove)).status).toBe(302)
    expect((await own.list(organizationId)).length).toBe(1)
    expect(await (await ada.get(`/organizations/members?organization=${organizationId}`)).text()).toContain('/organizations/apps')
    expect(await (await bob.get(`/organizations/members?organization=${organizationId}`)).text()).not.toContain('/organizations/apps')
  })
})
