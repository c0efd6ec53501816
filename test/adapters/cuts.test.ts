/** Connections that break while people sign in, as at a restart of the database: nobody is half-made, the process lives, and a retry signs in. */
import type { Adapter } from 'authkernel/kernel'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOp } from '../_op/journey.ts'
import { createHost, somebody } from './_journeys.ts'
import { reachable, servers } from './_servers.ts'
import { dropStore, newDatabase, newStore, openDatabase, openSql, type SqlSpec, storageOf, openOutside } from './_stores.ts'
import { findHalves } from './_whole.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const home = /3000\/?$/

/** A store, and a way to break its connections as the server does: all of the adapter, none of others. */
interface Cuttable {
  adapter: Required<Adapter>
  /** Answers how many it broke. */
  cut(): Promise<number>
  halves(): Promise<string[]>
  close(): Promise<unknown>
}

async function openDatabaseToCut(kind: 'postgres' | 'mysql'): Promise<Cuttable> {
  const spec: SqlSpec = await newDatabase(kind)
  const adapter = openSql(openDatabase(spec))
  const outside = openOutside({ kind, name: new URL(servers[kind]).pathname.slice(1) })
  return {
    adapter,
    async cut() {
      if (kind === 'postgres') {
        const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${spec.name}`.execute(outside)
        return rows.length
      }
      const list = sql<{ id: number }>`select id from information_schema.processlist where db = ${spec.name}`
      const { rows } = await list.execute(outside)
      // One may have gone by itself since.
      for (const { id } of rows)
        await sql
          .raw(`kill ${Number(id)}`)
          .execute(outside)
          .catch(() => {})
      return rows.length
    },
    halves: () => findHalves(spec),
    close: async () => {
      await Promise.all([adapter.close(), outside.destroy()])
      await dropStore(spec)
    },
  }
}

async function openRedisToCut(): Promise<Cuttable> {
  const spec = newStore('redis')
  const storage = storageOf(spec as never)
  const adapter = unstorageAdapter(storage)
  const outside = new Redis(servers.redis)
  const inside = storage.getMount('').driver.getInstance!() as Redis
  return {
    adapter,
    cut: async () => Number(await outside.client('KILL', 'ID', await inside.client('ID'))),
    halves: () => findHalves(spec),
    close: async () => {
      await adapter.close()
      await outside.quit()
      await dropStore(spec)
    },
  }
}

describe.each(['postgres', 'mysql', 'redis'] as const)('%s', (kind) => {
  const op = useOp()
  const open = (): Promise<Cuttable> => (kind === 'redis' ? openRedisToCut() : openDatabaseToCut(kind))

  it.skipIf(!there[kind])('idle connections are cut: the process lives, and the next request works', async () => {
    const { adapter, cut, close } = await open()
    const host = createHost(adapter, op(), 'database')
    const browser = host.client()
    expect(await host.signIn(browser, somebody())).toMatch(home)
    for (let time = 0; time < 3; time++) {
      expect(await cut()).toBeGreaterThan(0)
      expect(await browser.session()).not.toBeNull()
    }
    expect(host.errors).toEqual([])
    await close()
  })

  it.skipIf(!there[kind])('connections are cut while people sign up: an error page or a sign-in, and a retry signs in', async () => {
    const { adapter, cut, halves, close } = await open()
    // One host each: the provider tells a host who signs in.
    const people = [...Array(12).keys()].map(() => ({ who: somebody(), host: createHost(adapter, op(), 'database') }))
    const ends = Promise.all(people.map(async ({ who, host }) => host.signIn(host.client(), who)))
    let [broken, over] = [0, false]
    void ends.finally(() => (over = true))
    while (!over) {
      broken += await cut()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(broken).toBeGreaterThan(0)
    for (const end of await ends) expect(end).toMatch(/3000\/?$|error=Configuration/)
    for (const { who, host } of people) {
      for (const error of host.errors) expect(error).toMatchObject({ name: 'AdapterError', message: expect.stringMatching(/\w+\(\)/) })
      host.errors.length = 0
      const browser = host.client()
      expect(await host.signIn(browser, who)).toMatch(home)
      expect(await browser.session()).toMatchObject({ user: { email: who.email } })
      expect(host.errors).toEqual([])
    }
    expect(await halves()).toEqual([])
    await close()
  })
})
