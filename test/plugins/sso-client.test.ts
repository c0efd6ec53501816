/** `client.sso` and `client.portal`: what owners do from pages of the host, through the typed client over HTTP. */
import { createAuthClient } from 'authkernel/client'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type PortalApi, type PortalClient, portalPlugin } from 'authkernel/plugins/portal'
import type { SsoClient } from 'authkernel/plugins/sso'
import { afterEach, describe, expect, it } from 'vitest'
import { Client as Browser, type Handler } from '../_client.ts'
import { type Listener, listen } from './_signals.ts'
import { makeCertificate, movedRuntime, origin, ssoWorld } from './_sso.ts'

const tls = makeCertificate()
let server: Listener | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** `ada` owns Acme, `mia` is a member of it, `bob` owns Beta. */
async function made() {
  const runtime = movedRuntime()
  const store = memoryAdapter(memoryData())
  const world = await ssoWorld(store, { cert: tls.cert, runtime, plugins: [portalPlugin()] })
  for (const id of ['ada', 'mia', 'bob']) await store.createUser({ id, email: `${id}@${id}.example`, name: id, emailVerified: new Date(0) })
  const acme = await world.company('Acme', 'ada', ['acme.example'])
  const beta = await world.company('Beta', 'bob', ['beta.example'])
  await world.addMember(acme, 'mia')
  const { port } = (server = await listen((request) => world.auth.handler(request), origin))
  const overHttp: Handler = {
    handler: async (request) =>
      fetch(request.url.replace(origin, `http://127.0.0.1:${port}`), {
        method: request.method,
        headers: request.headers,
        redirect: 'manual',
        ...(request.method !== 'GET' && { body: await request.text() }),
      }),
  }
  const open = async (user?: string) => {
    const browser = new Browser(overHttp, { origin })
    const client = createAuthClient<{ readonly [K in keyof (SsoClient & PortalClient)]: (SsoClient & PortalClient)[K] }>({
      baseURL: origin,
      fetch: (url, { method = 'GET', headers, body }) =>
        browser.request(method, url, { headers: { origin, ...Object.fromEntries(new Headers(headers)) }, ...(body != null && { body }) }),
    })
    if (user !== undefined) await client.signIn('credentials', { user })
    return { client, browser }
  }
  return { ...world, runtime, acme, beta, open, overHttp, portal: (world.auth as unknown as PortalApi).portal }
}
const refusal = (status: number, error: string): unknown => expect.objectContaining({ name: 'AuthClientError', status, error })

describe('client.portal', () => {
  it('makes a link that opens the portal once, lists it without its token, and revokes it', async () => {
    const { open, acme, overHttp } = await made()
    const { client } = await open('ada')
    expect(await client.portal.listLinks({ organizationId: acme })).toEqual([])
    const link = await client.portal.makeLink({ organizationId: acme, email: 'it@acme.example', days: 3, scopes: ['domains', 'sso'] })
    expect(link).toMatchObject({ email: 'it@acme.example', scopes: ['domains', 'sso'], opened: null, expires: expect.any(String) })
    const { url, ...shown } = link
    const [listed, ...more] = await client.portal.listLinks({ organizationId: acme })
    expect([listed, more]).toEqual([shown, []])
    const visitor = new Browser(overHttp, { origin })
    await visitor.get(url)
    expect((await visitor.post('/portal/open', { csrfToken: await visitor.csrfToken() })).headers.get('location')).toBe(
      `${origin}/auth/portal`,
    )
    expect((await visitor.get('/portal')).status).toBe(200)
    expect((await client.portal.listLinks({ organizationId: acme }))[0]?.opened).toEqual(expect.any(String))
    expect(await client.portal.revokeLink({ organizationId: acme, id: link.id })).toBe(true)
    expect(await client.portal.revokeLink({ organizationId: acme, id: link.id })).toBe(false)
    expect((await visitor.get('/portal')).status).toBe(403)
  })

  it('refuses visitors, members without the right, owners of other organizations, and wrong fields', async () => {
    const { open, acme, beta, portal } = await made()
    const [visitor, mia, bob, ada] = [await open(), await open('mia'), await open('bob'), await open('ada')]
    const link = { organizationId: acme, email: 'it@acme.example' }
    const { id } = await ada.client.portal.makeLink(link)
    for (const { client } of [visitor, mia, bob]) {
      await expect(client.portal.makeLink(link)).rejects.toEqual(refusal(403, 'AccessDenied'))
      await expect(client.portal.listLinks({ organizationId: acme })).rejects.toEqual(refusal(403, 'AccessDenied'))
      await expect(client.portal.revokeLink({ organizationId: acme, id })).rejects.toEqual(refusal(403, 'AccessDenied'))
    }
    // The right to one organization is none to a link of another.
    expect(await bob.client.portal.revokeLink({ organizationId: beta, id })).toBe(false)
    expect(await portal.listLinks({ system: true }, acme)).toHaveLength(1)
    for (const wrong of [
      { email: 'nobody' },
      { days: 0 },
      { days: '3' },
      { days: 31 },
      { scopes: [] },
      { scopes: ['none'] },
      { scopes: 'sso' },
      { mail: 'yes' },
      { expires: 'never' },
      { createdBy: 'bob' },
    ])
      await expect(ada.client.portal.makeLink({ ...link, ...wrong } as never), JSON.stringify(wrong)).rejects.toEqual(
        refusal(400, 'PortalInput'),
      )
  })

  it('needs a fresh proof to make a link, and none to revoke one', async () => {
    const { open, acme, runtime } = await made()
    const { client } = await open('ada')
    const { id } = await client.portal.makeLink({ organizationId: acme, email: 'it@acme.example' })
    runtime.advance(16 * 60_000)
    await expect(client.portal.makeLink({ organizationId: acme, email: 'it@acme.example' })).rejects.toEqual(refusal(403, 'PortalStepUp'))
    expect(await client.portal.revokeLink({ organizationId: acme, id })).toBe(true)
  })

  it('takes no request of another site', async () => {
    const { open, acme, portal } = await made()
    const { browser } = await open('ada')
    const body = JSON.stringify({ organizationId: acme, email: 'eve@evil.example' })
    const headers = { 'content-type': 'application/json', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await browser.request('POST', '/portal/make-link', { body, headers })).status).toBe(403)
    expect(await portal.listLinks({ system: true }, acme)).toEqual([])
  })
})

describe('client.sso', () => {
  it('makes, changes, previews, checks and removes a connection, and sets and lifts a policy', async () => {
    const { open, acme } = await made()
    const { client } = await open('ada')
    const { id, hasSecret, ...made_ } = await client.sso.create({
      organizationId: acme,
      name: 'Acme ID',
      issuer: 'https://idp.example',
      clientId: 'app',
      clientSecret: 'words that are secret',
    })
    expect([hasSecret, JSON.stringify(made_)]).toEqual([true, expect.not.stringContaining('words that are secret')])
    expect(await client.sso.change({ id, roles: { groups: { admins: 'admin' } } })).toMatchObject({
      roles: { groups: { admins: 'admin' } },
    })
    expect(await client.sso.listConnections({ organizationId: acme })).toMatchObject([{ id, name: 'Acme ID' }])
    expect(await client.sso.preview({ id, claims: { sub: '1', email: 'a@acme.example', groups: ['admins'] } })).toMatchObject({
      id: '1',
      email: 'a@acme.example',
      role: 'admin',
    })
    expect(await client.sso.listSignIns({ id })).toEqual({ signIns: [] })
    expect((await client.sso.test({ id })).checks).toContainEqual({ name: 'domains', ok: true, detail: 'acme.example' })
    expect(await client.sso.getPolicy({ organizationId: acme })).toBeNull()
    // The session of the owner is none of the connection: without an exception it would end with this request.
    const report = await client.sso.demand({ organizationId: acme, domains: false, members: true, breakGlass: ['ada'] })
    expect(report).toMatchObject({ ended: 1, policy: { members: true, breakGlass: ['ada'], applied: true } })
    await expect(client.sso.remove({ id })).rejects.toEqual(refusal(400, 'SsoInput'))
    expect(await client.sso.release({ organizationId: acme })).toBe(true)
    await client.sso.remove({ id })
    expect(await client.sso.listConnections({ organizationId: acme })).toEqual([])
  })

  it('manages no connection of the host, and none of another organization', async () => {
    const { open, auth, acme } = await made()
    const [{ client: ada }, { client: bob }] = [await open('ada'), await open('bob')]
    const connection = { name: 'C', issuer: 'https://idp.example', clientId: 'app', clientSecret: 's' }
    const host = await auth.sso.create({ system: true }, null, { ...connection, domains: ['host.example'] })
    const own = await ada.sso.create({ organizationId: acme, ...connection })
    for (const id of [host.id, own.id]) {
      await expect(bob.sso.change({ id, enabled: false })).rejects.toEqual(refusal(404, 'NoSuchConnection'))
      await expect(bob.sso.remove({ id })).rejects.toEqual(refusal(404, 'NoSuchConnection'))
      await expect(bob.sso.listSignIns({ id })).rejects.toEqual(refusal(404, 'NoSuchConnection'))
    }
    for (const organizationId of ['', '*', acme, undefined as never])
      await expect(bob.sso.demand({ organizationId, domains: true, members: false })).rejects.toEqual(refusal(404, 'NoSuchConnection'))
  })
})
