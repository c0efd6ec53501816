/** Roles of administrators, acts that need two of them, the overview, the search and the audit log. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminOptions, adminPlugin, type By } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'

const reason = 'ticket 7'

async function world(options: Partial<AdminOptions> = {}, adapter = memoryAdapter(memoryData())) {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy: 'database' },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const mails: { to: string; text: string }[] = []
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(mailPlugin({ transport: { send: async ({ to, text }) => void mails.push({ to: String(to), text: String(text) }) } }))
    .use(passwordsPlugin())
    .use(twoFactorPlugin())
    .use(apiKeysPlugin())
    .use(organizationsPlugin())
    .use(auditPlugin({ sink: recordsSink(), chain: true }))
    .use(adminPlugin({ roles: true, administrators: ['root'], pages: true, ...options }))
  await auth.ready({ warm: true })
  for (const id of ['root', 'boss', 'help', 'read', 'ada', 'eve'])
    await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: id === 'ada' ? new Date(0) : null })
  const root: By = { userId: 'root' }
  const as = (userId: string): By => ({ userId })
  for (const [id, role] of [
    ['boss', 'administrator'],
    ['help', 'support'],
    ['read', 'reader'],
  ] as const)
    if (!options.approvals?.setRole) await auth.admin.setRole(root, id, { role, reason })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  return { auth, adapter, root, as, browser, mails, runtime: base.runtime }
}
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { type?: string; status?: number }) => (error.type === 'AccessDenied' ? 403 : (error.status ?? error.type)),
  )

it('each role does what it has, and none touches a higher one', async () => {
  const { auth, as } = await world()
  const acts = (id: string, target: string) =>
    Promise.all([
      outcome(auth.admin.getDetails(as(id), target)),
      outcome(auth.admin.signOut(as(id), target, { reason })),
      outcome(auth.admin.updateUser(as(id), target, { name: 'Other', reason })),
      outcome(auth.admin.setRole(as(id), target, { role: 'reader', reason })),
    ])
  expect(await acts('read', 'ada')).toEqual(['done', 403, 403, 403])
  expect(await acts('help', 'ada')).toEqual(['done', 'done', 403, 403])
  expect(await acts('help', 'boss')).toEqual(['done', 403, 403, 403])
  expect(await acts('ada', 'eve')).toEqual([403, 403, 403, 403])
  expect(await acts('boss', 'ada')).toEqual(['done', 'done', 'done', 'done'])
  expect(await auth.admin.getRights(as('ada'))).toMatchObject({ role: 'reader' })
  // The option names root, whom no act takes the role of.
  expect(await outcome(auth.admin.setRole(as('boss'), 'root', { role: null, reason }))).toBe(400)
  expect(await outcome(auth.admin.setRole(as('boss'), 'boss', { role: 'reader', reason }))).toBe(400)
  expect(await outcome(auth.admin.updateUser(as('boss'), 'boss', { name: 'Me', reason }))).toBe(400)
  expect(await outcome(auth.admin.deleteUser(as('boss'), 'boss', { reason }))).toBe(400)
  expect(await outcome(auth.admin.setRole(as('boss'), 'ada', { role: 'king', reason }))).toBe(400)
})

it('a role of the host gives no rights that it does not have itself', async () => {
  const { auth, as, root } = await world({ roles: { clerk: ['list', 'get', 'setRole'] } })
  await auth.admin.setRole(root, 'ada', { role: 'clerk', reason })
  expect(await outcome(auth.admin.setRole(as('ada'), 'eve', { role: 'support', reason }))).toBe(403)
  expect(await outcome(auth.admin.setRole(as('ada'), 'eve', { role: 'clerk', reason }))).toBe('done')
  expect(await outcome(auth.admin.setRole(as('ada'), 'help', { role: null, reason }))).toBe(403)
  expect((await auth.admin.getRights(as('ada'))).acts).toEqual(['list', 'get', 'setRole'])
  expect(() => adminPlugin({ roles: { clerk: ['lists' as 'list'] } })).toThrow(/clerk.*"lists".*list/)
  expect(() => adminPlugin({ approvals: { unban: 2 } as object, roles: true })).toThrow(/unban/)
})

it('create, invite, edit, reset the password, revoke a key and delete', async () => {
  const { auth, adapter, root, mails } = await world()
  const made = await auth.admin.createUser(root, { email: 'New@Example.com', name: 'New', verified: true, reason })
  expect(made).toMatchObject({ email: 'new@example.com', emailVerified: expect.any(Date) })
  expect(await outcome(auth.admin.createUser(root, { email: 'new@example.com', reason }))).toBe(409)
  expect(await outcome(auth.admin.createUser(root, { email: 'x', reason }))).toBe(400)
  expect(await outcome(auth.admin.createUser(root, { email: 'y@example.com', reason: '' }))).toBe(400)
  await auth.admin.inviteUser(root, { email: 'guest@example.com', reason })
  expect(mails.at(-1)).toMatchObject({ to: 'guest@example.com', text: expect.stringContaining('/auth/signin') })
  await auth.admin.updateUser(root, made.id, { email: 'other@example.com', name: 'Other', reason })
  expect(await adapter.getUser(made.id)).toMatchObject({ email: 'other@example.com', name: 'Other', emailVerified: null })
  expect(await outcome(auth.admin.updateUser(root, made.id, { email: 'ada@example.com', reason }))).toBe(409)
  expect(await outcome(auth.admin.updateUser(root, made.id, { image: 'javascript:alert(1)', reason }))).toBe(400)
  await auth.admin.resetPassword(root, 'ada', { reason })
  expect(mails.at(-1)).toMatchObject({ to: 'ada@example.com', text: expect.stringContaining('/passwords/new?token=') })
  const key = await auth.apiKeys.create({ userId: 'ada' }, { name: 'build' })
  const { items } = await auth.admin.listKeys(root, { userId: 'ada' })
  expect(items).toMatchObject([{ id: key.id, name: 'build', userId: 'ada' }])
  expect(JSON.stringify(items)).not.toContain(key.key)
  expect(await auth.admin.revokeKey(root, key.id, { reason })).toBe(true)
  expect(await auth.admin.revokeKey(root, key.id, { reason })).toBe(false)
  await auth.admin.deleteUser(root, made.id, { reason })
  expect(await adapter.getUser(made.id)).toBeNull()
  expect(await outcome(auth.admin.deleteUser(root, made.id, { reason }))).toBe(404)
})

it('an act that needs two administrators is done once, by another one, while the first still may', async () => {
  const { auth, adapter, root, as, runtime } = await world({ approvals: { deleteUser: 2 } })
  const ask = async (by: By, user: string) => (await auth.admin.deleteUser(by, user, { reason }))!
  const first = await ask(as('boss'), 'ada')
  expect(first).toMatchObject({ act: 'deleteUser', userId: 'ada', by: 'boss', missing: 1 })
  expect(await adapter.getUser('ada')).not.toBeNull()
  expect(await outcome(auth.admin.approve(as('boss'), first.id))).toBe(403)
  expect(await outcome(auth.admin.approve(as('help'), first.id))).toBe(403)
  expect((await auth.admin.listApprovals(as('read'))).map(({ id }) => id)).toEqual([first.id])
  const both = await Promise.all([outcome(auth.admin.approve(root, first.id)), outcome(auth.admin.approve(root, first.id))])
  expect(both.filter((one) => one === 'done')).toHaveLength(1)
  expect(await adapter.getUser('ada')).toBeNull()
  expect(await outcome(auth.admin.approve(root, first.id))).toBe(404)
  // The one who asked loses the role meanwhile.
  const second = await ask(as('boss'), 'eve')
  await auth.admin.setRole(root, 'boss', { role: 'reader', reason })
  expect(await outcome(auth.admin.approve(root, second.id))).toBe(409)
  expect(await auth.admin.listApprovals(root)).toEqual([])
  expect(await adapter.getUser('eve')).not.toBeNull()
  await auth.admin.setRole(root, 'boss', { role: 'administrator', reason })
  const third = await ask(as('boss'), 'eve')
  await auth.admin.refuse(root, third.id)
  expect(await outcome(auth.admin.approve(root, third.id))).toBe(404)
  const fourth = await ask(as('boss'), 'eve')
  runtime.advance(86_400_001)
  expect(await outcome(auth.admin.approve(root, fourth.id))).toBe(404)
  const { records } = await auth.admin.listAudit(root, { limit: 1000 })
  const told = records.filter(({ name }) => /^approval|deleteUser/.test(name)).map(({ name, actor }) => `${name} ${actor.id}`)
  expect(told.toReversed().slice(0, 3)).toEqual(['approval.requested boss', 'approval.approved root', 'admin.deleteUser boss'])
})

it('users are found by parts and filters, with a total and pages', async () => {
  const { auth, root, browser } = await world()
  await auth.admin.ban(root, 'eve', { reason })
  await browser('ada')
  const find = async (search: object) => {
    const { users, total } = await auth.admin.list(root, search)
    return `${users.map(({ id }) => id).join()} ${total}`
  }
  expect(await find({ text: 'DA@EX' })).toBe('ada 1')
  expect(await find({ verified: true })).toBe('ada 1')
  expect(await find({ banned: true })).toBe('eve 1')
  expect(await find({ banned: false, text: 'e', sort: 'name', order: 'desc', limit: 2 })).toBe('root,read 5')
  expect(await find({ limit: 2, page: 2, sort: 'email' })).toBe('eve,help 6')
  expect(await find({ factor: true })).toBe(' 0')
  expect(await find({ factor: false })).toContain('6')
  expect(await find({ organization: 'none' })).toBe(' 0')
  expect(await find({ seenSince: new Date(0) })).toBe('ada 1')
  expect(await find({ seenBefore: new Date(0) })).toBe(' 0')
  for (const wrong of [{ text: 'a\0' }, { limit: 0 }, { page: 0.5 }, { banned: 'yes' }, { sort: 'rank' }, { seenSince: 'x' }])
    expect(await outcome(auth.admin.list(root, wrong as object))).toBe(400)
})

it('an adapter without searchUsers is searched by its list, and says what it cannot do', async () => {
  const { searchUsers: _search, ...adapter } = memoryAdapter(memoryData())
  const { auth, root } = await world({}, adapter as ReturnType<typeof memoryAdapter>)
  expect(await auth.admin.list(root, { text: 'da@' })).toMatchObject({ users: [{ id: 'ada' }], total: 1 })
  await expect(auth.admin.list(root, { provider: 'acme' })).rejects.toThrow(/searchUsers/)
  expect((await auth.admin.getConfiguration(root)).warnings.map(({ code }) => code)).toContain('no-search')
})

it('one user with what plugins keep, the overview by day, the configuration without secrets', async () => {
  const { auth, root, browser } = await world()
  const client = await browser('ada')
  await client.post('/callback/credentials', { user: 'ada' })
  await auth.apiKeys.create({ userId: 'ada' }, { name: 'build' })
  const { id } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme', slug: 'acme' })
  const details = await auth.admin.getDetails(root, 'ada')
  expect(details).toMatchObject({
    id: 'ada',
    role: null,
    keys: [{ name: 'build' }],
    organizations: [{ id, name: 'Acme', role: 'owner' }],
    factors: [],
    lastSeen: expect.any(Date),
  })
  expect(details!.sessions!.length).toBeGreaterThan(0)
  expect((await auth.admin.listOrganizations(root)).items).toMatchObject([{ name: 'Acme', members: 1 }])
  const { users, days, totals } = await auth.admin.getOverview(root, { days: 7 })
  expect([users, days.length, totals.signIns]).toEqual([6, 7, 2])
  expect(days.at(-1)).toMatchObject({ signIns: 2 })
  const configuration = await auth.admin.getConfiguration(root)
  expect(configuration.plugins.map(({ name }) => name)).toContain('admin')
  expect(JSON.stringify(configuration)).not.toContain(String([baseConfig().secret].flat()[0]))
})

it('the audit log by filters, as files whose cells are no formulas, with the chain', async () => {
  const { auth, root, as } = await world()
  await auth.audit.note({}, { name: 'own.fact', outcome: 'denied', reason: '=HYPERLINK("https://evil.example")' })
  expect((await auth.admin.listAudit(root, { outcome: 'denied' })).records.map(({ name }) => name)).toEqual(['own.fact'])
  const read = async (format: 'csv' | 'jsonl') => {
    let text = ''
    for await (const part of await auth.admin.exportAudit(as('read'), {}, format)) text += part
    return text
  }
  const csv = await read('csv')
  expect(csv.split('\r\n')[0]).toBe(
    'id,time,name,outcome,reason,actorType,actorId,impersonator,subjectType,subjectId,provider,address,userAgent,requestId,target',
  )
  expect(csv).toContain(`"'=HYPERLINK(""https://evil.example"")"`)
  const lines = (await read('jsonl')).trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toContain('admin.setRole')
  expect(await auth.admin.verifyAudit(root)).toMatchObject({ ok: true })
  expect(await outcome(auth.admin.exportAudit(as('ada'), {}, 'csv'))).toBe(403)
  expect(await outcome(auth.admin.exportAudit(root, {}, 'xml' as 'csv'))).toBe(400)
})

it('an administrator who agreed and lost the right since counts no more', async () => {
  const { auth, adapter, root, as } = await world({ approvals: { deleteUser: 3 } })
  await auth.admin.setRole(root, 'eve', { role: 'administrator', reason })
  await auth.admin.deleteUser(as('boss'), 'ada', { reason })
  const id = (await auth.admin.listApprovals(root))[0]!.id
  expect(await auth.admin.approve(as('eve'), id)).toMatchObject({ missing: 1, approvedBy: ['eve'] })
  await auth.admin.setRole(root, 'eve', { role: null, reason })
  expect(await auth.admin.approve(root, id)).toMatchObject({ missing: 1, approvedBy: ['root'] })
  expect(await adapter.getUser!('ada')).not.toBeNull()
  await auth.admin.setRole(root, 'help', { role: 'administrator', reason })
  expect(await auth.admin.approve(as('help'), id)).toBeUndefined()
  expect(await adapter.getUser!('ada')).toBeNull()
})

it('the walk of all routes: each role gets what its acts permit, and a visitor without a role nothing', async () => {
  const { auth, browser } = await world()
  const sent = {
    userId: 'eve',
    reason,
    email: 'walk@example.com',
    role: 'reader',
    requestId: 'none',
    keyId: 'none',
    clientId: 'none',
    agentId: 'none',
    name: 'Eve',
  }
  // What a role is refused: all others are answered, with 200, 400, 404 or 409.
  const changes = [
    'ban',
    'unban',
    'sign-out',
    'new-factor',
    'verify-address',
    'reset-password',
    'invite-user',
    'revoke-key',
    'disable-client',
    'stop-agent',
  ]
  const clients = ['create-client', 'update-client', 'rotate-client', 'enable-client', 'delete-client', 'start-agent']
  const higher = ['create-user', 'update-user', 'set-role', 'delete-user', ...clients]
  const refused: Record<string, readonly string[]> = { root: [], help: higher, read: [...changes, ...higher] }
  const routes = auth.inspect().routes.filter(({ path, plugin }) => plugin === 'admin' && /^\/admin\/[a-z-]+$/.test(path))
  const clientRoutes = routes.filter(
    ({ path }) => !/^\/admin\/(?:user|audit-file)$/.test(path) && /-|ban|get|list|approve|refuse/.test(path),
  )
  expect(clientRoutes.length).toBeGreaterThan(20)
  for (const [id, not] of Object.entries({ ...refused, read: refused['read']!, ada: undefined })) {
    const client = await browser(id)
    const csrfToken = await client.csrfToken()
    for (const { method, path } of clientRoutes) {
      const name = path.slice('/admin/'.length)
      if (name === 'delete-user' && id === 'root') continue
      const query =
        method === 'GET' ? `?${new URLSearchParams({ input: JSON.stringify({ userId: 'eve', clientId: 'none' }) }).toString()}` : ''
      const answer = await client.send(`${path}${query}`, {
        method,
        ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...sent, csrfToken }) }),
      })
      const denied = not?.includes(name) ?? true
      expect(`${id} ${name} ${answer.status === 403}`).toBe(`${id} ${name} ${denied}`)
      expect(answer.status).toBeLessThan(500)
    }
  }
})
