/** Transactions of one process: a lock around reads and writes, and for folders a journal that a killed process leaves behind. */
import { type Buffer, createBuffer, readKey } from './buffer.ts'
import { createLock, type RwLock } from './rw-lock.ts'
import { applyChanges, inRange } from './sorted-sets.ts'
import type { Engine, KeyValueStorage, Write } from './types.ts'

/** What a folder adds to an engine of one process. */
interface LocalOptions {
  /** Called before anything is read: rejects when another process has the folder. */
  open?(): Promise<void>
  /** Gives the folder free. */
  release?(): Promise<void>
  /** Path of the journal. */
  journal?: string
  /** Shared by all adapters of the process that write to the same place. */
  lock?: RwLock
  now(): number
  /** Called when writes that were half done were finished. */
  logHealing?(message: string): void
}

/** An engine for any driver. */
export function localEngine(storage: KeyValueStorage, options: LocalOptions): Engine {
  const { journal, now } = options
  const lock = options.lock ?? lockOf(storage)
  // Writes that failed half-way: they are finished before anything else is read, so that no half of them is ever seen.
  let begun: readonly Write[] | undefined
  // What a killed process may have left.
  let inherited = journal !== undefined

  async function readEntry(path: string): Promise<unknown> {
    const value = await storage.getItem(path)
    // File drivers hand out what `readFile` threw.
    if (value instanceof Error) throw value
    return value
  }
  async function apply(writes: readonly Write[]): Promise<void> {
    for (const { path, value, expires } of writes) {
      if (value === undefined) await storage.removeItem(path)
      else await storage.setItem(path, JSON.stringify(value), timeToLive(expires, now()))
    }
  }
  /** Answers how many writes it finished. */
  async function finish(): Promise<number> {
    if (inherited && journal !== undefined) {
      // Text, not an object: the process was killed while it wrote the journal, and nothing else had been written yet.
      const left = (await readEntry(journal)) as { writes?: Write[] } | null
      if (Array.isArray(left?.writes)) begun = left.writes
      else if (left !== null && left !== undefined) begun = []
      inherited = false
    }
    if (!begun) return 0
    const { length } = begun
    await apply(begun)
    if (journal !== undefined) await storage.removeItem(journal)
    begun = undefined
    return length
  }
  async function ready(): Promise<void> {
    await options.open?.()
    if (!inherited && !begun) return
    const finished = await lock.write(finish)
    if (finished > 0) options.logHealing?.('writes that were interrupted half-way were finished')
  }
  async function write(writes: readonly Write[]): Promise<void> {
    if (writes.length === 0) return
    if (journal !== undefined) {
      // A journal that could not be written counts for nothing; its remains are removed by the next `finish`.
      inherited = true
      await storage.setItem(journal, JSON.stringify({ writes }))
      inherited = false
    }
    begun = writes
    await finish()
  }
  async function paths(base: string): Promise<string[]> {
    await ready()
    return lock.read(() => storage.getKeys(base))
  }
  const members = async (set: string): Promise<readonly string[]> => ((await readEntry(set)) as string[] | null) ?? []
  async function setWrites(buffer: Buffer): Promise<Write[]> {
    const bySet = new Map<string, Map<string, boolean>>()
    for (const { set, member, present } of buffer.changes()) {
      if (!bySet.has(set)) bySet.set(set, new Map())
      bySet.get(set)!.set(member, present)
    }
    return Promise.all(
      [...bySet].map(async ([path, changes]) => {
        const value = applyChanges(await members(path), changes)
        return value.length > 0 ? { path, value } : { path }
      }),
    )
  }
  return {
    atomic: false,
    sorted: false,
    async range(set, range) {
      await ready()
      return lock.read(async () => inRange(await members(set), range))
    },
    async get(key) {
      await ready()
      return lock.read(() => readKey(readEntry, key))
    },
    async peek(path) {
      await ready()
      return lock.read(() => readEntry(path))
    },
    paths,
    async *scan(base) {
      yield await paths(base)
    },
    async transact(work) {
      await ready()
      return lock.write(async () => {
        const buffer = createBuffer(readEntry, (base) => storage.getKeys(base), members)
        const result = await work(buffer)
        await write([...buffer.writes(), ...(await setWrites(buffer))])
        return result
      })
    },
    async close() {
      await options.release?.()
      await storage.dispose?.()
    },
  }
}

const locks = new WeakMap<object, RwLock>()

// Two adapters over one storage must not write past each other.
function lockOf(storage: object): RwLock {
  let lock = locks.get(storage)
  if (!lock) locks.set(storage, (lock = createLock()))
  return lock
}

// Seconds; some services refuse less than a minute.
function timeToLive(expires: Date | string | undefined, now: number): { ttl: number } | undefined {
  return expires ? { ttl: Math.max(60, Math.ceil((new Date(expires).getTime() - now) / 1000)) } : undefined
}
