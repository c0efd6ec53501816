/** Sessions in Redis: each in a slot of its own, so that a cluster spreads them over its nodes. */
import { assertOptions, type SessionStore } from 'authkernel/kernel'
import {
  isOfGeneration,
  isReservation,
  newGeneration,
  newReservation,
  toListedForm,
  toListedName,
  toSessionName,
} from 'authkernel/kernel/stores'
import { openRedis, type RedisClient, type Script } from './client.ts'
import { findServerFaults } from './faults.ts'
import { beginGeneration, forgetSessions, noteSession, readGeneration, type UserKeys } from './generation.ts'
import { hashKey, lifetimeOf, toRoot } from './names.ts'
import { fromRow, readSession, type StoredSession, toRow, writeSession } from './session-value.ts'

/** Options of the stores over Redis. */
export interface RedisStoreOptions {
  /** Put before every key, with a colon behind it; default `auth`. Without braces: they decide where a cluster keeps a key. */
  prefix?: string
  /** Clock in milliseconds; default `Date.now`. */
  now?: () => number
}

/**
 * Keeps sessions in Redis or Valkey, for `adapterPlugin(adapter, { sessions })`. Works on one server, with Sentinel and on a cluster. Tokens are stored
 * as SHA-256. A session lives as long as its `expires`. Throws AuthError for a prefix with braces.
 */
export function redisSessions(client: RedisClient, options: RedisStoreOptions = {}): SessionStore {
  assertOptions('redisSessions', options, { prefix: true, now: true })
  const { prefix = 'auth', now = Date.now } = options
  const root = toRoot(prefix)
  const redis = openRedis(client)
  const keyOf = (name: string): string => `${root}{s:${name}}`
  const userKeys = async (userId: string): Promise<UserKeys> => {
    const slot = `${root}{u:${await hashKey(userId)}}`
    return [`${slot}:g`, `${slot}:l`]
  }

  /** A session with its text, when it goes on. One of an earlier generation is removed. */
  async function find(name: string): Promise<{ session: StoredSession; text: string } | null> {
    const key = keyOf(name)
    const text = await redis.send(key, 'GET', key)
    if (typeof text !== 'string' || isReservation(text)) return null
    const session = readSession(text)
    // It goes by itself a moment later.
    if (session.expires <= now()) return null
    if (isOfGeneration(await readGeneration(redis, await userKeys(session.userId)), name, session.stamp)) return { session, text }
    await redis.run(removeScript, [key], [text])
    return null
  }

  async function replace(name: string, former: string, session: StoredSession): Promise<boolean> {
    return (await redis.run(replaceScript, [keyOf(name)], [former, writeSession(session), lifetimeOf(session.expires, now())])) === 1
  }

  async function end(names: readonly string[]): Promise<StoredSession[]> {
    const ended = await Promise.all(names.map((name) => redis.send(keyOf(name), 'GETDEL', keyOf(name))))
    return ended.flatMap((text) => (typeof text === 'string' && !isReservation(text) ? [readSession(text)] : []))
  }

  return {
    async createSession(row) {
      const name = await toSessionName(row.sessionToken)
      const keys = await userKeys(row.userId)
      // Nearly all users never had all sessions ended: one round trip. The others need a second one, with the stamp that counts.
      const guess = fromRow(row, '')
      const [generation, isStored] = await Promise.all([
        noteSession(redis, keys, name, guess.expires, now()),
        redis.run(createScript, [keyOf(name)], [writeSession(guess), lifetimeOf(guess.expires, now())]),
      ])
      if (isStored !== 1) throw new Error('[redis] createSession: this session token is already taken')
      if (generation.name !== '') await replace(name, writeSession(guess), { ...guess, stamp: generation.name })
      return toRow(row.sessionToken, guess)
    },

    async getSession(sessionToken) {
      const found = await find(await toSessionName(sessionToken))
      return found && toRow(sessionToken, found.session)
    },

    async updateSession({ sessionToken, ...change }) {
      const name = await toSessionName(sessionToken)
      for (let tries = 0; tries < 100; tries++) {
        const found = await find(name)
        if (!found) return null
        const { userId, stamp } = found.session
        const next = fromRow({ ...toRow(sessionToken, found.session), ...withoutUndefined(change), userId, sessionToken }, stamp)
        if (!(await replace(name, found.text, next))) continue
        await noteSession(redis, await userKeys(userId), name, next.expires, now())
        return toRow(sessionToken, next)
      }
      throw new Error('[redis] updateSession: 100 conflicting writes in a row')
    },

    async deleteSession(sessionToken) {
      const name = await toListedName(sessionToken)
      const found = await find(name)
      // Also where nothing was found: a copy that is on its way loses its reservation.
      const [ended] = await end([name])
      if (!ended || !found) return null
      await forgetSessions(redis, await userKeys(ended.userId), [name])
      return toRow(sessionToken, ended)
    },

    async deleteSessions(sessionTokens) {
      const names = await Promise.all([...new Set(sessionTokens)].map(toListedName))
      const users = new Set((await end(names)).map(({ userId }) => userId))
      await Promise.all([...users].map(async (userId) => forgetSessions(redis, await userKeys(userId), names)))
    },

    async listSessionsByUserId(userId) {
      const keys = await userKeys(userId)
      const [generation, noted] = await Promise.all([readGeneration(redis, keys), redis.send(keys[1], 'ZRANGE', keys[1], '0', '-1')])
      const names = noted as string[]
      const texts = await Promise.all(names.map((name) => redis.send(keyOf(name), 'GET', keyOf(name))))
      // A name without a session stays on the list until its end: the session may be written at this moment.
      return names.flatMap((name, at) => {
        const text = texts[at]
        const session = typeof text === 'string' && !isReservation(text) ? readSession(text) : undefined
        return session?.userId === userId && isOfGeneration(generation, name, session.stamp) ? [toRow(toListedForm(name), session)] : []
      })
    },

    async deleteSessionsByUserId(userId, except) {
      const name = except && (await toListedName(except.sessionToken))
      const found = name === undefined ? null : await find(name)
      const kept = name !== undefined && found?.session.userId === userId ? { session: name, stamp: found.session.stamp } : undefined
      // From here on the others are not found. What follows frees their memory.
      const ended = await beginGeneration(redis, await userKeys(userId), newGeneration(), kept, now())
      await Promise.all(ended.map((other) => redis.send(keyOf(other), 'UNLINK', keyOf(other))))
    },

    async copyCurrent(row, read, { seconds, absent = false } = {}) {
      const [name, keys] = [await toSessionName(row.sessionToken), await userKeys(row.userId)]
      const key = keyOf(name)
      const reservation = newReservation()
      // Before `read`: an ending after it begins another generation, or removes the reservation.
      const [generation, reserved] = await Promise.all([
        readGeneration(redis, keys),
        redis.send(key, 'SET', key, reservation, 'PX', lifetimeOf((seconds ?? reservationSeconds) * 1000, 0), ...(absent ? ['NX'] : [])),
      ])
      if (reserved === null) return { session: row, isKept: false }
      const session = await read()
      if (!session) {
        await redis.run(removeScript, [key], [reservation])
        return { session, isKept: false }
      }
      const value = fromRow(session, generation.name)
      // On the list first, so that what lives is listed.
      if (seconds === undefined) await noteSession(redis, keys, name, value.expires, now())
      // A copy ends with its reservation: a process that pauses here does not lengthen it.
      const lifetime = seconds === undefined ? lifetimeOf(value.expires, now()) : ''
      return { session, isKept: (await redis.run(fillScript, [key], [reservation, writeSession(value), lifetime])) === 1 }
    },

    findFaults: () => findServerFaults(redis, 'sessions are signed out'),
  }
}

// A process that was interrupted holds the place of a session that moves for so long. Others read the adapter meanwhile.
const reservationSeconds = 30

function withoutUndefined<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>
}

// KEYS: session. ARGV: text, milliseconds. A client that lost the answer sends it again, and finds its own text.
const createScript: Script = {
  text: `
local found = redis.call('GET', KEYS[1])
if found == false then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end
if found == ARGV[1] then return 1 end
return 0`,
}

// KEYS: session. ARGV: former text, new text, milliseconds.
const replaceScript: Script = {
  text: `
local found = redis.call('GET', KEYS[1])
if found ~= ARGV[1] and found ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`,
}

// KEYS: session. ARGV: reservation, text, milliseconds or empty: as long as the reservation.
const fillScript: Script = {
  text: `
local found = redis.call('GET', KEYS[1])
if found ~= ARGV[1] and found ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`,
}

// KEYS: session. ARGV: text.
const removeScript: Script = {
  text: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`,
}
