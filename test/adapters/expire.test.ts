/** `deleteExpired`: statements of a thousand rows, no request waits for it and it waits for no request, and what lives stays. */
import type { CleanUpOptions, ExpiredRows } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Kysely, type LogEvent, sql } from 'kysely'
import { createStorage } from 'unstorage'
import { describe, expect, it } from 'vitest'
import { inHours, newAccount, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { makeDatabase, schemas } from './_schemas.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, newStore, openDatabase, openOutside, openSql, type SqlSpec, storageOf } from './_stores.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const servers = ['libsql', 'postgres', 'mysql'] as const
const none: ExpiredRows = { sessions: 0, tokens: 0, once: 0, limit: 0 }

interface Opened {
  spec: SqlSpec
  adapter: ReturnType<typeof openSql>
  queries: string[]
  /** Called after each query of the adapter, before the adapter goes on. */
  after: (text: string) => Promise<unknown> | undefined
}

async function withAdapter(kind: SqlSpec['kind'], work: (opened: Opened) => Promise<void>): Promise<void> {
  const spec = await newDatabase(kind)
  const opened = { spec, queries: [] as string[], after: () => undefined } as unknown as Opened
  const { dialect, pool } = dialectOf(spec)
  const log = async ({ query }: LogEvent): Promise<void> => {
    opened.queries.push(query.sql)
    await opened.after(query.sql)
  }
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect, log })
  opened.adapter = openSql({ db, pool })
  try {
    await work(opened)
  } finally {
    await opened.adapter.close()
    await dropStore(spec)
  }
}

/** Inserts rows beside the adapter. */
async function fill(
  { spec }: Opened,
  table: 'sessions' | 'verification_token',
  userId: string,
  count: number,
  expires: Date,
): Promise<void> {
  const db = openOutside(spec)
  const text = spec.kind === 'mysql' ? expires.toISOString().replace('T', ' ').replace('Z', '') : expires.toISOString()
  const name = crypto.randomUUID()
  for (let at = 0; at < count; at += 500) {
    const numbers = [...Array(Math.min(500, count - at)).keys()].map((n) => `${name}-${at + n}`)
    const rows = numbers.map((n) => (table === 'sessions' ? sql`(${n}, ${n}, ${userId}, ${text})` : sql`(${n}, ${n}, ${text})`))
    const columns = table === 'sessions' ? ['id', 'sessionToken', 'userId', 'expires'] : ['identifier', 'token', 'expires']
    await sql`insert into ${sql.id(table)} (${sql.join(columns.map((column) => sql.id(column)))}) values ${sql.join(rows)}`.execute(db)
  }
  await db.destroy()
}

describe.each(servers)('%s', (kind) => {
  it.skipIf(!there[kind])('thousands of rows go in few statements, those that live stay, and the answer counts them', async () => {
    await withAdapter(kind, async (opened) => {
      const { adapter, queries } = opened
      const user = await adapter.createUser(newUser())
      const live = newSession(user.id)
      await adapter.createSession(live)
      const link = newToken()
      await adapter.createVerificationToken(link)
      await fill(opened, 'sessions', user.id, 2_500, inHours(-1))
      await fill(opened, 'sessions', user.id, 1_200, inHours(1))
      await fill(opened, 'verification_token', user.id, 1_001, inHours(-1))
      queries.length = 0
      const told: ExpiredRows[] = []
      // Without a date: now.
      expect(await adapter.deleteExpired(undefined, { onProgress: (removed) => told.push(removed) })).toEqual({
        ...none,
        sessions: 2_500,
        tokens: 1_001,
      })
      expect(told.at(-1)).toEqual({ ...none, sessions: 2_500, tokens: 1_001 })
      expect(told.length).toBeGreaterThanOrEqual(5)
      expect(queries.filter((text) => !/^(begin|commit|set)/.test(text)).length).toBeLessThanOrEqual(16)
      expect(await adapter.listSessionsByUserId(user.id)).toHaveLength(1_201)
      expect(await adapter.deleteExpired()).toEqual(none)
      expect(await adapter.getSessionAndUser(live.sessionToken)).not.toBeNull()
      expect(await adapter.useVerificationToken(link)).not.toBeNull()
    })
  })

  it.skipIf(!there[kind])('marks of `once` and `limit` that have ended go too, and are counted apart', async () => {
    await withAdapter(kind, async ({ adapter }) => {
      for (const seconds of [60, 60, 7_200]) await adapter.once.take(`once ${crypto.randomUUID()}`, seconds)
      for (const seconds of [60, 7_200, 7_200]) await adapter.limit.take('limit', { max: 9, seconds })
      await adapter.createVerificationToken(newToken({ expires: inHours(-1) }))
      expect(await adapter.deleteExpired(inHours(1))).toEqual({ sessions: 0, tokens: 1, once: 2, limit: 1 })
      expect(await adapter.deleteExpired(inHours(3))).toEqual({ sessions: 0, tokens: 0, once: 1, limit: 2 })
    })
  })

  it.skipIf(!there[kind])('max ends it early, to the row', async () => {
    await withAdapter(kind, async (opened) => {
      const user = await opened.adapter.createUser(newUser())
      await fill(opened, 'sessions', user.id, 1_300, inHours(-1))
      await fill(opened, 'verification_token', user.id, 10, inHours(-1))
      expect(await opened.adapter.deleteExpired(undefined, { max: 1_100 })).toEqual({ ...none, sessions: 1_100 })
      expect(await opened.adapter.deleteExpired(undefined, { max: 205 })).toEqual({ ...none, sessions: 200, tokens: 5 })
      expect(await opened.adapter.deleteExpired()).toEqual({ ...none, tokens: 5 })
    })
  })

  it.skipIf(!there[kind])('a session that is extended between the look and the delete stays', async () => {
    await withAdapter(kind, async (opened) => {
      const { adapter } = opened
      const user = await adapter.createUser(newUser())
      const [extended, ended] = [newSession(user.id, { expires: inHours(-1) }), newSession(user.id, { expires: inHours(-1) })]
      for (const session of [extended, ended]) await adapter.createSession(session)
      const outside = openSql({ db: openOutside(opened.spec) })
      let changed = 0
      // Where looking and deleting are one statement, or the rows are locked, no change comes between: then it is extended before.
      opened.after = (text) => {
        if (changed > 0 || !(kind === 'libsql' ? /^select .*"sessions"/s : /^begin|^with/).test(text)) return undefined
        changed++
        return Promise.resolve(outside.updateSession({ sessionToken: extended.sessionToken, expires: inHours(1) }))
      }
      if (kind === 'postgres') await outside.updateSession({ sessionToken: extended.sessionToken, expires: inHours(1) })
      expect(await adapter.deleteExpired()).toMatchObject({ sessions: kind === 'libsql' ? 2 : 1 })
      expect((await adapter.listSessionsByUserId(user.id)).map((session) => session.sessionToken)).toEqual([extended.sessionToken])
      await outside.close()
    })
  })
})

describe.each(['postgres', 'mysql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('a row that a transaction is changing is not waited for, and stays when it was extended', async () => {
    await withAdapter(kind, async ({ adapter, spec }) => {
      const user = await adapter.createUser(newUser())
      const sessions = [...Array(5).keys()].map(() => newSession(user.id, { expires: inHours(-1) }))
      for (const session of sessions) await adapter.createSession(session)
      const { sessionToken } = sessions[2]!
      const outside = openOutside(spec)
      await outside.transaction().execute(async (tx) => {
        const later = kind === 'mysql' ? inHours(1).toISOString().replace('T', ' ').replace('Z', '') : inHours(1).toISOString()
        await sql`update sessions set expires = ${later} where ${sql.id('sessionToken')} = ${sessionToken}`.execute(tx)
        // Two at once do not wait for each other either.
        const both = await Promise.all([adapter.deleteExpired(), adapter.deleteExpired()])
        expect(both[0].sessions + both[1].sessions).toBe(4)
      })
      expect(await adapter.deleteExpired()).toEqual(none)
      expect(await adapter.getSessionAndUser(sessionToken)).not.toBeNull()
      await outside.destroy()
    })
  })
})

describe.each(schemas.map((schema) => [schema.name, schema] as const))('a database of %s', (_name, schema) => {
  it.skipIf(!there[schema.kind])('as it is, is cleaned whatever its dates are', async () => {
    const spec = await makeDatabase(schema)
    const adapter = openSql(openDatabase(spec), { migrate: false })
    const { userId: _none, ...account } = newAccount('')
    const user = await adapter.createUserWithAccount(newUser(), account)
    const expires = [-30, -2, -0.01, 0.5, 20].map(inHours)
    const sessions = expires.map((each) => newSession(user.id, { expires: each }))
    const links = expires.map((each) => newToken({ expires: each }))
    for (const session of sessions) await adapter.createSession(session)
    for (const link of links) await adapter.createVerificationToken(link)
    await adapter.once.take('mark', 1)
    expect(await adapter.deleteExpired(inHours(0.1))).toEqual({ sessions: 3, tokens: 3, once: 1, limit: 0 })
    expect((await adapter.listSessionsByUserId(user.id)).map(({ sessionToken }) => sessionToken).sort()).toEqual(
      sessions
        .slice(3)
        .map(({ sessionToken }) => sessionToken)
        .sort(),
    )
    expect(await adapter.useVerificationToken(links[3]!)).toMatchObject({ identifier: links[3]!.identifier })
    expect(await adapter.deleteExpired(inHours(48))).toMatchObject({ sessions: 2, tokens: 1 })
    await adapter.close()
    await dropStore(spec)
  })
})

describe.each([
  ['memory', async () => ({ adapter: memoryAdapter(), close: async () => {} })],
  ['unstorage in memory', async () => ({ adapter: unstorageAdapter(createStorage()), close: async () => {} })],
  [
    'Redis',
    async () => {
      const spec = newStore('redis')
      const adapter = unstorageAdapter(storageOf(spec as never))
      const close = async (): Promise<void> => {
        await adapter.close()
        await dropStore(spec)
      }
      return { adapter, close }
    },
  ],
] as const)('%s', (name, open) => {
  it.skipIf(name === 'Redis' && !there.redis)('what has ended goes and is counted, what lives stays', async () => {
    const { adapter, close } = await open()
    const clean = (now?: Date, options?: CleanUpOptions): ExpiredRows | Promise<ExpiredRows> => adapter.deleteExpired(now, options)
    const user = await adapter.createUser(newUser())
    // Not of the past: Redis would forget them at once.
    for (let n = 0; n < 250; n++) await adapter.createSession(newSession(user.id, { expires: inHours(1) }))
    const live = newSession(user.id, { expires: inHours(5) })
    await adapter.createSession(live)
    for (let n = 0; n < 3; n++) await adapter.createVerificationToken(newToken({ expires: inHours(1) }))
    expect(await clean()).toEqual(none)
    expect(await clean(inHours(2), { max: 120 })).toEqual({ ...none, sessions: 120 })
    const told: ExpiredRows[] = []
    expect(await clean(inHours(2), { onProgress: (removed) => told.push(removed) })).toEqual({ ...none, sessions: 130, tokens: 3 })
    expect(told.at(-1)).toEqual({ ...none, sessions: 130, tokens: 3 })
    expect((await adapter.listSessionsByUserId(user.id)).map(({ sessionToken }) => sessionToken)).toEqual([live.sessionToken])
    expect(await clean(inHours(2))).toEqual(none)
    await close()
  })
})

describe.each(['memory', 'redis'] as const)('unstorage, %s', (kind) => {
  it.skipIf(kind === 'redis' && !there.redis)(
    'marks of `once` and `limit` go too; what Auth.js wrote goes, and its list stays as it is',
    async () => {
      const spec = newStore('redis')
      const storage = kind === 'redis' ? storageOf(spec as never) : createStorage()
      const adapter = unstorageAdapter(storage)
      await adapter.once.take('short', 60)
      await adapter.once.take('long', 7_200)
      await adapter.limit.take('key', { max: 2, seconds: 60 })
      await storage.setItem(
        'user:session:theirs',
        JSON.stringify({ sessionToken: 'theirs', userId: '1', expires: inHours(-1).toISOString() }),
      )
      await storage.setItem('user:session:by-user-id:1', 'user:session:latest')
      expect(await adapter.deleteExpired(inHours(1))).toEqual({ sessions: 1, tokens: 0, once: 1, limit: 1 })
      expect(await storage.getItem('user:session:theirs')).toBeNull()
      expect(await storage.getItem('user:session:by-user-id:1')).toBe('user:session:latest')
      expect(await adapter.once.take('long', 60)).toBe(false)
      await adapter.close()
      if (kind === 'redis') await dropStore(spec)
    },
  )
})
