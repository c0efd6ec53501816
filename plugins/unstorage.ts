/** Users, accounts, sessions, tokens and authenticators in any unstorage driver: files for one process, Redis for many. */
import type { Adapter, Limit, Once } from 'authkernel/kernel'
import { accounts, authenticators } from './_unstorage/accounts.ts'
import { localEngine } from './_unstorage/engine-local.ts'
import { redisEngine } from './_unstorage/engine-redis.ts'
import { folderLock } from './_unstorage/folder-lock.ts'
import { createModel } from './_unstorage/model.ts'
import { createLimit, createOnce } from './_unstorage/services.ts'
import { sessions, tokens } from './_unstorage/sessions.ts'
import type { Engine, KeyValueStorage } from './_unstorage/types.ts'
import { users } from './_unstorage/users.ts'

export type { KeyValueDriver, KeyValueStorage } from './_unstorage/types.ts'

/** Options of `unstorageAdapter`. */
export interface UnstorageAdapterOptions {
  /** Put before every key, with a colon behind it; default none, as `@auth/unstorage-adapter` has it. On a Redis cluster: `{auth}`. */
  prefix?: string
  /** Clock in milliseconds; default `Date.now`. */
  now?: () => number
}

/** An adapter with the shared services of its store. */
export interface UnstorageAdapter extends Required<Adapter> {
  /**
   * Whether what is done once is done once between processes: true for Redis. Other drivers have no command for it, so one-time use and
   * uniqueness hold within one process; `fs` and `fs-lite` therefore refuse a second process.
   */
  readonly atomic: boolean
  /** Whether the adapter keeps other processes away: file drivers do. */
  readonly exclusive: boolean
  readonly once: Once
  readonly limit: Limit
}

/**
 * Keeps everything in an unstorage `Storage`. Reads what `@auth/unstorage-adapter` wrote under the same prefix. Values get a time to live
 * where the driver has one. A folder is locked at the first operation, which throws when another process has it.
 */
export function unstorageAdapter(storage: KeyValueStorage, options: UnstorageAdapterOptions = {}): UnstorageAdapter {
  const { prefix = '', now = Date.now } = options
  const { engine, exclusive } = open(storage, prefix, now)
  const model = createModel(engine, prefix, now)
  return {
    ...users(model),
    ...accounts(model),
    ...sessions(model),
    ...tokens(model),
    ...authenticators(model),
    keepsCreatedAt: true,
    close: () => engine.close(),
    atomic: engine.atomic,
    exclusive,
    once: createOnce(model),
    limit: createLimit(model),
  }
}

function open(storage: KeyValueStorage, prefix: string, now: () => number): { engine: Engine; exclusive: boolean } {
  const root = prefix === '' ? '' : `${prefix.replace(/:+$/, '')}:`
  const { base, driver } = storage.getMount?.(`${root}user:`) ?? { base: '', driver: {} }
  const redis = redisEngine(storage, driver, base, now)
  if (redis) return { engine: redis, exclusive: false }
  const folder = (driver.options as { base?: unknown } | undefined)?.base
  if ((driver.name === 'fs' || driver.name === 'fs-lite') && typeof folder === 'string') {
    const { lock, open: take, release } = folderLock(folder.startsWith('/') ? folder : `${process.cwd()}/${folder}`)
    return { engine: localEngine(storage, { open: take, release, lock, journal: `${root}authkernel-journal`, now }), exclusive: true }
  }
  return { engine: localEngine(storage, { now }), exclusive: false }
}
