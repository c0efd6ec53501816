/** Every route of every plugin, and every call of the APIs, by people who have no right to it: what they must not touch stays as it was. */
import { expect, it } from 'vitest'
import { isFullTier, sampleCases } from '../_tier.ts'
import { ofOrganization, ofUser, text, walk, world } from './_everything.ts'

it('an impersonator changes nothing of the user by any route: no factor, password, address, passkey, key, account, name or organization', async () => {
  const of = await world()
  const mine = () => ofUser(of, 'ada') + ofOrganization(of, of.own.organization)
  const paths = of.routes.map(({ method, path }) => `${method} ${path}`)
  for (const path of ['/oauth/authorize', '/oauth/token', '/device/decide', '/jwt/token', '/api-keys', '/backchannel-logout/:provider'])
    expect(paths).toContain(`POST ${path}`)
  const { changed, asked } = await walk(of, mine, { client: of.acting })
  expect(changed).toEqual([])
  expect(asked).toBeGreaterThan(isFullTier ? 1000 : 300)
  expect((await of.auth.session(of.asks(await of.acting())))?.actor?.id).toBe('root')
  // The same walk by the user: it does reach what it is about.
  // What ends the person or the organization would leave nothing to reach.
  const skip = (path: string, action?: string) => /\/(?:delete|leave|transfer)$/.test(path) || action === 'delete' || action === 'leave'
  const control = await walk(of, mine, { client: () => of.browser('ada'), skip, whole: true })
  for (const path of [
    '/passwords/change',
    '/username',
    '/two-factor/setup totp',
    '/api-keys',
    '/account/api-keys create',
    '/organizations update',
    '/organizations team.create',
    '/organizations role.create',
    '/organizations invite.many',
  ])
    expect(control.changed).toContain(path)
  expect(control.changed.length, String(control.changed)).toBeGreaterThan(12)
}, 120_000)

it.each(sampleCases(['nobody', 'dan', 'cy', 'bob', 'root of before'], 2))(
  '%s reaches by no route what an owner and an administrator may do',
  async (who) => {
    const of = await world()
    const user = who === 'root of before' ? 'root' : who
    const client = await of.browser(user === 'nobody' ? undefined : user)
    of.admins.clear()
    const kept = () => ofOrganization(of, of.own.organization) + ofUser(of, 'ada') + text([...(of.data.records?.get('userBan') ?? [])])
    const { changed } = await walk(of, kept, {
      client: async () => (user === 'nobody' ? of.browser() : Object.assign(client, await of.browser(user))),
      // The invited may accept, a member may leave, a holder of a mail may decline: own rights.
      skip: (path, action) =>
        who === 'bob' &&
        (['/organizations/leave', '/account/delete', '/user/delete'].includes(path) || action === 'leave' || action === 'team.remove'),
    })
    expect(changed).toEqual([])
  },
  120_000,
)

it('every call of auth.organizations, auth.admin and auth.impersonation, by everybody who has no right', async () => {
  const of = await world()
  const { organization, team, invitation } = of.own
  const clients = {
    dan: await of.browser('dan'),
    bob: await of.browser('bob'),
    cy: await of.browser('cy'),
    nobody: await of.browser(),
    root: await of.browser('root'),
  }
  const acting = await of.acting()
  of.admins.clear()
  const kept = () => ofOrganization(of, organization) + ofUser(of, 'ada') + text([...(of.data.records?.get('userBan') ?? [])])
  const before = kept()
  const seconds = ['ada', team, invitation, { name: 'Mallory' }, { email: 'm@example.com' }, 'acme.example']
  const thirds = [undefined, 'owner', 'ada', { name: 'Mallory' }, 'orbit', null]
  const { organizations, admin, impersonation } = of.auth
  const calls: [string, (...args: never[]) => Promise<unknown>][] = []
  const { teams, roles, domains } = organizations
  for (const [part, api] of Object.entries({ organization: organizations, team: teams, role: roles, domain: domains }))
    for (const [name, call] of Object.entries(api))
      // To make an organization and to see the own ones is a right of each user, and `sweep` of none: it looks at the DNS.
      if (
        typeof call === 'function' &&
        !['organization.create', 'organization.list', 'organization.suggestions', 'domain.sweep'].includes(`${part}.${name}`)
      )
        calls.push([`${part}.${name}`, call as never])
  let refused = 0
  for (const [who, client] of Object.entries({ ...clients, acting }))
    for (const [name, call] of calls)
      for (const second of seconds)
        for (const third of thirds) {
          const end = await call(...([of.asks(client), organization, second, third] as never[])).then(
            () => 'done',
            (error: { status?: number }) => error.status ?? 'a wrong type',
          )
          if (end !== 'done') refused++
          // A member may see things; what counts there is that nothing changes.
          else if (who !== 'bob') expect(name).toBe('organization.get')
          if (name === 'organization.leave' && who === 'bob' && end === 'done')
            await organizations.add({ system: true }, organization, 'bob', 'member')
        }
  expect(refused).toBeGreaterThan(1000)
  for (const client of [...Object.values(clients), acting])
    for (const act of Object.values(admin) as ((by: Request, userId: string, order: object) => Promise<unknown>)[]) {
      await expect(act(of.asks(client), 'ada', { reason: 'r' })).rejects.toMatchObject({ status: 403 })
      await expect(impersonation.start(of.asks(client), { userId: 'ada', reason: 'r' })).rejects.toMatchObject({ status: 403 })
    }
  const rows = (all: string) => all.replace(/"(?:id|joined|members|version)":(?:"[^"]*"|\d+)/g, '')
  expect(rows(kept())).toBe(rows(before))
}, 120_000)

it.each(['jwt', 'database'] as const)(
  'an administrator who acts as a user ends no session of that user: not by the account page, and by no route of a client, %s sessions',
  async (strategy) => {
    const of = await world(strategy)
    // A host that shows the id, as most do.
    of.auth.hook('session', ({ session }) => ({ ...session, user: { ...session.user, id: session.user?.id ?? 'ada' } }))
    const browsers = [await of.browser('ada'), await of.browser('ada')]
    const ids = (await of.auth.sessions.list({ userId: 'ada' })).map(({ id }) => id)
    expect(ids.length).toBeGreaterThanOrEqual(2)
    const paths = of.auth.inspect().routes.filter(({ method, path }) => method === 'POST' && /session|sign-?out|account/i.test(path))
    for (const path of ['/account/sessions/end', '/account/sessions/end-all', '/multi-session/sign-out', '/session'])
      expect(paths.map((route) => route.path)).toContain(path)
    for (const { path } of paths)
      for (const id of [...ids, 'all']) {
        const acting = await of.acting()
        await acting.post(path.replace(/:(\w+)/g, 'ada'), { id, which: id, userId: 'ada', session: id, data: 'x' })
        for (const browser of browsers) expect([path, id, (await browser.session()) !== null]).toEqual([path, id, true])
      }
    // By the person it works.
    await browsers[0]!.post('/account/sessions/end-all')
    for (const browser of browsers) expect(await browser.session()).toBeNull()
  },
  60_000,
)
