/** A primary that hangs, is replaced by Sentinel, and comes back: nothing that was answered is lost, and nothing is used twice. */
import { redisOnce, redisSessions } from 'authkernel/plugins/redis'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newSession } from '../../src/testing/adapter-subject.ts'
import { installed, startSentinels } from './_own-servers.ts'

describe.skipIf(!installed('redis-server'))('Redis with Sentinel', () => {
  let servers: Awaited<ReturnType<typeof startSentinels>>
  beforeAll(async () => {
    servers = await startSentinels()
  })
  afterAll(() => servers.stop())

  it('a primary that hangs and comes back: sessions go on, ended ones stay ended, used values stay used', async () => {
    const client = new Redis({
      sentinels: servers.sentinels,
      name: 'auth',
      failoverDetector: true,
      retryStrategy: () => 50,
      commandTimeout: 2_000,
    })
    client.on('error', () => {})
    const [sessions, once] = [redisSessions(client), redisOnce(client, { replicas: 1, waitMs: 2_000 })]
    const userId = crypto.randomUUID()
    const [live, ended] = [newSession(userId), newSession(userId)]
    for (const session of [live, ended]) await sessions.createSession(session)
    await sessions.deleteSession(ended.sessionToken)
    const keys = Array.from({ length: 50 }, (_, at) => `state-${at}`)
    for (const key of keys) expect(await once.take(key, 600)).toBe(true)
    // `WAIT` of the last value says that the replica has all writes before it.
    servers.primary.signal('SIGSTOP')
    const found: unknown[] = []
    const read = async (): Promise<boolean> => {
      try {
        found.push(await sessions.getSession(live.sessionToken))
        return true
      } catch {
        return false
      }
    }
    await expect.poll(read, { timeout: 30_000, interval: 100 }).toBe(true)
    servers.primary.signal('SIGCONT')
    for (let at = 0; at < 20; at++) await read()
    // Errors while no server answers, and never "signed out".
    expect(found.length).toBeGreaterThan(0)
    expect(found).not.toContain(null)
    expect(await sessions.getSession(ended.sessionToken)).toBeNull()
    for (const key of keys) expect(await once.taken(key)).toBe(true)
    await sessions.deleteSessionsByUserId(userId)
    expect(await sessions.getSession(live.sessionToken)).toBeNull()
    client.disconnect()
  })
})
