/** Roles that members make, several roles, own fields, joining by a domain, invitations in lists, the history and the search of members. */
import { describe, expect, it } from 'vitest'
import { type, world } from './_organizations.ts'

const sys = { system: true } as const
const as = (userId: string) => ({ userId })
const dns = new Map<string, string[]>()
const resolveTxt = (name: string) => Promise.resolve([dns.get(name) ?? []])

describe('roles of one organization', () => {
  it('are made of declared permissions, by members who have them, and hold at once', async () => {
    const { auth, found, browser, asks } = await world()
    const { roles, setRole, add } = auth.organizations
    const [id, other] = [await found({ bob: 'admin', cy: 'member' }), await found({}, 'dan')]
    const made = await roles.create(as('bob'), id, { title: 'Builder', permissions: ['project:create', 'invitation:create'] })
    expect(made).toMatchObject({ title: 'Builder', custom: true, permissions: ['project:create', 'invitation:create'] })
    await setRole(as('bob'), id, 'cy', ['member', made.role])
    const cy = await browser('cy')
    const may = (permission: 'project:create' | 'project:update' | 'project:delete') => auth.can(asks(cy), permission, { organization: id })
    expect([await may('project:create'), await may('project:update'), await may('project:delete')]).toEqual([true, true, false])
    expect(await type(auth.organizations.invite(as('cy'), id, { email: 'x@y.example' }))).toBe('done')
    await roles.update(as('bob'), id, made.role, { permissions: ['project:delete'] })
    expect([await may('project:create'), await may('project:delete')]).toEqual([false, true])
    // It is a role of this organization alone.
    await add(sys, other, 'cy')
    expect([
      await type(setRole(as('dan'), other, 'cy', made.role)),
      await type(roles.update(as('dan'), other, made.role, { title: 'X' })),
    ]).toEqual(['OrganizationInput', 'OrganizationInput'])
    expect((await roles.list(as('cy'), id)).map(({ role }) => role)).toEqual(['owner', 'admin', 'member', 'viewer', made.role])
  })

  it('never hold more than those who make, change, give or delete them', async () => {
    const { auth, found } = await world()
    const { roles, setRole } = auth.organizations
    const id = await found({ bob: 'admin', cy: 'member', dan: 'member' })
    const maker = await roles.create(as('ada'), id, {
      title: 'Maker',
      permissions: ['role:create', 'role:update', 'role:delete', 'member:role'],
    })
    const strong = await roles.create(as('ada'), id, { title: 'Strong', permissions: ['project:delete'] })
    await setRole(as('ada'), id, 'cy', ['member', maker.role])
    expect([
      await type(roles.create(as('cy'), id, { title: 'More', permissions: ['domain:claim'] })),
      await type(roles.update(as('cy'), id, maker.role, { permissions: ['domain:claim'] })),
      await type(roles.update(as('cy'), id, strong.role, { permissions: [] })),
      await type(roles.delete(as('cy'), id, strong.role)),
      await type(setRole(as('cy'), id, 'cy', [maker.role, strong.role])),
      await type(roles.create(as('dan'), id, { title: 'More', permissions: [] })),
      await type(roles.create(as('ada'), id, { title: 'More', permissions: ['organization:delete'] })),
      await type(roles.create(as('ada'), id, { title: 'More', permissions: ['no:such'] })),
      await type(roles.create(as('ada'), id, { title: 'More', permissions: 'project:create' as never })),
      await type(roles.create(as('ada'), id, { title: 'Strong', permissions: [] })),
      await type(roles.update(as('ada'), id, 'member', { permissions: [] })),
      await type(roles.create(as('eve'), id, { title: 'More', permissions: [] })),
      await type(setRole(as('ada'), id, 'dan', [])),
      await type(
        setRole(
          as('ada'),
          id,
          'dan',
          Array.from({ length: 11 }, () => 'member'),
        ),
      ),
    ]).toEqual([
      'OrganizationDenied',
      'OrganizationDenied',
      'OrganizationDenied',
      'OrganizationDenied',
      'OrganizationDenied',
      'OrganizationDenied',
      'OrganizationInput',
      'OrganizationInput',
      'OrganizationInput',
      'OrganizationTaken',
      'OrganizationInput',
      'NoSuchOrganization',
      'OrganizationInput',
      'OrganizationInput',
    ])
    // A role of its own permissions is another matter.
    expect(await type(roles.create(as('cy'), id, { title: 'Less', permissions: ['member:read'] }))).toBe('done')
  })

  it('are deleted when they are no main role, and grant nothing from then on', async () => {
    const { auth, found, browser, asks } = await world('jwt', { limits: { roles: 1 } })
    const { roles, setRole, transfer, members } = auth.organizations
    const id = await found({ bob: 'member', cy: 'member' })
    const { role } = await roles.create(as('ada'), id, { title: 'R', permissions: ['project:delete'] })
    expect(await type(roles.create(as('ada'), id, { title: 'S', permissions: [] }))).toBe('OrganizationFull')
    await setRole(as('ada'), id, 'bob', role)
    await setRole(as('ada'), id, 'cy', ['member', role])
    expect(await type(roles.delete(as('ada'), id, role))).toBe('RoleInUse')
    await transfer(as('ada'), id, 'bob')
    expect((await members(as('ada'), id)).members.find(({ userId }) => userId === 'bob')?.roles).toEqual(['owner'])
    const cy = await browser('cy')
    expect(await auth.can(asks(cy), 'project:delete', { organization: id })).toBe(true)
    await roles.delete(as('bob'), id, role)
    expect(await auth.can(asks(cy), 'project:delete', { organization: id })).toBe(false)
    expect((await roles.create(as('bob'), id, { title: 'R', permissions: ['project:delete'] })).role).not.toBe(role)
    expect(await auth.can(asks(cy), 'project:delete', { organization: id })).toBe(false)
  })
})

describe('the fields of an organization', () => {
  const options = {
    fields: { vat: { type: 'string', max: 5 }, seats: { type: 'number' }, plan: { type: 'string', editable: false } },
  } as const

  it('hold what the options say, and some only what the host writes', async () => {
    const { auth, found, browser, call } = await world('database', options)
    const { update, get } = auth.organizations
    const id = await found({ bob: 'member' })
    await update(as('ada'), id, { image: 'https://cdn.example/logo.png', fields: { vat: 'DE1', seats: 5 } })
    await update(sys, id, { fields: { plan: 'pro' } })
    await update(as('ada'), id, { fields: { seats: null } })
    expect(await get(as('bob'), id)).toMatchObject({ image: 'https://cdn.example/logo.png', fields: { vat: 'DE1', plan: 'pro' } })
    expect((await get(as('bob'), id))?.fields).not.toHaveProperty('seats')
    const refused = (change: object) => type(update(as('ada'), id, change))
    expect([
      await refused({ fields: { plan: 'free' } }),
      await refused({ fields: { vat: 'too long' } }),
      await refused({ fields: { seats: Number.NaN } }),
      await refused({ fields: { __proto__x: 1 } }),
      await refused({ fields: 'vat' }),
      await refused({ image: 'javascript:alert(1)' }),
      await refused({ image: 'http://cdn.example/a.png' }),
      await refused({ image: '//evil.example/a.png' }),
      await refused({ image: 'https://user:secret@cdn.example/a.png' }),
      await type(update(as('bob'), id, { fields: { vat: 'x' } })),
    ]).toEqual(['OrganizationDenied', ...Array.from({ length: 8 }, () => 'OrganizationInput'), 'OrganizationDenied'])
    const ada = await browser('ada')
    expect((await call(ada, 'update', { organization: id, fields: { plan: 'free' } })).status).toBe(403)
    expect((await call(ada, 'update', { organization: id, image: '/logo.png', fields: { vat: 'A' } })).answer).toMatchObject({
      image: '/logo.png',
    })
  })

  it('are checked when the server starts', async () => {
    for (const fields of [{ 'a-b': { type: 'string' } }, { a: { type: 'date' } }, { a: { type: 'string', max: 0 } }])
      await expect(world('database', { fields: fields as never })).rejects.toThrow(/Plugin "organizations": the field "/)
    await expect(world('database', { history: -1 })).rejects.toThrow(/`history`/)
    await expect(world('database', { limits: { roles: 1000 } })).rejects.toThrow(/`limits.roles`/)
  })
})

describe.each(['jwt', 'database'] as const)('joining by a proved domain, strategy %s', (strategy) => {
  async function start(joining: 'suggest' | 'join' | null) {
    const of = await world(strategy, { domains: { resolveTxt } })
    const id = await of.found()
    const { record, text } = await of.auth.organizations.domains.claim(sys, id, 'example.com')
    dns.set(record, [text])
    await of.auth.organizations.domains.prove(sys, id, 'example.com')
    await of.auth.organizations.domains.setJoining(as('ada'), id, 'example.com', joining)
    return { ...of, id, roleOf: async (userId: string) => (await of.auth.organizations.get(as(userId), id))?.role }
  }

  it('suggest: users with a verified address in the domain may join, others are told nothing', async () => {
    const { auth, id, roleOf, browser, call } = await start('suggest')
    const { suggestions, join, remove, leave } = auth.organizations
    expect(await suggestions(as('bob'))).toEqual([{ id, name: 'Org of ada', domain: 'example.com' }])
    // The address of eve is not verified, and ada is a member.
    expect([await suggestions(as('eve')), await suggestions(as('ada')), await type(join(as('eve'), id))]).toEqual([
      [],
      [],
      'NoSuchOrganization',
    ])
    const bob = await browser('bob')
    expect(await roleOf('bob')).toBeUndefined()
    expect((await call(bob, 'listSuggestions')).answer).toMatchObject([{ id }])
    expect((await call(bob, 'join', { organization: id })).answer).toEqual({ organization: id, role: 'member' })
    await leave(as('bob'), id)
    expect(await type(join(as('bob'), id))).toBe('done')
    await remove(as('ada'), id, 'bob')
    // Who was removed comes back by an invitation alone.
    expect([await suggestions(as('bob')), await type(join(as('bob'), id))]).toEqual([[], 'NoSuchOrganization'])
    await auth.organizations.add(sys, id, 'bob')
    expect(await roleOf('bob')).toBe('member')
    await auth.organizations.suspend(sys, id, 'bob')
    expect(await type(join(as('bob'), id))).toBe('NoSuchOrganization')
  })

  it('join: the first sign-in makes a member, whose organization is active; who left stays away', async () => {
    const { auth, id, roleOf, browser, asks, told } = await start('join')
    const bob = await browser('bob')
    expect((await auth.session(asks(bob)))?.user?.id).toBe('bob')
    expect(await roleOf('bob')).toBe('member')
    await browser('eve')
    expect(await roleOf('eve')).toBeUndefined()
    expect((await auth.session(asks(await browser('bob'))))?.organization).toEqual({ id, role: 'member' })
    await auth.organizations.leave(as('bob'), id)
    await browser('bob')
    expect(await roleOf('bob')).toBeUndefined()
    expect(told.filter((one) => one.startsWith('member.joined'))).toEqual(['member.joined bob'])
  })

  it('needs a proof that counts, and the permission', async () => {
    const { auth, id, runtime } = await start(null)
    const { domains, suggestions } = auth.organizations
    expect(await suggestions(as('bob'))).toEqual([])
    await auth.organizations.add(sys, id, 'cy')
    expect([
      await type(domains.setJoining(as('cy'), id, 'example.com', 'join')),
      await type(domains.setJoining(as('ada'), id, 'other.example', 'join')),
      await type(domains.setJoining(as('ada'), id, 'example.com', 'always' as never)),
    ]).toEqual(['OrganizationDenied', 'OrganizationInput', 'OrganizationInput'])
    await domains.setJoining(as('ada'), id, 'example.com', 'suggest')
    expect(await suggestions(as('bob'))).toHaveLength(1)
    runtime.advance(4 * 86_400_000)
    expect(await suggestions(as('bob'))).toEqual([])
  })
})

it('a list of invitations says what is wrong with each line, and sends the others', async () => {
  const { auth, found, mails, browser, settle } = await world()
  const id = await found({ bob: 'member', cy: 'admin' })
  const { inviteMany, invitations, roles } = auth.organizations
  await roles.create(as('ada'), id, { title: 'Billing', permissions: ['billing:read'] })
  const text = [
    'Email;Role',
    'one@x.example',
    '',
    '"two@x.example",admin',
    'broken',
    'one@x.example',
    'bob@example.com',
    'three@x.example\tbilling',
    'four@x.example,king',
  ].join('\r\n')
  const lines = await inviteMany(as('ada'), id, { text })
  expect(lines.map(({ line, email, error }) => [line, email, error])).toEqual([
    [2, 'one@x.example', null],
    [4, 'two@x.example', null],
    [5, 'broken', 'OrganizationInput'],
    [6, 'one@x.example', 'AlreadyInvited'],
    [7, 'bob@example.com', 'AlreadyMember'],
    [8, 'three@x.example', null],
    [9, 'four@x.example', 'UnknownRole'],
  ])
  expect(await invitations(as('ada'), id)).toHaveLength(3)
  await expect.poll(() => mails.length).toBe(3)
  await settle()
  expect((await inviteMany(as('cy'), id, { text: 'boss@x.example,owner' }))[0]?.error).toBe('OrganizationDenied')
  const many = Array.from({ length: 101 }, (_, at) => `u${at}@x.example`).join('\n')
  expect([
    await type(inviteMany(as('ada'), id, { text: many })),
    await type(inviteMany(as('ada'), id, { text: 'x'.repeat(20_001) })),
    await type(inviteMany(as('ada'), id, { text: 7 as never })),
    await type(inviteMany(as('bob'), id, { text: 'z@x.example' })),
  ]).toEqual(['OrganizationInput', 'OrganizationInput', 'OrganizationInput', 'OrganizationDenied'])
  expect(await invitations(as('ada'), id)).toHaveLength(3)
  // The answer of the form is a page with each line.
  const ada = await browser('ada')
  const page = await ada.post('/organizations', { action: 'invite.many', organization: id, text: 'five@x.example\n<i>x', role: 'member' })
  const shown = await page.text()
  expect([page.status, shown.includes('five@x.example'), shown.includes('&lt;i&gt;x'), shown.includes('<i>x')]).toEqual([
    200,
    true,
    true,
    false,
  ])
})

it('a form that is refused keeps what was typed, of its own form alone, and nothing is half done', async () => {
  const { auth, found, browser } = await world()
  const id = await found({ bob: 'admin' })
  const ada = await browser('ada')
  const team = await auth.organizations.teams.create(as('ada'), id, { name: 'Core' })
  const wrong = 'x'.repeat(101)
  const cases: [fields: Record<string, string>, kept: string[]][] = [
    [{ action: 'invite', email: 'no "address"', role: 'admin' }, ['value="no &quot;address&quot;"', '<option value="admin" selected>']],
    [{ action: 'invite.many', text: `${'a@x.example\n'.repeat(101)}<last>`, role: 'member' }, ['&lt;last&gt;</textarea>']],
    [{ action: 'update', name: wrong, image: '/new.png' }, [`value="${wrong}"`, 'value="/new.png"']],
    [{ action: 'team.create', name: wrong }, [`value="${wrong}"`]],
    [{ action: 'team.rename', name: wrong, team: team.id }, [`value="${wrong}"`]],
    [{ action: 'team.add', email: 'none@x.example', role: 'admin', team: team.id }, ['value="none@x.example"']],
    [{ action: 'domain.claim', domain: 'no domain' }, ['value="no domain"']],
    [{ action: 'role.create', title: wrong, 'permission.team:create': 'yes' }, [`value="${wrong}"`]],
  ]
  for (const [fields, kept] of cases) {
    const answer = await ada.post('/organizations', { organization: id, ...fields })
    const page = await answer.text()
    expect([fields['action'], answer.status, kept.filter((text) => !page.includes(text))]).toEqual([fields['action'], 400, []])
    expect(page).toContain('role="alert"')
  }
  const role = await (await ada.post('/organizations', { organization: id, ...cases.at(-1)![0] })).text()
  expect(role.match(/name="permission\.[\w:]+"\s+value="yes"\s+checked/g)?.map((one) => one.replace(/\s+/g, ' '))).toEqual([
    'name="permission.team:create" value="yes" checked',
  ])
  // The confirmation of a deletion is another form with a field of this name.
  const settings = await (await ada.post('/organizations', { organization: id, ...cases[2]![0] })).text()
  expect(settings.split(`value="${wrong}"`)).toHaveLength(2)
  expect([
    await auth.organizations.invitations(as('ada'), id),
    (await auth.organizations.teams.list(as('ada'), id)).map(({ name }) => name),
  ]).toEqual([[], ['Core']])
  // For others there is no such organization, and so no form.
  const eve = await browser('eve')
  expect((await eve.post('/organizations', { organization: id, action: 'invite', email: 'x@x.example' })).status).toBe(404)
})

it('members are found by a part of their name or address, with when they were last there', async () => {
  const { auth, found, browser, runtime } = await world()
  const id = await found({ bob: 'admin', cy: 'member', dan: 'member' })
  const { members } = auth.organizations
  const named = async (search: object) => (await members(as('ada'), id, search)).members.map(({ userId }) => userId).toSorted()
  expect([
    await named({ text: 'BO' }),
    await named({ text: 'd' }),
    await named({ text: 'example.com', role: 'member' }),
    await named({ text: 'zz' }),
  ]).toEqual([['bob'], ['ada', 'dan'], ['cy', 'dan'], []])
  const first = await members(as('ada'), id, { limit: 2 })
  expect((await members(as('ada'), id, { cursor: first.cursor })).members).toHaveLength(2)
  expect(await type(members(as('ada'), id, { text: 'x'.repeat(101) }))).toBe('OrganizationInput')
  runtime.advance(60_000)
  await browser('cy')
  const seen = (await members(as('ada'), id)).members.filter((one) => one.seen !== null)
  expect(seen.map((one) => [one.userId, one.seen?.getTime()])).toEqual([['cy', runtime.now()]])
})

it('the history says what happened, to those who may see it, for as long as the host keeps it', async () => {
  const { auth, found, runtime } = await world('database', { history: 2 })
  const id = await found({ bob: 'admin', cy: 'member' })
  const { history, suspend } = auth.organizations
  runtime.advance(1000)
  await suspend(as('bob'), id, 'cy')
  const { events } = await history(as('ada'), id, { limit: 2 })
  expect(events[0]).toMatchObject({ act: 'member.suspended', by: { id: 'bob', name: 'bob' }, user: { id: 'cy' } })
  const page = await history(as('ada'), id, { cursor: (await history(as('ada'), id, { limit: 2 })).cursor })
  expect(page.events).toHaveLength(2)
  const all = (await history(as('ada'), id)).events.map(({ act, by }) => `${act} ${by?.id}`)
  expect(all.toSorted()).toEqual(['created ada', 'member.added undefined', 'member.added undefined', 'member.suspended bob'])
  expect([await type(history(as('cy'), id)), await type(history(as('dan'), id)), await type(history(as('ada'), id, { limit: 0 }))]).toEqual(
    ['NoSuchOrganization', 'NoSuchOrganization', 'OrganizationInput'],
  )
  runtime.advance(3 * 86_400_000)
  expect((await history(as('ada'), id)).events).toEqual([])
  const none = await world('database', { history: 0 })
  expect((await none.auth.organizations.history(as('ada'), await none.found())).events).toEqual([])
})
