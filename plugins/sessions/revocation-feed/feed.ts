/** The service `revocations` over feeds: one of this region, and those of the others. */
import type { AnyContext, Kernel, LoggerInstance, RecordSpec, RecordStore, Revocation, Revocations, Runtime } from 'authkernel/kernel'
import { declareRecord } from 'authkernel/kernel/stores'
import { RevocationsUnknown } from './errors.ts'
import { type FollowOptions, isReadWithin, type Moment, newCopy, readWithin, type RegionCopy } from './follow.ts'
import type { FeedOptions } from './options.ts'
import { addPlaced, isReached, type PlacedRevocation, readPlace, writePlace } from './place.ts'
import { type NewEntry, openRegion, type RegionStore } from './region-store.ts'
import { entryName, entryRecord, headName, headRecord } from './tables.ts'
import { createWriter, type FeedWriter } from './write.ts'

/** What a feed needs of its process. */
export interface FeedParts {
  readonly options: Omit<FeedOptions, 'staleness' | 'regions' | 'shards' | 'alsoList'> & { staleness: number; shards: readonly string[] }
  /** Stores by region, this one too. */
  readonly stores: ReadonlyMap<string, RegionStore>
  readonly runtime: Pick<Runtime, 'now' | 'random'>
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly elapsed?: () => number
  readonly logger: Pick<LoggerInstance, 'warn'>
  /** Numbers of a shard after which it is trimmed; default 64. */
  readonly trimEvery?: number
}
/** What the feed adds to a list of revocations. */
export type Feed = Required<Pick<Revocations, 'place' | 'follow' | 'reaches'>> &
  Pick<Revocations, 'entries' | 'complete' | 'freshUntil' | 'renewAt' | 'ended' | 'sync' | 'revoke'>

interface Region {
  readonly copy: RegionCopy
  readonly writer: FeedWriter
  readonly follow: FollowOptions
}

const maxEntries = 100_000
// Clocks may differ, and requests take their time: so many seconds longer than a token lives is its revocation kept.
const margin = 60
const pruneEvery = 60_000

/** The feed of a process. `staleness`: where the option is left out. */
export function openFeed(kernel: Kernel, options: FeedOptions, records: RecordStore, staleness: number): Feed {
  const { runtime, config } = kernel
  const shards = Array.from({ length: options.shards }, (_, at) => at.toString(36))
  const open = (store: RecordStore): RegionStore => openRegion(store, { runtime, deadline: config.deadlines.store, shards })
  const stores = new Map([[options.region, open(records)]])
  for (const [name, store] of Object.entries(options.regions)) {
    // The store of this region is defined by the kernel, with all records.
    store.define([declareRecord(headName, headRecord as RecordSpec).stored, declareRecord(entryName, entryRecord as RecordSpec).stored])
    stores.set(name, open(store))
  }
  return createFeed({ options: { ...options, staleness: options.staleness ?? staleness, shards }, stores, runtime, logger: config.logger })
}

/** The feed over stores that are open. */
export function createFeed({ options, stores, runtime, elapsed = () => performance.now(), logger, trimEvery = 64 }: FeedParts): Feed {
  const entries = new Map<string, PlacedRevocation>()
  const { region: home, whenStale } = options
  const staleness = options.staleness * 1000
  const difference = options.clockDifference * 1000
  const moment = (): Moment => ({ now: runtime.now(), elapsed: elapsed() })
  let complete = true
  let prunedAt = 0

  const add = (entry: PlacedRevocation): void => {
    if (!complete && entry.key.includes(' id:')) return
    addPlaced(entries, entry)
    if (!complete || entries.size <= maxEntries) return
    complete = false
    logger.warn('revocations-many')
    for (const key of entries.keys()) if (key.includes(' id:')) entries.delete(key)
  }
  const regions = new Map<string, Region>(
    [...stores].map(([name, store]) => {
      const pick = (below: number): number => runtime.random(1)[0]! % below
      const writer = createWriter(name, { store, shards: options.shards, pick, trimEvery })
      return [name, { copy: newCopy(name), writer, follow: { store, moment, add } }]
    }),
  )
  const own = regions.get(home)!

  function regionOf(text: string | undefined): Region {
    const place = readPlace(text)
    // One without a place is from before: what reaches it is in the feeds of all regions.
    const found = place ? regions.get(place.region) : own
    if (found) return found
    throw new RevocationsUnknown(
      `A session token is of the region ${JSON.stringify(place?.region)}, which revocationFeedPlugin does not know: add it to \`regions\`.`,
    )
  }

  async function readRegion({ copy, follow }: Region, age: number): Promise<void> {
    try {
      await readWithin(copy, age, follow)
    } catch (error) {
      const text = `The revocations of the region "${copy.region}" could not be read to their end.`
      throw new RevocationsUnknown(copy.region === '' ? 'The revocations could not be read to their end.' : text, error)
    }
    prune()
  }

  // By the clock of the system, as long as the other one agrees.
  function untilOf(age: number): number {
    const { began } = own.copy
    return began && isReadWithin(own.copy, age, moment()) ? began.now + age : -Infinity
  }

  function prune(): void {
    const now = runtime.now()
    if (Math.abs(now - prunedAt) < pruneEvery) return
    prunedAt = now
    for (const [key, entry] of entries) {
      const kept = listChain(entry).filter(({ until }) => until > now)
      if (kept.length === listChain(entry).length) continue
      entries.delete(key)
      for (const one of kept) addPlaced(entries, one)
    }
  }

  return {
    entries,
    get complete() {
      return complete
    },
    get freshUntil() {
      return untilOf(staleness)
    },
    get renewAt() {
      return untilOf(staleness / 2)
    },
    place: () => writePlace({ region: home, epoch: own.copy.epoch, seqs: seqsOf(own.copy) }),
    reaches: (revocation, { started, place }) =>
      isReached(revocation as PlacedRevocation, { started, place: readPlace(place) }, difference),
    sync: (place) => readRegion(regionOf(place), 0),
    async follow(place) {
      const now = moment()
      const region = regionOf(place)
      const { copy } = region
      if (isReadWithin(copy, staleness, now)) {
        // Not waited for. When it fails the copy ages, and then a request waits.
        if (!copy.flight && !isReadWithin(copy, staleness / 2, now)) readRegion(region, 0).catch(() => {})
        return
      }
      if (region !== own && whenStale === 'reject') {
        readRegion(region, 0).catch(() => {})
        throw new RevocationsUnknown(`The revocations of the region "${copy.region}" were not read to their end in time.`)
      }
      await readRegion(region, staleness)
    },
    async ended(key, place) {
      const found = await Promise.all([...new Set([own, regionOf(place)])].map(({ follow }) => follow.store.has(key)))
      return found.includes(true)
    },
    async revoke({ settings: { namespace } }: Pick<AnyContext, 'settings'>, revocations, seconds) {
      const until = runtime.now() + (seconds + margin) * 1000
      const written = await Promise.allSettled(
        [...regions.values()].map(async (region) => {
          const here = revocations.filter(({ key, place }) => !key.startsWith('id:') || place === undefined || regionOf(place) === region)
          if (here.length === 0) return
          for (const placed of await region.writer.write(here.map((one) => toNewEntry(one, namespace, until)))) add(placed)
        }),
      )
      // Acknowledged is what every region has where a session can be that it ends.
      for (const one of written)
        if (one.status === 'rejected') throw new RevocationsUnknown('A revocation could not be written in every region.', one.reason)
    },
  }
}

function toNewEntry({ key, before, except = null, bounded = false }: Revocation, namespace: string, until: number): NewEntry {
  return { key: `${namespace} ${key}`, before, except, bounded, until }
}

function seqsOf({ read }: RegionCopy): Map<string, number> {
  return new Map([...read].map(([shard, { seq }]) => [shard, seq]))
}

function listChain(entry: PlacedRevocation | undefined): PlacedRevocation[] {
  const chain: PlacedRevocation[] = []
  for (let one = entry; one; one = one.earlier) chain.push(one)
  return chain
}
