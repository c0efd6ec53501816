/** Users in one store, sessions in another: the whole contract over the pair, on one Redis, on a cluster, and by other clients. */
import events from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, createCluster } from '@redis/client'
import { createAuth } from 'authkernel'
import type { Adapter, AdapterSession, SessionStore, Store } from 'authkernel/kernel'
import { adapterPlugin, type AdapterPluginOptions, moveAllSessions } from 'authkernel/plugins/adapter'
import { type RedisClient, redisLimit, redisOnce, redisSessions } from 'authkernel/plugins/redis'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { testAdapter, testServices } from 'authkernel/testing'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Cluster, Redis } from 'ioredis'
import { createStorage } from 'unstorage'
import redisDriver from 'unstorage/drivers/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addSessions } from '../../plugins/adapters/adapter/sessions.ts'
import { newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { baseConfig } from '../_setup.ts'
import { testRaces } from './_races.ts'
import { askRedis, installed, startCluster, startRedis } from './_own-servers.ts'
import { reachable, servers, uniqueName } from './_servers.ts'
import { dropStore, newDatabase, openStore, type SqlSpec } from './_stores.ts'

type Split = Required<Adapter>
const pair = (adapter: Adapter, sessions: SessionStore, more = {}): Split =>
  addSessions(adapter, { sessions, ...more }, Date, () => {}) as Split

const [hasRedis, hasPostgres] = await Promise.all([reachable('redis'), reachable('postgres')])

describe.skipIf(!hasRedis)('sessions in Redis', () => {
  const redis = new Redis(servers.redis)
  const prefix = uniqueName()
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(...keys)
    redis.disconnect()
  })

  testAdapter('memory and Redis', { adapter: () => pair(memoryAdapter(), redisSessions(redis, { prefix: `${prefix}a` })) })
  testServices('redisOnce and redisLimit', {
    services: (now) => ({ once: redisOnce(redis, { prefix, now }), limit: redisLimit(redis, { prefix, now }) }),
  })

  describe.skipIf(!hasPostgres)('with PostgreSQL', () => {
    let spec: SqlSpec
    beforeAll(async () => {
      spec = await newDatabase('postgres')
    })
    afterAll(() => dropStore(spec))
    testAdapter('PostgreSQL and Redis', { adapter: () => pair(openStore(spec), redisSessions(redis, { prefix: `${prefix}b` })) })
    testAdapter('PostgreSQL with copies in Redis', {
      adapter: () => pair(openStore(spec), redisSessions(redis, { prefix: `${prefix}c` }), { sessionFallback: { staleness: 60 } }),
    })
    testAdapter('PostgreSQL whose sessions move to Redis', {
      adapter: () => pair(openStore(spec), redisSessions(redis, { prefix: `${prefix}d` }), { moveSessions: true }),
    })
  })

  const open = async (more: Partial<AdapterPluginOptions> = {}): Promise<{ adapter: Adapter; split: Split; sessions: SessionStore }> => {
    const sessions = redisSessions(redis, { prefix: `${prefix}${uniqueName()}` })
    const adapter = memoryAdapter()
    return { adapter, split: pair(adapter, sessions, more), sessions }
  }
  const signIn = async (store: Pick<Adapter, 'createSession'>, userId: string): Promise<AdapterSession> => {
    const session = newSession(userId)
    await store.createSession!(session)
    return session
  }
  const isLive = async (split: Split, { sessionToken }: AdapterSession): Promise<boolean> =>
    (await split.getSessionAndUser(sessionToken)) !== null

  describe('the end of all sessions', () => {
    it('counts also for a session that is on no list, and for one that is written at that moment', async () => {
      const { split } = await open()
      const user = await split.createUser(newUser())
      const [unlisted, kept] = [await signIn(split, user.id), await signIn(split, user.id)]
      const [list] = await redis.keys(`${prefix}*:l`).then((keys) => keys.slice(-1))
      for (const key of await redis.keys(`${prefix}*:l`)) await redis.del(key)
      expect(list).toBeDefined()
      await split.deleteSessionsByUserId(user.id, kept)
      expect([await isLive(split, unlisted), await isLive(split, kept)]).toEqual([false, true])
      const rounds = Array.from({ length: 20 }, async () => {
        const session = newSession(user.id)
        await Promise.all([split.createSession(session), split.deleteSessionsByUserId(user.id)])
        await split.deleteSessionsByUserId(user.id)
        return isLive(split, session)
      })
      expect(new Set(await Promise.all(rounds))).toEqual(new Set([false]))
      expect(await isLive(split, await signIn(split, user.id))).toBe(true)
    })

    it('revives no session that was ended before', async () => {
      const { split } = await open()
      const user = await split.createUser(newUser())
      const session = await signIn(split, user.id)
      await split.deleteSessionsByUserId(user.id)
      await split.deleteSessionsByUserId(user.id, session)
      expect(await isLive(split, session)).toBe(false)
    })

    it('keeps one session over several endings, and only while each of them keeps it', async () => {
      const { split } = await open()
      const user = await split.createUser(newUser())
      const session = await signIn(split, user.id)
      for (const _round of [1, 2, 3]) await split.deleteSessionsByUserId(user.id, session)
      expect(await isLive(split, session)).toBe(true)
      await split.updateSession({ sessionToken: session.sessionToken, expires: new Date(Date.now() + 7_200_000) })
      expect(await isLive(split, session)).toBe(true)
      await split.deleteSessionsByUserId(user.id, await signIn(split, user.id))
      expect(await isLive(split, session)).toBe(false)
    })
  })

  it('a listed form opens nothing, and ends its session', async () => {
    const { split } = await open()
    const user = await split.createUser(newUser())
    const session = await signIn(split, user.id)
    const [listed] = await split.listSessionsByUserId(user.id)
    expect(listed!.sessionToken).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await split.getSessionAndUser(listed!.sessionToken)).toBeNull()
    expect(await split.deleteSession(listed!.sessionToken)).toMatchObject({ userId: user.id })
    expect(await isLive(split, session)).toBe(false)
  })

  it('a list that is read while a session is written does not lose it', async () => {
    const gate = withResolvers()
    // The command that writes the session is late.
    const slow: RedisClient = async (args) => {
      if (args[0]!.startsWith('EVAL') && args[3]!.includes('{s:')) await gate.promise
      return redis.call(args[0]!, ...args.slice(1))
    }
    const sessions = redisSessions(slow, { prefix: `${prefix}${uniqueName()}` })
    const userId = crypto.randomUUID()
    const writing = signIn(sessions, userId)
    expect(await sessions.listSessionsByUserId(userId)).toHaveLength(0)
    gate.resolve()
    await writing
    expect(await sessions.listSessionsByUserId(userId)).toHaveLength(1)
  })

  it('a session takes at most 200 bytes beside its place on the list, and all keys go when it expires', async () => {
    const own = `ak${Math.random().toString(36).slice(2, 6)}`
    const sessions = redisSessions(redis, { prefix: own })
    const userId = crypto.randomUUID()
    for (const _session of Array(5)) await signIn(sessions, userId)
    const keys = await redis.keys(`${own}:*`)
    expect(keys).toHaveLength(6)
    for (const key of keys) {
      expect(await redis.pttl(key)).toBeGreaterThan(0)
      if (key.includes('{s:')) expect(Number(await redis.call('MEMORY', 'USAGE', key))).toBeLessThanOrEqual(200)
    }
    await redis.del(...keys)
  })

  describe('sessions that move', () => {
    it('go on, are ended in both stores, and do not come back', async () => {
      const { adapter, split, sessions } = await open({ moveSessions: true })
      const user = await split.createUser(newUser())
      const [used, unused, ended] = [await signIn(adapter, user.id), await signIn(adapter, user.id), await signIn(adapter, user.id)]
      expect(await Promise.all(Array.from({ length: 20 }, () => isLive(split, used)))).toEqual(Array(20).fill(true))
      expect(await adapter.getSessionAndUser!(used.sessionToken)).toBeNull()
      expect((await sessions.getSession(used.sessionToken))?.expires).toEqual(used.expires)
      expect(await split.listSessionsByUserId(user.id)).toHaveLength(3)
      await split.deleteSession(ended.sessionToken)
      expect(await isLive(split, ended)).toBe(false)
      await split.deleteSessionsByUserId(user.id, unused)
      expect([await isLive(split, used), await isLive(split, unused)]).toEqual([false, true])
    })

    it('a process that is killed between any two calls of a move loses no session, and brings no ended one back', async () => {
      const sessionCalls = ['getSession', 'copyCurrent', 'updateSession', 'deleteSession'] as const
      for (let kill = 0; kill < 6; kill++) {
        for (const end of [false, true]) {
          const { adapter, sessions, split } = await open({ moveSessions: true })
          const user = await split.createUser(newUser())
          const session = await signIn(adapter, user.id)
          let calls = 0
          // What a killed process was about to do is not done.
          const dying = <T extends object>(store: T): T =>
            Object.assign(
              { ...store },
              Object.fromEntries(
                [...sessionCalls, 'getSessionAndUser' as const].flatMap((name) => {
                  const call = (store as Record<string, ((...args: unknown[]) => unknown) | undefined>)[name]
                  return call ? [[name, (...args: unknown[]) => (calls++ >= kill ? new Promise(() => {}) : call(...args))]] : []
                }),
              ),
            )
          const dead = pair(dying(adapter), dying(sessions), { moveSessions: true })
          await Promise.race([dead.getSessionAndUser(session.sessionToken), new Promise((done) => setTimeout(done, 30))])
          if (end) await split.deleteSession(session.sessionToken)
          expect([kill, end, await isLive(split, session)]).toEqual([kill, end, !end])
          expect(await split.listSessionsByUserId(user.id)).toHaveLength(end ? 0 : 1)
          await moveAllSessions(adapter, sessions)
          expect([kill, end, await isLive(split, session)]).toEqual([kill, end, !end])
        }
      }
    })

    it('race: one that is ended while requests move it is ended', async () => {
      const { adapter, split } = await open({ moveSessions: true })
      const user = await split.createUser(newUser())
      for (const _round of Array(30)) {
        const session = await signIn(adapter, user.id)
        const end = Math.random() < 0.5 ? split.deleteSession(session.sessionToken) : split.deleteSessionsByUserId(user.id)
        await Promise.all([isLive(split, session), isLive(split, session), end, isLive(split, session)])
        expect(await isLive(split, session)).toBe(false)
      }
    })
  })

  describe('with the adapter as fallback', () => {
    // The first look of a request, or the one after its place was reserved.
    type Look = 'first' | 'last'
    const open = (): { split: Split; reads: { count: number }; hold: (look?: Look) => { arrived: Promise<void>; release: () => void } } => {
      const adapter = memoryAdapter() as Required<Adapter>
      let gate: { arrive: () => void; released: Promise<void>; look: Look } | undefined
      const reads = { count: 0 }
      // A process that pauses after the adapter answered, and before it writes the copy.
      const slow: Adapter = {
        ...adapter,
        async getSessionAndUser(sessionToken) {
          reads.count++
          const [found, held] = [await adapter.getSessionAndUser(sessionToken), gate]
          if (held?.look === 'last') {
            held.look = 'first'
            return found
          }
          gate = undefined
          held?.arrive()
          await held?.released
          return found
        },
      }
      const hold = (look: Look = 'first'): { arrived: Promise<void>; release: () => void } => {
        const [arrival, end] = [withResolvers(), withResolvers()]
        gate = { arrive: arrival.resolve, released: end.promise, look }
        return { arrived: arrival.promise, release: end.resolve }
      }
      const sessions = redisSessions(redis, { prefix: `${prefix}${uniqueName()}` })
      return { split: pair(slow, sessions, { sessionFallback: { staleness: 60 } }), reads, hold }
    }

    it('a copy ends with the staleness after its session was read, however long its reader pauses', async () => {
      const { split, hold } = open()
      const user = await split.createUser(newUser())
      const session = await signIn(split, user.id)
      await redis.del(await redis.keys(`${prefix}*{s:*`))
      const { arrived, release } = hold('last')
      const paused = split.getSessionAndUser(session.sessionToken)
      await arrived
      await new Promise((done) => setTimeout(done, 100))
      release()
      expect(await paused).not.toBeNull()
      const [key] = await redis.keys(`${prefix}*{s:*`)
      expect(await redis.pttl(key!)).toBeLessThanOrEqual(60_000 - 100)
      expect(await redis.get(key!)).toContain(user.id)
    })

    it('of many readers that find no copy one writes it', async () => {
      const { split, reads } = open()
      const user = await split.createUser(newUser())
      const session = await signIn(split, user.id)
      await redis.del(await redis.keys(`${prefix}*{s:*`))
      reads.count = 0
      await Promise.all(Array.from({ length: 50 }, () => split.getSessionAndUser(session.sessionToken)))
      expect(reads.count).toBeLessThanOrEqual(51)
      reads.count = 0
      expect(await isLive(split, session)).toBe(true)
      expect(reads.count).toBe(0)
    })

    it('warns once a minute, not at every request of an outage', async () => {
      const fail = (): never => {
        throw new Error('no connection')
      }
      const store: SessionStore = { ...redisSessions(redis), getSession: fail, createSession: fail, copyCurrent: fail }
      const warnings: string[] = []
      let now = Date.now()
      const logger = { error: () => {}, warn: (code: string) => warnings.push(code), debug: () => {} }
      let readStore = (): Store => {
        throw new Error('set up first')
      }
      const auth = createAuth({ ...baseConfig(), logger, runtime: { now: () => now } })
        .use(adapterPlugin(memoryAdapter(), { sessions: store, sessionFallback: { staleness: 60 } }))
        .use({ name: 'reader', setup: (kernel) => void (readStore = () => kernel.service('store')) })
      await auth.ready()
      const adapter = readStore()
      const count = (): number => warnings.filter((code) => code === 'sessions-from-adapter').length
      for (const _read of Array(5)) await adapter.getSessionAndUser('none')
      expect(count()).toBe(1)
      now += 60_000
      for (const _read of Array(5)) await adapter.getSessionAndUser('none')
      expect(count()).toBe(2)
      await auth.close()
    })

    it.each(['deleteSession', 'deleteSessions', 'deleteSessionsByUserId'] as const)(
      'race: a reader that pauses with what it read brings no ended session back: %s',
      async (method) => {
        const { split, hold } = open()
        const user = await split.createUser(newUser())
        const end = (session: AdapterSession): Promise<unknown> =>
          Promise.resolve(
            method === 'deleteSession'
              ? split.deleteSession(session.sessionToken)
              : method === 'deleteSessions'
                ? split.deleteSessions([session.sessionToken])
                : split.deleteSessionsByUserId(user.id),
          )
        const later = new Date(Date.now() + 7_200_000)
        for (const work of [
          ({ sessionToken }: AdapterSession) => split.updateSession({ sessionToken, expires: later }),
          ({ sessionToken }: AdapterSession) => split.getSessionAndUser(sessionToken),
        ]) {
          const session = await signIn(split, user.id)
          await redis.del(await redis.keys(`${prefix}*{s:*`))
          const { arrived, release } = hold()
          const paused = work(session)
          await arrived
          await end(session)
          release()
          await paused
          expect(await isLive(split, session)).toBe(false)
        }
        for (const key of await redis.keys(`${prefix}*{s:*`)) expect(await redis.get(key)).not.toContain(user.id)
      },
    )

    it.skipIf(!installed('redis-server'))(
      'an outage of Redis signs no user out, ends are obeyed within the staleness, and copies come back',
      async () => {
        const server = await startRedis()
        const own = new Redis(server.url, {
          maxRetriesPerRequest: 0,
          retryStrategy: () => null,
          enableOfflineQueue: false,
          lazyConnect: true,
        })
        own.on('error', () => {})
        await own.connect()
        let now = Date.now()
        const failures: unknown[] = []
        const adapter = memoryAdapter()
        const sessions = redisSessions(own, { now: () => now })
        const split = addSessions(adapter, { sessions, sessionFallback: { staleness: 60 } }, Date, (error) => failures.push(error)) as Split
        const user = await split.createUser(newUser())
        const [first, second] = [await signIn(split, user.id), await signIn(split, user.id)]
        const copy = await sessions.getSession(second.sessionToken)
        expect(copy).not.toBeNull()
        expect(await own.pttl((await own.keys('auth:{s:*'))[0]!)).toBeLessThanOrEqual(60_000)
        own.disconnect()
        await server.stop()
        expect([await isLive(split, first), await isLive(split, await signIn(split, user.id))]).toEqual([true, true])
        await split.deleteSession(first.sessionToken)
        expect(await isLive(split, first)).toBe(false)
        expect(failures.length).toBeGreaterThan(0)
        now += 1
      },
    )
  })

  it('a server that drops keys is refused at start, with the remedy', async () => {
    const server = await startRedis('--maxmemory', '20mb', '--maxmemory-policy', 'allkeys-lru')
    const own = new Redis(server.url)
    const auth = createAuth(baseConfig()).use(adapterPlugin(memoryAdapter(), { sessions: redisSessions(own), once: redisOnce(own) }))
    await expect(auth.ready()).rejects.toThrow(/sessions are signed out.*used one-time values can be used again/s)
    await expect(auth.ready()).rejects.toThrow(/maxmemory-policy noeviction.*allkeys-lru/s)
    const whole = createAuth({ ...baseConfig(), adapter: unstorageAdapter(createStorage({ driver: redisDriver({ url: server.url }) })) })
    await expect(whole.ready()).rejects.toThrow(/maxmemory-policy noeviction.*used one-time values/s)
    await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await auth.ready()
    await whole.ready()
    await whole.close()
    await auth.close()
    own.disconnect()
    await server.stop()
  })

  it('a used value that no replica has is an error, and stays used', async () => {
    const once = redisOnce(redis, { prefix: `${prefix}w`, replicas: 1, waitMs: 20 })
    await expect(Promise.resolve(once.take('state', 60))).rejects.toThrow(/0 of 1 replicas/)
    expect(await once.taken('state')).toBe(true)
  })

  it.each([
    ['sessionFallback', { sessionFallback: { staleness: 60 } }, /needs the option `sessions`/],
    ['moveSessions', { moveSessions: true }, /needs the option `sessions`/],
    ['both', { sessions: redisSessions(redis), sessionFallback: { staleness: 60 }, moveSessions: true }, /exclude each other/],
    ['staleness', { sessions: redisSessions(redis), sessionFallback: { staleness: 0 } }, /seconds above 0/],
  ])('a mistake in the options names the option: %s', (_name, options, message) => {
    expect(() => adapterPlugin(memoryAdapter(), options)).toThrow(message)
    expect(() => redisSessions(redis, { prefix: '{auth}' })).toThrow(/Leave out the braces/)
  })
})

describe.skipIf(!installed('redis-server'))('sessions in a Redis Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let client: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
    client = new Cluster(cluster.nodes)
  })
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
  })
  // Opened by the first call, as `beforeAll` makes the cluster.
  const later: RedisClient = ([command = '', ...args]) => client.call(command, ...args)

  testAdapter('memory and a Redis Cluster', { adapter: () => pair(memoryAdapter(), redisSessions(later)) })
  testServices('redisOnce and redisLimit on a cluster', {
    services: (now) => ({ once: redisOnce(later, { now }), limit: redisLimit(later, { now }) }),
  })

  it('waits for no replicas: the answer would be that of any node', async () => {
    expect(() => redisOnce(client, { replicas: 1 })).toThrow(/redisOnce: `replicas` cannot be used on a cluster/)
    const other = createCluster({ rootNodes: cluster.nodes.map((socket) => ({ socket })) })
    expect(() => redisOnce(other, { replicas: 1 })).toThrow(/`replicas` cannot be used on a cluster/)
    const one = new Redis({ ...cluster.nodes[0]!, lazyConnect: true })
    expect(() => redisOnce(one, { replicas: 1 })).not.toThrow()
    one.disconnect()
  })

  it('keys are spread over the nodes, and every primary is asked for its settings', async () => {
    const split = pair(memoryAdapter(), redisSessions(client))
    const user = await split.createUser(newUser())
    for (let at = 0; at < 60; at++) await split.createSession(newSession(user.id))
    const sizes = await Promise.all(client.nodes('master').map((node) => node.dbsize()))
    for (const size of sizes) expect(size).toBeGreaterThan(5)
    expect(await split.listSessionsByUserId(user.id)).toHaveLength(60)
    await client.nodes('master')[2]!.call('CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'volatile-lru')
    expect(await redisSessions(client).findFaults!()).toHaveLength(1)
    await client.nodes('master')[2]!.call('CONFIG', 'SET', 'maxmemory', '0')
  })

  it('slots move between nodes while sessions are used', async () => {
    const split = pair(memoryAdapter(), redisSessions(client))
    const user = await split.createUser(newUser())
    const sessions = Array.from({ length: 40 }, () => newSession(user.id))
    for (const session of sessions) await split.createSession(session)
    const nodes = client.nodes('master')
    const [from, to] = [nodes[0]!, nodes[1]!]
    const [fromId, toId] = [String(await from.call('CLUSTER', 'MYID')), String(await to.call('CLUSTER', 'MYID'))]
    const slots = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][]
    const [first] = slots.find(([, , [, , id]]) => id === fromId)!
    let isMoving = true
    let reads = 0
    const reading = (async () => {
      while (isMoving) {
        for (const session of sessions)
          if ((await split.getSessionAndUser(session.sessionToken)) !== null) reads++
          else throw new Error('a session was lost')
      }
    })()
    const { host, port } = to.options
    for (let slot = first; slot < first + 400; slot++) {
      await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
      await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
      const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[]
      if (keys.length > 0) await from.call('MIGRATE', host!, port!, '', 0, 5000, 'KEYS', ...keys)
      for (const node of nodes) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    }
    isMoving = false
    await reading
    expect(reads).toBeGreaterThan(40)
    for (const session of sessions) expect(await split.deleteSession(session.sessionToken)).not.toBeNull()
  })

  describe.skipIf(!hasPostgres)('beside PostgreSQL', () => {
    let users: SqlSpec
    beforeAll(async () => {
      users = await newDatabase('postgres')
    })
    afterAll(() => dropStore(users))
    testRaces('PostgreSQL and a Redis Cluster', () => ({ kind: 'split', users, nodes: cluster.nodes }))
  })
})

describe.skipIf(!hasRedis)('other clients', () => {
  it('node-redis keeps sessions, and a server that forgot the scripts gets them again', async () => {
    const client = await createClient({ url: servers.redis }).connect()
    const prefix = uniqueName()
    const [sessions, once] = [redisSessions(client, { prefix }), redisOnce(client, { prefix })]
    for (const _time of [1, 2]) {
      const session = newSession(crypto.randomUUID())
      await sessions.createSession(session)
      await client.sendCommand(['SCRIPT', 'FLUSH'])
      expect(await sessions.updateSession({ sessionToken: session.sessionToken, expires: session.expires })).not.toBeNull()
      await sessions.deleteSessionsByUserId(session.userId)
      expect([await once.take('state', 60), await once.take('state', 60)]).toEqual([_time === 1, false])
      expect(await sessions.getSession(session.sessionToken)).toBeNull()
    }
    const keys = (await client.sendCommand(['KEYS', `${prefix}*`])) as unknown as string[]
    if (keys.length > 0) await client.sendCommand(['DEL', ...keys])
    await client.close()
  })

  it('a REST API of Redis keeps sessions', async () => {
    const redis = new Redis(servers.redis)
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const [command = '', ...args] = JSON.parse(Buffer.concat(chunks).toString()) as string[]
      const answer = await redis.call(command, ...args).then(
        (result) => ({ result }),
        (error: Error) => ({ error: error.message }),
      )
      response.end(JSON.stringify(answer))
    }).listen(0, '127.0.0.1')
    await events.once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const prefix = uniqueName()
    const sessions = redisSessions(
      async (args) => {
        const { result, error } = (await (await fetch(url, { method: 'POST', body: JSON.stringify(args) })).json()) as Record<
          string,
          unknown
        >
        if (error !== undefined) throw new Error(String(error))
        return result
      },
      { prefix },
    )
    const session = newSession(crypto.randomUUID())
    await sessions.createSession(session)
    expect(await sessions.listSessionsByUserId(session.userId)).toHaveLength(1)
    await sessions.deleteSessionsByUserId(session.userId)
    expect(await sessions.getSession(session.sessionToken)).toBeNull()
    server.close()
    await redis.del(...(await redis.keys(`${prefix}*`)))
    redis.disconnect()
  })
})

describe.skipIf(!hasRedis)('authkernel move-store', () => {
  it('moves what is left, goes on after an interruption, and says what it did', async () => {
    const redis = new Redis(servers.redis)
    const prefix = uniqueName()
    const [adapter, sessions] = [memoryAdapter(), redisSessions(redis, { prefix })]
    const rows: AdapterSession[] = []
    for (const _user of Array(20)) {
      const user = await adapter.createUser!(newUser())
      for (const _session of [1, 2]) rows.push(await adapter.createSession!(newSession(user.id)))
    }
    const { deleteSession } = adapter
    let calls = 0
    const failing = {
      ...adapter,
      deleteSession: (token: string) => (++calls > 15 ? Promise.reject(new Error('away')) : deleteSession!(token)),
    }
    await expect(moveAllSessions(failing, sessions)).rejects.toThrow(/away/)
    const reports: number[] = []
    // Written there and not yet removed here: in both stores, and listed once.
    const split = pair(adapter, sessions, { moveSessions: true })
    for (const userId of new Set(rows.map((row) => row.userId))) expect(await split.listSessionsByUserId(userId)).toHaveLength(2)
    const report = await moveAllSessions(adapter, sessions, ({ users }) => reports.push(users))
    expect(report).toEqual({ users: 20, moved: 40 - 15, pending: 0, hashed: 0 })
    expect(reports).toEqual([20])
    for (const { sessionToken, expires } of rows) {
      expect((await sessions.getSession(sessionToken))?.expires).toEqual(expires)
      expect(await adapter.getSessionAndUser!(sessionToken)).toBeNull()
    }
    expect(await moveAllSessions(adapter, sessions)).toEqual({ users: 20, moved: 0, pending: 0, hashed: 0 })
    await redis.del(...(await redis.keys(`${prefix}*`)))
    redis.disconnect()
  })
})

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
