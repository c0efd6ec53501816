/** Opens an adapter by a plain description, so that a test and the processes it starts can open the same store. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Adapter, SessionStore } from 'authkernel/kernel'
import { recordSessions } from 'authkernel/plugins/records'
import { libsqlDialect, sqlAdapter, type SqlAdapterOptions, sqlRecords } from 'authkernel/plugins/sql'
import { unstorageAdapter, unstorageRecords } from 'authkernel/plugins/unstorage'
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import fsLiteDriver from 'unstorage/drivers/fs-lite'
import redisDriver from 'unstorage/drivers/redis'
import { Cluster } from 'ioredis'
import { redisLimit, redisOnce, redisSessions } from 'authkernel/plugins/redis'
import { addSessions } from '../../plugins/adapters/adapter/sessions.ts'
import { servers, uniqueName } from './_servers.ts'

/** A store that any process can open. */
export type StoreSpec = KeyValueSpec | SqlSpec
type KeyValueSpec = { kind: 'fs' | 'fs-lite'; folder: string } | { kind: 'redis'; base: string }
/** A database of a name that no other run uses; `name` is a path for libsql. */
export interface SqlSpec {
  kind: 'libsql' | 'postgres' | 'mysql'
  name: string
}
/** Users in a database; sessions, one-time values and attempts in a Redis Cluster, or sessions alone in another store. */
export type SplitSpec = { kind: 'split'; users: SqlSpec } & ({ nodes: { host: string; port: number }[] } | { sessions: StoreSpec })
type Db = Kysely<Record<string, Record<string, unknown>>>

/** An empty key-value store. */
export function newStore(kind: KeyValueSpec['kind']): KeyValueSpec {
  if (kind === 'redis') return { kind, base: uniqueName() }
  return { kind, folder: mkdtempSync(join(tmpdir(), 'authkernel-')) }
}

/** An empty database. */
export async function newDatabase(kind: SqlSpec['kind']): Promise<SqlSpec> {
  if (kind === 'libsql') return { kind, name: join(mkdtempSync(join(tmpdir(), 'authkernel-')), 'auth.db') }
  const name = uniqueName()
  await onServer(kind, (db) => sql`create database ${sql.id(name)}`.execute(db))
  return { kind, name }
}

/** An adapter over a store; databases get their tables at the first operation. */
export function openStore(spec: StoreSpec | SplitSpec, options: SqlAdapterOptions = {}): Adapter {
  if (spec.kind === 'split') return openSplit(spec, options)
  if (!('name' in spec)) return unstorageAdapter(storageOf(spec))
  return openSql(openDatabase(spec), options)
}

function openSplit(spec: SplitSpec, options: SqlAdapterOptions): Adapter {
  const adapter = openStore(spec.users, options)
  if ('sessions' in spec) {
    const split = addSessions(adapter, { sessions: openSessions(spec.sessions) }, Date, () => {})
    const { once, limit, records } = adapter as ReturnType<typeof sqlAdapter>
    return { ...split, once, limit, records } as Adapter
  }
  const redis = new Cluster(spec.nodes)
  const split = addSessions(adapter, { sessions: redisSessions(redis) }, Date, () => {})
  const close = async (): Promise<void> => {
    await split.close?.()
    redis.disconnect()
  }
  return {
    ...split,
    once: redisOnce(redis),
    limit: redisLimit(redis),
    records: (adapter as ReturnType<typeof sqlAdapter>).records,
    close,
  } as Adapter
}

/** Sessions as records of a store. Files are for one process. */
export function openSessions(spec: StoreSpec, now: () => number = Date.now): SessionStore {
  if ('name' in spec) return recordSessions(sqlRecords(openDatabase(spec).db, { migrate: true }), { now })
  return recordSessions(unstorageRecords(storageOf(spec), { now }), { now, singleProcess: spec.kind !== 'redis' })
}

/** The SQL adapter over a connection, with the listener that a pool needs. */
export function openSql(
  { db, pool }: { db: Db; pool?: pg.Pool | undefined },
  options: SqlAdapterOptions = {},
): ReturnType<typeof sqlAdapter> {
  return sqlAdapter(db, { migrate: true, ...(pool && { pool }), ...options })
}

/** Kysely over a database, and its pool where that wants a listener; `server` is another way to it. */
export function openDatabase(spec: SqlSpec, server?: string): { db: Db; pool?: pg.Pool | undefined } {
  const { dialect, pool } = dialectOf(spec, server)
  return { db: new Kysely({ dialect }), pool }
}

/** Connections to a database. */
export function dialectOf({ kind, name }: SqlSpec, server?: string): { dialect: Dialect; pool?: pg.Pool } {
  if (kind === 'libsql') return { dialect: libsqlDialect({ url: `file:${name}` }) }
  const url = new URL(server ?? servers[kind])
  url.pathname = name
  if (kind === 'mysql') return { dialect: new MysqlDialect({ pool: createPool({ uri: url.href, connectionLimit: 5 }) }) }
  // A pool tells of connections that the end of a test cuts while they close: without a listener that ends the worker.
  const pool = new pg.Pool({ connectionString: url.href, max: 5 }).on('error', () => {})
  return { dialect: new PostgresDialect({ pool }), pool }
}

/** Kysely for looking in from outside. */
export function openOutside(spec: SqlSpec): Db {
  return openDatabase(spec).db
}

/** The storage of an unstorage store. */
export function storageOf(spec: KeyValueSpec, server: string = servers.redis): ReturnType<typeof createStorage> {
  if (spec.kind === 'redis') return createStorage({ driver: redisDriver({ url: server, base: spec.base }) })
  return createStorage({ driver: spec.kind === 'fs' ? fsDriver({ base: spec.folder }) : fsLiteDriver({ base: spec.folder }) })
}

/** Removes a store with all that is in it. */
export async function dropStore(spec: StoreSpec | SplitSpec): Promise<void> {
  if (spec.kind === 'split') {
    if ('sessions' in spec) await dropStore(spec.sessions)
    return dropStore(spec.users)
  }
  if (spec.kind === 'redis') {
    const storage = storageOf(spec)
    await storage.clear()
    await storage.dispose()
  } else if ('folder' in spec) {
    await rm(spec.folder, { recursive: true, force: true })
  } else if (spec.kind === 'libsql') {
    await rm(dirname(spec.name), { recursive: true, force: true })
  } else {
    // `force`: a worker that was killed may still hold a connection.
    const force = spec.kind === 'postgres' ? sql`with (force)` : sql``
    await onServer(spec.kind, (db) => sql`drop database if exists ${sql.id(spec.name)} ${force}`.execute(db))
  }
}

async function onServer(kind: 'postgres' | 'mysql', work: (db: Db) => Promise<unknown>): Promise<void> {
  const db = openOutside({ kind, name: new URL(servers[kind]).pathname.slice(1) })
  await work(db).finally(() => db.destroy())
}

/** What the servers say that they are. */
export async function serverVersions(): Promise<Record<'postgres' | 'mysql' | 'redis', string>> {
  const versions = { postgres: 'unknown', mysql: 'unknown', redis: 'unknown' }
  for (const kind of ['postgres', 'mysql'] as const) {
    await onServer(kind, async (db) => {
      const { rows } = await sql<{ v: string }>`select version() as v`.execute(db)
      versions[kind] = /\d+(\.\d+)+/.exec(rows[0]!.v)![0]
    })
  }
  const storage = storageOf({ kind: 'redis', base: '' })
  const client = storage.getMount('').driver.getInstance!() as { info(section: string): Promise<string> }
  versions.redis = /redis_version:(\S+)/.exec(await client.info('server'))![1]!
  await storage.dispose()
  return versions
}
