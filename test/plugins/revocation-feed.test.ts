/** A feed of revocations behind the strategy `jwt`: through the routes, with processes and regions that share stores. */
import { createAuth } from 'authkernel'
import type { RecordStore } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData, memoryRecords } from 'authkernel/plugins/memory'
import { type RevocationFeedOptions, revocationFeedPlugin } from 'authkernel/plugins/revocation-feed'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, fakeRuntime } from '../_setup.ts'

const cookie = 'authkernel.session-token'
const providers = [
  {
    id: 'credentials',
    name: 'Password',
    type: 'credentials' as const,
    authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
  },
]

interface Shop {
  /** A server over the store of a region; each has a clock of its own. */
  start(options?: RevocationFeedOptions | false, records?: RecordStore): ReturnType<typeof startServer>
}

function startServer(data: ReturnType<typeof memoryData>, feed: RevocationFeedOptions | false, records?: RecordStore) {
  const options = baseConfig({ providers, session: { strategy: 'jwt', revocable: true } })
  const adapter = memoryAdapter(data)
  const auth = createAuth(options)
    .use(adapterPlugin({ ...adapter, records: records ?? adapter.records }))
    .use(accountsPlugin())
  if (feed) auth.use(revocationFeedPlugin(feed))
  const own = auth as typeof auth & { sessions: AccountsApi['sessions'] }
  return {
    adapter,
    auth: own,
    log: options.logger,
    clock: options.runtime,
    browser: () => new Client(auth),
    /** A browser with the cookies of another one. */
    async see(of: Client): Promise<{ status: number; signedIn: boolean; deletes: boolean; retryAfter: string | null }> {
      const copy = new Client(auth)
      for (const [name, value] of of.cookies) copy.cookies.set(name, value)
      const response = await copy.get('/session')
      const signedIn = response.status === 200 && (await response.json()) !== null
      const deletes = response.headers.getSetCookie().some((line) => line.startsWith(cookie))
      return { status: response.status, signedIn, deletes, retryAfter: response.headers.get('retry-after') }
    },
  }
}
const newShop = (): Shop => {
  const data = memoryData()
  return { start: (feed = {}, records) => startServer(data, feed, records) }
}
const signIn = async (server: ReturnType<typeof startServer>, user = 'ada'): Promise<Client> => {
  if (!(await server.adapter.getUser!(user)))
    await server.adapter.createUser!({ id: user, email: `${user}@example.com`, name: user, emailVerified: new Date(0) })
  const client = server.browser()
  await client.post('/callback/credentials', { user })
  return client
}
const requestOf = (browser: Client): Request => new Request('http://localhost:3000/', { headers: { cookie: browser.cookieHeader() } })

/** Memory that can be cut off, and that can forget its last commits. */
function regionStore() {
  const data = new Map()
  const records = memoryRecords(data)
  let isDown = false
  const methods = ['get', 'find', 'count', 'write', 'deleteWhere', 'deleteExpired'] as const
  const store = { ...records } as Record<string, unknown>
  for (const name of methods) {
    store[name] = (...args: unknown[]): unknown => {
      if (isDown) throw new Error('cut off')
      return (records[name] as (...given: unknown[]) => unknown)(...args)
    }
  }
  return {
    store: store as unknown as RecordStore,
    cut: (down = true) => void (isDown = down),
    copy: () => structuredClone(data) as typeof data,
    restore(from: typeof data): void {
      data.clear()
      for (const [name, rows] of from) data.set(name, rows)
    },
    rows: (name: string): unknown[] => [...(data.get(name)?.values() ?? [])],
  }
}

const accepted = { status: 200, signedIn: true, deletes: false, retryAfter: null }
const refused = { status: 200, signedIn: false, deletes: true, retryAfter: null }
const unknown = { status: 503, signedIn: false, deletes: false, retryAfter: '1' }

describe('one region', () => {
  it('the process that ended a session rejects it at once, another one within the staleness', async () => {
    const shop = newShop()
    const [one, two] = [shop.start({ staleness: 10 }), shop.start({ staleness: 10 })]
    const ada = await signIn(one)
    expect([await one.see(ada), await two.see(ada)]).toEqual([accepted, accepted])
    await one.auth.sessions.revokeAll({ userId: 'ada' })
    expect(await one.see(ada)).toEqual(refused)
    two.clock.advance(9_000)
    // Within the staleness a copy may say so; the feed is read behind the request.
    expect((await two.see(ada)).status).toBe(200)
    two.clock.advance(1_000)
    expect(await two.see(ada)).toEqual(refused)
  })

  it('a sign-out and one ended session reach the others', async () => {
    const shop = newShop()
    const [one, two] = [shop.start({ staleness: 0 }), shop.start({ staleness: 0 })]
    const [first, second, third] = [await signIn(one), await signIn(one), await signIn(two)]
    await first.post('/signout')
    const listed = await one.auth.sessions.list({ userId: 'ada' })
    expect(listed).toHaveLength(2)
    // What the feed keeps of a session is nothing for users.
    expect(JSON.stringify(listed)).not.toContain('feed')
    await one.auth.sessions.revoke({ userId: 'ada' }, listed[0]!.id)
    expect([await two.see(second), await two.see(third)].map(({ signedIn }) => signedIn).sort()).toEqual([false, true])
  })

  it('clocks that differ by an hour let no session live, and end none that began afterwards', async () => {
    const shop = newShop()
    const [early, late] = [shop.start({ staleness: 0 }), shop.start({ staleness: 0 })]
    late.clock.advance(3_600_000)
    const before = await signIn(late)
    await early.auth.sessions.revokeAll({ userId: 'ada' })
    expect(await late.see(before)).toEqual(refused)
    const after = await signIn(early)
    expect([await early.see(after), await late.see(after)]).toEqual([accepted, accepted])
  })

  it('a session that ends the others on a process that has not heard of its own end stays ended', async () => {
    const shop = newShop()
    const [one, two] = [shop.start({ staleness: 10 }), shop.start({ staleness: 10 })]
    const ada = await signIn(two)
    await two.see(ada)
    await one.auth.sessions.revokeAll({ userId: 'ada' })
    two.clock.advance(1_000)
    expect(await two.auth.sessions.revokeOthers(requestOf(ada))).toBe(true)
    for (const server of [one, two]) {
      server.clock.advance(20_000)
      expect(await server.see(ada)).toEqual(refused)
    }
  })

  it('a store that is away is 503 after the staleness, and no cookie is deleted', async () => {
    const shop = newShop()
    const region = regionStore()
    const server = shop.start({ staleness: 10 }, region.store)
    const ada = await signIn(server)
    region.cut()
    server.clock.advance(9_000)
    expect(await server.see(ada)).toEqual(accepted)
    server.clock.advance(2_000)
    expect(await server.see(ada)).toEqual(unknown)
    region.cut(false)
    expect(await server.see(ada)).toEqual(accepted)
  })

  it('rows that may be forgotten go, and a process that starts then reads the rest', async () => {
    const region = regionStore()
    const start = () => newShop().start({ staleness: 0, shards: 1 }, region.store)
    const one = start()
    const minute = 60_000
    for (let round = 0; round < 130; round++) await one.auth.sessions.revokeAll({ userId: `old-${round}` })
    one.clock.advance(31 * 24 * 60 * minute)
    const ada = await signIn(one)
    for (let round = 0; round < 70; round++) await one.auth.sessions.revokeAll({ userId: `new-${round}` })
    await one.auth.sessions.revokeAll({ userId: 'ada' })
    expect(region.rows('revocationEntry').length).toBeLessThan(140)
    const two = start()
    two.clock.advance(31 * 24 * 60 * minute)
    expect(await two.see(ada)).toEqual(refused)
    expect(await two.see(await signIn(two, 'bob'))).toEqual(accepted)
  })

  it('a store that lost its last commits in a failover is read anew: what is written after that reaches every process', async () => {
    const region = regionStore()
    const start = () => newShop().start({ staleness: 0, shards: 1 }, region.store)
    const [one, two] = [start(), start()]
    const [ada, bob] = [await signIn(one), await signIn(one, 'bob')]
    await one.auth.sessions.revokeAll({ userId: 'carol' })
    const kept = region.copy()
    await one.auth.sessions.revokeAll({ userId: 'dora' })
    expect([await one.see(ada), await two.see(ada)]).toEqual([accepted, accepted])
    region.restore(kept)
    const three = start()
    // The same number as one that was lost.
    const [listed] = await three.auth.sessions.list({ userId: 'ada' })
    await three.auth.sessions.revoke({ userId: 'ada' }, listed!.id)
    expect(await two.see(ada)).toEqual(refused)
    await three.auth.sessions.revokeAll({ userId: 'bob' })
    expect([await one.see(ada), await one.see(bob)]).toEqual([refused, refused])
  })

  it('a session from before a failover is reached by a revocation whose number was lost and is given again', async () => {
    const region = regionStore()
    const start = () => newShop().start({ staleness: 0, shards: 1 }, region.store)
    const one = start()
    await one.auth.sessions.revokeAll({ userId: 'carol' })
    const kept = region.copy()
    for (const userId of ['dora', 'eve', 'finn']) await one.auth.sessions.revokeAll({ userId })
    const ada = await signIn(one)
    region.restore(kept)
    const two = start()
    two.clock.advance(10_000)
    await two.auth.sessions.revokeAll({ userId: 'ada' })
    expect([await one.see(ada), await two.see(ada)]).toEqual([refused, refused])
  })

  it('an emptied store ends nothing that began afterwards, and the feed goes on', async () => {
    const region = regionStore()
    const start = () => newShop().start({ staleness: 0 }, region.store)
    const one = start()
    await one.auth.sessions.revokeAll({ userId: 'ada' })
    const ada = await signIn(one)
    region.restore(new Map())
    const two = start()
    two.clock.advance(60_000)
    expect(await two.see(ada)).toEqual(accepted)
    await two.auth.sessions.revokeAll({ userId: 'ada' })
    expect([await one.see(ada), await two.see(ada)]).toEqual([refused, refused])
  })

  it('a row that is missing is a fault and no end: 503', async () => {
    const region = regionStore()
    const start = () => newShop().start({ staleness: 0, shards: 1 }, region.store)
    const one = start()
    const ada = await signIn(one)
    for (const userId of ['bob', 'ada', 'carol']) await one.auth.sessions.revokeAll({ userId })
    const damaged = region.copy()
    damaged.get('revocationEntry').delete([...damaged.get('revocationEntry').keys()][1])
    region.restore(damaged)
    expect(await start().see(ada)).toEqual(unknown)
  })
})

describe('beside the list of jwtSessionPlugin', () => {
  it('what was ended before the plugin came stays ended, and processes without it hear what `alsoList` writes', async () => {
    const shop = newShop()
    const former = shop.start(false)
    const [browser, ada] = [await signIn(former), await signIn(former)]
    const ended = former.browser()
    for (const [name, value] of browser.cookies) ended.cookies.set(name, value)
    await browser.post('/signout')
    const fed = shop.start({ staleness: 0, alsoList: true })
    expect([await fed.see(ended), await fed.see(ada)]).toEqual([refused, accepted])
    await fed.auth.sessions.revokeAll({ userId: 'ada' })
    former.clock.advance(11_000)
    expect([await fed.see(ada), await former.see(ada)]).toEqual([refused, refused])
  })

  it('without the plugin: a session that ends the others on a process that has not heard of its own end stays ended', async () => {
    const shop = newShop()
    const [one, two] = [shop.start(false), shop.start(false)]
    const ada = await signIn(two)
    const bystanders = await Promise.all(Array.from({ length: 20 }, () => signIn(two)))
    await two.see(ada)
    await one.auth.sessions.revokeAll({ userId: 'ada' })
    two.clock.advance(1_000)
    expect(await two.auth.sessions.revokeOthers(requestOf(ada))).toBe(true)
    for (const server of [one, two]) {
      server.clock.advance(20_000)
      for (const browser of [ada, ...bystanders]) expect(await server.see(browser)).toEqual(refused)
    }
  })
})

describe('two regions', () => {
  const start = (whenStale: 'ask' | 'reject' = 'ask') => {
    const [eu, us] = [regionStore(), regionStore()]
    const open = (region: string, own: typeof eu, other: Record<string, RecordStore>) =>
      newShop().start({ staleness: 10, region, regions: other, whenStale }, own.store)
    return { eu, us, europe: open('eu', eu, { us: us.store }), america: open('us', us, { eu: eu.store }) }
  }

  it('an end of all sessions of a user is acknowledged when it is in both regions', async () => {
    const { us, europe, america } = start()
    const [here, there] = [await signIn(europe), await signIn(america)]
    await europe.auth.sessions.revokeAll({ userId: 'ada' })
    for (const server of [europe, america]) {
      server.clock.advance(11_000)
      expect([await server.see(here), await server.see(there)]).toEqual([refused, refused])
    }
    us.cut()
    await expect(europe.auth.sessions.revokeAll({ userId: 'ada' })).rejects.toMatchObject({ type: 'RevocationsUnknown' })
  })

  it('a sign-out needs the home of the session alone', async () => {
    const { eu, europe, america } = start()
    const there = await signIn(america)
    expect(await america.see(there)).toEqual(accepted)
    eu.cut()
    const copy = america.browser()
    for (const [name, value] of there.cookies) copy.cookies.set(name, value)
    expect((await copy.post('/signout')).status).toBeLessThan(400)
    eu.cut(false)
    europe.clock.advance(11_000)
    expect(await europe.see(there)).toEqual(refused)
  })

  it('cut off from its home a token is 503 after the staleness, tokens of this region count, and no cookie is deleted', async () => {
    const { us, europe, america } = start()
    const [here, there] = [await signIn(europe), await signIn(america)]
    expect([await europe.see(here), await europe.see(there)]).toEqual([accepted, accepted])
    us.cut()
    europe.clock.advance(11_000)
    expect([await europe.see(here), await europe.see(there)]).toEqual([accepted, unknown])
    us.cut(false)
    expect(await europe.see(there)).toEqual(accepted)
  })

  it('`reject` answers at once, and the next request finds the feed read', async () => {
    const { europe, america } = start('reject')
    const there = await signIn(america)
    expect(await europe.see(there)).toEqual(unknown)
    expect(await europe.see(there)).toEqual(accepted)
  })

  it('a token of a region that is not in `regions` is 503, with a log that names it', async () => {
    const { us, america } = start()
    const there = await signIn(america)
    const asia = newShop().start({ region: 'asia', regions: {} }, regionStore().store)
    expect(await asia.see(there)).toEqual(unknown)
    expect(asia.log.errors.map(({ message }) => message).join()).toContain('the region "us"')
    expect(us.rows('revocationHead')).toEqual([])
  })
})

describe('options', () => {
  it.each([
    [{ staleness: -1 }, '`staleness` must be 0 or more'],
    [{ shards: 0 }, '`shards` must be 1 to 64'],
    [{ whenStale: 'wait' as never }, '`whenStale` must be "ask" or "reject"'],
    [{ regions: { us: memoryRecords() } }, '`regions` needs the name of this region'],
    [{ region: 'eu', regions: { eu: memoryRecords() } }, 'the other regions alone'],
    [{ region: 'e u' }, 'must be 1 to 32 letters'],
    [{ region: 'eu', regions: { us: {} as never } }, 'must be a store of records'],
    [{ clockDifference: Number.NaN }, '`clockDifference` must be 0 or more'],
  ])('%j', (options, message) => {
    expect(() => revocationFeedPlugin(options)).toThrow(message)
  })

  it('sessions that cannot be revoked are refused at start', async () => {
    const auth = createAuth(baseConfig({ providers, session: { strategy: 'jwt' }, runtime: fakeRuntime() }))
      .use(adapterPlugin(memoryAdapter()))
      .use(revocationFeedPlugin())
    await expect(auth.ready()).rejects.toThrow('revocable')
  })
})
