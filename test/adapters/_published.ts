/** The published adapters of Auth.js, unmodified, out of `test/peers`: how each is opened, and what each is known to leave open. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@libsql/client'
import type { Adapter, AdapterMethod } from 'authkernel'
import { libsqlDialect } from 'authkernel/plugins/sql'
import { Kysely } from 'kysely'
import pg from 'pg'
import { createStorage } from 'unstorage'
import {
  drizzlePostgres,
  makeDatabase,
  drizzleSqlite,
  kyselyPostgres,
  kyselySqlite,
  pgSchema,
  prismaPostgres,
  sequelizePostgres,
} from './_schemas.ts'
import { servers } from './_servers.ts'
import { dropStore, type SqlSpec, openOutside } from './_stores.ts'
import facts from './published-facts.json' with { type: 'json' }

/** One published adapter over one store. */
export interface Published {
  package: string
  store: 'PostgreSQL' | 'SQLite (libsql)' | 'memory'
  /** Makes the store and opens the adapter; `spec` is the database, where there is one; `storage` is for unstorage. */
  open(storage?: object): Promise<{ adapter: Adapter; spec?: SqlSpec; close(): Promise<unknown> }>
}

const folder = fileURLToPath(new URL('../peers/', import.meta.url))

/** Operations that an adapter lacks, and rules that it breaks even behind the store boundary; `published-facts.json` keeps them. */
export function factsOf({ package: name, store }: Pick<Published, 'package' | 'store'>): { lacks: AdapterMethod[]; gaps: string[] } {
  return (facts as unknown as Record<string, { lacks: AdapterMethod[]; gaps: string[] }>)[`${name} on ${store}`] ?? { lacks: [], gaps: [] }
}

/** Whether `npm ci` ran in `test/peers`; in CI it must have. */
export function installed(): boolean {
  const there = existsSync(`${folder}node_modules/@auth/pg-adapter`)
  if (!there && process.env.CI) throw new Error('The published adapters are not installed: npm ci --ignore-scripts in test/peers.')
  return there
}

/** Version of a package of `test/peers`. */
export function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')) as { version: string }
  return version
}

type Module = Record<string, (...args: unknown[]) => unknown> & { default: (...args: unknown[]) => unknown }
type Class = new (...args: unknown[]) => Record<string, unknown> & object

async function load(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ pathToFileURL(`${folder}node_modules/${path}`).href)) as Module
}

function urlOf(spec: SqlSpec): string {
  const url = new URL(servers.postgres)
  url.pathname = spec.name
  return url.href
}

function poolOf(spec: SqlSpec): pg.Pool {
  const pool = new pg.Pool({ connectionString: urlOf(spec), max: 5 })
  pool.on('error', () => {})
  return pool
}

async function generatePrismaClient(): Promise<void> {
  // `generate` needs no engine; naming any program keeps it from looking for one elsewhere.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    DATABASE_URL: servers.postgres,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
  await promisify(execFile)(process.execPath, ['node_modules/prisma/build/index.js', 'generate', '--schema', 'schema.prisma'], {
    cwd: folder,
    env,
  })
}

export const published: readonly Published[] = [
  {
    package: '@auth/pg-adapter',
    store: 'PostgreSQL',
    async open() {
      const spec = await makeDatabase(pgSchema)
      const pool = poolOf(spec)
      const adapter = (await load('@auth/pg-adapter/index.js')).default(pool) as Adapter
      return { adapter, spec, close: () => pool.end().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/kysely-adapter',
    store: 'PostgreSQL',
    async open() {
      const spec = await makeDatabase(kyselyPostgres)
      const db = openOutside(spec)
      const adapter = (await load('@auth/kysely-adapter/index.js')).KyselyAdapter!(db) as Adapter
      return { adapter, spec, close: () => db.destroy().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/kysely-adapter',
    store: 'SQLite (libsql)',
    async open() {
      const spec = await makeDatabase(kyselySqlite)
      const { SqliteAdapter } = (await load('kysely/dist/esm/index.js')) as unknown as { SqliteAdapter: new () => never }
      // It asks its own copy of Kysely what SQLite is.
      const dialect = { ...libsqlDialect({ url: `file:${spec.name}` }), createAdapter: () => new SqliteAdapter() }
      const db = new Kysely({ dialect })
      const adapter = (await load('@auth/kysely-adapter/index.js')).KyselyAdapter!(db) as Adapter
      return { adapter, spec, close: () => db.destroy().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/drizzle-adapter',
    store: 'PostgreSQL',
    async open() {
      const spec = await makeDatabase(drizzlePostgres)
      const pool = poolOf(spec)
      const db = (await load('drizzle-orm/node-postgres/index.js')).drizzle!(pool)
      const adapter = (await load('@auth/drizzle-adapter/index.js')).DrizzleAdapter!(db) as Adapter
      return { adapter, spec, close: () => pool.end().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/drizzle-adapter',
    store: 'SQLite (libsql)',
    async open() {
      const spec = await makeDatabase(drizzleSqlite)
      const client = createClient({ url: `file:${spec.name}`, timeout: 1_000 })
      const db = (await load('drizzle-orm/libsql/index.js')).drizzle!(client)
      const adapter = (await load('@auth/drizzle-adapter/index.js')).DrizzleAdapter!(db) as Adapter
      return { adapter, spec, close: async () => (client.close(), dropStore(spec)) }
    },
  },
  {
    package: '@auth/typeorm-adapter',
    store: 'PostgreSQL',
    async open() {
      const spec = await makeDatabase({ kind: 'postgres', statements: [] })
      const { TypeORMAdapter, getManager, entities } = await load('@auth/typeorm-adapter/index.js')
      const options = { type: 'postgres', url: urlOf(spec), synchronize: true }
      const adapter = TypeORMAdapter!(options) as Adapter
      const manager = (await getManager!({ dataSource: options, entities })) as { connection: { destroy(): Promise<void> } }
      // Outside production it rebuilds TypeORM's metadata inside every call, and calls at once then break each other.
      const { NODE_ENV } = process.env
      process.env['NODE_ENV'] = 'production'
      const close = async () => {
        process.env['NODE_ENV'] = NODE_ENV
        await manager.connection.destroy()
        await dropStore(spec)
      }
      return { adapter, spec, close }
    },
  },
  {
    package: '@auth/sequelize-adapter',
    store: 'PostgreSQL',
    async open() {
      // Left to make its tables, it makes all at once, and accounts before the users that they refer to.
      const spec = await makeDatabase(sequelizePostgres)
      const { Sequelize } = (await load('sequelize/lib/index.js')).default as unknown as { Sequelize: Class }
      const client = new Sequelize(urlOf(spec), { logging: false })
      const adapter = (await load('@auth/sequelize-adapter/index.js')).default(client, { synchronize: false }) as Adapter
      return { adapter, spec, close: () => (client.close as () => Promise<void>)().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/prisma-adapter',
    store: 'PostgreSQL',
    async open() {
      await generatePrismaClient()
      const spec = await makeDatabase(prismaPostgres)
      const { PrismaClient } = (await load('@prisma/client/default.js')).default as unknown as { PrismaClient: Class }
      const { PrismaPg } = (await load('@prisma/adapter-pg/dist/index.mjs')) as unknown as { PrismaPg: Class }
      const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: urlOf(spec) }) })
      const adapter = (await load('@auth/prisma-adapter/index.js')).PrismaAdapter!(client) as Adapter
      return { adapter, spec, close: () => (client.$disconnect as () => Promise<void>)().then(() => dropStore(spec)) }
    },
  },
  {
    package: '@auth/unstorage-adapter',
    store: 'memory',
    async open(storage = createStorage()) {
      const adapter = (await load('@auth/unstorage-adapter/index.js')).UnstorageAdapter!(storage) as Adapter
      return { adapter, close: async () => {} }
    },
  },
]
