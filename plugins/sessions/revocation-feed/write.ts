/** Writing into a feed: what waits while a commit runs is in the next one. */
import type { PlacedRevocation } from './place.ts'
import type { Head, NewEntry, RegionStore } from './region-store.ts'

/** Writes revocations of one region. */
export interface FeedWriter {
  /** Answers when the entries are in the feed, with their places. Throws when that is not known. */
  write(entries: readonly NewEntry[]): Promise<PlacedRevocation[]>
}
interface Waiting {
  readonly entry: NewEntry
  resolve(placed: PlacedRevocation): void
  reject(error: unknown): void
}

// Of one `write` of a store of records, with the head.
const maxEntries = 19
const maxTries = 50

/**
 * `pick`: a number below the given one. Each process has a shard that it prefers, and takes another one after a conflict. `trimEvery`: a shard is trimmed
 * when so many numbers were given since.
 */
export function createWriter(
  region: string,
  { store, shards, pick, trimEvery }: { store: RegionStore; shards: readonly string[]; pick: (below: number) => number; trimEvery: number },
): FeedWriter {
  const waiting: Waiting[] = []
  const heads = new Map<string, Head>()
  let isRunning = false
  let shard: string | undefined

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    const epoch = await store.needEpoch()
    for (let tries = 0; tries < maxTries; tries++) {
      const at = (shard ??= shards[pick(shards.length)]!)
      const head = heads.get(at) ?? (await store.readHead(at))
      const next = await store.append(
        at,
        head,
        batch.map(({ entry }) => entry),
      )
      if (next) {
        heads.set(at, next)
        const from = next.seq - batch.length + 1
        for (const [place, { entry, resolve }] of batch.entries()) resolve({ ...entry, region, epoch, shard: at, seq: from + place })
        // What may be forgotten harms no reader: the next trimming finds it.
        if (Math.floor(next.seq / trimEvery) !== Math.floor((from - 1) / trimEvery)) await store.trim(at).catch(() => {})
        return
      }
      heads.delete(at)
      shard = undefined
    }
    throw new Error('The revocation could not be written: too many others were written at the same moment.')
  }

  async function run(): Promise<void> {
    isRunning = true
    try {
      while (waiting.length > 0) {
        const batch = waiting.splice(0, maxEntries)
        try {
          await writeBatch(batch)
        } catch (error) {
          // It may have been written, and its answer lost: the head is read anew.
          heads.clear()
          for (const { reject } of batch) reject(error)
        }
      }
    } finally {
      isRunning = false
    }
  }

  return {
    write(entries) {
      const written = Promise.all(
        entries.map((entry) => new Promise<PlacedRevocation>((resolve, reject) => waiting.push({ entry, resolve, reject }))),
      )
      if (!isRunning) void run()
      return written
    },
  }
}
