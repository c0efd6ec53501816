/** SCIM where it meets others: requests at once, credentials that end half-way, huge changes, users who left, bans, tenants, unusual addresses. */
import { createAuth } from 'authkernel'
import { type AnyContext, jobFor, type Kernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { scimPlugin } from 'authkernel/plugins/scim'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { beforeEach, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { breakRecords } from './_broken-records.ts'
import { createScimWorld, groupSchema, type ScimWorld, userSchema } from './_scim.ts'

const remove = (path: string, value?: unknown) => ({ op: 'remove', path, ...(value !== undefined && { value }) })
const add = (path: string, value: unknown) => ({ op: 'add', path, value })

describe('a bulk request', () => {
  it('stops where the token is revoked half-way', async () => {
    const { auth, send, token, directoryId, changes } = await createScimWorld({ options: { bulk: 10 } })
    const [own] = await auth.scim.tokens.list({ directoryId })
    auth.on('scimChanged', async ({ act }) => {
      if (act === 'user.created' && changes.length === 2) await auth.scim.tokens.revoke({ id: own!.id })
    })
    const names = ['ann', 'bob', 'cy', 'dee']
    const { status, body } = await send('POST', '/Bulk', {
      Operations: names.map((name) => ({ method: 'POST', path: '/Users', bulkId: name, data: { userName: `${name}@acme.example` } })),
    })
    expect(token).toMatch(/^scim_/)
    expect([status, body.Operations.map((one: { status: string }) => one.status)]).toEqual([200, ['201', '201', '401', '401']])
    expect(changes).toHaveLength(2)
  })

  it('says of each operation what became of it, also where the server failed, and logs why', async () => {
    const { send, store, log } = await createScimWorld({ options: { bulk: 10 } })
    const { createUser: create } = store
    store.createUser = async (user) => {
      if (user.email === 'bob@acme.example') throw new Error('the disk of the database is full')
      return create(user)
    }
    const { status, body } = await send('POST', '/Bulk', {
      Operations: ['ann', 'bob', 'cy'].map((name) => ({
        method: 'POST',
        path: '/Users',
        bulkId: name,
        data: { userName: `${name}@acme.example` },
      })),
    })
    store.createUser = create
    expect([status, body.Operations.map((one: { status: string }) => one.status)]).toEqual([200, ['201', '500', '201']])
    expect(JSON.stringify(body)).not.toContain('disk')
    expect(log.errors.map(({ name }) => name)).toEqual(['AdapterError'])
  })

  it('stops where the directory is deleted half-way', async () => {
    const { auth, send, directoryId, changes, store } = await createScimWorld({ options: { bulk: 10 } })
    auth.on('scimChanged', async () => void (changes.length === 1 && (await auth.scim.directories.delete({ id: directoryId }))))
    const { body } = await send('POST', '/Bulk', {
      Operations: ['ann', 'bob'].map((name) => ({
        method: 'POST',
        path: '/Users',
        bulkId: name,
        data: { userName: `${name}@acme.example` },
      })),
    })
    expect(body.Operations.map((one: { status: string }) => one.status)).toEqual(['201', '401'])
    expect(await store.getUserByEmail('bob@acme.example')).toBeNull()
  })

  it('changes the version that an operation names alone', async () => {
    const { send, createUser } = await createScimWorld({ options: { bulk: 10 } })
    const { body: ann } = await createUser('ann')
    const rename = (nickName: string, version?: string) => ({
      method: 'PATCH',
      path: `/Users/${ann.id}`,
      ...(version !== undefined && { version }),
      data: { Operations: [{ op: 'replace', path: 'nickName', value: nickName }] },
    })
    const { body } = await send('POST', '/Bulk', {
      Operations: [
        rename('one', ann.meta.version),
        rename('two', ann.meta.version),
        { method: 'DELETE', path: `/Users/${ann.id}`, version: 'W/"7"' },
      ],
    })
    expect(body.Operations.map((one: { status: string }) => one.status)).toEqual(['200', '412', '412'])
    expect((await send('GET', `/Users/${ann.id}`)).body.nickName).toBe('one')
  })
})

describe('a PATCH', () => {
  it('makes no list of more than 1,000 values, however many operations it has', async () => {
    const { createUser, patch, send } = await createScimWorld()
    const { body: ann } = await createUser('ann')
    const phones = (from: number, count: number) => Array.from({ length: count }, (_, at) => ({ value: `${from + at}` }))
    const before = process.cpuUsage()
    const answer = await patch(`/Users/${ann.id}`, ...Array.from({ length: 60 }, (_, at) => add('phoneNumbers', phones(at * 900, 900))))
    expect([answer.status, answer.body.scimType, answer.body.detail]).toEqual([
      400,
      'invalidValue',
      expect.stringContaining('phoneNumbers'),
    ])
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
    expect((await patch(`/Users/${ann.id}`, add('phoneNumbers', phones(0, 900)))).status).toBe(200)
    expect((await patch(`/Users/${ann.id}`, add('phoneNumbers', phones(900, 900)))).status).toBe(400)
    expect((await send('GET', `/Users/${ann.id}`)).body.phoneNumbers).toHaveLength(900)
  })

  it('makes no resource that is larger than a body may be', async () => {
    const { createUser, patch } = await createScimWorld({ options: { maxBody: 50_000 } })
    const { body: ann } = await createUser('ann')
    const values = (from: number) => Array.from({ length: 4 }, (_, at) => ({ value: `${from + at} ${'x'.repeat(9000)}` }))
    expect((await patch(`/Users/${ann.id}`, add('entitlements', values(0)))).status).toBe(200)
    const answer = await patch(`/Users/${ann.id}`, add('entitlements', values(4)))
    expect([answer.status, answer.body.scimType]).toEqual([413, 'tooMany'])
  })

  it('of 9,000 operations is answered quickly', async () => {
    const { createUser, patch } = await createScimWorld()
    const { body: ann } = await createUser('ann')
    await patch(
      `/Users/${ann.id}`,
      add(
        'phoneNumbers',
        Array.from({ length: 900 }, (_, at) => ({ value: `+${at}`, type: 'work' })),
      ),
    )
    const before = process.cpuUsage()
    const many = Array.from({ length: 9000 }, (_, at) => ({ op: 'replace', path: 'phoneNumbers[type eq "work"].display', value: `${at}` }))
    const { status } = await patch(`/Users/${ann.id}`, ...many)
    expect([200, 413]).toContain(status)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(5000)
  })

  it.each(['x'.repeat(300), 'ä'.repeat(300), '../../x', '\u0131'.repeat(70)])(
    'of a member with the id %s is no failure of the server',
    async (id) => {
      const { send, patch } = await createScimWorld()
      const { body: group } = await send('POST', '/Groups', { schemas: [groupSchema], displayName: 'Staff' })
      for (const operation of [
        remove(`members[value eq "${id}"]`),
        add(`members[value eq "${id}"]`, { value: id }),
        add('members', [{ value: id }]),
      ])
        expect((await patch(`/Groups/${group.id}`, operation)).status).toBeLessThan(500)
    },
  )
})

describe('a search', () => {
  it.each(['userName', 'externalId', 'id', 'emails.value', 'emails[type eq "work"].value', 'displayName', 'meta.created', 'members'])(
    'by %s for what cannot be stored finds nothing, and is no failure of the server',
    async (name) => {
      const { send, createUser } = await createScimWorld()
      await createUser('ann')
      for (const value of ['x'.repeat(1500), 'ä'.repeat(700), '', ' ', '\u202e', '\ufeff@acme.example', '9999999999999'])
        for (const kind of ['Users', 'Groups']) {
          const { status } = await send('GET', `/${kind}?filter=${encodeURIComponent(`${name} eq "${value}"`)}`)
          expect([200, 400]).toContain(status)
        }
      const { body } = await send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${'x'.repeat(1500)}"`)}`)
      expect(body.totalResults).toBe(0)
    },
  )

  it('behind the last resource reads none', async () => {
    const { send, createUser } = await createScimWorld()
    await createUser('ann')
    const { body } = await send('GET', '/Users?startIndex=900000000000000')
    expect([body.totalResults, body.itemsPerPage]).toEqual([1, 0])
  })

  it('is not sorted by what is never returned', async () => {
    const { send, createUser } = await createScimWorld()
    await createUser('ann')
    expect(await send('GET', '/Users?sortBy=password')).toMatchObject({ status: 403, body: { scimType: 'sensitive' } })
  })
})

describe('addresses', () => {
  it.each(['ANN@Acme.Example', 'ＡＮＮ@acme.example', 'ann+tag@ACME.example'])('%s is one user in every form', async (typed) => {
    const { send, store } = await createScimWorld()
    const first = await send('POST', '/Users', { schemas: [userSchema], userName: typed })
    expect(first.status).toBe(201)
    const again = await send('POST', '/Users', { schemas: [userSchema], userName: typed.normalize('NFKC').toLowerCase(), externalId: 'x' })
    expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness'])
    expect(await store.getUserByEmail(typed.normalize('NFKC').toLowerCase())).toMatchObject({ emailVerified: expect.any(Date) })
    const found = await send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${typed.normalize('NFC')}"`)}`)
    expect(found.body.totalResults).toBe(1)
  })

  it.each(['jürgen@acme.example', 'ju\u0308rgen@acme.example'])(
    '%s is refused with a reason where the app takes no such address',
    async (typed) => {
      const { send } = await createScimWorld()
      const { status, body } = await send('POST', '/Users', { schemas: [userSchema], userName: typed })
      expect([status, body.scimType, body.detail]).toEqual([400, 'invalidValue', expect.stringContaining('email')])
      const other = await send('POST', '/Users', { schemas: [userSchema], userName: typed, emails: [{ value: 'juergen@acme.example' }] })
      expect(other.status).toBe(201)
      const found = await send('GET', `/Users?filter=${encodeURIComponent('userName eq "JÜRGEN@acme.example"')}`)
      expect(found.body.totalResults).toBe(1)
    },
  )

  it.each([
    'ann@acme.example\u0000',
    'ann\u200b@acme.example',
    'ann@acme.example.',
    'ann@acme\u3002example',
    'ann@аcme.example',
    '"a b"@acme.example',
    'ann@globex.example@acme.example',
    'ann@acme.example@globex.example',
  ])('the address %j makes no user of another domain', async (typed) => {
    const { send, store, createUser } = await createScimWorld()
    await createUser('bob')
    const { status } = await send('POST', '/Users', { schemas: [userSchema], userName: typed, emails: [{ value: typed, primary: true }] })
    expect([201, 400]).toContain(status)
    const stored = await store.getUserByEmail(typed)
    expect(stored === null || stored.email!.endsWith('@acme.example')).toBe(true)
  })
})

describe('requests at once', () => {
  it('a user whom the directory removes while another request switches them on is no member', async () => {
    const world = await createScimWorld()
    const { body: ann } = await world.createUser('ann', { active: false })
    const answers: number[] = []
    // Between the end of the membership and the end of the resource.
    world.auth.on('organizationChanged', async ({ act }) => {
      if (act === 'member.removed' && answers.length === 0)
        answers.push((await world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'active', value: true })).status)
    })
    expect((await world.send('DELETE', `/Users/${ann.id}`)).status).toBe(204)
    expect(answers).toEqual([200])
    expect((await world.send('GET', `/Users/${ann.id}`)).status).toBe(404)
    expect(await roleOf(world, 'ann@acme.example')).toBeUndefined()
  })

  it('a user whom a request switches on while the directory removes them is no member', async () => {
    const world = await createScimWorld()
    const { body: ann } = await world.createUser('ann', { active: false })
    const answers: number[] = []
    world.auth.on('organizationChanged', async ({ act }) => {
      if (act === 'member.restored' && answers.length === 0) answers.push((await world.send('DELETE', `/Users/${ann.id}`)).status)
    })
    expect((await world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'active', value: true })).status).toBe(412)
    expect(answers).toEqual([204])
    expect(await roleOf(world, 'ann@acme.example')).toBeUndefined()
  })

  it('a user who leaves a group while they join it has what the group gives to no member', async () => {
    const world = await createScimWorld()
    const { id: team } = await world.auth.organizations.teams.create({ system: true }, world.acme, { name: 'Operations' })
    const rules = { roles: [{ group: 'Admins', role: 'admin' }], teams: [{ group: 'Admins', team }] }
    await world.auth.scim.directories.update({ id: world.directoryId, rules })
    const { body: group } = await world.send('POST', '/Groups', { schemas: [groupSchema], displayName: 'Admins' })
    const { body: ann } = await world.createUser('ann')
    const change = (op: string) => world.patch(`/Groups/${group.id}`, { op, path: 'members', value: [{ value: ann.id }] })
    const answers: number[] = []
    // After the role, and before the team.
    world.auth.on('organizationChanged', async ({ act }) => {
      if (act === 'member.role' && answers.length === 0) {
        answers.push(0)
        answers[0] = (await change('remove')).status
      }
    })
    expect((await change('add')).status).toBe(204)
    expect(answers).toEqual([204])
    const { id: userId } = (await world.store.getUserByEmail('ann@acme.example'))!
    expect(await world.auth.organizations.teams.members({ system: true }, world.acme, team)).toEqual([])
    expect([userId === '', await roleOf(world, 'ann@acme.example')]).toEqual([false, 'member'])
  })

  it('a group that is removed while users join it gives no role', async () => {
    const world = await createScimWorld({ rules: { roles: [{ group: 'Admins', role: 'admin' }] } })
    const [{ body: ann }, { body: bob }] = [await world.createUser('ann'), await world.createUser('bob')]
    const { body: group } = await world.send('POST', '/Groups', {
      schemas: [groupSchema],
      displayName: 'Admins',
      members: [{ value: bob.id }],
    })
    const answers: number[] = []
    world.auth.on('organizationChanged', async ({ act, role }) => {
      if (act === 'member.role' && role === 'member' && answers.length === 0) {
        answers.push(0)
        answers[0] = (await world.patch(`/Groups/${group.id}`, add('members', [{ value: ann.id }]))).status
      }
    })
    expect((await world.send('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    expect(answers).toEqual([204])
    expect([await roleOf(world, 'ann@acme.example'), await roleOf(world, 'bob@acme.example')]).toEqual(['member', 'member'])
  })

  it('a directory that is deleted while it creates a user who is switched off guards no user for ever', async () => {
    const world = await createScimWorld()
    await world.createUser('ann', { active: false })
    const answers: number[] = []
    world.auth.on('organizationChanged', async ({ act }) => {
      if (act === 'member.suspended' && answers.length === 0) {
        answers.push(0)
        answers[0] = Number(await world.auth.scim.directories.delete({ id: world.directoryId }))
      }
    })
    await world.createUser('bob', { active: false })
    expect(answers).toEqual([1])
    const { id: userId } = (await world.store.getUserByEmail('bob@acme.example'))!
    await world.auth.organizations.add({ system: true }, world.globex, userId)
    expect(await world.isSignedIn(await world.signIn('bob@acme.example'))).toBe(true)
  })
})

describe('a user who left', () => {
  let world: ScimWorld
  let ann: { id: string }
  let userId: string

  beforeEach(async () => {
    world = await createScimWorld()
    ann = (await world.createUser('ann')).body
    userId = (await world.store.getUserByEmail('ann@acme.example'))!.id
    await world.auth.organizations.remove({ system: true }, world.acme, userId)
    await world.store.updateUser({ id: userId, email: 'ann@home.example', name: 'Ann' })
  })

  it('is not changed by the directory of the former organization', async () => {
    const { status } = await world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'displayName', value: 'Owned by Acme' })
    expect(status).toBe(200)
    expect(await world.store.getUser(userId)).toMatchObject({ name: 'Ann', email: 'ann@home.example' })
  })

  it('is not switched off in the organization where they are now', async () => {
    await world.auth.organizations.add({ system: true }, world.globex, userId)
    const client = await world.signIn('ann@home.example')
    expect((await world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'active', value: false })).status).toBe(200)
    expect([await world.isSignedIn(client), await world.isSignedIn(await world.signIn('ann@home.example'))]).toEqual([true, true])
  })
})

it.each(['active', 'DELETE'])('keys, tokens of providers and consents do not come back after %s', async (way) => {
  let context: (() => Promise<AnyContext>) | undefined
  const peek = { name: 'peek', setup: (kernel: Kernel) => void (context = () => kernel.contextOf(jobFor('peek', {}))) }
  const provider = {
    id: 'gh',
    name: 'GH',
    type: 'oauth',
    clientId: 'x',
    clientSecret: 'y',
    authorization: 'https://gh.example/a',
    token: 'https://gh.example/t',
  }
  const plugins = [peek, oauthPlugin({ ...provider, userinfo: 'https://gh.example/u' } as never), providerTokensPlugin()]
  const world = await createScimWorld({ plugins })
  const { body: ann } = await world.createUser('ann')
  const { id: userId } = (await world.store.getUserByEmail('ann@acme.example'))!
  const { key } = await world.auth.apiKeys.create({ userId }, { name: 'script' })
  const ctx = await context!()
  const token = {
    userId,
    provider: 'gh',
    account: '1',
    sid: null,
    sub: null,
    at: ctx.now,
    generation: 1,
    state: 'ready',
    lease: '',
    leaseUntil: null,
  }
  await ctx.records('providerToken').create({ ...token, kept: 0, tries: 0, notBefore: null, lasting: true, tokens: {}, expires: null })
  const byKey = () => world.auth.apiKeys.verify(new Request('http://localhost:3000/'), key)
  expect(await byKey()).toMatchObject({ name: 'script' })
  const setActive = (value: boolean) => world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'active', value })
  if (way === 'DELETE') expect((await world.send('DELETE', `/Users/${ann.id}`)).status).toBe(204)
  else expect([(await setActive(false)).status, (await setActive(true)).status]).toEqual([200, 200])
  expect(await byKey()).toBeNull()
  expect((await ctx.records('providerToken').find({ where: { userId }, limit: 10 })).rows).toEqual([])
})

it('two directories of one organization: a user is refused as long as one of them has the user switched off', async () => {
  const world = await createScimWorld()
  const other = await world.auth.scim.directories.create({ organizationId: world.acme, name: 'Entra ID' })
  const { token } = await world.auth.scim.tokens.create({ directoryId: other.id })
  const sendOther = world.clientOf(token)
  const { body: first } = await world.createUser('ann')
  const second = await sendOther('POST', '/Users', { schemas: [userSchema], userName: 'ann@acme.example' })
  expect(second.status).toBe(201)
  expect((await sendOther('GET', `/Users/${first.id}`)).status).toBe(404)
  const setActive = (send: typeof sendOther, id: string, value: boolean) =>
    send('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value }] })
  await setActive(world.send, first.id, false)
  for (const value of [false, true]) await setActive(sendOther, second.body.id, value)
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(false)
  await setActive(world.send, first.id, true)
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(true)
})

it('the directories of an organization end with it, and refuse no user from then on', async () => {
  const world = await createScimWorld()
  await world.createUser('ann', { active: false })
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(false)
  await world.auth.organizations.delete({ system: true }, world.acme)
  expect((await world.send('GET', '/Users')).status).toBe(401)
  expect(await world.auth.scim.directories.list({ organizationId: world.acme })).toEqual([])
  expect(await world.auth.scim.directories.list({ organizationId: world.globex })).toHaveLength(1)
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(true)
})

it.each(['between requests', 'during a request'])(
  'an organization that is deleted %s while the store fails: its token is refused, rejects no user, and goes with the next clean-up',
  async (when) => {
    const broken = breakRecords(/^scim/)
    const world = await createScimWorld({ options: { bulk: 10 }, plugins: [broken.plugin] })
    await world.createUser('ann', { active: false })
    await world.createUser('bob')
    broken.isBroken = true
    if (when === 'between requests') await world.auth.organizations.delete({ system: true }, world.acme)
    else {
      // While a request of the directory is under way: its later operations are refused.
      let deleted = false
      world.auth.on('scimChanged', async () => {
        if (!deleted) await world.auth.organizations.delete({ system: true }, world.acme)
        deleted = true
      })
      const operation = (name: string) => ({ method: 'POST', path: '/Users', bulkId: name, data: { userName: `${name}@acme.example` } })
      const { body } = await world.send('POST', '/Bulk', { Operations: [operation('cleo'), operation('dora')] })
      expect(body.Operations.map(({ status }: { status: string }) => status)).toEqual(['201', '401'])
    }
    expect(broken.failures).toBeGreaterThan(0)
    expect(await world.auth.scim.directories.list({ organizationId: world.acme })).toHaveLength(1)
    for (const [method, path] of [
      ['GET', '/Users'],
      ['POST', '/Users'],
      ['POST', '/.search'],
      ['POST', '/Bulk'],
      ['GET', '/Schemas'],
    ] as const)
      expect([path, (await world.send(method, path, method === 'GET' ? undefined : {})).status]).toEqual([path, 403])
    expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(true)
    broken.isBroken = false
    await world.auth.cleanup()
    expect(await world.auth.scim.directories.list({ organizationId: world.acme })).toEqual([])
    expect((await world.send('GET', '/Users')).status).toBe(401)
    expect((await world.other('GET', '/Users')).status).toBe(200)
    expect(await world.auth.scim.directories.list({ organizationId: world.globex })).toHaveLength(1)
  },
)

it('a token works at its tenant alone', async () => {
  const settings = (request: Request) => {
    const { host } = new URL(request.url)
    return host === 'b.app.example' ? { namespace: 'b', origin: 'https://b.app.example' } : undefined
  }
  const adapter = memoryAdapter(memoryData())
  const world = await createScimWorld({ adapter })
  const served = createAuth(baseConfig({ origin: 'http://localhost:3000', session: { strategy: 'database' }, runtime: world.runtime! }))
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(organizationsPlugin())
    .use(scimPlugin())
    .use(tenantsPlugin({ settings, tenant: () => undefined }))
  const ask = async (base: string) =>
    (await served.handler(new Request(`${base}/auth/scim/v2/Users`, { headers: { authorization: `Bearer ${world.token}` } }))).status
  expect([await ask('http://localhost:3000'), await ask('https://b.app.example')]).toEqual([200, 401])
})

it('a directory gives nothing back to a user whom an administrator banned', async () => {
  const admin = adminPlugin({ can: () => true })
  const world = await createScimWorld({ plugins: [admin] })
  const { body: ann } = await world.createUser('ann')
  const { id: userId } = (await world.store.getUserByEmail('ann@acme.example'))!
  const { id: root } = (await world.store.getUserByEmail('owner@globex.example'))!
  await (world.auth as typeof world.auth & AdminApi).admin.ban({ userId: root }, userId, { reason: 'Fraud, ticket 1' })
  const setActive = (value: boolean) => world.patch(`/Users/${ann.id}`, { op: 'replace', path: 'active', value })
  expect([(await setActive(false)).status, (await setActive(true)).status]).toEqual([200, 200])
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(false)
  await world.send('DELETE', `/Users/${ann.id}`)
  expect((await world.createUser('ann')).status).toBe(201)
  expect(await world.isSignedIn(await world.signIn('ann@acme.example'))).toBe(false)
})

it('an invitation from before the directory removed the user brings no user back', async () => {
  const world = await createScimWorld({ adapter: memoryAdapter(memoryData()) })
  const owner = (await world.store.getUserByEmail('owner@acme.example'))!
  const invitation = await world.auth.organizations.invite({ userId: owner.id }, world.acme, { email: 'ann@acme.example', role: 'member' })
  expect(invitation.email).toBe('ann@acme.example')
  const { body: ann } = await world.createUser('ann')
  await world.send('DELETE', `/Users/${ann.id}`)
  expect(await world.auth.organizations.invitations({ userId: owner.id }, world.acme)).toEqual([])
})

async function roleOf({ auth, store, acme }: ScimWorld, email: string): Promise<string | undefined> {
  const user = await store.getUserByEmail(email)
  const { members } = await auth.organizations.members({ system: true }, acme)
  return members.find((member) => member.userId === user?.id)?.role
}
