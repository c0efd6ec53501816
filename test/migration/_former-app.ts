/** An app of better-auth as it runs before a move: the real package, on a database of its own. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Dialect, Kysely } from 'kysely'
import { expect } from 'vitest'
import { dialectOf, dropStore, newDatabase } from '../adapters/_stores.ts'
import { root } from '../_sources.ts'

/** The running app. */
export interface FormerApp<App> {
  app: App
  db: Kysely<object>
  /** One more pool on the same database. */
  openDialect(): Dialect
  /** Ends the pools, and drops the database and the files. */
  close(): Promise<void>
}
interface FormerOptions {
  /** Folder in `apps`. */
  name: string
  /** Of better-auth: `1.6` or `1.7`, and the version that must be installed. */
  line: string
  version?: string
  store: Parameters<typeof newDatabase>[0]
  /** What `start` of the app gets beside the database. */
  setting: object
}

/** Copies the app to where its packages are, and starts it. */
export async function startFormerApp<App>({ name, line, version, store, setting }: FormerOptions): Promise<FormerApp<App>> {
  const home = join(root, `test/migration/passkeys-${line}`)
  const found = JSON.parse(readFileSync(join(home, 'node_modules/better-auth/package.json'), 'utf8')) as { version: string }
  if (version !== undefined) expect(found.version).toBe(version)
  const work = mkdtempSync(join(home, `.${name}-`))
  const pools: { end(): Promise<void> }[] = []
  const spec = await newDatabase(store)
  const openDialect = (): Dialect => {
    const { dialect, pool } = dialectOf(spec)
    if (pool) pools.push(pool.on('error', () => {}))
    return dialect
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled(pools.map((pool) => pool.end()))
    await dropStore(spec)
    rmSync(work, { recursive: true, force: true })
  }
  cpSync(join(root, 'test/migration/apps', name), work, { recursive: true })
  const { start } = (await import(/* @vite-ignore */ join(work, 'before.ts'))) as { start(setting: object): Promise<App> }
  const database = { dialect: openDialect(), type: store === 'libsql' ? 'sqlite' : store }
  const app = await start({ database, ...setting }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return { app, db: new Kysely<object>({ dialect: openDialect() }), openDialect, close }
}
