/** Replay protection and attempts in Redis, each key in a slot of its own. */
import { assertOptions, AuthError, type Limit, type Once } from 'authkernel/kernel'
import { isCluster, openRedis, type Redis, type RedisClient, type Script } from './client.ts'
import { findServerFaults, type ServerFaults } from './faults.ts'
import { hashKey, lifetimeOf, toRoot } from './names.ts'
import type { RedisStoreOptions } from './sessions.ts'

/** Options of `redisOnce`. */
export interface RedisOnceOptions extends RedisStoreOptions {
  /**
   * Replicas that must have a used value before it counts as taken (command WAIT); default 0. With less than these after `waitMs`, the call fails with
   * an error, and the value stays used. For one server or Sentinel.
   */
  replicas?: number
  /** Milliseconds to wait for them; default 100. */
  waitMs?: number
}

/** The service `once`: a value is taken by one of all processes. Keys are stored as hashes. Throws AuthError for `replicas` with a cluster. */
export function redisOnce(client: RedisClient, options: RedisOnceOptions = {}): Once & ServerFaults {
  assertOptions('redisOnce', options, { prefix: true, now: true, replicas: true, waitMs: true })
  const { prefix = 'auth', now = Date.now, replicas = 0, waitMs = 100 } = options
  // A cluster sends WAIT, which names no key, to any of its nodes: that one may never have had the value.
  if (replicas > 0 && isCluster(client)) throw new AuthError('redisOnce: `replicas` cannot be used on a cluster. Leave it out.')
  const root = toRoot(prefix)
  const redis = openRedis(client)
  const keyOf = async (name: string): Promise<string> => `${root}{o:${await hashKey(name)}}`
  return {
    shared: true,
    async take(name, ttlSeconds) {
      const key = await keyOf(name)
      const until = now() + ttlSeconds * 1000
      const value = `${until}.${crypto.randomUUID().slice(-12)}`
      const taken = await redis.run(takeScript, [key], [value, lifetimeOf(until, now()), String(now())])
      if (taken === 1 && replicas > 0) await waitForReplicas(redis, key, replicas, waitMs)
      return taken === 1
    },
    async taken(name) {
      const key = await keyOf(name)
      const found = await redis.send(key, 'GET', key)
      return typeof found === 'string' && Number.parseInt(found, 10) > now()
    },
    findFaults: () => findServerFaults(redis, 'used one-time values can be used again'),
  }
}

/** The service `limit`: a window that slides, counted for all processes. Keys are stored as hashes. */
export function redisLimit(client: RedisClient, options: RedisStoreOptions = {}): Limit & ServerFaults {
  assertOptions('redisLimit', options, { prefix: true, now: true })
  const { prefix = 'auth', now = Date.now } = options
  const root = toRoot(prefix)
  const redis = openRedis(client)
  const keyOf = async (name: string): Promise<string> => `${root}{l:${await hashKey(name)}}`
  return {
    async take(name, { max, seconds }) {
      const key = await keyOf(name)
      const left = Number(
        await redis.run(attemptScript, [key], [String(now()), String(seconds * 1000), String(max), crypto.randomUUID().slice(-12)]),
      )
      return left < 0 ? { allowed: true, retryAfter: 0 } : { allowed: false, retryAfter: Math.ceil(left / 1000) }
    },
    async refund(name) {
      const key = await keyOf(name)
      await redis.run(refundScript, [key, `${key}:r`], [crypto.randomUUID()])
    },
    findFaults: () => findServerFaults(redis, 'attempts are forgotten'),
  }
}

async function waitForReplicas(redis: Redis, key: string, replicas: number, waitMs: number): Promise<void> {
  const reached = Number(await redis.send(key, 'WAIT', String(replicas), String(waitMs)))
  if (reached < replicas) throw new Error(`[redis] once: ${reached} of ${replicas} replicas have the used value after ${waitMs} ms`)
}

// KEYS: value. ARGV: end and name of the attempt, milliseconds to live, now. A client that lost the answer sends it again, and finds its own attempt.
const takeScript: Script = {
  text: `
local found = redis.call('GET', KEYS[1])
if found == ARGV[1] then return 1 end
if found and tonumber(string.match(found, '^%d+')) > tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
}

// KEYS: attempts, by the moment until which they count. ARGV: now, milliseconds of the window, the most attempts, name of the attempt.
// Answers -1: allowed; else the milliseconds until the next one is.
const attemptScript: Script = {
  text: `
local now, window, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZSCORE', KEYS[1], ARGV[4]) then return -1 end
if redis.call('ZCARD', KEYS[1]) >= most then
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if first[2] then return math.max(0, tonumber(first[2]) - now) end
  return window
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + window), ARGV[4])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(1, tonumber(last[2]) - now)))
return -1`,
}

// KEYS: attempts, receipt. ARGV: name of the refund. One refund gives back one attempt, also when it was sent twice.
const refundScript: Script = {
  text: `
if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', 60000)
redis.call('ZPOPMAX', KEYS[1])
return 1`,
}
