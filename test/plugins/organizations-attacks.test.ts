/** Attempts to do more than one may: through every route and every API, against the own organization and against another one. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { HttpError, type Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'
import { type, world, type World } from './_organizations.ts'

const sys = { system: true } as const

/** Every method that a browser can call, with ids of one organization. */
async function everything({ auth }: World, id: string) {
  const [team] = await auth.organizations.teams.list(sys, id)
  const [invitation] = await auth.organizations.invitations(sys, id)
  const [organization, at] = [id, { organization: id, team: team!.id }]
  return Object.entries({
    update: { organization, name: 'Stolen' },
    delete: { organization },
    transfer: { organization, userId: 'dan' },
    listMembers: { organization },
    setRole: { organization, userId: 'dan', role: 'owner' },
    remove: { organization, userId: 'ada' },
    invite: { organization, email: 'dan@example.com', role: 'owner' },
    listInvitations: { organization },
    cancel: { organization, invitation: invitation!.id },
    listTeams: { organization },
    createTeam: { organization, name: 'Mine' },
    renameTeam: { ...at, name: 'Mine' },
    deleteTeam: at,
    listTeamMembers: at,
    addToTeam: { ...at, userId: 'dan', role: 'admin' },
    removeFromTeam: { ...at, userId: 'cy' },
    listDomains: { organization },
    claimDomain: { organization, domain: 'acme.example' },
    proveDomain: { organization, domain: 'acme.example' },
    setDomainProvider: { organization, domain: 'acme.example', provider: 'credentials' },
    removeDomain: { organization, domain: 'acme.example' },
    setActive: { organization },
    leave: { organization },
  })
}
async function victim(of: World) {
  const id = await of.found({ cy: 'member' })
  const { id: team } = await of.auth.organizations.teams.create(sys, id, { name: 'Core' })
  await of.auth.organizations.teams.add(sys, id, team, 'cy', 'admin')
  await of.auth.organizations.invite(sys, id, { email: 'bob@example.com' })
  return { id, team }
}
async function state({ auth }: World, id: string): Promise<unknown> {
  const [{ members }, teams, invitations] = [
    await auth.organizations.members(sys, id),
    await auth.organizations.teams.list(sys, id),
    await auth.organizations.invitations(sys, id),
  ]
  const inTeams = await Promise.all(teams.map((team) => auth.organizations.teams.members(sys, id, team.id)))
  return JSON.stringify([await auth.organizations.get(sys, id), members, teams, invitations, inTeams])
}

describe('a user who is no member', () => {
  it.each(['dan', 'eve'])('reaches nothing, as owner of another organization or of none: %s', async (who) => {
    const of = await world()
    const { id } = await victim(of)
    if (who === 'dan') await of.found({}, 'dan')
    const [client, before] = [await of.browser(who), await state(of, id)]
    for (const [method, input] of await everything(of, id)) {
      const { status, answer } = await of.call(client, method, input)
      expect([method, status, answer.error]).toEqual([method, 404, 'NoSuchOrganization'])
    }
    expect((await of.call(client, 'hasPermission', { organization: id, permission: 'member:read' })).answer).toBe(false)
    const page = await client.get(`/organizations/members?organization=${id}`)
    expect([page.status, (await page.text()).includes('Org of ada')]).toEqual([404, false])
    expect(await state(of, id)).toBe(before)
  })

  it('mixes ids of the own and the other organization in vain', async () => {
    const of = await world()
    const { id, team } = await victim(of)
    const own = await of.found({ bob: 'member' }, 'dan')
    const [invitation] = await of.auth.organizations.invitations(sys, id)
    const [dan, before] = [await of.browser('dan'), await state(of, id)]
    const tries: [string, object, unknown][] = [
      ['cancel', { invitation: invitation!.id }, false],
      ['renameTeam', { team, name: 'Mine' }, 'OrganizationInput'],
      ['deleteTeam', { team }, 'OrganizationInput'],
      ['listTeamMembers', { team }, 'OrganizationInput'],
      ['addToTeam', { team, userId: 'dan', role: 'admin' }, 'OrganizationInput'],
      ['removeFromTeam', { team, userId: 'cy' }, 'OrganizationInput'],
      ['invite', { team, email: 'new@example.com' }, 'OrganizationInput'],
      ['setRole', { userId: 'cy', role: 'viewer' }, 'NoSuchOrganization'],
      ['remove', { userId: 'cy' }, 'NoSuchOrganization'],
      ['transfer', { userId: 'cy' }, 'NoSuchOrganization'],
    ]
    for (const [method, input, expected] of tries) {
      const { answer } = await of.call(dan, method, { organization: own, ...input })
      expect([method, answer?.error ?? answer]).toEqual([method, expected])
    }
    expect(await state(of, id)).toBe(before)
  })
})

describe('a member', () => {
  it.each(['member', 'viewer'])('without permissions changes nothing: %s', async (role) => {
    const of = await world()
    const { id } = await victim(of)
    await of.auth.organizations.add(sys, id, 'bob', role)
    const [bob, before] = [await of.browser('bob'), await state(of, id)]
    const reads = ['listMembers', 'listTeams', 'listTeamMembers', 'setActive', 'leave']
    for (const [method, input] of await everything(of, id)) {
      if (method === 'leave') continue
      const { status } = await of.call(bob, method, input)
      expect([method, status]).toEqual([method, reads.includes(method) && (role === 'member' || method === 'setActive') ? 200 : 403])
    }
    for (const action of ['role', 'remove', 'invite', 'cancel']) {
      const fields = { action, organization: id, userId: 'ada', role: 'viewer', email: 'x@example.com' }
      const { headers } = await bob.post('/organizations', fields)
      expect(headers.get('location')).toContain('error=OrganizationDenied')
    }
    expect(await state(of, id)).toBe(before)
  })

  it('of a role gives, changes and takes none that may do more', async () => {
    const of = await world('database', {
      roles: { editor: { project: '*', member: ['read', 'role', 'remove'], invitation: '*', team: '*' } } as never,
    })
    const { id, team } = await victim(of)
    await of.auth.organizations.add(sys, id, 'bob', 'editor')
    await of.auth.organizations.add(sys, id, 'root', 'admin')
    const bob = await of.browser('bob')
    const refused = async (method: string, input: object) =>
      expect((await of.call(bob, method, { organization: id, ...input })).answer.error).toBe('OrganizationDenied')
    for (const role of ['owner', 'admin']) {
      await refused('setRole', { userId: 'cy', role })
      await refused('setRole', { userId: 'bob', role })
      await refused('invite', { email: 'dan@example.com', role })
      await refused('addToTeam', { team, userId: 'bob', role })
    }
    for (const userId of ['ada', 'root']) {
      await refused('setRole', { userId, role: 'member' })
      await refused('remove', { userId })
    }
    await refused('removeFromTeam', { team, userId: 'cy' })
    expect((await of.call(bob, 'setRole', { organization: id, userId: 'cy', role: 'editor' })).status).toBe(200)
  })

  it('who was demoted a moment ago has no right any more, with an old session and in a race', async () => {
    const of = await world('jwt')
    const id = await of.found({ bob: 'owner', cy: 'member' })
    const [bob, session] = [await of.browser('bob'), await of.auth.session(of.asks(await of.browser('bob')))]
    await of.auth.organizations.setRole({ userId: 'ada' }, id, 'bob', 'member')
    expect((await of.call(bob, 'setRole', { organization: id, userId: 'cy', role: 'owner' })).status).toBe(403)
    expect(await of.auth.can(session, 'organization:delete', { organization: id })).toBe(false)
    // Two owners who demote one another: one is left.
    for (let round = 0; round < 5; round++) {
      await of.auth.organizations.setRole(sys, id, 'bob', 'owner')
      await Promise.allSettled([
        of.auth.organizations.setRole({ userId: 'ada' }, id, 'bob', 'member'),
        of.auth.organizations.setRole({ userId: 'bob' }, id, 'ada', 'member'),
      ])
      const { members } = await of.auth.organizations.members(sys, id, { role: 'owner' })
      expect(members).toHaveLength(1)
      await of.auth.organizations.setRole(sys, id, 'ada', 'owner')
    }
  })
})

describe('an invitation', () => {
  it('forwarded, or to a user with an unverified address, is worth nothing', async () => {
    const of = await world()
    const id = await of.found()
    await of.auth.organizations.invite({ userId: 'ada' }, id, { email: 'bob@example.com', role: 'admin' })
    const link = await of.token()
    for (const who of ['cy', 'eve']) {
      const client = await of.browser(who)
      await client.get(`/organizations/invitation?token=${link}`)
      expect(await (await client.get('/organizations/invitation')).text()).toContain('The invitation is for bob@example.com.')
      expect((await client.post('/organizations', { action: 'accept' })).headers.get('location')).toContain('error=InvitationOther')
      expect((await of.call(client, 'accept', { token: link })).answer.error).toBe('InvitationOther')
    }
    await of.auth.organizations.invite({ userId: 'ada' }, id, { email: 'eve@example.com' })
    expect((await of.call(await of.browser('eve'), 'accept', { token: await of.token() })).answer.error).toBe('InvitationOther')
    for (const bad of ['', 'x', 'f'.repeat(64), link.toUpperCase()])
      expect((await of.call(await of.browser('bob'), 'accept', { token: bad })).answer.error).toBe('InvitationInvalid')
  })

  it.each(['demoted', 'removed', 'deleted'])('is void when the inviter was %s', async (how) => {
    const of = await world()
    const id = await of.found({ bob: 'admin' })
    await of.auth.organizations.invite({ userId: 'bob' }, id, { email: 'cy@example.com' })
    const link = await of.token()
    if (how === 'demoted') await of.auth.organizations.setRole(sys, id, 'bob', 'member')
    if (how === 'removed') await of.auth.organizations.remove(sys, id, 'bob')
    if (how === 'deleted') await of.auth.users.delete({ userId: 'bob' })
    expect(await type(of.auth.organizations.accept(of.asks(await of.browser('cy')), link))).toBe('InvitationInvalid')
  })

  it('is void while the inviter is banned, and no banned user accepts one', async () => {
    const { auth, browser, asks, found, token } = await world('database', {}, {}, [adminPlugin({ can: () => true })])
    const { admin } = auth as unknown as AdminApi
    const [id, root] = [await found({ bob: 'admin' }), { userId: 'root' }]
    await auth.organizations.invite({ userId: 'bob' }, id, { email: 'cy@example.com' })
    const [cy, text] = [await browser('cy'), await token()]
    await admin.ban(root, 'bob', { reason: 'stolen account' })
    expect(await type(auth.organizations.accept(asks(cy), text))).toBe('InvitationInvalid')
    await admin.unban(root, 'bob', { reason: 'his again' })
    await admin.ban(root, 'cy', { reason: 'spam' })
    expect(await type(auth.organizations.accept(asks(cy), text))).toBe('AccessDenied')
    await admin.unban(root, 'cy', { reason: 'sorry' })
    expect(await auth.organizations.accept(asks(await browser('cy')), text)).toMatchObject({ role: 'member' })
  })

  it('is accepted by one of many requests at the same moment', async () => {
    const of = await world()
    const id = await of.found()
    await of.auth.organizations.invite({ userId: 'ada' }, id, { email: 'bob@example.com' })
    const [link, bob] = [await of.token(), of.asks(await of.browser('bob'))]
    const ends = await Promise.all([...Array(8)].map(() => type(of.auth.organizations.accept(bob, link))))
    expect(ends.filter((end) => end === 'done')).toHaveLength(1)
    expect((await of.auth.organizations.members(sys, id)).members).toHaveLength(2)
  })
})

describe('no person at work for themselves', () => {
  it('an API key, an impersonator, a visitor: no method, no API; and a key does what it was made for', async () => {
    const of = await world()
    const { id } = await victim(of)
    const { key } = await of.auth.apiKeys.create({ userId: 'ada' }, { name: 'k', scopes: ['project:update'] })
    const withKey = new Request('http://localhost:3000/', { headers: { 'x-api-key': key } })
    const root = await of.browser('root')
    const begun = await of.auth.impersonation.start(of.asks(root), { userId: 'ada', reason: 'ticket 1' })
    const carrier = new Client({ handler: () => Promise.resolve(begun) })
    await carrier.get('/')
    const acting = new Request('http://localhost:3000/', { headers: { cookie: carrier.cookieHeader() } })
    const nobody = new Request('http://localhost:3000/')
    const before = await state(of, id)
    for (const by of [withKey, acting, nobody]) {
      expect(await type(of.auth.organizations.invite(by, id, { email: 'x@example.com' }))).toBe('AccessDenied')
      expect(await type(of.auth.organizations.delete(by, id))).toBe('AccessDenied')
      expect(await type(of.auth.organizations.list(by))).toBe('AccessDenied')
      expect(await type(of.auth.organizations.setActive(by, id))).toBe('AccessDenied')
    }
    for (const [method, input] of await everything(of, id)) expect((await of.call(await of.browser(), method, input)).status).toBe(403)
    expect(await state(of, id)).toBe(before)
    const may = (permission: 'project:update' | 'project:delete') => of.auth.can(withKey, permission, { organization: id })
    expect([await may('project:update'), await may('project:delete')]).toEqual([true, false])
    // The owner of the key is no member any more.
    await of.auth.organizations.transfer(sys, id, 'cy')
    await of.auth.organizations.remove(sys, id, 'ada')
    expect(await may('project:update')).toBe(false)
  })

  it('a form of another site, and input of the wrong shape', async () => {
    const of = await world()
    const id = await of.found()
    const ada = await of.browser('ada')
    const body = new URLSearchParams({ action: 'invite', organization: id, email: 'x@example.com' })
    expect((await ada.send('/organizations', { method: 'POST', body })).headers.get('location')).toContain('MissingCSRF')
    for (const input of [{}, { organization: 7 }, { organization: id, email: ['a'] }, { organization: id, email: 'x'.repeat(1001) }])
      expect((await of.call(ada, 'invite', input)).status).toBe(400)
    for (const organization of ['', '\0', '../x', '\ud800', 'x'.repeat(999)])
      expect((await of.call(ada, 'delete', { organization })).status).toBe(404)
    expect((await of.call(ada, 'setRole', { organization: id, userId: '\0', role: 'admin' })).status).toBe(404)
    expect((await of.call(ada, 'setRole', { organization: id, userId: 'ada', role: '__proto__' })).status).toBe(400)
    expect(of.mails).toEqual([])
  })
})

describe('tenants', () => {
  const names: Record<string, string> = { 'a.example': 'a', 'b.example': 'b' }
  const make = async (tenants: 'inside' | 'over') => {
    const store = memoryAdapter()
    const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => {} }) }
    const providers = [
      {
        id: 'credentials',
        name: 'x',
        type: 'credentials' as const,
        authorize: ({ user }: object & { user?: unknown }) => ({ id: String(user) }),
      },
    ]
    const auth = createAuth(baseConfig({ session: { strategy: 'jwt' }, providers }))
      .use(adapterPlugin(store))
      .use(accountsPlugin())
      .use(postbox)
      .use(organizationsPlugin({ tenants }))
      .use(
        tenantsPlugin({
          settings(request) {
            const namespace = names[new URL(request.url).hostname]
            if (namespace === undefined) throw new HttpError(404, 'Not found.')
            return { namespace }
          },
          tenant: (namespace) => ({ namespace }),
        }),
      )
    await auth.ready()
    for (const [id, tenant] of [
      ['ada', 'a'],
      ['bob', 'b'],
    ] as const)
      await store.createUser({ id, email: `~${tenant}~${id}@example.com`, emailVerified: new Date(0) })
    const browser = async (user: string, host: string) => {
      const client = new Client(auth, `http://${host}`)
      await client.post('/callback/credentials', { user })
      return new Request(`http://${host}/`, { headers: { cookie: client.cookieHeader() } })
    }
    return { auth, browser }
  }

  it('inside one: an organization is unknown in another', async () => {
    const { auth, browser } = await make('inside')
    const [ada, bob] = [await browser('ada', 'a.example'), await browser('bob', 'b.example')]
    const { id } = await auth.organizations.create(ada, { name: 'A', slug: 'x' })
    await auth.organizations.create(bob, { name: 'B', slug: 'x' })
    expect([await auth.can(ada, 'member:read', { organization: id }), await auth.can(bob, 'member:read', { organization: id })]).toEqual([
      true,
      false,
    ])
    expect(await type(auth.organizations.add({ system: true, tenant: 'b' }, id, 'bob'))).toBe('NoSuchOrganization')
    await expect(auth.organizations.list({ userId: 'ada' })).rejects.toThrow(/tenant/)
  })

  it('over them: people of several tenants are in one', async () => {
    const { auth, browser } = await make('over')
    const [ada, bob] = [await browser('ada', 'a.example'), await browser('bob', 'b.example')]
    const { id } = await auth.organizations.create(ada, { name: 'A', slug: 'x' })
    expect(await auth.can(bob, 'member:read', { organization: id })).toBe(false)
    await auth.organizations.add({ system: true, tenant: 'b' }, id, 'bob')
    expect(await auth.can(bob, 'member:read', { organization: id })).toBe(true)
    const session = await auth.session(bob)
    expect(await auth.can(session, 'member:read', { organization: id, tenant: 'b' })).toBe(true)
    expect((await auth.organizations.members(ada, id)).members.map(({ userId }) => userId).sort()).toEqual(['ada', 'bob'])
    // A user who is deleted in their tenant leaves no membership above it.
    expect(await type(auth.users.delete(ada))).toBe('LastOwner')
    expect(await auth.users.delete(bob)).toBe(true)
    expect((await auth.organizations.members({ system: true, tenant: 'a' }, id)).members.map(({ userId }) => userId)).toEqual(['ada'])
  })
})
