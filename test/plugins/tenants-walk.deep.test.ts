/** Tenant against tenant: every route and every API of every plugin, asked in one tenant with the ids of another one. */
import { expect, it } from 'vitest'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { isFullTier, sampleCases } from '../_tier.ts'
import { Client } from '../_setup.ts'
import { type Everything, everything } from './_every-plugin.ts'
import { isUnreachable, text, walk, type Walked } from './_everything.ts'

const hosts: Record<string, string> = { 'a.example': 'a', 'b.example': 'b' }
/** In everything that tenant a has, and in nothing that is asked. */
const canary = 'quetzal'

const settingsOf = (namespace: string) => ({ namespace, origin: `http://${namespace}.example` })

type Rows = Map<string, unknown>

async function world() {
  const made = everything(
    {},
    {
      more: [
        tenantsPlugin({
          settings: ({ url }) => settingsOf(hosts[new URL(url).hostname] ?? 'nowhere'),
          tenant: (name) => (Object.values(hosts).includes(name) ? settingsOf(name) : undefined),
        }),
      ],
    },
  )
  const { auth, data, kernel, admins } = made
  await auth.ready()
  const tables = (): [string, Rows][] => [
    ['users', data.users],
    ['accounts', data.accounts],
    ['sessions', data.sessions],
    ...(data.records ?? []),
  ]
  /** A person with an organization and whatever else people have. */
  const populate = async (tenant: string, id: string, word: string) => {
    const ctx = await kernel.contextOf({ job: 'walk', tenant })
    const user = await ctx.store!.createUser({ id, email: `${word}@${tenant}.example`, name: word, emailVerified: new Date(0) })
    const member = await ctx.store!.createUser({
      id: `${id}-m`,
      email: `${word}-m@${tenant}.example`,
      name: word,
      emailVerified: new Date(0),
    })
    const who = { userId: user.id, tenant }
    await auth.accounts.link(who, { provider: 'orbit', providerAccountId: `${id}-1`, type: 'oauth' })
    const { id: organization } = await auth.organizations.create(who, { name: word, slug: word })
    await auth.organizations.add({ system: true, tenant } as never, organization, member.id, 'member')
    const team = await auth.organizations.teams.create(who, organization, { name: word })
    const invitation = await auth.organizations.invite(who, organization, { email: `${word}-i@${tenant}.example` })
    await auth.organizations.domains.claim(who, organization, `${word}.example`)
    const { key, id: keyId } = (await auth.apiKeys.create(who, { name: word })) as unknown as { key: string; id: string }
    const browser = async () => {
      const client = new Client(auth, `http://${tenant}.example`)
      await client.post('/callback/credentials', { user: user.id })
      return client
    }
    const client = await browser()
    expect((await client.session())?.user).toMatchObject({ name: word })
    const [session] = await auth.sessions.list(who)
    return {
      user: user.id,
      member: member.id,
      organization,
      team: team.id,
      invitation: invitation.id,
      key,
      keyId,
      session: session!.id,
      browser,
      client,
    }
  }
  const b = await populate('b', 'id-of-b', 'mallory')
  const others = new Map(tables().map(([name, rows]) => [name, new Set(rows.keys())]))
  const a = await populate('a', 'id-of-a', canary)
  admins.add(b.user)
  const before = new Map(tables().map(([name, rows]) => [name, new Map([...rows].map(([key, row]) => [key, text(row)] as const))]))
  /** Rows of tenant a that are not as they were. */
  const changed = (): string[] =>
    tables().flatMap(([name, rows]) =>
      [...(before.get(name) ?? [])]
        .filter(([key, row]) => !others.get(name)?.has(key) && text(rows.get(key)) !== row)
        .map(([key]) => `${name} ${key}`),
    )
  const kept = [...before].reduce((all, [name, rows]) => all + [...rows.keys()].filter((key) => !others.get(name)?.has(key)).length, 0)
  return { auth, routes: (await kernel.contextOf({ job: 'walk', tenant: 'b' })).app.routes.list, a, b, changed, kept }
}

/** Functions by their names in `inspect().apis`. */
function functionOf(auth: Everything, name: string): (...given: unknown[]) => unknown {
  const path = name.split('.')
  const last = path.pop()!
  const on = path.reduce<object>((object, key) => Reflect.get(object, key) as object, auth)
  return (Reflect.get(on, last) as (...given: unknown[]) => unknown).bind(on)
}

it('no route of one tenant reads, changes or ends what another one has', async () => {
  const { auth, routes, a, b, changed, kept } = await world()
  expect(kept).toBeGreaterThan(10)
  const given = routes.map(({ method, path }) => `${method} ${path}`)
  expect(auth.inspect().routes.filter(({ method, path }) => !given.includes(`${method} ${path}`))).toEqual([])
  const leaks: string[] = []
  const read = async (at: string, response: Response) => {
    const told = (await response.text()) + [...response.headers].join()
    if (told.toLowerCase().includes(canary)) leaks.push(at)
  }
  const ids = { organization: a.organization, team: a.team, invitation: a.invitation }
  for (const id of [a.user, a.keyId, a.session]) {
    // Ids of a key and of a session mean something to these alone.
    const asks = id === a.user ? routes : routes.filter(({ path }) => /key|session|device|^\/account/.test(path))
    const of: Walked = { routes: asks, own: ids, person: a.user, fields: { id, which: id, session: id, userId: a.user, provider: 'orbit' } }
    const { asked } = await walk(of, () => changed().join(), { client: b.browser, answered: read })
    expect(asked).toBeGreaterThan((id === a.user ? 1000 : 100) / (isFullTier ? 1 : 4))
    expect([changed(), leaks]).toEqual([[], []])
  }
  // What reads: with every id as each parameter, by a person of b, and with what was copied from a.
  const names = ['id', 'userId', 'user', 'organization', 'organizationId', 'team', 'invitation', 'token', 'session', 'which', 'key']
  const values = [a.user, a.organization, a.team, a.invitation, a.keyId, a.session]
  const cookies = { cookie: a.client.cookieHeader() }
  const carried: Record<string, string>[] = [{ cookie: b.client.cookieHeader() }, cookies, { authorization: `Bearer ${a.key}` }]
  const get = async (tenant: string, { path, at }: (typeof routes)[number], value: string, headers: Record<string, string>) => {
    const query = new URLSearchParams(names.map((name) => [name, value]))
    query.set('organization', a.organization)
    const to = `${at === 'root' ? '' : '/auth'}${path.replace(/:(\w+)/g, (_, name) => (name === 'provider' ? 'orbit' : value))}`
    const response = await auth.handler(new Request(`http://${tenant}.example${to}?${query}`, { headers }))
    expect([path, response.status < 500 || isUnreachable(path, response)]).toEqual([path, true])
    return response
  }
  // The script that judges passwords has a dictionary of common words, and the canary is one.
  const reads = routes.filter((route) => route.method === 'GET' && route.path !== '/passwords/strength.js')
  for (const route of reads)
    for (const headers of carried) for (const value of values) await read(`GET ${route.path}`, await get('b', route, value, headers))
  expect([changed(), leaks]).toEqual([[], []])
  // In its own tenant the session is alive, the key opens, and the same questions do show what no other tenant saw.
  expect((await a.client.session())?.user).toMatchObject({ name: canary })
  const own = await auth.session(new Request('http://a.example/', { headers: { authorization: `Bearer ${a.key}` } }))
  expect(own?.user).toMatchObject({ name: canary })
  for (const route of reads) if (!/^\/signout/.test(route.path)) await read(route.path, await get('a', route, a.user, cookies))
  expect(leaks).toEqual(expect.arrayContaining(['/session', '/account', '/organizations']))
}, 120_000)

it('no API of one tenant reads, changes or ends what another one has', async () => {
  const { auth, a, b, changed } = await world()
  const asks = new Request('http://b.example/', { headers: { cookie: b.client.cookieHeader() } })
  const copied = new Request('http://b.example/', { headers: { cookie: a.client.cookieHeader() } })
  const keyed = new Request('http://b.example/', { headers: { authorization: `Bearer ${a.key}` } })
  const tenant = 'b'
  const firsts: unknown[] = [
    asks,
    copied,
    keyed,
    { userId: a.user, tenant },
    { userId: b.user, tenant },
    { system: true, tenant },
    { tenant },
    { userId: a.user, organization: a.organization, tenant },
  ]
  const seconds: unknown[] = [
    undefined,
    a.user,
    a.organization,
    a.team,
    a.invitation,
    a.keyId,
    a.key,
    a.session,
    { userId: a.user, id: a.keyId, organization: a.organization, reason: 'because', name: 'mallory' },
    { provider: 'orbit', providerAccountId: 'id-of-a-1', type: 'oauth' },
  ]
  const thirds: unknown[] = sampleCases(
    [undefined, a.user, a.member, a.team, 'owner', { name: 'mallory', reason: 'because', last: true }],
    2,
  )
  const done = new Set<string>()
  const leaks: string[] = []
  const { apis } = auth.inspect()
  expect(apis.length).toBeGreaterThan(80)
  for (const { name } of apis) {
    const call = functionOf(auth, name)
    // Each reads the whole chain of the tenant.
    const isLong = name.startsWith('audit.')
    for (const first of firsts)
      for (const second of isLong ? seconds.slice(0, 2) : seconds)
        for (const third of isLong ? thirds.slice(0, 1) : thirds) {
          let told: unknown
          try {
            told = await call(first, second, third)
            done.add(name)
          } catch (error) {
            told = String(error)
          }
          const shown = told instanceof Response ? await told.text() : (text(told) ?? '')
          if (shown.toLowerCase().includes(canary)) leaks.push(`${name} ${text([first, second, third])}`)
        }
    expect([name, changed(), leaks]).toEqual([name, [], []])
  }
  // The walk did reach what it is about.
  expect(done.size).toBeGreaterThan(40)
  expect((await a.client.session())?.user).toMatchObject({ name: canary })
  expect(await auth.accounts.list({ userId: a.user, tenant: 'a' })).toHaveLength(1)
  expect(text(await auth.organizations.list({ userId: a.user, tenant: 'a' }))).toContain(canary)
  await auth.apiKeys.revoke({ userId: a.user, tenant: 'a' }, a.keyId)
  expect(changed()).toEqual([expect.stringContaining(a.keyId)])
}, 120_000)
