/** Reading a feed: what a process knows of a region, and from when. */
import type { PlacedRevocation } from './place.ts'
import { type Head, type Heads, pageSize, type ReadEntry, type RegionStore } from './region-store.ts'

/** What a process knows of one region. */
export interface RegionCopy {
  readonly region: string
  epoch: string
  /** How far each shard was read, and the tag there. */
  readonly read: Map<string, { seq: number; tag: string }>
  /** When the last reading to the end began; undefined: there was none. */
  began: Moment | undefined
  /** How many readings have begun, and which of them came to the end last. */
  begun: number
  finished: number
  /** Set while the feed is read. */
  flight: Promise<void> | undefined
}

/**
 * A moment by the two clocks of a process. The clock of the system may be set, and then a copy would look younger than it is. The monotonic clock is never
 * set, and may stand still while the machine sleeps.
 */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Milliseconds of the monotonic clock. */
  readonly elapsed: number
}

/** What reading needs. */
export interface FollowOptions {
  readonly store: RegionStore
  readonly moment: () => Moment
  readonly add: (entry: PlacedRevocation) => void
}

const maxTries = 3

export function newCopy(region: string): RegionCopy {
  return { region, epoch: '', read: new Map(), began: undefined, begun: 0, finished: 0, flight: undefined }
}

/** Whether the feed was read to its end by a reading that began less than `age` milliseconds before a moment, by both clocks. */
export function isReadWithin({ began }: RegionCopy, age: number, { now, elapsed }: Moment): boolean {
  return began !== undefined && now >= began.now && now - began.now < age && elapsed - began.elapsed < age
}

/**
 * Reads until a reading has come to the end that began less than `age` milliseconds before this call, or after it. One that is under way and began earlier
 * does not count. Throws what the store throws.
 */
export async function readWithin(copy: RegionCopy, age: number, options: FollowOptions): Promise<void> {
  const before = copy.begun
  const call = options.moment()
  do await (copy.flight ??= readToEnd(copy, options).finally(() => (copy.flight = undefined)))
  while (copy.finished <= before && !isReadWithin(copy, age, call))
}

async function readToEnd(copy: RegionCopy, options: FollowOptions): Promise<void> {
  const reading = ++copy.begun
  const began = options.moment()
  const heads = await options.store.readHeads()
  if (heads.epoch !== copy.epoch) {
    // Another feed: the store is new, or was emptied.
    copy.read.clear()
    copy.epoch = heads.epoch
  }
  await Promise.all([...heads.shards].map(([shard, head]) => readShard(copy, shard, head, heads, options)))
  // A shard that is gone begins again.
  for (const shard of copy.read.keys()) if (!heads.shards.has(shard)) copy.read.delete(shard)
  copy.began = began
  copy.finished = reading
}

async function readShard(copy: RegionCopy, shard: string, end: Head, { epoch }: Heads, options: FollowOptions): Promise<void> {
  let head = end
  for (let tries = 0; tries < maxTries; tries++) {
    const known = copy.read.get(shard)
    if (known?.seq === head.seq && known.tag === head.tag) return
    // Fewer numbers than were read, or another commit under the same number: the store has lost what it had acknowledged.
    const goesOn = known !== undefined && known.seq < head.seq && known.seq >= head.first - 1
    const entries = await readRun(shard, goesOn ? known.seq : head.first - 1, head, options.store)
    const isWhole = entries !== undefined && (!goesOn || entries[0]?.previous === known.tag)
    if (isWhole) {
      for (const entry of entries) options.add(toPlaced(entry, { region: copy.region, epoch, shard }))
      copy.read.set(shard, { seq: head.seq, tag: head.tag })
      return
    }
    if (entries) copy.read.delete(shard)
    // The beginning was trimmed meanwhile, or a node answered that has not seen the last commit.
    head = (await options.store.readHead(shard)) ?? head
  }
  throw new Error(`The revocations of the shard ${shard} have a gap: the store answered rows of different moments.`)
}

/** All entries above a number, up to the head; undefined: one is missing. */
async function readRun(shard: string, after: number, head: Head, store: RegionStore): Promise<ReadEntry[] | undefined> {
  const all: ReadEntry[] = []
  for (let last = after; last < head.seq;) {
    const page = await store.readEntries(shard, last, head.seq)
    for (const entry of page) {
      if (entry.seq !== last + 1 || (all.length > 0 && entry.previous !== all.at(-1)!.tag)) return undefined
      all.push(entry)
      last = entry.seq
    }
    if (page.length < pageSize && last < head.seq) return undefined
  }
  return head.seq <= after || all.at(-1)?.tag === head.tag ? all : undefined
}

function toPlaced(
  { key, before, bounded, except, until, seq }: ReadEntry,
  place: { region: string; epoch: string; shard: string },
): PlacedRevocation {
  return { key, before, bounded, except, until, ...place, seq }
}
