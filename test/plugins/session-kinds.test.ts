/** Sessions that are more than ordinary ones say so themselves: without the row or the plugin that answers for them they are signed out. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { AnyContext, Kernel, Plugin } from 'authkernel/kernel'
import { getToken } from 'authkernel/jwt'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { guestPlugin } from 'authkernel/plugins/guest'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { baseConfig, Client } from '../_setup.ts'
import { Device } from './_dbsc.ts'
import { ticketSessionPlugin } from './_ticket-session.ts'

type Strategy = 'jwt' | 'database'
type Memory = ReturnType<typeof memoryAdapter>
const minute = 60_000
const start = Date.UTC(2026, 0, 2, 3, 4, 5)
const sessionCookie = 'authkernel.session-token'

/** What a test does to rows behind the back of the plugins. */
function probe() {
  let kernel: Kernel | undefined
  const plugin: Plugin = { name: 'probe', setup: (given) => void (kernel = given) }
  const within = async <T>(work: (ctx: AnyContext) => Promise<T>): Promise<T> =>
    work(await kernel!.contextOf({ job: 'probe', tenant: null }))
  return { plugin, within, lose: (record: string) => within((ctx) => ctx.records(record).deleteWhere({})) }
}

async function world(strategy: Strategy, { change = (store) => store }: { change?: (store: Memory) => Memory } = {}) {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const { plugin, within, lose } = probe()
  const auth = createAuth(base)
    .use(adapterPlugin(change(store)))
    .use(plugin)
    .use(accountsPlugin())
    .use(stepUpPlugin())
    .use(guestPlugin())
    .use(impersonationPlugin({ can: () => true }))
    .use(deviceSessionsPlugin({ bind: 'optional', idle: 86_400 }))
  await auth.ready()
  for (const id of ['ada', 'bob']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const asks = (client: Client) => new Request(`${client.origin}/`, { headers: { cookie: client.cookieHeader() } })
  const signIn = async (user: string, client = new Client(auth, 'https://app.example')) => {
    const response = await client.post('/callback/credentials', { user })
    return Object.assign(client, { response })
  }
  const keep = async (client: Client, response: Response) => {
    const carrier = new Client({ handler: () => Promise.resolve(response) }, client.origin)
    for (const [name, value] of client.cookies) carrier.cookies.set(name, value)
    await carrier.get('/')
    client.cookies.clear()
    for (const [name, value] of carrier.cookies) client.cookies.set(name, value)
  }
  const copy = (client: Client) => {
    const made = new Client(auth, client.origin)
    for (const [name, value] of client.cookies) made.cookies.set(name, value)
    return made
  }
  /** Signed out everywhere: server code, the route, and a holder of a proof of the user. */
  const isOut = async (client: Client) =>
    (await auth.session(asks(client))) === null &&
    (await client.session()) === null &&
    (await auth.accounts.list(asks(client))).length === 0 &&
    (await auth.sessions.list(asks(client))).length === 0
  const kinds = {
    bound: async () => {
      const client = await signIn('ada')
      expect((await new Device(client).register(client.response))?.status).toBe(200)
      return client
    },
    unbound: () => signIn('ada'),
    acting: async () => {
      const client = await signIn('bob')
      await keep(client, await auth.impersonation.start(asks(client), { userId: 'ada', reason: 'ticket 1' }))
      return client
    },
    guest: async () => {
      const client = new Client(auth, 'https://app.example')
      await client.post('/guest')
      return client
    },
  }
  return { auth, data, store, asks, signIn, copy, isOut, kinds, within, lose, ...base }
}

const each = (['jwt', 'database'] as const).flatMap((strategy) =>
  (
    [
      ['bound', 'deviceSession', 'device-sessions'],
      ['unbound', 'deviceSession', 'device-sessions'],
      ['acting', 'impersonation', 'impersonation'],
      ['guest', 'guest', 'guest'],
    ] as const
  ).map(([kind, record, plugin]) => ({ strategy, kind, record, plugin })),
)

describe.each(each)('$kind session, $strategy', ({ strategy, kind, record, plugin }) => {
  it('is signed out everywhere without its row, logged once', async () => {
    const { kinds, lose, isOut, logger } = await world(strategy)
    const client = await kinds[kind]()
    expect(await client.session()).not.toBeNull()
    await lose(record)
    logger.warnings.length = 0
    expect(await isOut(client)).toBe(true)
    await client.session()
    expect(logger.warnings).toEqual(['session-not-guarded'])
  })

  it('is signed out everywhere when its plugin is removed, logged once', async () => {
    const { auth, kinds, isOut, logger } = await world(strategy)
    const client = await kinds[kind]()
    const before = client.cookieHeader()
    auth.remove(plugin)
    logger.warnings.length = 0
    const request = () => new Request('https://app.example/', { headers: { cookie: before } })
    expect([await auth.session(request()), await auth.session(request())]).toEqual([null, null])
    expect(logger.warnings).toEqual(['session-not-guarded'])
    expect(await isOut(client)).toBe(true)
  })

  it('stays what it is when the record of sessions is lost', async () => {
    const { kinds, lose, auth, asks } = await world(strategy)
    const client = await kinds[kind]()
    await lose('sessionRecord')
    if (kind === 'bound') client.cookies.delete([...client.cookies.keys()].find((name) => name.includes('device.'))!)
    const session = await auth.session(asks(client))
    // Signed out, or still marked: never a plain session of the user.
    if (kind !== 'unbound') expect(session === null || 'actor' in session || 'guest' in session).toBe(true)
    expect(await auth.accounts.list(asks(client))).toEqual([])
  })
})

describe.each(['jwt', 'database'] as const)('a bound session, %s', (strategy) => {
  it('is not unbound by another user who ends it by its id', async () => {
    const { auth, kinds, asks, signIn, copy, runtime } = await world(strategy)
    const ada = await kinds.bound()
    const thief = copy(ada)
    const id = (await auth.sessions.list(asks(ada)))[0]?.id ?? ''
    for (const client of [await signIn('bob'), await kinds.guest()]) await client.post('/account/sessions/end', { id })
    expect(await auth.sessions.revoke(asks(await signIn('bob')), id)).toBe(false)
    expect((await ada.session())?.user?.['id']).toBe('ada')
    // The short cookie is over, and a copied jar cannot sign for a new one.
    runtime.advance(10 * minute)
    expect(await thief.session()).toBeNull()
    expect((await auth.devices.list({ userId: 'ada' })).map(({ bound }) => bound)).toEqual([true])
  })

  it('keeps its row while its end fails, and then ends', async () => {
    let fails = false
    // Sessions and the list of ended ones cannot be written; the row of the device could be deleted.
    // Sessions and the list of ended ones cannot be written; the row of the device could be deleted.
    const stopped = (store: Memory): Memory => {
      const { records } = store
      const guarded = Object.assign(Object.create(records) as typeof records, {
        write: (...[writes, now]: Parameters<typeof records.write>) => {
          if (fails && writes.some(({ table }) => table !== 'deviceSession')) throw new Error('the store is down')
          return records.write(writes, now)
        },
      })
      const deleteSession = (token: string) => {
        if (fails) throw new Error('the store is down')
        return store.deleteSession!(token)
      }
      return { ...store, deleteSession, records: guarded }
    }
    const { auth, kinds, asks, within, runtime } = await world(strategy, { change: stopped })
    const ada = await kinds.bound()
    runtime.advance(2 * 86_400_000)
    fails = true
    await auth.session(asks(ada)).catch(() => null)
    expect(await within((ctx) => ctx.records('deviceSession').count())).toBe(1)
    fails = false
    expect(await auth.session(asks(ada))).toBeNull()
  })

  it('has its row before the session is stored, and after it is deleted', async () => {
    const order: string[] = []
    let rows = async (): Promise<number> => 0
    const watched = (store: Memory): Memory => ({
      ...store,
      async createSession(session) {
        order.push(`created with ${await rows()}`)
        return store.createSession!(session)
      },
      async deleteSession(token) {
        const deleted = await store.deleteSession!(token)
        order.push(`deleted with ${await rows()}`)
        return deleted
      },
    })
    const { signIn, within } = await world(strategy, { change: watched })
    rows = () => within((ctx) => ctx.records('deviceSession').count())
    const ada = await signIn('ada')
    await ada.post('/signout')
    expect(order).toEqual(strategy === 'database' ? ['created with 1', 'deleted with 1'] : [])
    expect(await rows()).toBe(0)
  })
})

it('a refresh while the bound session gets a new id goes with it, and leaves it bound', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const slow = (store: Memory): Memory => ({
    ...store,
    async createSession(session) {
      await meanwhile?.()
      return store.createSession!(session)
    },
  })
  const { auth, signIn, within, copy, runtime } = await world('database', { change: slow })
  const again: Plugin = {
    name: 'again',
    setup: (kernel) =>
      kernel.route({
        method: 'GET',
        path: '/again',
        handler: async (ctx) => ctx.resume((await ctx.loginAgain({ callbackUrl: ctx.origin }))!),
      }),
  }
  auth.use(again)
  const ada = await signIn('ada')
  const device = new Device(ada)
  await device.register(ada.response)
  const thief = copy(ada)
  meanwhile = async () => {
    meanwhile = undefined
    expect((await device.refresh()).status).toBe(200)
  }
  await ada.get('/again')
  const rows = await within(async (ctx) => (await ctx.records('deviceSession').find({})).rows)
  expect(rows.map(({ bound, offer }) => [typeof bound, offer])).toEqual([['string', null]])
  // The value of the refresh is the one that counts.
  runtime.advance(minute)
  expect((await ada.session())?.user?.['id']).toBe('ada')
  expect(await thief.session()).toBeNull()
})

it.each(['jwt', 'database'] as const)('ending all other sessions keeps the own one, whose row stays, %s', async (strategy) => {
  const { auth, signIn, kinds, asks, isOut } = await world(strategy)
  const [own, other] = [await kinds.bound(), await signIn('ada')]
  await auth.sessions.revokeOthers(asks(own))
  expect([(await own.session())?.user?.['id'], await isOut(other)]).toEqual(['ada', true])
  expect((await auth.devices.list({ userId: 'ada' })).map(({ bound }) => bound)).toEqual([true])
})

describe.each(['jwt', 'database'] as const)('an acting session, %s', (strategy) => {
  it('expires at `until` in the store and in the cookie', async () => {
    const { data, kinds, runtime } = await world(strategy)
    const client = await kinds.acting()
    const until = start + 30 * minute
    if (strategy === 'database') {
      const acting = [...data.sessions.values()].find(({ userId }) => userId === 'ada')!
      expect(acting.expires.getTime()).toBe(until)
    }
    expect(new Date((await client.session())!.expires).getTime()).toBe(until)
    runtime.advance(29 * minute)
    expect(new Date((await client.session())!.expires).getTime()).toBe(until)
    runtime.advance(minute)
    expect(await client.session()).toBeNull()
  })
})

it('a database session with a fixed end keeps it when another product extends its row', async () => {
  const { data, kinds, auth, asks, runtime } = await world('database')
  const client = await kinds.acting()
  for (const session of data.sessions.values()) session.expires = new Date(start + 40 * 86_400_000)
  runtime.advance(31 * minute)
  expect(await auth.session(asks(client))).toBeNull()
})

it('a database that takes different tokens for equal makes no ordinary session of a marked one', async () => {
  const loose = (store: Memory): Memory => ({
    ...store,
    getSessionAndUser: (token) => store.getSessionAndUser!(token.replaceAll('！', '!').toLowerCase()),
  })
  const { kinds, auth, asks } = await world('database', { change: loose })
  const client = await kinds.acting()
  const [name, value] = [...client.cookies].find(([key]) => key.includes('session-token'))!
  for (const changed of [
    value.replaceAll('!', encodeURIComponent('！')),
    value.replace('acting', 'ACTING'),
    value.replace('acting', 'bound'),
  ]) {
    client.cookies.set(name, changed)
    const session = await auth.session(asks(client))
    expect(session === null || 'actor' in session).toBe(true)
    expect(await auth.accounts.list(asks(client))).toEqual([])
  }
})

describe('getToken, which asks no server', () => {
  afterEach(() => void vi.useRealTimers())

  it('shows who acts, and sees no session from `until` on; guests and bound sessions are marked', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const { kinds, asks, secret } = await world('jwt')
    const tokenOf = (client: Client) => getToken({ req: asks(client), secret: secret as string, secureCookie: true })
    const acting = await kinds.acting()
    expect(await tokenOf(acting)).toMatchObject({ sub: 'ada', act: { sub: 'bob' }, exp: start / 1000 + 1800 })
    expect(await tokenOf(await kinds.guest())).toMatchObject({ ses: { kinds: ['bound', 'guest'] } })
    const plain = await tokenOf(await kinds.bound())
    expect([plain?.act, (Object(plain?.['ses']) as { kinds?: string[] }).kinds]).toEqual([undefined, ['bound']])
    vi.setSystemTime(start + 1_799_000)
    expect(await tokenOf(acting)).not.toBeNull()
    vi.setSystemTime(start + 1_800_000)
    expect(await tokenOf(acting)).toBeNull()
  })
})

describe('kinds of sessions', () => {
  const declares = (name: string, kind: string): Plugin => ({ name, setup: (kernel) => kernel.sessionKind(kind) })

  it('belong to one plugin and have short names', async () => {
    await expect(createAuth(baseConfig()).use(declares('one', 'kiosk')).use(declares('two', 'kiosk')).ready()).rejects.toThrow(
      /"kiosk".*"two".*"one"/,
    )
    await expect(createAuth(baseConfig()).use(declares('one', 'Kiosk!')).ready()).rejects.toThrow(/lower-case/)
  })

  it('need a session strategy that keeps them', async () => {
    const plain = ticketSessionPlugin()
    const without: Plugin = {
      name: 'without-kinds',
      setup(kernel) {
        plain.setup({
          ...kernel,
          sessionStrategy: (name, make) =>
            kernel.sessionStrategy(name, (view) => ({ ...make(view), abilities: new Set(['attributes', 'revoke:id']) as never })),
        } as Kernel)
      },
    }
    const auth = createAuth(baseConfig())
      .use(adapterPlugin(memoryAdapter(memoryData())))
      .use(without)
      .use(deviceSessionsPlugin())
    await expect(auth.ready()).rejects.toThrow(/ability "kinds"|"kinds"/)
  })

  it('are kept by a strategy of another author', async () => {
    const { plugin, lose } = probe()
    const auth = createAuth(
      baseConfig({ providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: () => ({ id: 'ada' }) }] }),
    )
      .use(adapterPlugin(memoryAdapter(memoryData())))
      .use(ticketSessionPlugin())
      .use(plugin)
      .use(deviceSessionsPlugin())
    await auth.ready()
    const client = new Client(auth)
    await client.post('/callback/credentials')
    expect(await client.session()).not.toBeNull()
    await lose('deviceSession')
    expect(await client.session()).toBeNull()
  })

  it('a token of the host that looks marked is refused', async () => {
    const base = baseConfig({
      session: { strategy: 'database', generateSessionToken: () => '!guest!!x' },
      providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: () => ({ id: 'ada' }) }],
    })
    const store = memoryAdapter(memoryData())
    const auth = createAuth(base).use(adapterPlugin(store))
    await store.createUser({ id: 'ada', email: 'ada@example.com', emailVerified: null })
    const client = new Client(auth)
    await client.post('/callback/credentials')
    expect(client.cookies.has(sessionCookie)).toBe(false)
    expect(base.logger.errors.map(({ message }) => message).join()).toContain('generateSessionToken')
  })
})
