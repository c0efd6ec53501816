/** The service for other plugins, suspended members, and the ending of one membership. */
import type { AnyContext, Kernel, Plugin, ProviderFlow } from 'authkernel/kernel'
import type { MemberOf, OrganizationsService } from 'authkernel/plugins/organizations'
import { describe, expect, it } from 'vitest'
import { type, world } from './_organizations.ts'

const sys = { system: true } as const
const withKey = (key: string) => new Request('http://localhost:3000/', { headers: { 'x-api-key': key } })

async function start(strategy: 'jwt' | 'database', options = {}, more: readonly Plugin[] = []) {
  let kernel: Kernel | undefined
  const inside: Plugin = { name: 'inside', requires: ['organizations', 'session:revoke:attribute'], setup: (own) => void (kernel = own) }
  const of = await world(strategy, options, {}, [inside, ...more])
  const job = (): Promise<AnyContext> => kernel!.contextOf({ job: 'inside' })
  const service = async <T>(work: (own: OrganizationsService, ctx: AnyContext) => Promise<T>): Promise<T> => {
    const ctx = await job()
    return work(ctx.service('organizations'), ctx)
  }
  return { ...of, job, service }
}

describe.each(['jwt', 'database'] as const)('the service, strategy %s', (strategy) => {
  it('adds, finds, changes and removes members under the rules of the plugin', async () => {
    const { found, service, told } = await start(strategy)
    const organizationId = await found({ dan: 'admin' })
    const bob: MemberOf = { organizationId, userId: 'bob' }
    const ada: MemberOf = { organizationId, userId: 'ada' }
    expect(await service((own, ctx) => own.findMember(ctx, bob))).toBeNull()
    await service((own, ctx) => own.addMember(ctx, { ...bob, role: 'viewer' }))
    expect(await service((own, ctx) => own.findMember(ctx, bob))).toMatchObject({ organizationId, role: 'viewer', suspended: false })
    await service((own, ctx) => own.setRole(ctx, { ...bob, role: 'admin' }))
    expect(await service((own, ctx) => own.listOf(ctx, 'bob'))).toMatchObject([{ organizationId, role: 'admin' }])
    expect(await service((own, ctx) => own.removeMember(ctx, bob))).toBe(true)
    expect(await service((own, ctx) => own.removeMember(ctx, bob))).toBe(false)
    expect(await service((own, ctx) => own.get(ctx, organizationId))).toMatchObject({ id: organizationId, name: 'Org of ada' })
    expect(await service((own, ctx) => own.get(ctx, 'none'))).toBeNull()
    const refused = async (work: (own: OrganizationsService, ctx: AnyContext) => Promise<unknown>) => type(service(work))
    expect([
      await refused((own, ctx) => own.removeMember(ctx, ada)),
      await refused((own, ctx) => own.suspendMember(ctx, ada)),
      await refused((own, ctx) => own.setRole(ctx, { ...ada, role: 'member' })),
      await refused((own, ctx) => own.addMember(ctx, { ...ada, role: 'member' })),
      await refused((own, ctx) => own.addMember(ctx, { ...bob, role: 'king' })),
      await refused((own, ctx) => own.addMember(ctx, { organizationId, userId: 'ghost' })),
      await refused((own, ctx) => own.suspendMember(ctx, bob)),
      await refused((own, ctx) => own.restoreMember(ctx, bob)),
    ]).toEqual([
      'LastOwner',
      'LastOwner',
      'LastOwner',
      'AlreadyMember',
      'OrganizationInput',
      'OrganizationInput',
      'NoSuchOrganization',
      'NoSuchOrganization',
    ])
    expect(told.slice(-3)).toEqual(['member.added null', 'member.role null', 'member.removed null'])
  })

  it('a removal takes the open invitation of the member with it, and one that is refused takes nothing', async () => {
    const { auth, found, service } = await start(strategy)
    const organizationId = await found({})
    const bob: MemberOf = { organizationId, userId: 'bob' }
    await auth.organizations.invite({ userId: 'ada' }, organizationId, { email: 'bob@example.com', role: 'member' })
    const open = async () => (await auth.organizations.invitations({ userId: 'bob' }, organizationId).catch(() => [])).length
    await service((own, ctx) => own.addMember(ctx, { ...bob, role: 'owner' }))
    await service((own, ctx) => own.setRole(ctx, { organizationId, userId: 'ada', role: 'admin' }))
    expect(await open()).toBe(1)
    expect(await type(service((own, ctx) => own.removeMember(ctx, bob)))).toBe('LastOwner')
    expect(await open()).toBe(1)
    await service((own, ctx) => own.setRole(ctx, { organizationId, userId: 'ada', role: 'owner' }))
    const answers = await Promise.all(Array.from({ length: 10 }, () => service((own, ctx) => own.removeMember(ctx, bob))))
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(await auth.organizations.invitations({ userId: 'ada' }, organizationId)).toEqual([])
  })

  it('a suspended member may do nothing, counts as no owner, and gets back the role alone', async () => {
    const { auth, found, service, browser, asks, token, mails } = await start(strategy)
    const id = await found({ bob: 'owner', cy: 'member' })
    const member = { organizationId: id, userId: 'bob' }
    const [client, { key }] = [await browser('bob'), await auth.apiKeys.create({ userId: 'bob' }, { name: 'k', organization: id })]
    expect((await auth.session(asks(client)))?.organization).toEqual({ id, role: 'owner' })
    await auth.organizations.invite({ userId: 'bob' }, id, { email: 'dan@example.com' })
    const invitation = await token()
    expect(mails).toHaveLength(1)
    expect(await service((own, ctx) => own.suspendMember(ctx, member))).toBe(true)
    expect(await service((own, ctx) => own.suspendMember(ctx, member))).toBe(false)
    // The browser stays signed in.
    const session = await auth.session(asks(client))
    expect([session?.user?.id, session?.organization]).toEqual(['bob', undefined])
    expect(await auth.session(withKey(key))).toBeNull()
    expect([await auth.can(asks(client), 'project:update', { organization: id }), await auth.can(asks(client), 'member:read')]).toEqual([
      false,
      false,
    ])
    const { organizations } = auth
    expect([
      await type(organizations.members({ userId: 'bob' }, id)),
      await type(organizations.leave({ userId: 'bob' }, id)),
      await type(organizations.accept(asks(await browser('dan')), invitation)),
      await type(organizations.invite(sys, id, { email: 'bob@example.com' })),
      await type(organizations.transfer({ userId: 'ada' }, id, 'bob')),
      // Of two owners the other one is the last.
      await type(organizations.leave({ userId: 'ada' }, id)),
      await type(auth.users.delete({ userId: 'ada' })),
      await type(organizations.restore({ userId: 'cy' }, id, 'bob')),
      await type(organizations.suspend({ userId: 'cy' }, id, 'ada')),
    ]).toEqual([
      'NoSuchOrganization',
      'NoSuchOrganization',
      'InvitationInvalid',
      'AlreadyMember',
      'OrganizationInput',
      'LastOwner',
      'LastOwner',
      'OrganizationDenied',
      'OrganizationDenied',
    ])
    expect(await organizations.list({ userId: 'bob' })).toEqual([])
    expect((await organizations.members(sys, id)).members.filter(({ suspended }) => suspended)).toMatchObject([{ userId: 'bob' }])
    expect(await organizations.restore({ userId: 'ada' }, id, 'bob')).toBe(true)
    expect(await auth.can(asks(client), 'project:update', { organization: id })).toBe(true)
    expect(await auth.session(withKey(key))).toBeNull()
  })

  it('an ending of a membership makes what began for it void, and nothing else', async () => {
    const { found, job } = await start(strategy)
    const [one, two] = [await found({ bob: 'member' }), await found({ bob: 'member' }, 'cy')]
    const { access } = await job()
    const plain = await access.stamp('user:bob')
    const [first, second] = [await access.stampMember(plain, one), await access.stampMember(plain, two)]
    const report = await (await job()).access.end({ member: { organizationId: one, userId: 'bob' } }, { by: 'test' })
    expect(report.sessions).toBe(0)
    expect(await type(access.assert(first, 'apiKey'))).toBe('AccessEnded')
    for (const stamp of [plain, second]) await access.assert(stamp, 'apiKey')
    // What begins after it counts again, and the own ending of a request leaves its own stamps.
    const later = await job()
    const third = await later.access.stampMember(await later.access.stamp('user:bob'), one)
    await later.access.end({ member: { organizationId: one, userId: 'bob' } }, { by: 'test' })
    await later.access.assert(third, 'apiKey')
    await expect(access.stampMember({ ...plain, subject: 'account:x:1' }, one)).rejects.toThrow(TypeError)
  })

  it('a key that is made while the membership ends is taken back', async () => {
    let end: (() => Promise<unknown>) | undefined
    const { auth, found, service, job } = await start(strategy)
    const id = await found({ bob: 'member' })
    // The hook is asked after the membership was read, and before the key is written.
    auth.hook('access', async ({ by }) => {
      if (by === 'apiKey') await end?.()
      return true
    })
    end = () => service((own, ctx) => own.suspendMember(ctx, { organizationId: id, userId: 'bob' }))
    expect(await type(auth.apiKeys.create({ userId: 'bob' }, { name: 'k', organization: id }))).toBe('AccessEnded')
    end = undefined
    expect(await (await job()).records('apiKey').count({ userId: 'bob' })).toBe(0)
    // A key that is for no organization is made.
    expect(await type(auth.apiKeys.create({ userId: 'bob' }, { name: 'own' }))).toBe('done')
  })

  it('what rests on a provider of the organization ends with the membership', async () => {
    const flow: ProviderFlow<{ id: string }> = {
      async finish(ctx, { id }) {
        const { n = '' } = (await ctx.body()) as Record<string, string>
        return { user: { name: n }, account: { provider: id, type: 'sso' as never, providerAccountId: n }, match: 'account' }
      },
    }
    const providers: Plugin = {
      name: 'sso',
      setup(kernel) {
        kernel.providerType('sso' as never, flow as never)
        for (const id of ['acme', 'shared']) kernel.provider({ id, name: id, type: 'sso' } as never)
        kernel.hook('providerOrganization', ({ provider }) => (provider === 'acme' ? owner : undefined), { of: 'organizations' })
      },
    }
    let owner = ''
    const { auth, found, service, browser, asks, store } = await start(strategy, {}, [providers])
    owner = await found()
    const user = await store.createUser({ id: 'x', email: 'x@acme.example', name: 'x', emailVerified: new Date(0) })
    for (const provider of ['acme', 'shared'])
      await store.linkAccount({ userId: user.id, provider, providerAccountId: 'x', type: 'oauth' } as never)
    await auth.organizations.add(sys, owner, 'x')
    const [company, other] = [await browser(), await browser()]
    await company.post('/callback/acme', { n: 'x' })
    await other.post('/callback/shared', { n: 'x' })
    expect((await auth.session(asks(company)))?.user?.id).toBe('x')
    await service((own, ctx) => own.suspendMember(ctx, { organizationId: owner, userId: 'x' }))
    expect(await auth.session(asks(company))).toBeNull()
    expect((await auth.session(asks(other)))?.user?.id).toBe('x')
  })
})

it('names the organization that has proved a domain, while the proof counts', async () => {
  const dns = new Map<string, string[]>()
  const { auth, found, service, runtime } = await start('database', {
    domains: { resolveTxt: (name: string) => Promise.resolve([dns.get(name) ?? []]) },
  })
  const id = await found()
  const { record, text } = await auth.organizations.domains.claim(sys, id, 'acme.example')
  const owns = (given: string) => service((own, ctx) => own.ownsDomain(ctx, given))
  expect(await owns('acme.example')).toBeUndefined()
  dns.set(record, [text])
  await auth.organizations.domains.prove(sys, id, 'acme.example')
  expect([await owns('acme.example'), await owns('Bob@ACME.example'), await owns('sub.acme.example'), await owns('')]).toEqual([
    id,
    id,
    undefined,
    undefined,
  ])
  expect(await service((own, ctx) => own.listDomains(ctx, id))).toEqual(['acme.example'])
  runtime.advance(4 * 86_400_000)
  expect([await owns('acme.example'), await service((own, ctx) => own.listDomains(ctx, id))]).toEqual([undefined, []])
})
