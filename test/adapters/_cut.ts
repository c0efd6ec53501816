/** Stores whose connections a test breaks. */
import type { Adapter } from 'authkernel/kernel'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { servers } from './_servers.ts'
import { dropStore, newDatabase, newStore, openDatabase, openOutside, openSql, type SqlSpec, storageOf } from './_stores.ts'
import { findHalves } from './_whole.ts'

/** A store, and a way to break its connections as the server does: all of the adapter, none of others. */
export interface Cuttable {
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

export function openToCut(kind: 'postgres' | 'mysql' | 'redis'): Promise<Cuttable> {
  return kind === 'redis' ? openRedisToCut() : openDatabaseToCut(kind)
}
