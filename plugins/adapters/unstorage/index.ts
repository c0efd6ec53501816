/** Users, accounts, sessions, tokens and authenticators in any unstorage driver: files for one process, Redis for many. */
import {
  type Adapter,
  type AdapterTables,
  assertOptions,
  type CleanUpOptions,
  type ExpiredRows,
  type HealedFault,
  type Limit,
  type Once,
  type RecordStore,
} from 'authkernel/kernel'
import { accountMethods, authenticatorMethods } from './accounts.ts'
import { localEngine } from './engine-local.ts'
import { redisEngine } from './engine-redis.ts'
import { deleteExpired } from './expire.ts'
import { folderLock } from './folder-lock.ts'
import { createModel } from './model.ts'
import { createRecordStore, type UnstorageRecords } from './record-store.ts'
import { createLimit, createOnce } from './services.ts'
import { sessionMethods, tokenMethods } from './sessions.ts'
import type { Engine, KeyValueStorage } from './types.ts'
import { userMethods } from './users.ts'

export type { UnstorageRecords } from './record-store.ts'
export type { KeyValueDriver, KeyValueStorage } from './types.ts'

/** Options of `unstorageAdapter`. */
export interface UnstorageAdapterOptions {
  /** Put before every key, with a colon behind it; default none, as `@auth/unstorage-adapter` has it. On a Redis cluster: `{auth}`. */
  prefix?: string
  /** Clock in milliseconds; default `Date.now`. */
  now?: () => number
  /** The driver reads from replicas that lag behind; default false. Then a session that is not found keeps its cookie. Limited: see `docs/adapters.md`. */
  replica?: boolean
}

/** An adapter with the shared services of its store. */
export interface UnstorageAdapter extends Required<Adapter>, Pick<Required<AdapterTables>, 'missingTables'> {
  /** Whether the driver reads from replicas that lag behind. */
  readonly replica: boolean
  /**
   * Whether replay protection holds between processes: true for Redis. Other drivers have no command for it, so replay protection and
   * uniqueness hold within one process; `fs` and `fs-lite` therefore reject a second process.
   */
  readonly atomic: boolean
  /** Whether the adapter keeps other processes away: file drivers do. */
  readonly exclusive: boolean
  readonly once: Once
  readonly limit: Limit
  /** Tables of plugins. */
  readonly records: RecordStore
  /** Removes what ended before `now`, a hundred records at a time; what has a time to live in Redis goes by itself. */
  deleteExpired(now?: Date, options?: CleanUpOptions): Promise<ExpiredRows>
  /** Calls `listener` for each fault of the store that was overcome; the answer ends that. */
  onHealed(listener: (fault: HealedFault) => void): () => void
}

/**
 * Keeps everything in an unstorage `Storage`. Reads what `@auth/unstorage-adapter` wrote under the same prefix. Values get a time to live
 * where the driver has one. A folder is locked at the first operation, which throws when another process has it.
 */
export function unstorageAdapter(storage: KeyValueStorage, options: UnstorageAdapterOptions = {}): UnstorageAdapter {
  assertOptions('unstorageAdapter', options, { prefix: true, now: true, replica: true })
  const { prefix = '', now = Date.now } = options
  const listeners = new Set<(fault: HealedFault) => void>()
  const { engine, exclusive } = openEngine(storage, prefix, now, (message) => {
    for (const listener of listeners) listener({ message })
  })
  const model = createModel(engine, prefix, now)
  const { close: _shared, erase, ...records } = createRecordStore(engine, rootOf(prefix))
  return {
    ...userMethods(model, erase),
    ...accountMethods(model),
    ...sessionMethods(model),
    ...tokenMethods(model),
    ...authenticatorMethods(model),
    deleteExpired: (until = new Date(now()), limits) => deleteExpired(model, until, limits),
    keepsCreatedAt: true,
    nullableEmail: true,
    replica: options.replica === true,
    onHealed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async missingTables() {
      await engine.check?.()
      return (await engine.findFaults?.()) ?? []
    },
    close: () => engine.close(),
    atomic: engine.atomic,
    exclusive,
    once: createOnce(model),
    limit: createLimit(model),
    records: { ...records, erases: true },
  }
}

/** Records in an unstorage `Storage`, for `recordsPlugin`, where the adapter is a published one. `close` disposes of the storage. */
export function unstorageRecords(storage: KeyValueStorage, options: UnstorageAdapterOptions = {}): UnstorageRecords {
  assertOptions('unstorageRecords', options, { prefix: true, now: true, replica: true })
  const { prefix = '', now = Date.now } = options
  const { erase: _erase, ...records } = createRecordStore(openEngine(storage, prefix, now, () => {}).engine, rootOf(prefix))
  return records
}

function rootOf(prefix: string): string {
  return prefix === '' ? '' : `${prefix.replace(/(?<!:):+$/, '')}:`
}

function openEngine(
  storage: KeyValueStorage,
  prefix: string,
  now: () => number,
  logHealing: (message: string) => void,
): { engine: Engine; exclusive: boolean } {
  const root = rootOf(prefix)
  const { base, driver } = storage.getMount?.(`${root}user:`) ?? { base: '', driver: {} }
  const redis = redisEngine(storage, driver, { base, root, now, logHealing })
  if (redis) return { engine: redis, exclusive: false }
  const folder = (driver.options as { base?: unknown } | undefined)?.base
  if ((driver.name === 'fs' || driver.name === 'fs-lite') && typeof folder === 'string') {
    const { lock, open: openFolder, release } = folderLock(folder.startsWith('/') ? folder : `${process.cwd()}/${folder}`)
    return {
      engine: localEngine(storage, { open: openFolder, release, lock, journal: `${root}authkernel-journal`, now, logHealing }),
      exclusive: true,
    }
  }
  return { engine: localEngine(storage, { now, logHealing }), exclusive: false }
}
