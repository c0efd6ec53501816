/** Administrators and clients of the authorization server, and agents: rights, reasons, fresh proofs, the pages, and the audit log. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin, type By } from 'authkernel/plugins/admin'
import { agentsPlugin } from 'authkernel/plugins/agents'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

const reason = 'ticket 7'
const shop = {
  client_name: 'Shop <b>',
  redirect_uris: ['https://shop.example/cb'],
  grant_types: ['client_credentials' as const, 'authorization_code' as const],
}
const api = 'https://api.example/'

async function world(withServer = true) {
  const adapter = memoryAdapter(memoryData())
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy: 'database' },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const start = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(jwtPlugin())
    .use(auditPlugin({ sink: recordsSink() }))
    .use(adminPlugin({ roles: true, administrators: ['root'], pages: true }))
  const auth = start.use(agentsPlugin({ scopes: ['read'] })).use(
    authorizationServerPlugin({
      clients: [{ ...shop, client_id: 'fixed', client_name: 'Fixed', client_secret: 's'.repeat(40) }],
      resources: [{ resource: api, scopes: ['read'] }],
    }),
  )
  if (!withServer) for (const name of ['authorization-server', 'agents']) auth.remove(name)
  await auth.ready()
  for (const id of ['root', 'help', 'read', 'ada'])
    await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const root: By = { userId: 'root' }
  const as = (userId: string): By => ({ userId })
  for (const [id, role] of [
    ['help', 'support'],
    ['read', 'reader'],
  ] as const)
    await auth.admin.setRole(root, id, { role, reason })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const authenticate = async (id: string, secret: string) =>
    (
      await auth.handler(
        new Request('http://localhost:3000/auth/oauth2/token', {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
          body: new URLSearchParams({ grant_type: 'client_credentials', resource: api }),
        }),
      )
    ).status
  return { auth, adapter, root, as, browser, authenticate, runtime: base.runtime }
}
/** A form with repeated fields. */
async function save(client: Client, fields: URLSearchParams): Promise<Response> {
  const body = new URLSearchParams(fields)
  body.set('csrfToken', await client.csrfToken())
  return client.send('/admin/clients/save', { method: 'POST', body })
}
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (answer) => (typeof answer === 'boolean' ? answer : 'done'),
    (error: { type?: string; status?: number }) => (error.type === 'AccessDenied' ? 403 : (error.status ?? error.type)),
  )

it('each role does what it has, with a reason, and nothing else', async () => {
  const { auth, root, as } = await world()
  const { client_id: id } = await auth.admin.createClient(root, { metadata: shop, reason })
  const acts = async (who: string) => [
    await outcome(auth.admin.listClients(as(who))),
    await outcome(auth.admin.getClient(as(who), id)),
    await outcome(auth.admin.createClient(as(who), { metadata: shop, reason })),
    await outcome(auth.admin.updateClient(as(who), id, { metadata: { client_name: 'Other' }, reason })),
    await outcome(auth.admin.rotateClient(as(who), id, { reason })),
    await outcome(auth.admin.disableClient(as(who), id, { reason })),
    await outcome(auth.admin.enableClient(as(who), id, { reason })),
    await outcome(auth.admin.deleteClient(as(who), id, { reason })),
    await outcome(auth.admin.listAgents(as(who))),
    await outcome(auth.admin.stopAgent(as(who), 'none', { reason })),
    await outcome(auth.admin.startAgent(as(who), 'none', { reason })),
  ]
  expect(await acts('ada')).toEqual(Array(11).fill(403))
  expect(await acts('read')).toEqual(['done', 'done', ...Array(6).fill(403), 'done', 403, 403])
  expect(await acts('help')).toEqual(['done', 'done', 403, 403, 403, true, 403, 403, 'done', false, 403])
  expect(await acts('root')).toEqual(['done', 'done', 'done', 'done', 'done', false, true, true, 'done', false, false])
  expect(await outcome(auth.admin.disableClient(root, id, {} as never))).toBe(400)
  expect(await outcome(auth.admin.updateClient(root, id, { metadata: {}, reason }))).toBe(404)
  expect(await outcome(auth.admin.updateClient(root, 'fixed', { metadata: {}, reason }))).toBe(404)
  expect(
    await outcome(auth.admin.createClient(root, { metadata: { client_name: 'x', redirect_uris: ['javascript:alert(1)'] }, reason })),
  ).toBe(400)
  expect(await outcome(auth.admin.createClient(root, { reason } as never))).toBe(400)
  expect(await outcome(auth.admin.getClient(root, '\0'))).toBe('done')
  expect(await outcome(auth.admin.listClients(root, { text: '\0' }))).toBe(400)
})

it('without the plugins there is nothing to administer, and no link to it', async () => {
  const { auth, root, browser } = await world(false)
  expect(await outcome(auth.admin.listClients(root))).toBe(409)
  expect(await outcome(auth.admin.listAgents(root))).toBe(409)
  const page = await (await (await browser('root')).get('/admin')).text()
  expect([page.includes('/admin/clients'), page.includes('/admin/agents')]).toEqual([false, false])
  expect((await (await browser('root')).get('/admin/clients')).status).toBe(409)
})

it('an agent is stopped for its owner, who cannot start it again; an administrator can, and the log names both', async () => {
  const { auth, root, as } = await world()
  const agent = await auth.agents.create({ userId: 'ada' }, { name: 'Robot', scopes: ['read'] })
  const call = async () =>
    (
      await auth.agents.authorize(new Request('http://localhost:3000/api', { headers: { authorization: `Bearer ${agent.credential}` } }), {
        scopes: ['read'],
      })
    ).response?.status ?? 200
  expect(await call()).toBe(200)
  expect((await auth.admin.listAgents(as('read'))).items).toMatchObject([{ id: agent.id, ownerId: 'ada', state: 'running' }])
  expect(await auth.admin.stopAgent(as('help'), agent.id, { reason })).toBe(true)
  expect(await auth.admin.stopAgent(as('help'), agent.id, { reason })).toBe(false)
  expect(await call()).toBe(401)
  expect(await outcome(auth.agents.start({ userId: 'ada' }, agent.id))).toBe(403)
  expect(await auth.admin.startAgent(root, agent.id, { reason: 'checked' })).toBe(true)
  expect(await call()).toBe(200)
  // An agent of an administrator is not for a lower role to stop.
  const own = await auth.agents.create({ userId: 'root' }, { name: 'Own', scopes: ['read'] })
  expect(await outcome(auth.admin.stopAgent(as('help'), own.id, { reason }))).toBe(403)
  await auth.audit.flush()
  const { records } = await auth.audit.list({ limit: 100 })
  const told = records.filter(({ name }) => /^agent\.(?:stopped|started)/.test(name)).toReversed()
  expect(told.map(({ name, actor, subject, target }) => [name, actor, subject?.id, target?.['reason']])).toEqual([
    ['agent.stopped', { type: 'admin', id: 'help' }, 'ada', reason],
    ['agent.started', { type: 'admin', id: 'root' }, 'ada', 'checked'],
  ])
})

it('the pages make, show, change, rotate, disable and delete a client; a secret is shown once, and never kept', async () => {
  const { auth, browser, authenticate } = await world()
  const root = await browser('root')
  const form = {
    client_name: shop.client_name,
    redirect_uris: 'https://shop.example/cb\n https://shop.example/2',
    token_endpoint_auth_method: 'client_secret_basic',
    scope: 'read',
    reason,
  }
  const fields = new URLSearchParams(form)
  for (const grant of shop.grant_types) fields.append('grant_types', grant)
  const made = await save(root, fields)
  const shown = await made.text()
  const [, id = '', secret = ''] = /([0-9a-f]{32})[\s\S]*?>([\w-]{43})</.exec(shown) ?? []
  expect([made.status, made.headers.get('cache-control'), shown.includes('Shop &lt;b&gt;')]).toEqual([
    200,
    expect.stringContaining('no-store'),
    true,
  ])
  expect(await authenticate(id, secret)).toBe(200)
  expect((await auth.admin.getClient({ userId: 'root' }, id))!.metadata).toMatchObject({
    scope: 'read',
    redirect_uris: ['https://shop.example/cb', 'https://shop.example/2'],
  })

  const list = await (await root.get('/admin/clients')).text()
  expect([list.includes('Shop &lt;b&gt;'), list.includes('Fixed'), list.includes('Shop <b>'), list.includes(secret)]).toEqual([
    true,
    true,
    false,
    false,
  ])
  const page = await (await root.get(`/admin/client?id=${id}`)).text()
  expect([page.includes('https://shop.example/2'), page.includes(secret), page.includes('rotateClient')]).toEqual([true, false, true])
  const fixed = await (await root.get('/admin/client?id=fixed')).text()
  expect([fixed.includes('Fixed'), fixed.includes('rotateClient'), fixed.includes('disableClient')]).toEqual([true, false, false])

  const edit = await (await root.get(`/admin/clients/edit?id=${id}`)).text()
  expect([/name="version" value="1"/.test(edit), edit.includes('https://shop.example/2')]).toEqual([true, true])
  const change = (more: Record<string, string>) => {
    const sent = new URLSearchParams({ ...form, id, version: '1', ...more })
    sent.append('grant_types', 'client_credentials')
    return save(root, sent)
  }
  const wrong = await change({ redirect_uris: 'http://shop.example/cb', client_name: 'Typed' })
  const wrongText = await wrong.text()
  expect([wrong.status, wrongText.includes('use https'), wrongText.includes('value="Typed"')]).toEqual([400, true, true])
  expect((await change({ client_name: 'Shop 2', scope: '' })).headers.get('location')).toContain('done=1')
  expect((await auth.admin.getClient({ userId: 'root' }, id))!.metadata).not.toHaveProperty('scope')
  const lost = await change({ client_name: 'Shop 3' })
  expect([lost.status, (await lost.text()).includes('Another administrator changed')]).toEqual([400, true])

  const act = (action: string, more: Record<string, string> = {}) => root.post('/admin/client', { id, action, reason, ...more })
  const rotated = /([0-9a-f]{32})[\s\S]*?>([\w-]{43})</.exec(await (await act('rotateClient', { overlap: '0' })).text())?.[2] ?? ''
  expect([await authenticate(id, secret), await authenticate(id, rotated)]).toEqual([401, 200])
  expect((await act('rotateClient', { overlap: 'x' })).headers.get('location')).toContain('error=AdminRefused')
  await act('disableClient')
  expect(await authenticate(id, rotated)).toBe(401)
  expect(await (await root.get(`/admin/client?id=${id}`)).text()).toContain('enableClient')
  await act('enableClient')
  expect(await authenticate(id, rotated)).toBe(200)
  expect((await act('disableClient', { reason: '' })).headers.get('location')).toContain('error=AdminRefused')
  expect((await act('toString')).status).toBe(302)
  expect((await act('deleteClient')).headers.get('location')).toContain('/admin/clients?done=1')
  expect((await root.get(`/admin/client?id=${id}`)).status).toBe(404)
  // Others see no page, and their forms change nothing.
  for (const who of ['ada', 'read']) {
    const other = await browser(who)
    expect((await other.get('/admin/clients/new')).status).toBe(403)
    expect((await save(other, fields)).status).toBe(403)
  }
  expect((await auth.admin.listClients({ userId: 'root' }, { source: 'host' })).items).toEqual([])
  await auth.audit.flush()
  const { records } = await auth.audit.list({ limit: 100 })
  expect(
    records
      .filter(({ name }) => name.startsWith('client.') && name !== 'client.revoked')
      .map(({ name, actor }) => `${name} ${actor.type} ${actor.id}`)
      .toReversed(),
  ).toEqual(['created', 'updated', 'rotated', 'disabled', 'enabled', 'deleted'].map((one) => `client.${one} admin root`))
})

it('what opens something needs a fresh proof: an old session makes no client, changes no address and rotates no secret', async () => {
  const { auth, root, browser, runtime } = await world()
  const { client_id: id } = await auth.admin.createClient(root, { metadata: shop, reason })
  const page = await browser('root')
  runtime.advance(301_000)
  for (const path of ['/admin/clients/new', `/admin/clients/edit?id=${id}`]) {
    const answer = await page.get(path)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, expect.stringContaining('/signin?callbackUrl=')])
  }
  const rotated = await page.post('/admin/client', { id, action: 'rotateClient', reason, overlap: '0' })
  expect([rotated.status, rotated.headers.get('location')]).toEqual([302, expect.stringContaining('signin')])
  const client = createAuthClient<typeof auth>()
  vi.stubGlobal('fetch', (input: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    if (init.method === 'POST') headers.set('origin', 'http://localhost:3000')
    return page.send(`http://localhost:3000${input}`, { ...init, headers })
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  for (const work of [
    () => client.admin.createClient({ metadata: shop, reason }),
    () => client.admin.updateClient({ clientId: id, metadata: { client_name: 'X' }, reason }),
    () => client.admin.rotateClient({ clientId: id, reason }),
  ])
    await expect(work()).rejects.toMatchObject({ status: 403, error: 'StepUpRequired' })
  expect((await auth.admin.getClient(root, id))!.version).toBe(1)
  // The kill switch works at once.
  expect(await client.admin.disableClient({ clientId: id, reason })).toBe(true)
})

it('client.admin does the same, with types', async () => {
  const { auth, browser } = await world()
  const page = await browser('root')
  const client = createAuthClient<typeof auth>()
  vi.stubGlobal('fetch', (input: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    if (init.method === 'POST') headers.set('origin', 'http://localhost:3000')
    return page.send(`http://localhost:3000${input}`, { ...init, headers })
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const made = await client.admin.createClient({ metadata: shop, reason })
  const [clientId, secret] = [made.client_id, made.client_secret]
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect((await client.admin.listClients({ source: 'host' })).items.map(({ name }) => name)).toEqual([shop.client_name])
  const changed = await client.admin.updateClient({ clientId, metadata: { client_name: 'Shop 2' }, version: made.version, reason })
  expect(changed.name).toBe('Shop 2')
  await expect(
    client.admin.updateClient({ clientId, metadata: { client_name: 'X' }, version: made.version, reason }),
  ).rejects.toMatchObject({ status: 409 })
  await expect(
    client.admin.updateClient({ clientId, metadata: { client_name: 'X' }, version: '1' as never, reason }),
  ).rejects.toMatchObject({ status: 400 })
  const next = await client.admin.rotateClient({ clientId, overlap: 60, reason })
  expect(new Date(next.formerSecretUntil!).getTime()).toBeGreaterThan(0)
  expect([await client.admin.disableClient({ clientId, reason }), await client.admin.enableClient({ clientId, reason })]).toEqual([
    true,
    true,
  ])
  expect((await client.admin.getClient({ clientId }))?.disabled).toBeNull()
  expect(await client.admin.deleteClient({ clientId, reason })).toBe(true)
  expect(await client.admin.getClient({ clientId })).toBeNull()
  const agent = await auth.agents.create({ userId: 'ada' }, { name: 'Robot', scopes: ['read'] })
  expect((await client.admin.listAgents({})).items.map(({ name }) => name)).toEqual(['Robot'])
  expect([
    await client.admin.stopAgent({ agentId: agent.id, reason }),
    await client.admin.startAgent({ agentId: agent.id, reason }),
  ]).toEqual([true, true])
})
