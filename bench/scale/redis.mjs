/** People and sessions in Redis, under a prefix of the run: in the keys of `@auth/unstorage-adapter`, which authkernel has too, and in those of better-auth. */
import Redis from 'ioredis'
import { createStorage } from 'unstorage'
import redisDriver from 'unstorage/drivers/redis'

// A database of its own: who lists the keys of another one need not look at a million.
export const server = process.env.AUTHKERNEL_BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379/9'
// Seconds: what a run that was stopped leaves behind goes by itself.
const life = 3600
const expires = new Date(Date.now() + 30 * 86_400_000).toISOString()
const now = new Date().toISOString()

/** The storage of both adapters. */
export function storageOf(base) {
  return createStorage({ driver: redisDriver({ url: server, base }) })
}

/** What better-auth calls secondary storage. */
export function secondaryStorageOf(base) {
  const redis = new Redis(server)
  const key = (name) => `${base}:${name}`
  return {
    get: (name) => redis.get(key(name)),
    set: (name, value, ttl) => (ttl ? redis.set(key(name), value, 'EX', ttl) : redis.set(key(name), value)),
    delete: (name) => redis.del(key(name)),
  }
}

/**
 * Fills the store, for authkernel and Auth.js apart: the lists of sessions that the latter writes for its people name one session alone, and
 * authkernel would look through all records to find the others. `drop` removes every key of the run.
 */
export async function fillRedis({ users, sessions, tokens }) {
  const redis = new Redis(server)
  const base = `ak_scale_${Date.now().toString(36)}`
  const of = (n) => 1 + (n % users)
  for (const name of ['authkernel', 'authjs']) {
    await inBatches(redis, users, (n) => peopleAt(`${base}:${name}`, n))
    await inBatches(redis, sessions, (n) => [
      set(`${base}:${name}:user:session:live-${n}`, { sessionToken: `live-${n}`, userId: `user-${of(n)}`, expires, createdAt: now }),
    ])
  }
  // better-auth reads those whose signed cookies were made.
  const dated = { createdAt: now, updatedAt: now }
  for (const token of tokens) {
    const n = Number(token.slice('live-'.length))
    const session = { id: token, token, userId: `user-${of(n)}`, expiresAt: expires, ...dated }
    await redis.call(...set(`${base}:better-auth:${token}`, { session, user: { ...person(of(n)), emailVerified: false, ...dated } }))
  }
  return {
    of: (name) => `${base}:${name}`,
    async drop() {
      for (let cursor = '0', keys; ;) {
        ;[cursor, keys] = await redis.scan(cursor, 'MATCH', `${base}:*`, 'COUNT', 10_000)
        if (keys.length > 0) await redis.unlink(...keys)
        if (cursor === '0') break
      }
      await redis.quit()
    },
  }
}

function peopleAt(base, n) {
  return [
    set(`${base}:user:user-${n}`, person(n)),
    set(`${base}:user:email:sub-${n}@example.com`, `user-${n}`),
    set(`${base}:user:account:acme:sub-${n}`, { userId: `user-${n}`, type: 'oidc', provider: 'acme', providerAccountId: `sub-${n}` }),
    // In the form of authkernel, which Auth.js does not read in a sign-in.
    set(`${base}:user:account:by-user-id:user-${n}`, [{ key: ['acme', `sub-${n}`] }]),
  ]
}

function person(n) {
  return { id: `user-${n}`, name: `Person ${n}`, email: `sub-${n}@example.com`, emailVerified: null, image: null }
}

function set(key, value) {
  return ['set', key, typeof value === 'string' ? value : JSON.stringify(value), 'EX', life]
}

async function inBatches(redis, count, commands) {
  for (let from = 1; from <= count; from += 5_000) {
    const batch = []
    for (let n = from; n < from + 5_000 && n <= count; n++) batch.push(...commands(n))
    await redis.pipeline(batch).exec()
  }
}
