/** What holds for sessions whatever the strategy: ids, attributes, lists, ends from elsewhere, and how a strategy is chosen. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import {
  type Context,
  createKernel,
  type Events,
  type Plugin,
  type SessionAttributes,
  type SessionSelector,
  type SessionStrategy,
} from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryRecords } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { baseConfig, Client } from '../_setup.ts'
import { ticketSessionPlugin } from './_ticket-session.ts'

const name = 'authkernel.session-token'
const people = ['1', '2'].map((id) => ({ id, name: `User ${id}`, email: `user${id}@example.com`, emailVerified: null }))
const providers = [
  {
    id: 'credentials',
    name: 'Password',
    type: 'credentials' as const,
    authorize: ({ id }: Record<string, unknown>) => people.find((one) => one.id === id) ?? null,
  },
]
/** A plugin that does things to sessions: a page that proves a second time, and what needs a context. */
function probe(requires: Plugin['requires'] = []) {
  let last: Context | undefined
  const plugin: Plugin<{
    probe: {
      end(which: SessionSelector): Promise<number | undefined>
      attributes(client: Client): Promise<SessionAttributes | null>
      id(client: Client): Promise<string | null>
    }
  }> = {
    name: 'probe',
    requires,
    setup(kernel) {
      kernel.route({
        method: 'GET',
        path: '/again',
        handler: async (ctx) => {
          const login = await ctx.loginAgain({ callbackUrl: `${ctx.origin}/inside` })
          return login ? ctx.park(login, { to: '/factor' }) : new Response('nobody', { status: 401 })
        },
      })
      kernel.route({
        method: 'GET',
        path: '/factor',
        handler: async (ctx) => {
          const parked = await ctx.parked()
          return parked ? ctx.resume(parked, { proof: { amr: ['otp', 'mfa'], factors: 2 } }) : ctx.page('signIn')
        },
      })
      const of = (client: Client) => kernel.contextOf(new Request(client.origin, { headers: { cookie: client.cookieHeader() } }))
      return {
        probe: {
          end: (which) =>
            kernel.job({ job: 'probe' }, async (ctx) => ctx.service('session').revoke?.(ctx, which) as Promise<number | undefined>),
          attributes: async (client) => (await (last = await of(client)).session.attributes?.(last)) ?? null,
          id: async (client) => (await (last = await of(client)).session.id?.(last)) ?? null,
        },
      }
    },
  }
  return plugin
}

/** An identity of a provider of type oidc, without a provider. */
const oidc: Plugin = {
  name: 'oidc-double',
  setup(kernel) {
    kernel.route({
      method: 'GET',
      path: '/as/:person/:sid',
      handler: (ctx) => {
        const { person = '', sid = '' } = ctx.params
        const account = { provider: 'acme', type: 'oidc' as const, providerAccountId: `acme-${person}` }
        const user = people.find(({ id }) => id === person)!
        return ctx.complete({
          user,
          account,
          profile: { sub: `sub-${person}`, sid },
          startedBy: null,
          match: 'account',
          trustsEmail: true,
          proof: { amr: ['hwk'], authTime: 5 },
        })
      },
    })
  },
}

const strategies: Record<string, AuthConfig> = {
  jwt: { session: { strategy: 'jwt', revocable: true } },
  database: { session: { strategy: 'database' } },
}

function start(strategy: string, more: AuthConfig = {}, requires: Plugin['requires'] = []) {
  const memory = memoryAdapter()
  for (const user of people) {
    void memory.createUser(user)
    void memory.linkAccount({ userId: user.id, type: 'oidc', provider: 'acme', providerAccountId: `acme-${user.id}` })
  }
  const config = strategies[strategy] as AuthConfig
  const options = baseConfig({ providers, adapter: memory, ...config, ...more, session: { ...config.session, ...more.session } })
  const auth = createAuth(options).use(accountsPlugin()).use(oidc).use(probe(requires))
  const signIn = async (id: string, agent = 'Firefox'): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { id }, { 'user-agent': agent })
    return client
  }
  const at = async (person: string, sid: string): Promise<Client> => {
    const client = new Client(auth)
    await client.get(`/as/${person}/${sid}`)
    return client
  }
  const request = (client: Client): Request => new Request(client.origin, { headers: { cookie: client.cookieHeader() } })
  const alive = async (...clients: Client[]): Promise<boolean[]> =>
    Promise.all(clients.map(async (client) => (await client.session()) !== null))
  return { memory, options, auth, signIn, at, request, alive, clock: options.runtime }
}

describe.each(Object.keys(strategies))('sessions of the %s strategy', (strategy) => {
  it('have an id that opens nothing, and attributes; both are told with signedIn, and no hook and no event sees them otherwise', async () => {
    const seen: unknown[] = []
    const { auth, signIn, clock } = start(strategy, {
      callbacks: {
        jwt: ({ token }) => (seen.push({ ...token }), token),
        session: (message) => (seen.push({ ...message.token }), message.session),
      },
      events: {
        signOut: (message) => void seen.push('token' in message ? { ...message.token } : {}),
        session: ({ token }) => void seen.push({ ...token }),
      },
    })
    const told: Events['signedIn'][] = []
    auth.on('signedIn', (message) => void told.push(message))
    const client = await signIn('1')
    const seconds = clock.now() / 1000
    const session = told[0]?.session
    expect(session).toEqual({
      id: expect.stringMatching(/^[\w-]{36,64}$/),
      attributes: {
        provider: 'credentials',
        sub: '1',
        authTime: seconds,
        methods: { pwd: seconds },
        factors: 1,
        started: clock.now(),
        userAgent: 'Firefox',
      },
    })
    expect(await auth.probe.id(client)).toBe(session?.id)
    expect(await auth.probe.attributes(client)).toEqual(session?.attributes)
    const stranger = new Client(auth)
    stranger.cookies.set(name, session?.id ?? '')
    expect(await stranger.session()).toBeNull()
    expect(JSON.stringify(await client.session())).not.toContain('Firefox')
    await client.post('/signout')
    expect(await auth.probe.attributes(client)).toBeNull()
    expect(JSON.stringify(seen)).not.toMatch(/Firefox|methods/)
  })

  it('a step-up gives a new token and id to the same session; the old token is dead at once, and a planted step-up raises no session', async () => {
    const { auth, signIn, clock } = start(strategy, { session: { absoluteMaxAge: 90_000 } })
    const client = await signIn('1')
    const [old, id, began] = [client.cookies.get(name) ?? '', await auth.probe.id(client), clock.now()]
    clock.advance(60_000)
    await client.get('/again')
    expect((await client.get('/factor')).headers.get('location')).toBe('http://localhost:3000/inside')
    expect(client.cookies.get(name)).not.toBe(old)
    expect(await auth.probe.id(client)).not.toBe(id)
    const [first, now] = [began / 1000, clock.now() / 1000]
    expect(await auth.probe.attributes(client)).toMatchObject({
      methods: { pwd: first, otp: now, mfa: now },
      authTime: now,
      factors: 2,
      started: began,
      userAgent: 'Firefox',
    })
    const thief = new Client(auth)
    thief.cookies.set(name, old)
    expect(await thief.session()).toBeNull()
    // The cap counts from the first sign-in.
    clock.advance(89_000_000 + 990_000)
    expect(await client.session()).toBeNull()

    const [one, two] = [await signIn('1'), await signIn('2')]
    await one.get('/again')
    two.cookies.set('authkernel.parked', one.cookies.get('authkernel.parked') ?? '')
    const response = await two.get('/factor')
    expect(response.headers.get('location')).not.toContain('/inside')
    expect(await auth.probe.attributes(two)).toMatchObject({ factors: 1 })
  })

  it('a step-up of a session that ended meanwhile is refused', async () => {
    const { auth, signIn } = start(strategy)
    const client = await signIn('1')
    await client.get('/again')
    await auth.sessions.revokeAll({ userId: '1' })
    const response = await client.get('/factor')
    expect(response.headers.get('location')).not.toContain('/inside')
    expect(await client.session()).toBeNull()
  })

  it('are listed with provider, address and agent, and ended singly, all others, or all; each end is told', async () => {
    const { auth, signIn, request, alive, clock } = start(strategy)
    const told: unknown[] = []
    auth.on('sessionsEnded', ({ which, count, by }) => void told.push([Object.keys(which), count, by]))
    const laptop = await signIn('1')
    clock.advance(1000)
    const [phone, stranger] = [await signIn('1', 'Safari'), await signIn('2')]
    const list = await auth.sessions.list(request(laptop))
    expect(list).toEqual([
      expect.objectContaining({ provider: 'credentials', userAgent: 'Safari', current: false, createdAt: new Date(clock.now()) }),
      expect.objectContaining({
        provider: 'credentials',
        userAgent: 'Firefox',
        current: true,
        lastUsed: expect.any(Date),
        expires: expect.any(Date),
      }),
    ])
    expect(JSON.stringify(list)).not.toContain(laptop.cookies.get(name))
    const [foreign] = await auth.sessions.list({ userId: '2' })
    expect(await auth.sessions.revoke(request(laptop), foreign!.id)).toBe(false)
    expect(await auth.sessions.revoke(request(laptop), 'unknown')).toBe(false)
    expect(await auth.sessions.revoke(request(laptop), list[0]!.id)).toBe(true)
    expect(await alive(laptop, phone, stranger)).toEqual([true, false, true])
    expect(await auth.sessions.list(request(laptop))).toHaveLength(1)

    const third = await signIn('1')
    expect(await auth.sessions.revokeOthers(request(laptop))).toBe(true)
    expect(await alive(laptop, third, stranger)).toEqual([true, false, true])
    expect(await auth.sessions.revokeAll({ userId: '1' })).toBe(true)
    expect(await alive(laptop, stranger)).toEqual([false, true])
    // In the same millisecond, and it counts.
    expect(await alive(await signIn('1'))).toEqual([true])
    expect(await auth.sessions.revokeAll(new Request('http://localhost:3000/'))).toBe(false)
    expect(told).toEqual([
      [['id', 'userId'], 1, 'auth.sessions.revoke'],
      [['userId', 'except'], 1, 'auth.sessions.revokeOthers'],
      [['userId'], 1, 'auth.sessions.revokeAll'],
    ])
  })

  it('are ended by what the provider calls session and person, and by nothing else of that name', async () => {
    const { auth, at, signIn, alive, clock } = start(strategy, {}, ['session:revoke:attribute', 'session:list', 'records'])
    const [one, two, own] = [await at('1', 's1'), await at('1', 's2'), await signIn('1')]
    const long = 'x'.repeat(400)
    const [other, odd] = [await at('2', 's3'), await at('2', long)]
    expect(await auth.probe.attributes(one)).toMatchObject({ provider: 'acme', sub: 'sub-1', sid: 's1', methods: { hwk: 5 }, authTime: 5 })
    expect(await auth.probe.end({ provider: 'elsewhere', sid: 's1' })).toBe(0)
    expect(await auth.probe.end({ provider: 'acme', sid: 's2', until: clock.now() - 1 })).toBe(0)
    expect(await alive(one, two)).toEqual([true, true])
    expect(await auth.probe.end({ provider: 'acme', sid: 's1' })).toBe(1)
    expect(await alive(one, two, own, other, odd)).toEqual([false, true, true, true, true])
    expect(await auth.probe.end({ provider: 'acme', sid: long })).toBe(1)
    expect(await auth.probe.end({ provider: 'acme', sub: 'sub-1' })).toBe(1)
    expect(await alive(one, two, own, other, odd)).toEqual([false, false, true, true, false])
  })

  it('a deleted user is signed out everywhere', async () => {
    const { auth, signIn, alive } = start(strategy)
    const client = await signIn('1')
    await auth.users.delete({ userId: '1' })
    expect(await alive(client)).toEqual([false])
    expect(await auth.sessions.list({ userId: '1' })).toEqual([])
  })
})

describe('without what it takes', () => {
  const { records: _records, ...bare } = memoryAdapter()

  it.each([
    ['jwt without revocable', { session: { strategy: 'jwt' } }, /revocable: true/],
    ['jwt with a shared once alone', { session: { strategy: 'jwt', revocable: true }, once: true }, /"records"/],
  ] as const)('%s: ending other sessions throws instead of answering true', async (_what, { session, ...rest }, message) => {
    const once = { shared: true, take: () => true, taken: () => false }
    const auth = createAuth(baseConfig({ providers, session }))
      .use(adapterPlugin(bare, 'once' in rest ? { once } : {}))
      .use(accountsPlugin())
    await expect(auth.sessions.revokeOthers({ userId: '1' })).rejects.toMatchObject({ type: 'MissingSessionAbility', message })
    await expect(auth.sessions.list({ userId: '1' })).rejects.toMatchObject({ type: 'MissingSessionAbility' })
  })

  it.each([
    ['database', 'session:revoke:attribute'],
    ['jwt', 'session:revoke:attribute'],
    ['jwt', 'session:list'],
    ['jwt', 'store:deleteUser'],
    ['jwt', 'store:nullableEmail'],
  ] as const)('%s: a plugin that requires %s is refused at compile with the remedy', async (strategy, requirement) => {
    const { deleteUser: _absent, nullableEmail: _without, ...adapter } = bare
    const auth = createAuth(baseConfig({ providers, adapter, session: { strategy } })).use(probe([requirement]))
    await expect(auth.ready()).rejects.toThrow(/Plugin "probe" (needs .*(records|revocable|deleteUser)|makes users without an address)/)
  })

  it('an adapter without extra columns keeps attributes in a sealed cookie that is bound to the session', async () => {
    const adapter = memoryAdapter()
    for (const user of people) await adapter.createUser(user)
    const { records: _none, ...published } = adapter
    const auth = createAuth(baseConfig({ providers, adapter: published })).use(probe(['session:attributes']))
    const signIn = async (id: string): Promise<Client> => {
      const client = new Client(auth)
      await client.post('/callback/credentials', { id })
      return client
    }
    const [one, two] = [await signIn('1'), await signIn('2')]
    expect(await auth.probe.attributes(one)).toMatchObject({ provider: 'credentials', sub: '1' })
    one.cookies.set('authkernel.session-info', two.cookies.get('authkernel.session-info') ?? '')
    expect(await auth.probe.attributes(one)).toBeNull()
    await two.post('/signout')
    expect(two.cookies.has('authkernel.session-info')).toBe(false)
  })
})

describe('which strategy', () => {
  const ticketed = (client: Client): boolean => /^[0-9a-f-]{36}$/.test(client.cookies.get(name) ?? '')
  const signedIn = async (auth: ConstructorParameters<typeof Client>[0]): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { id: '1' })
    return client
  }

  it('is the one of the options, else the only one that the host uses', async () => {
    expect(ticketed(await signedIn(createAuth(baseConfig({ providers })).use(ticketSessionPlugin())))).toBe(true)
    const chosen = createAuth(baseConfig({ providers, session: { strategy: 'jwt' } })).use(ticketSessionPlugin())
    expect((await signedIn(chosen)).cookies.get(name)).toMatch(/^eyJ/)
    expect(chosen.inspect().services['session']).toBe('session-jwt')
    const both = createAuth(baseConfig({ providers, session: { strategy: 'tickets' } }))
      .use(ticketSessionPlugin())
      .use(jwtSessionPlugin())
    expect(ticketed(await signedIn(both))).toBe(true)
  })

  it('an unknown name, and two that nothing decides between, are refused with the names', async () => {
    await expect(createAuth(baseConfig({ session: { strategy: 'cookie' as never } })).ready()).rejects.toThrow(
      '`session.strategy` must be "jwt" or "database", not "cookie"',
    )
    const more: Plugin = { name: 'more', setup: (kernel) => kernel.sessionStrategy('other' as never, () => ({}) as never) }
    await expect(createKernel(baseConfig()).use(ticketSessionPlugin()).use(more).ready()).rejects.toThrow(
      '"tickets" (session-tickets) and "other" (more): choose one with `session.strategy`',
    )
  })

  it('one that is provided in the former way goes before all, and its revoke is called', async () => {
    const ended: unknown[] = []
    const former: SessionStrategy = {
      read: () => null,
      user: () => ({ id: '1' }),
      issue: () => ({ id: 'token' }),
      update: () => null,
      end: () => null,
      revoke: (_ctx, who) => void ended.push(who),
    }
    const auth = createAuth(baseConfig({ providers, adapter: memoryAdapter(), session: { strategy: 'jwt' } }))
      .use({ name: 'former', setup: (kernel) => kernel.provide('session', former) })
      .use(accountsPlugin())
    expect(await auth.sessions.revokeOthers({ userId: '1' })).toBe(true)
    expect(ended).toEqual([{ userId: '1' }])
    await expect(auth.sessions.list({ userId: '1' })).rejects.toMatchObject({ type: 'MissingSessionAbility' })
  })
})

describe('revocations of tokens', () => {
  /** Two processes over one store: kernels with clocks and copies of their own. */
  async function processes(more: AuthConfig = {}) {
    const records = memoryRecords()
    const reads: string[] = []
    let broken = false
    const store = {
      ...records,
      get: (...asked: Parameters<typeof records.get>) => {
        if (broken) throw new Error('store is away')
        reads.push(asked[0])
        return records.get(...asked)
      },
    }
    const clock = baseConfig().runtime
    const make = () => {
      const options = baseConfig({ providers, runtime: clock, ...more, session: { strategy: 'jwt', revocable: true, ...more.session } })
      return { options, auth: createAuth(options).use(recordsPlugin(store)).use(probe()) }
    }
    const [here, there] = [make(), make()]
    const client = new Client(here.auth)
    await client.post('/callback/credentials', { id: '1' })
    const elsewhere = new Client(there.auth)
    for (const [key, value] of client.cookies) elsewhere.cookies.set(key, value)
    return { here, there, client, elsewhere, clock, reads, fail: (now: boolean) => (broken = now) }
  }

  it('count at once in the process that revoked, elsewhere within ten seconds, for one read of one row in five', async () => {
    const { here, client, elsewhere, clock, reads } = await processes()
    expect(await elsewhere.session()).not.toBeNull()
    reads.length = 0
    for (let i = 0; i < 49; i++) {
      expect(await elsewhere.session()).not.toBeNull()
      clock.advance(200)
    }
    // Background reads of the head row, whatever the number of session reads.
    expect(reads.length).toBeGreaterThan(0)
    expect(reads.length).toBeLessThanOrEqual(3)
    await here.auth.probe.end({ userId: '1' })
    expect(await client.session()).toBeNull()
    clock.advance(10_000)
    expect(await elsewhere.session()).toBeNull()
  })

  it('a process that has just begun, or was idle, waits for the store; one that fails is an outage and no sign-out', async () => {
    const { here, there, elsewhere, fail, clock } = await processes()
    await here.auth.probe.end({ userId: '1' })
    fail(true)
    expect((await elsewhere.get('/session')).status).toBe(503)
    expect(elsewhere.cookies.has(name)).toBe(true)
    fail(false)
    expect(await elsewhere.session()).toBeNull()
    const other = new Client(there.auth)
    await other.post('/callback/credentials', { id: '2' })
    fail(true)
    clock.advance(9_999)
    expect(await other.session()).not.toBeNull()
    clock.advance(1)
    expect((await other.get('/session')).status).toBe(503)
  })

  it('a revoked token is not laundered by a renewal inside the window', async () => {
    const { here, elsewhere, clock } = await processes({ session: { updateAge: 3 } })
    expect(await elsewhere.session()).not.toBeNull()
    await here.auth.probe.end({ userId: '1' })
    clock.advance(3_500)
    expect(await elsewhere.session()).toBeNull()
  })

  it('tokens from before the option go on when it is switched on, and end singly and by watermark', async () => {
    const plain = createAuth(baseConfig({ providers, session: { strategy: 'jwt' }, jwt: { maxAge: 86_400 } }))
    const [before, second] = [new Client(plain), new Client(plain)]
    for (const client of [before, second]) await client.post('/callback/credentials', { id: '1' })
    const { there, clock } = await processes()
    clock.advance(1000)
    const [one, two] = [before, second].map((client) => {
      const now = new Client(there.auth)
      now.cookies.set(name, client.cookies.get(name) ?? '')
      return now
    }) as [Client, Client]
    expect([await one.session(), await two.session()]).not.toContain(null)
    await there.auth.probe.end({ id: (await there.auth.probe.id(one)) ?? '' })
    expect([await one.session(), (await two.session()) !== null]).toEqual([null, true])
    await there.auth.probe.end({ userId: '1' })
    expect(await two.session()).toBeNull()
  })

  it('tenants do not meet: a revocation of one namespace leaves the other alone', async () => {
    const records = memoryRecords()
    const options = baseConfig({ providers, session: { strategy: 'jwt', revocable: true } })
    const auth = createAuth(options).use(recordsPlugin(records)).use(probe())
    const tenants = ['a', 'b'].map((namespace) => ({ namespace, cookiePrefix: namespace }))
    auth.hook('settings', ({ request }) => tenants[new URL(request.url).hostname === 'a.example' ? 0 : 1]!)
    auth.hook('tenant', ({ tenant }) => tenants.find(({ namespace }) => namespace === tenant)!)
    let end: ((which: SessionSelector) => Promise<unknown>) | undefined
    auth.use({
      name: 'by-tenant',
      setup: (kernel) => {
        end = (which) => kernel.job({ job: 'x', tenant: 'a' }, async (ctx) => ctx.service('session').revoke?.(ctx, which))
      },
    })
    const [a, b] = ['https://a.example', 'https://b.example'].map((origin) => new Client(auth, origin)) as [Client, Client]
    for (const client of [a, b]) await client.post('/callback/credentials', { id: '1' })
    await end?.({ userId: '1' })
    expect([await a.session(), (await b.session()) !== null]).toEqual([null, true])
  })
})
