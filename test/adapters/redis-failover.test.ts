/** Redis that changes under the adapter: a fail-over, an outage, and a cluster whose keys lie apart. */
import { createAuth } from 'authkernel'
import { createKernel } from 'authkernel/kernel'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { unstorageAdapter, unstorageRecords } from 'authkernel/plugins/unstorage'
import { Redis } from 'ioredis'
import { createStorage } from 'unstorage'
import redisDriver from 'unstorage/drivers/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { askRedis, installed, startCluster, startRedis } from './_own-servers.ts'
import { startSwitch } from './_switch.ts'

describe.skipIf(!installed('redis-server'))('Redis', () => {
  it('after a fail-over the connection is replaced, and every write is done', async () => {
    const [former, next] = [await startRedis(), await startRedis()]
    const way = await startSwitch(former.url)
    const adapter = unstorageAdapter(createStorage({ driver: redisDriver({ url: way.url }) }))
    const user = await adapter.createUser(newUser())
    const { hostname, port } = new URL(next.url)
    // It keeps its connections, and takes no writes from now on.
    await askRedis(former.url, 'REPLICAOF', hostname, port)
    way.lead(next.url)
    const users = await Promise.all([...Array(20).keys()].map(() => adapter.createUser(newUser())))
    for (const { id } of users) expect(await adapter.updateUser({ id, name: 'Countess' })).toMatchObject({ name: 'Countess' })
    expect(await adapter.getUser(user.id)).toBeNull()
    const counting = new Redis(next.url)
    expect((await counting.keys('user:*')).length).toBeGreaterThanOrEqual(20)
    counting.disconnect()
    await adapter.close()
    await way.close()
    await Promise.all([former.stop(), next.stop()])
  })

  it('a server that refuses writes for good is an error that says so, and reads are served', async () => {
    const [primary, replica] = [await startRedis(), await startRedis()]
    const adapter = unstorageAdapter(createStorage({ driver: redisDriver({ url: replica.url }) }))
    const user = await adapter.createUser(newUser())
    await askRedis(replica.url, 'CONFIG', 'SET', 'repl-diskless-sync-delay', 0)
    const { hostname, port } = new URL(primary.url)
    await adapter.updateUser({ id: user.id, name: 'Ada' })
    // A primary that is never reached: nothing is copied over what is there.
    await primary.stop()
    await askRedis(replica.url, 'REPLICAOF', hostname, port)
    await expect(adapter.updateUser({ id: user.id, name: 'Countess' })).rejects.toThrow(/READONLY/)
    expect(await adapter.getUser(user.id)).toMatchObject({ name: 'Ada' })
    await adapter.close()
    await replica.stop()
  })

  it('reads wait for a server that is away for a second', async () => {
    const server = await startRedis()
    const way = await startSwitch(server.url)
    const adapter = unstorageAdapter(createStorage({ driver: redisDriver({ url: way.url }) }))
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id)
    await adapter.createSession(session)
    await way.stop()
    const reads = [...Array(20).keys()].map(() => adapter.getSessionAndUser(session.sessionToken))
    const back = new Promise<void>((resolve) => setTimeout(() => resolve(way.start()), 1_000))
    expect((await Promise.all(reads)).every((found) => found !== null)).toBe(true)
    await back
    await adapter.close()
    await way.close()
    await server.stop()
  })
})

describe.skipIf(!installed('redis-server'))('a Redis Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())
  const storage = () => createStorage({ driver: redisDriver({ cluster: cluster.nodes }) })

  it.each([undefined, 'auth', 'auth{}', '{a'])(
    '`ready` refuses a prefix that keeps no keys together, and names the option (%s)',
    async (prefix) => {
      const adapter = unstorageAdapter(storage(), prefix === undefined ? {} : { prefix })
      const auth = createAuth({ ...baseConfig(), adapter })
      await expect(auth.ready()).rejects.toThrow(/Redis Cluster.*`prefix`.*\{auth\}/)
      await expect(adapter.createUser(newUser())).rejects.toThrow(/`prefix`/)
      await auth.close()
    },
  )

  it('records alone name it too', async () => {
    const records = unstorageRecords(storage(), { prefix: 'auth' })
    const auth = createKernel(baseConfig())
      .use(jwtSessionPlugin())
      .use(recordsPlugin(records))
      .use({ name: 'p', setup: (kernel) => kernel.records('ticket', { fields: { topic: { type: 'string' } } }) })
    await expect(auth.ready()).rejects.toThrow(/Redis Cluster.*`prefix`/)
    await auth.close()
  })

  it.each(['{auth}', 'my{auth}'])('a prefix with braces works (%s)', async (prefix) => {
    const adapter = unstorageAdapter(storage(), { prefix })
    const auth = createAuth({ ...baseConfig(), adapter })
    await auth.ready()
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id, { expires: new Date(Date.now() + 60_000) })
    await adapter.createSession(session)
    expect(await adapter.getSessionAndUser(session.sessionToken)).toMatchObject({ user: { id: user.id } })
    expect(await adapter.deleteUser(user.id)).toMatchObject({ id: user.id })
    expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
    await auth.close()
  })
})
