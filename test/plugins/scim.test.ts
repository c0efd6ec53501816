/** SCIM: what directories do with users, and when the access of a user ends. */
import { describe, expect, it } from 'vitest'
import { auditPlugin, type AuditRecord, type AuditSink } from 'authkernel/plugins/audit'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { defineAttribute, scimPlugin } from 'authkernel/plugins/scim'
import { baseConfig } from '../_setup.ts'
import { createScimWorld, enterprise, userSchema } from './_scim.ts'

describe('a user', () => {
  it('is created with a verified email, a name and a membership, and found by userName, externalId and id', async () => {
    const { send, createUser, store, auth, acme, changes } = await createScimWorld()
    const { status, headers, body } = await createUser('ann', { externalId: 'e1', [enterprise]: { department: 'Sales', manager: 'm1' } })
    expect([status, headers.get('content-type'), headers.get('location')]).toEqual([
      201,
      'application/scim+json',
      `http://localhost:3000/auth/scim/v2/Users/${body.id}`,
    ])
    expect(body).toMatchObject({
      schemas: [userSchema, enterprise],
      userName: 'ann@acme.example',
      externalId: 'e1',
      active: true,
      [enterprise]: { department: 'Sales', manager: { value: 'm1' } },
      meta: { resourceType: 'User', version: 'W/"1"' },
    })
    const stored = await store.getUserByEmail('ann@acme.example')
    expect(stored).toMatchObject({ name: 'ann Doe', emailVerified: expect.any(Date) })
    const { members } = await auth.organizations.members({ system: true }, acme)
    expect(members.find(({ userId }) => userId === stored?.id)?.role).toBe('member')
    for (const filter of [
      'userName eq "ANN@acme.example"',
      'externalId eq "e1"',
      `id eq "${body.id}"`,
      'emails[type eq "work" and value co "ann"]',
    ])
      expect((await send('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body).toMatchObject({
        totalResults: 1,
        Resources: [{ id: body.id }],
      })
    expect((await send('GET', '/Users?filter=userName eq "none@acme.example"')).body).toMatchObject({ totalResults: 0, Resources: [] })
    expect(changes).toMatchObject([{ act: 'user.created', organizationId: acme, userId: stored?.id }])
  })

  it.each(['database', 'jwt'] as const)('who is switched off is served no more, and gets nothing back (%s)', async (strategy) => {
    const { createUser, patch, signIn, isSignedIn, auth, store, changes } = await createScimWorld({ strategy })
    const { id } = (await createUser('ann')).body
    const { id: userId } = (await store.getUserByEmail('ann@acme.example'))!
    const browser = await signIn('ann@acme.example')
    const { key } = await auth.apiKeys.create({ userId }, { name: 'script' })
    const byKey = () => auth.apiKeys.verify(new Request('http://localhost:3000/'), key)
    expect([await isSignedIn(browser), await byKey()]).toMatchObject([true, { name: 'script' }])
    // As Entra ID sends it.
    expect((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).body.active).toBe(false)
    expect([await isSignedIn(browser), await byKey(), await isSignedIn(await signIn('ann@acme.example'))]).toEqual([false, null, false])
    // As Okta sends it.
    expect((await patch(`/Users/${id}`, { op: 'replace', value: { active: true } })).body.active).toBe(true)
    expect(await isSignedIn(browser)).toBe(false)
    expect(await isSignedIn(await signIn('ann@acme.example'))).toBe(true)
    expect(changes.map(({ act }) => act)).toEqual(['user.created', 'user.suspended', 'user.restored'])
  })

  it('whom another process serves by a jwt is refused there within half a second, without further options', async () => {
    const adapter = memoryAdapter(memoryData())
    const { createUser, patch, signIn, runtime } = await createScimWorld({ strategy: 'jwt', adapter })
    const { id } = (await createUser('ann')).body
    const browser = await signIn('ann@acme.example')
    const other = createAuth(
      baseConfig({ origin: 'http://localhost:3000', session: { strategy: 'jwt', revocable: true }, runtime: runtime! }),
    )
      .use(adapterPlugin(adapter))
      .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
      .use(organizationsPlugin())
      .use(scimPlugin())
    const request = () => new Request('http://localhost:3000/', { headers: { cookie: browser.cookieHeader() } })
    expect(await other.session(request())).not.toBeNull()
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
    runtime!.advance(501)
    expect(await other.session(request())).toBeNull()
  })

  it('who belongs to another organization keeps the rest', async () => {
    const { createUser, patch, signIn, isSignedIn, auth, store, acme, globex } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    const { id: userId } = (await store.getUserByEmail('ann@acme.example'))!
    await auth.organizations.add({ system: true }, globex, userId)
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
    const browser = await signIn('ann@acme.example')
    expect(await isSignedIn(browser)).toBe(true)
    const request = new Request('http://localhost:3000/', { headers: { cookie: browser.cookieHeader() } })
    expect(await auth.can(request, 'member:read', { organization: acme })).toBe(false)
    expect(await auth.can(request, 'member:read', { organization: globex })).toBe(true)
  })

  it('is removed with the membership and the access', async () => {
    const { createUser, send, signIn, isSignedIn, auth, store, acme } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    const browser = await signIn('ann@acme.example')
    expect((await send('DELETE', `/Users/${id}`)).status).toBe(204)
    expect(await isSignedIn(browser)).toBe(false)
    expect((await send('GET', `/Users/${id}`)).status).toBe(404)
    const { id: userId } = (await store.getUserByEmail('ann@acme.example'))!
    expect((await auth.organizations.members({ system: true }, acme)).members.map((one) => one.userId)).not.toContain(userId)
    expect((await createUser('ann')).status).toBe(201)
  })

  it('the last owner loses all access when switched off, and the organization keeps its owner', async () => {
    const { send, patch, signIn, isSignedIn, auth, acme } = await createScimWorld()
    const owner = { userName: 'owner@acme.example', active: true }
    const { id } = (await send('POST', '/Users', owner)).body
    const browser = await signIn('owner@acme.example')
    expect((await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status).toBe(200)
    expect([await isSignedIn(browser), await isSignedIn(await signIn('owner@acme.example'))]).toEqual([false, false])
    expect((await auth.organizations.members({ system: true }, acme)).members).toMatchObject([{ role: 'owner' }])
    expect((await send('DELETE', `/Users/${id}`)).status).toBe(409)
  })

  it('a request that leaves `active` out, removes it or fails half-way does not switch a user on', async () => {
    const { createUser, send, patch, signIn, isSignedIn, auth, acme, store } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    await createUser('bob')
    const { id: userId } = (await store.getUserByEmail('ann@acme.example'))!
    const isServed = async () => isSignedIn(await signIn('ann@acme.example'))
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
    expect((await send('PUT', `/Users/${id}`, { userName: 'ann@acme.example' })).body.active).toBe(false)
    expect((await patch(`/Users/${id}`, { op: 'remove', path: 'active' })).body.active).toBe(false)
    const taken = await send('PUT', `/Users/${id}`, { userName: 'ann@acme.example', emails: [{ value: 'bob@acme.example' }], active: true })
    expect([taken.status, (await send('GET', `/Users/${id}`)).body.active, await isServed()]).toEqual([409, false, false])
    const { updateUser } = store
    store.updateUser = () => Promise.reject(new Error('away'))
    const change = { userName: 'ann@acme.example', displayName: 'Ann', active: true }
    expect((await send('PUT', `/Users/${id}`, change)).status).toBeGreaterThanOrEqual(500)
    expect(await isServed()).toBe(false)
    store.updateUser = updateUser
    expect((await send('PUT', `/Users/${id}`, change)).body.active).toBe(true)
    expect(await isServed()).toBe(true)
    expect(await auth.can({ user: { id: userId } } as never, 'member:read', { organization: acme })).toBe(true)
  })

  it('a new email within the domain ends what the former one opened; one that another user has is refused', async () => {
    const { createUser, patch, send, signIn, isSignedIn, store } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    await createUser('bob')
    const browser = await signIn('ann@acme.example')
    const path = 'emails[type eq "work"].value'
    expect((await patch(`/Users/${id}`, { op: 'Replace', path, value: 'ann.smith@acme.example' })).status).toBe(200)
    expect(await isSignedIn(browser)).toBe(false)
    expect(await store.getUserByEmail('ann@acme.example')).toBeNull()
    const taken = await patch(`/Users/${id}`, { op: 'Replace', path, value: 'bob@acme.example' })
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness'])
    expect((await send('GET', `/Users/${id}`)).body.emails[0].value).toBe('ann.smith@acme.example')
    const foreign = await patch(`/Users/${id}`, { op: 'Replace', path, value: 'ann@globex.example' })
    expect([foreign.status, foreign.body.detail]).toEqual([400, expect.stringContaining('has not proved the domain globex.example')])
  })
})

describe('users of others', () => {
  it('are never read, changed or told of', async () => {
    const { send, other, createUser, store } = await createScimWorld()
    const before = await store.getUserByEmail('owner@globex.example')
    const [known, unknown] = [
      await send('POST', '/Users', { userName: 'owner@globex.example' }),
      await send('POST', '/Users', { userName: 'none@globex.example' }),
    ]
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
    expect(known.status).toBe(400)
    expect(await store.getUserByEmail('owner@globex.example')).toEqual(before)
    const { id } = (await createUser('ann')).body
    const group = (await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] })).body.id
    for (const path of [`/Users/${id}`, `/Groups/${group}`])
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { userName: 'x@globex.example', displayName: 'x' }],
        ['PATCH', { Operations: [{ op: 'replace', path: path.startsWith('/Users') ? 'active' : 'displayName', value: 'false' }] }],
        ['DELETE', undefined],
      ] as const)
        expect([method, path, (await other(method, path, body)).status]).toEqual([method, path, 404])
    expect((await other('POST', '/Groups', { displayName: 'Ours', members: [{ value: id }] })).status).toBe(400)
    expect((await other('GET', '/Groups')).body.totalResults).toBe(0)
    expect((await other('GET', `/Users?filter=id eq "${id}"`)).body.totalResults).toBe(0)
    expect((await send('GET', `/Users/${id}`)).body.active).toBe(true)
  })

  it('an attacker who registered with the address keeps nothing of it', async () => {
    const { createUser, store, signIn, isSignedIn } = await createScimWorld()
    const attacker = await store.createUser({ email: 'ann@acme.example', emailVerified: null, name: 'Mallory' } as never)
    expect((await createUser('ann')).status).toBe(201)
    const stored = await store.getUserByEmail('ann@acme.example')
    expect(stored?.id).not.toBe(attacker.id)
    expect((await store.getUser(attacker.id))?.email ?? null).toBeNull()
    expect(await isSignedIn(await signIn('ann@acme.example'))).toBe(true)
  })

  it('a request that fails after the user was created takes all of it back, and the next one succeeds', async () => {
    const { createUser, store, send, auth, acme, directoryId } = await createScimWorld()
    await createUser('bob')
    // The same userName with another email: the row conflicts after the user was created.
    const clash = await createUser('ann', { userName: 'bob@acme.example' })
    expect([clash.status, clash.body.scimType]).toEqual([409, 'uniqueness'])
    expect(await store.getUserByEmail('ann@acme.example')).toBeNull()
    const { createUser: create } = store
    store.createUser = async (user) => {
      await create(user)
      throw new Error('the answer was lost')
    }
    expect((await createUser('cy')).status).toBeGreaterThanOrEqual(500)
    store.createUser = create
    const again = await createUser('ann')
    expect(again.status).toBe(201)
    expect((await send('GET', '/Users')).body.totalResults).toBe(2)
    const [directory] = await auth.scim.directories.list({ organizationId: acme })
    expect([directory?.id, directory?.users]).toEqual([directoryId, 2])
  })

  it('of 12 requests that create one user at once one wins, and there is one user', async () => {
    const { createUser, store, send } = await createScimWorld()
    const answers = await Promise.all(Array.from({ length: 12 }, () => createUser('ann')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11)
    expect((await send('GET', '/Users')).body.totalResults).toBe(1)
    expect(await store.getUserByEmail('ann@acme.example')).not.toBeNull()
  })
})

describe('tokens', () => {
  it('are needed, have a scope, an end, and an overlap when they are rotated', async () => {
    const { auth, send, clientOf, directoryId, runtime } = await createScimWorld()
    expect((await clientOf('scim_none')('GET', '/Users')).status).toBe(401)
    const reader = await auth.scim.tokens.create({ directoryId, scope: 'read', days: 1 })
    const read = clientOf(reader.token)
    expect([(await read('GET', '/Users')).status, (await read('POST', '/Users/.search', {})).status]).toEqual([200, 200])
    expect((await read('POST', '/Users', { userName: 'x@acme.example' })).status).toBe(403)
    runtime.advance(86_400_000 + 1000)
    expect((await read('GET', '/Users')).status).toBe(401)
    const [first] = await auth.scim.tokens.list({ directoryId })
    const next = (await auth.scim.tokens.rotate({ id: first!.id }))!
    expect([(await send('GET', '/Users')).status, (await clientOf(next.token)('GET', '/Users')).status]).toEqual([200, 200])
    runtime.advance(7 * 86_400_000 + 1000)
    expect([(await send('GET', '/Users')).status, (await clientOf(next.token)('GET', '/Users')).status]).toEqual([401, 200])
    await auth.scim.directories.delete({ id: directoryId })
    expect((await clientOf(next.token)('GET', '/Users')).status).toBe(401)
  })

  it('are counted', async () => {
    const { send } = await createScimWorld({ options: { limit: { max: 3, seconds: 60 } } })
    const statuses = []
    for (let at = 0; at < 5; at++) statuses.push((await send('GET', '/Users')).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })

  it('are counted in tens where the limit is wide, and a refusal stays one', async () => {
    const { send, runtime } = await createScimWorld({ options: { limit: { max: 1000, seconds: 60 } } })
    let served = 0
    let refused = 0
    for (let at = 0; at < 1040; at++)
      if ((await send('GET', '/ServiceProviderConfig')).status === 429) refused++
      else served++
    expect([served, refused]).toEqual([1000, 40])
    runtime!.advance(61_000)
    expect((await send('GET', '/ServiceProviderConfig')).status).toBe(200)
  })

  it('calls that change or fail are kept without values', async () => {
    const { auth, createUser, send, directoryId, runtime } = await createScimWorld()
    await createUser('ann')
    runtime.advance(1000)
    await createUser('ann')
    await send('GET', '/Users')
    expect(await auth.scim.calls({ directoryId })).toMatchObject([
      { method: 'POST', path: '/Users', status: 409, detail: 'Another user of this directory has this "userName".' },
      { method: 'POST', path: '/Users', status: 201, detail: null },
    ])
  })
})

describe('the event and the audit log', () => {
  it('have the directory as actor, and attributes before and after, without secrets', async () => {
    const records: AuditRecord[] = []
    const sink: AuditSink = { name: 'test', write: async (batch) => void records.push(...batch) }
    const badge = {
      id: 'urn:example:params:scim:schemas:extension:acme:2.0:User',
      name: 'Acme',
      description: 'Acme',
      attributes: [
        defineAttribute('pin', 'Opens the door.', { returned: 'never' }),
        defineAttribute('floor', 'The floor.', { returned: 'request' }),
      ],
    }
    const { createUser, patch, changes, send, auth } = await createScimWorld({
      options: { extensions: [badge] },
      plugins: [auditPlugin({ sink })],
    })
    const { id } = (await createUser('ann', { title: 'Engineer', password: 'hunter2-hunter2', [badge.id]: { pin: 'pin-one', floor: '3' } }))
      .body
    expect((await send('GET', `/Users/${id}`)).body[badge.id]).toBeUndefined()
    expect((await send('GET', `/Users/${id}?attributes=${badge.id}:floor,${badge.id}:pin`)).body[badge.id]).toEqual({ floor: '3' })
    await patch(
      `/Users/${id}`,
      { op: 'replace', path: 'title', value: 'Manager' },
      { op: 'replace', path: `${badge.id}:pin`, value: 'pin-two' },
    )
    await send('DELETE', `/Users/${id}`)
    await auth.close()
    expect(changes[1]).toMatchObject({
      act: 'user.changed',
      attributes: ['title', badge.id],
      changes: { title: { before: 'Engineer', after: 'Manager' }, [badge.id]: { before: null, after: null } },
    })
    expect(changes[0]?.changes?.['userName']).toEqual({ before: null, after: 'ann@acme.example' })
    expect(changes[2]?.changes?.['userName']).toEqual({ before: 'ann@acme.example', after: null })
    const changed = records.find(({ name }) => name === 'scim.user.changed')
    expect(changed).toMatchObject({
      actor: { type: 'scim', id: 'Directory of Acme of Acme' },
      target: { attributes: `title ${badge.id}`, 'before title': 'Engineer', 'after title': 'Manager' },
    })
    expect(JSON.stringify([records, changes])).not.toMatch(/hunter2|pin-one|pin-two/)
  })

  it('have of a group its name before and after, and the members that a request removed and added', async () => {
    const records: AuditRecord[] = []
    const { createUser, patch, send, auth } = await createScimWorld({
      plugins: [auditPlugin({ sink: (some) => void records.push(...some) })],
    })
    const [ann, bob] = [(await createUser('ann')).body.id, (await createUser('bob')).body.id]
    const { id } = (await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: ann }] })).body
    await patch(
      `/Groups/${id}`,
      { op: 'replace', path: 'displayName', value: 'Sales' },
      { op: 'add', path: 'members', value: [{ value: bob }] },
      { op: 'remove', path: `members[value eq "${ann}"]` },
    )
    await send('PUT', `/Groups/${id}`, { displayName: 'Sales', members: [] })
    await send('DELETE', `/Groups/${id}`)
    await auth.close()
    const told = records.filter(({ name }) => name.startsWith('scim.group'))
    expect(told.map(({ name, actor, target }) => [name, actor.id, target])).toEqual([
      [
        'scim.group.created',
        'Directory of Acme of Acme',
        expect.objectContaining({ 'after displayName': 'Staff', 'after members': JSON.stringify([ann]) }),
      ],
      [
        'scim.group.changed',
        'Directory of Acme of Acme',
        expect.objectContaining({
          attributes: 'displayName members',
          'before displayName': 'Staff',
          'after displayName': 'Sales',
          'before members': JSON.stringify([ann]),
          'after members': JSON.stringify([bob]),
        }),
      ],
      ['scim.group.changed', 'Directory of Acme of Acme', expect.objectContaining({ attributes: 'members', 'before members': 'all' })],
      ['scim.group.removed', 'Directory of Acme of Acme', expect.objectContaining({ 'before displayName': 'Sales' })],
    ])
  })

  it.each([true, false])(
    'have each call with its actor, and of reads what was looked at, without values (auditReads: %s)',
    async (auditReads) => {
      const records: AuditRecord[] = []
      const { createUser, send, clientOf, auth, directoryId, acme } = await createScimWorld({
        options: { auditReads, bulk: 10 },
        plugins: [auditPlugin({ sink: (some) => void records.push(...some) })],
      })
      const { id } = (await createUser('ann', { [enterprise]: { department: 'Secret projects' } })).body
      const filter = encodeURIComponent(`userName eq "ann@acme.example" and not (${enterprise}:department co "Secret")`)
      const both = encodeURIComponent('emails[type eq "work"] or name.givenName sw "an"')
      const etag = (await send('GET', `/Users/${id}`)).headers.get('etag') ?? ''
      await send('GET', `/Users/${id}`, undefined, { 'if-none-match': etag })
      await send('GET', `/Users?filter=${filter}`)
      await send('GET', `/Users?filter=${both}`)
      await send('POST', '/.search', { filter: 'meta.created gt "2000-01-01T00:00:00Z"' })
      await send('GET', '/Schemas')
      await send('GET', '/Users/none')
      await createUser('ann')
      await send('POST', '/Bulk', {
        Operations: [
          { method: 'DELETE', path: '/Users/none' },
          { method: 'DELETE', path: `/Users/${id}` },
        ],
      })
      await clientOf('scim_wrong')('GET', '/Users')
      await auth.close()
      const own = records.filter(({ actor }) => actor.type === 'scim')
      expect(new Set(own.map(({ actor }) => actor.id))).toEqual(new Set(['Directory of Acme of Acme']))
      const of = { directoryId, organizationId: acme }
      expect(own.filter(({ name }) => name === 'scim.read').map(({ target }) => target)).toEqual(
        auditReads
          ? [
              { ...of, path: `/Users/${id}`, status: 200 },
              { ...of, path: `/Users/${id}`, status: 304 },
              { ...of, path: '/Users', by: `${enterprise}:department userName`, count: 0, status: 200 },
              { ...of, path: '/Users', by: 'emails.type name.givenName', count: 1, status: 200 },
              { ...of, path: '/.search', by: 'meta.created', count: 1, status: 200 },
              { ...of, path: '/Schemas', status: 200 },
            ]
          : [],
      )
      const others = own.filter(({ name }) => name !== 'scim.read' && /^(?:scim|request)\./.test(name))
      expect(others.map(({ name, outcome, target }) => [name, outcome, target?.['route'] ?? target?.['rejected']])).toEqual([
        ['scim.user.created', 'success', undefined],
        ['request.refused', 'denied', 'GET /scim/v2/Users/:id'],
        ['request.refused', 'denied', 'POST /scim/v2/Users'],
        ['scim.user.removed', 'success', undefined],
        ['scim.bulk', 'success', 1],
      ])
      expect(records.filter(({ actor, name }) => actor.type !== 'scim' && name === 'request.refused')).toHaveLength(1)
      expect(await auth.scim.calls({ directoryId })).not.toContainEqual(expect.objectContaining({ path: '/.search' }))
      expect(JSON.stringify(own.filter(({ name }) => name === 'scim.read'))).not.toMatch(/Secret|ann/)
    },
  )
})
