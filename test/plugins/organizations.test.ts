/** Organizations: members, roles, teams, invitations, and what a session says of them. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { baseConfig } from '../_setup.ts'
import { hostileAddresses } from './_hostile-addresses.ts'
import { type, world } from './_organizations.ts'

const day = 86_400_000
const sys = { system: true } as const

describe('roles', () => {
  it('say what a member may do, read at each use', async () => {
    const { auth, browser, asks, found } = await world()
    const id = await found({ bob: 'admin', cy: 'member', dan: 'viewer' })
    const at = { organization: id }
    const may = async (user: string, permission: 'project:update' | 'project:delete' | 'organization:delete' | 'member:read') =>
      auth.can(asks(await browser(user)), permission, at)
    expect([await may('ada', 'organization:delete'), await may('bob', 'organization:delete')]).toEqual([true, false])
    expect([await may('bob', 'project:delete'), await may('cy', 'project:delete'), await may('cy', 'project:update')]).toEqual([
      true,
      false,
      true,
    ])
    expect([await may('dan', 'member:read'), await may('eve', 'project:update')]).toEqual([false, false])
    const session = await auth.session(asks(await browser('cy')))
    expect(await auth.can(session, 'project:update', at)).toBe(true)
    const app = (...scopes: string[]) => ({ ...session!, bearer: { id: 'x', clientId: 'app', scopes } })
    expect([await auth.can(app(), 'project:update', at), await auth.can(app('project:update'), 'project:update', at)]).toEqual([
      false,
      true,
    ])
    await auth.organizations.setRole({ userId: 'ada' }, id, 'cy', 'viewer')
    expect(await auth.can(session, 'project:update', at)).toBe(false)
    expect([await auth.can(null, 'project:update', at), await auth.can(session, 'project:update')]).toEqual([false, false])
    expect(await auth.can(session, 'project:update', { organization: 'x'.repeat(500) })).toBe(false)
    await expect(auth.can(session, 'project:updte' as never, at)).rejects.toThrow('Did you mean "project:update"')
  })

  it('a permission is one read of the store', async () => {
    const { auth, store, browser, asks, found } = await world()
    const id = await found({ cy: 'member' })
    const session = await auth.session(asks(await browser('cy')))
    const { records } = store as unknown as { records: Record<string, (...args: unknown[]) => unknown> }
    const reads: unknown[] = []
    for (const name of ['get', 'find', 'count'])
      records[name] = (
        (inner) =>
        (...args: unknown[]) => (reads.push([name, args[0]]), inner.apply(records, args))
      )(records[name]!)
    expect(await auth.can(session, 'project:update', { organization: id })).toBe(true)
    expect(reads).toEqual([['get', 'organizationMember']])
  })

  it('of a team hold in that team, for members of the organization alone', async () => {
    const { auth, browser, asks, found } = await world()
    const [ada, id] = [{ userId: 'ada' }, await found({ dan: 'viewer' })]
    const { id: team } = await auth.organizations.teams.create(ada, id, { name: 'Core' })
    const other = await auth.organizations.teams.create(ada, id, { name: 'Other' })
    await auth.organizations.teams.add(ada, id, team, 'dan', 'admin')
    const dan = asks(await browser('dan'))
    const may = (where: { team?: string }) => auth.can(dan, 'project:delete', { organization: id, ...where })
    expect([await may({ team }), await may({ team: other.id }), await may({}), await may({ team: 'none' })]).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(await auth.organizations.teams.members(ada, id, team)).toMatchObject([{ userId: 'dan', role: 'admin' }])
    expect(await type(auth.organizations.teams.add(ada, id, team, 'dan'))).toBe('AlreadyMember')
    expect(await type(auth.organizations.teams.add(ada, id, team, 'cy'))).toBe('NoSuchOrganization')
    expect(await type(auth.organizations.teams.create(ada, id, { name: 'Core' }))).toBe('OrganizationTaken')
    await auth.organizations.remove(ada, id, 'dan')
    expect([await may({ team }), await auth.organizations.teams.members(ada, id, team)]).toEqual([false, []])
    await auth.organizations.teams.rename(ada, id, team, { name: 'Heart' })
    await auth.organizations.teams.delete(ada, id, other.id)
    expect((await auth.organizations.teams.list(ada, id)).map(({ name }) => name)).toEqual(['Heart'])
  })
})

describe('an organization', () => {
  it('has an owner, a slug, limits, and goes with all that it has', async () => {
    const { auth, found, told, store } = await world('database', { limits: { perUser: 2, members: 2, teams: 1 } })
    const [ada, id] = [{ userId: 'ada' }, await found({ bob: 'member' })]
    const made = await auth.organizations.create(ada, { name: ' Acme ', slug: 'acme' })
    expect(made).toMatchObject({ name: 'Acme', slug: 'acme' })
    expect(await type(auth.organizations.create({ userId: 'bob' }, { name: 'x', slug: 'acme' }))).toBe('OrganizationTaken')
    expect(await type(auth.organizations.create(ada, { name: 'third' }))).toBe('OrganizationFull')
    for (const bad of [{ name: '' }, { name: 'x'.repeat(101) }, { name: 'a\nb' }, { name: 7 as never }, { name: 'x', slug: 'A b' }])
      expect(await type(auth.organizations.create({ userId: 'bob' }, bad))).toBe('OrganizationInput')
    expect(await type(auth.organizations.add(sys, id, 'cy'))).toBe('OrganizationFull')
    expect(await type(auth.organizations.add(sys, id, 'bob'))).toBe('AlreadyMember')
    expect(await type(auth.organizations.update(ada, id, { slug: 'acme' }))).toBe('OrganizationTaken')
    expect(await auth.organizations.update(ada, id, { name: 'New', slug: 'new' })).toMatchObject({ name: 'New', slug: 'new' })
    // A deleted member makes room.
    await store.deleteUser('bob')
    expect(await type(auth.organizations.add(sys, id, 'cy'))).toBe('done')
    await auth.organizations.teams.create(ada, id, { name: 'Core' })
    expect(await type(auth.organizations.teams.create(ada, id, { name: 'More' }))).toBe('OrganizationFull')
    await auth.organizations.delete(ada, id)
    expect([await auth.organizations.get(ada, id), (await auth.organizations.list({ userId: 'cy' })).length]).toEqual([null, 0])
    expect((await auth.organizations.list(ada)).map(({ name, role }) => [name, role])).toEqual([['Acme', 'owner']])
    expect(told).toEqual([
      'created ada',
      'member.added null',
      'created ada',
      'updated ada',
      'member.added null',
      'team.created ada',
      'deleted ada',
    ])
  })

  it('keeps its last owner: no member removes them, and they hand it over', async () => {
    const { auth, found } = await world()
    const [ada, id] = [{ userId: 'ada' }, await found({ bob: 'admin', cy: 'member' })]
    expect(await type(auth.organizations.leave(ada, id))).toBe('LastOwner')
    expect(await type(auth.organizations.setRole(ada, id, 'ada', 'admin'))).toBe('LastOwner')
    expect(await type(auth.organizations.remove(sys, id, 'ada'))).toBe('LastOwner')
    expect(await type(auth.organizations.transfer({ userId: 'bob' }, id, 'bob'))).toBe('OrganizationDenied')
    await auth.organizations.transfer(ada, id, 'cy')
    const { members } = await auth.organizations.members(ada, id)
    expect(members.map(({ userId, role, name, email }) => [userId, role, name, email]).sort()).toEqual([
      ['ada', 'admin', 'ada', 'ada@example.com'],
      ['bob', 'admin', 'bob', 'bob@example.com'],
      ['cy', 'owner', 'cy', 'cy@example.com'],
    ])
    await auth.organizations.leave(ada, id)
    expect(await auth.organizations.get(ada, id)).toBeNull()
  })

  it('lists members in pages', async () => {
    const { auth, found } = await world()
    const id = await found({ bob: 'admin', cy: 'member', dan: 'member' })
    const first = await auth.organizations.members({ userId: 'cy' }, id, { limit: 3 })
    const second = await auth.organizations.members({ userId: 'cy' }, id, { limit: 3, cursor: first.cursor })
    expect([...first.members, ...second.members].map(({ userId }) => userId).sort()).toEqual(['ada', 'bob', 'cy', 'dan'])
    expect(second.cursor).toBeUndefined()
    expect((await auth.organizations.members({ userId: 'cy' }, id, { role: 'admin' })).members.map(({ userId }) => userId)).toEqual(['bob'])
    expect(await type(auth.organizations.members({ userId: 'dan' }, id, { limit: 0 }))).toBe('OrganizationInput')
    expect(await type(auth.organizations.members({ userId: 'dan' }, id, { cursor: 'nonsense' }))).toBe(400)
  })
})

describe.each(['jwt', 'database'] as const)('the active organization, %s', (strategy) => {
  it('stands in the session while the user is a member', async () => {
    const { auth, browser, asks, call, found } = await world(strategy)
    const [id, cy] = [await found({ cy: 'member' }), await browser('cy')]
    expect((await call(cy, 'setActive', { organization: id })).status).toBe(200)
    expect((await cy.session())?.['organization']).toEqual({ id, role: 'member' })
    expect(await auth.can(asks(cy), 'project:update')).toBe(true)
    expect(await auth.can(await auth.session(asks(cy)), 'project:update')).toBe(true)
    // A planted cookie of another user says nothing.
    const dan = await browser('dan')
    for (const [name, value] of cy.cookies) if (name.endsWith('.organization')) dan.cookies.set(name, value)
    expect((await dan.session())?.['organization']).toBeUndefined()
    expect((await call(dan, 'setActive', { organization: id })).answer.error).toBe('NoSuchOrganization')
    await auth.organizations.remove({ userId: 'ada' }, id, 'cy')
    expect((await cy.session())?.['organization']).toBeUndefined()
    const answer = await auth.organizations.setActive(asks(await browser('ada')), id, { returnTo: '/app' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://localhost:3000/app'])
    expect(await type(auth.organizations.setActive(asks(cy), null, { returnTo: '//evil.example' }))).toBe(400)
  })
})

describe.each(['jwt', 'database'] as const)('after a sign-in, %s', (strategy) => {
  it('the only organization is active, and auth.can goes by it at once', async () => {
    const { auth, browser, asks, call, found } = await world(strategy)
    const ada = await browser('ada')
    expect(await auth.can(asks(ada), 'project:update')).toBe(false)
    const id = await found({ cy: 'member' })
    // The owner signed in before there was one: the session names none yet, and there is one to ask about.
    expect(await auth.can(asks(ada), 'project:update')).toBe(true)
    expect(await auth.can(await auth.session(asks(ada)), 'organization:delete')).toBe(true)
    expect((await (await browser('ada')).session())?.organization).toEqual({ id, role: 'owner' })
    expect((await (await browser('cy')).session())?.organization).toEqual({ id, role: 'member' })
    expect((await (await browser('dan')).session())?.organization).toBeUndefined()
    // One that a user makes is active from then on.
    const dan = await browser('dan')
    const made = await call(dan, 'create', { name: 'Of Dan' })
    expect((await dan.session())?.organization).toEqual({ id: made.answer['id'], role: 'owner' })
  })

  it('of several the last chosen one is active, in any browser; none when the person chose none', async () => {
    const { auth, browser, asks, call, found } = await world(strategy)
    const [, second] = [await found(), await found()]
    const ada = await browser('ada')
    expect((await ada.session())?.organization).toBeUndefined()
    expect(await auth.can(asks(ada), 'project:update')).toBe(false)
    await call(ada, 'setActive', { organization: second })
    expect((await (await browser('ada')).session())?.organization).toEqual({ id: second, role: 'owner' })
    await call(ada, 'setActive', {})
    const later = await browser('ada')
    expect((await later.session())?.organization).toBeUndefined()
    expect(await auth.can(asks(later), 'project:update')).toBe(false)
    // A choice ends with the membership.
    await call(ada, 'setActive', { organization: second })
    await auth.organizations.delete({ userId: 'ada' }, second)
    const [only] = await auth.organizations.list({ userId: 'ada' })
    expect((await (await browser('ada')).session())?.organization).toEqual({ id: only!.id, role: 'owner' })
  })

  it('a key is for the organization that it names, and for no usual one', async () => {
    const { auth, found } = await world(strategy)
    await found()
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes: ['project:update'] })
    const request = new Request('http://localhost:3000/', { headers: { authorization: `Bearer ${key}` } })
    expect(await auth.can(request, 'project:update')).toBe(false)
  })
})

describe('a role of the host', () => {
  it('without a text is called by its name', async () => {
    const { browser, found } = await world()
    const id = await found({ cy: 'viewer' })
    const page = await (await (await browser('ada')).get(`/organizations/members?organization=${id}`)).text()
    expect(page).toContain('<option value="viewer">viewer</option>')
    const member = await (await (await browser('ada')).get(`/organizations/member?organization=${id}&userId=cy`)).text()
    expect(member).toMatch(/name="role.viewer"[^>]*checked[^>]*>\s*<span>viewer</)
    expect(page).not.toMatch(/<option[^>]*><\/option>/)
  })

  it('that may not see the members accepts an invitation and ends among its organizations, and can leave there', async () => {
    const { auth, browser, token, found, call } = await world()
    const id = await found()
    await auth.organizations.invite({ userId: 'ada' }, id, { email: 'bob@example.com', role: 'viewer' })
    const bob = await browser('bob')
    await bob.get(`/organizations/invitation?token=${await token()}`)
    const done = await bob.post('/organizations', { action: 'accept' })
    expect(done.headers.get('location')).toBe('http://localhost:3000/auth/organizations')
    expect((await bob.session())?.organization).toEqual({ id, role: 'viewer' })
    const own = await (await bob.get('/organizations')).text()
    expect([own.includes('Org of ada'), own.includes('/organizations/members?'), own.includes('viewer')]).toEqual([true, false, true])
    await bob.post('/organizations', { action: 'leave', organization: id })
    expect((await call(bob, 'list')).answer).toEqual([])
  })

  it('of any kind is left on the page of the own organizations, after a question; the last owner stays', async () => {
    const { browser, found, call } = await world()
    const id = await found({ bob: 'member' })
    const [ada, bob, eve] = [await browser('ada'), await browser('bob'), await browser('eve')]
    const page = await (await bob.get('/organizations')).text()
    expect([page.includes(`data-ui-open="leave-${id}"`), page.includes(`/organizations?leave=${id}`)]).toEqual([true, true])
    // The same question without JavaScript, and none about the organization of others.
    expect(await (await bob.get(`/organizations?leave=${id}`)).text()).toMatch(
      /<bdi>Org of ada<[\s\S]*You lose access to this organization/,
    )
    expect(await (await eve.get(`/organizations?leave=${id}`)).text()).not.toContain('Org of ada')
    const refused = await ada.post('/organizations', { action: 'leave', organization: id })
    expect(refused.headers.get('location')).toContain('/organizations?error=LastOwner')
    expect((await call(ada, 'list')).answer).toHaveLength(1)
    await bob.post('/organizations', { action: 'leave', organization: id })
    expect((await call(bob, 'list')).answer).toEqual([])
  })

  it('that gives up what sees the members ends among its organizations', async () => {
    const { auth, browser, found } = await world()
    const id = await found({ cy: 'owner' })
    const ada = await browser('ada')
    const done = await ada.post('/organizations', { action: 'role', organization: id, userId: 'ada', role: 'viewer' })
    expect(done.headers.get('location')).toBe('http://localhost:3000/auth/organizations')
    expect((await auth.organizations.get({ userId: 'ada' }, id))?.role).toBe('viewer')
  })
})

describe('an invitation', () => {
  it('is mailed, and makes the user who has proved its address a member, once', async () => {
    const { auth, browser, mails, token, found, told } = await world()
    const id = await found()
    const made = await auth.organizations.invite({ userId: 'ada' }, id, { email: 'Bob@Example.com', role: 'admin' })
    expect(made).toMatchObject({ email: 'bob@example.com', role: 'admin', team: null })
    const link = await token()
    expect([mails[0]?.to, mails[0]?.subject, mails[0]?.text]).toEqual([
      'bob@example.com',
      'Join Org of ada at localhost:3000',
      expect.stringContaining('ada invites you.'),
    ])
    const bob = await browser()
    const opened = await bob.get(`/organizations/invitation?token=${link}`)
    // The token goes on in a sealed cookie.
    expect([opened.status, opened.headers.get('location')]).toEqual([302, 'http://localhost:3000/auth/organizations/invitation'])
    expect([...bob.cookies.values()].join()).not.toContain(link)
    const before = await (await bob.get('/organizations/invitation')).text()
    expect(before).toContain('Sign in as bob@example.com to accept it.')
    await bob.post('/callback/credentials', { user: 'bob' })
    expect(await (await bob.get('/organizations/invitation')).text()).toContain('You are invited to join Org of ada.')
    const done = await bob.post('/organizations', { action: 'accept' })
    expect(done.headers.get('location')).toBe(`http://localhost:3000/auth/organizations/members?organization=${id}`)
    expect((await bob.session())?.['organization']).toEqual({ id, role: 'admin' })
    await bob.get(`/organizations/invitation?token=${link}`)
    expect((await bob.get('/organizations/invitation')).status).toBe(400)
    expect(told).toEqual(['created ada', 'invitation.created ada', 'invitation.accepted bob'])
  })

  it('lives 7 days, is replaced, cancelled and declined', async () => {
    const { auth, browser, asks, token, found, runtime } = await world()
    const [ada, id, bob] = [{ userId: 'ada' }, await found(), await browser('bob')]
    const invite = async () => (await auth.organizations.invite(ada, id, { email: 'bob@example.com' }), token())
    const first = await invite()
    const second = await invite()
    expect(await auth.organizations.invitations(ada, id)).toHaveLength(1)
    expect(await type(auth.organizations.accept(asks(bob), first))).toBe('InvitationInvalid')
    runtime.advance(7 * day)
    expect(await type(auth.organizations.accept(asks(await browser('bob')), second))).toBe('InvitationInvalid')
    const third = await invite()
    const [open] = await auth.organizations.invitations(ada, id)
    expect(await auth.organizations.cancel(ada, id, open!.id)).toBe(true)
    expect(await auth.organizations.cancel(ada, id, open!.id)).toBe(false)
    expect(await type(auth.organizations.accept(asks(bob), third))).toBe('InvitationInvalid')
    const nobody = await browser()
    await nobody.get(`/organizations/invitation?token=${await invite()}`)
    await nobody.post('/organizations', { action: 'decline' })
    expect(await auth.organizations.invitations(ada, id)).toEqual([])
  })

  it('brings a user into a team, and stops at the limits', async () => {
    const { auth, browser, asks, token, found } = await world('database', { limits: { invitations: 1, members: 2 } })
    const [ada, id] = [{ userId: 'ada' }, await found()]
    const { id: team } = await auth.organizations.teams.create(ada, id, { name: 'Core' })
    await auth.organizations.invite(ada, id, { email: 'bob@example.com', team })
    expect(await type(auth.organizations.invite(ada, id, { email: 'cy@example.com' }))).toBe('OrganizationFull')
    expect(await type(auth.organizations.invite(ada, id, { email: 'nobody' }))).toBe('OrganizationInput')
    expect(await type(auth.organizations.invite(ada, id, { email: 'cy@example.com', team: 'none' }))).toBe('OrganizationInput')
    const link = await token()
    await auth.organizations.accept(asks(await browser('bob')), link)
    expect((await auth.organizations.teams.members(ada, id, team)).map(({ userId }) => userId)).toEqual(['bob'])
    expect(await type(auth.organizations.invite(ada, id, { email: 'bob@example.com' }))).toBe('AlreadyMember')
    await auth.organizations.invite(ada, id, { email: 'cy@example.com' })
    expect(await type(auth.organizations.accept(asks(await browser('cy')), await token()))).toBe('OrganizationFull')
    for (let i = 0; i < 4; i++) await auth.organizations.invite(ada, id, { email: 'cy@example.com' })
    expect(await type(auth.organizations.invite(ada, id, { email: 'cy@example.com' }))).toBe(429)
  })
})

it('mistakes in the options name them, also for the compiler', async () => {
  const wrong = (options: object) => () => organizationsPlugin(options as never)
  expect(wrong({ roles: { owner: '*' } })).toThrow('"owner"')
  expect(wrong({ roles: { x: { project: ['fly'] } } })).toThrow('the statement "project"')
  expect(wrong({ statements: { project: ['update'] }, roles: { x: { project: ['fly'] } } })).toThrow('"project:fly"')
  expect(wrong({ statements: { member: ['x'] } })).toThrow('"member" is one of the plugin\'s own')
  expect(wrong({ limits: { teams: 0 } })).toThrow('`limits.teams`')
  expect(wrong({ invitationAge: 1 })).toThrow('`invitationAge`')
  expect(wrong({ tenants: 'x' })).toThrow('`tenants`')
  // @ts-expect-error The statement has no such action.
  expect(() => organizationsPlugin({ statements: { project: ['update'] }, roles: { x: { project: ['fly'] } } })).toThrow()
  const auth = createAuth(baseConfig()).use(adapterPlugin(memoryAdapter())).use(organizationsPlugin())
  await expect(auth.ready()).rejects.toThrow(/organizations.*mailTransport/s)
})

it('an invitation reads addresses as sign-ins do, and a domain may be written in ASCII by a provider', async () => {
  const { auth, browser, asks, found, store, token, mails } = await world()
  const id = await found()
  const invite = (email: string) => auth.organizations.invite({ userId: 'ada' }, id, { email })
  for (const bad of hostileAddresses) expect(await type(invite(bad)), bad).toBe('OrganizationInput')
  expect((await invite(' Bob@BÜCHER.example ')).email).toBe('bob@bücher.example')
  const text = await token()
  expect(mails.at(-1)!.to).toBe('bob@bücher.example')
  // Another mailbox, which only looks alike, and then the same one as a provider writes it.
  await store.updateUser({ id: 'bob', email: 'bob@bucher.example' })
  const bob = await browser('bob')
  expect(await type(auth.organizations.accept(asks(bob), text))).toBe('InvitationOther')
  await store.updateUser({ id: 'bob', email: 'bob@xn--bcher-kva.example' })
  expect(await auth.organizations.accept(asks(bob), text)).toMatchObject({ organization: id })
})
