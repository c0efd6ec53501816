/** The rows of one region's feed in its store of records. */
import {
  randomHex,
  type RecordStore,
  RecordConflict,
  type Runtime,
  sha256,
  type StoredQuery,
  type StoredRow,
  type StoredWrite,
  toHex,
  withTimeout,
} from 'authkernel/kernel'
import { failedCall, lateCall } from 'authkernel/kernel/stores'
import { entryName, headName } from './tables.ts'

/** Where a shard ends. */
export interface Head {
  readonly seq: number
  readonly first: number
  readonly tag: string
}
/** The ends of all shards, and the name of the feed; empty: it has none yet. */
export interface Heads {
  readonly epoch: string
  readonly shards: ReadonlyMap<string, Head>
}
/** A revocation to write. */
export interface NewEntry {
  readonly key: string
  readonly before: number
  readonly bounded: boolean
  readonly except: string | null
  readonly until: number
}
/** A revocation that was read. */
export interface ReadEntry extends NewEntry {
  readonly seq: number
  readonly tag: string
  readonly previous: string
}
/** What readers and writers need of a region. */
export interface RegionStore {
  readHeads(): Promise<Heads>
  readHead(shard: string): Promise<Head | undefined>
  /** The entries with a number above `after`, up to and with `last`, at most a page of them. */
  readEntries(shard: string, after: number, last: number): Promise<ReadEntry[]>
  /** One commit: the entries, and the head behind them, when the head is still the known one. False: it is another one. */
  append(shard: string, head: Head | undefined, entries: readonly NewEntry[]): Promise<Head | false>
  /** The name of the feed, made by the first who needs it. */
  needEpoch(): Promise<string>
  has(key: string): Promise<boolean>
  /** Removes entries from the beginning that may be forgotten. */
  trim(shard: string): Promise<void>
}

/** Entries of a page, and of one trimming. */
export const pageSize = 1_000
const epochId = 'epoch'

/** `deadline` in milliseconds. */
export function openRegion(
  store: RecordStore,
  { runtime, deadline, shards }: { runtime: Runtime; deadline: number; shards: readonly string[] },
): RegionStore {
  const call = async <T>(operation: string, work: () => T | PromiseLike<T>): Promise<T> => {
    try {
      const answer = work()
      const isLater = typeof (answer as PromiseLike<T> | null)?.then === 'function'
      return isLater ? await withTimeout(answer as PromiseLike<T>, deadline, () => lateCall(operation, deadline)) : (answer as T)
    } catch (error) {
      if (error instanceof RecordConflict) throw error
      throw failedCall(operation, error)
    }
  }
  const get = (id: string): Promise<StoredRow | null> => call('revocations.head', () => store.get(headName, '', { id }, runtime.now()))
  const write = async (writes: readonly StoredWrite[]): Promise<boolean> => {
    try {
      return (await call('revocations.write', () => store.write(writes, runtime.now()))) !== null
    } catch (error) {
      // Of several that make the head at once one wins.
      if (error instanceof RecordConflict) return false
      throw error
    }
  }
  const readEntries = async (shard: string, after: number, last: number): Promise<ReadEntry[]> => {
    const query = shardQuery(shard, { gt: after, lte: last })
    return (await call('revocations.read', () => store.find(entryName, query, runtime.now()))).map(toEntry)
  }
  return {
    readHead: async (shard) => toHead(await get(shard)),
    readEntries,
    async readHeads() {
      const ids = [epochId, ...shards]
      const rows = store.getMany
        ? await call('revocations.heads', () => store.getMany!(headName, '', ids, runtime.now()))
        : await Promise.all(ids.map(get))
      const known = new Map<string, Head>()
      let epoch = ''
      for (const row of rows) {
        if (row?.id === epochId) epoch = String(row['tag'])
        else if (row) known.set(row.id, toHead(row)!)
      }
      return { epoch, shards: known }
    },
    async append(shard, head, entries) {
      const tag = randomHex(runtime, 8)
      const seq = head?.seq ?? 0
      const next: Head = { seq: seq + entries.length, first: head?.first ?? 1, tag }
      const rows = await Promise.all(
        entries.map(async (entry, at): Promise<StoredWrite> => {
          const place = { shard, seq: seq + at + 1, tag: at === entries.length - 1 ? tag : `${tag}.${at}` }
          const previous = at === 0 ? (head?.tag ?? '') : `${tag}.${at - 1}`
          return { op: 'create', table: entryName, row: await toRow(entry, { ...place, previous }) }
        }),
      )
      // The head first: its lock is held until the entries are there, so that no higher number is seen before a lower one.
      const headWrite: StoredWrite = head
        ? {
            op: 'update',
            table: headName,
            ns: '',
            id: shard,
            change: { seq: next.seq, tag },
            if: { seq: head.seq, tag: head.tag },
          }
        : { op: 'create', table: headName, row: { ns: '', id: shard, seq: next.seq, first: 1, tag } }
      return (await write([headWrite, ...rows])) && next
    },
    async needEpoch() {
      for (;;) {
        const row = await get(epochId)
        if (row) return String(row['tag'])
        await write([{ op: 'create', table: headName, row: { ns: '', id: epochId, seq: 0, first: 1, tag: randomHex(runtime, 4) } }])
      }
    },
    async has(key) {
      const query: StoredQuery = { ...shardQuery('', {}), where: { name: await nameOf(key) }, by: undefined, index: ['name'], limit: 1 }
      return (await call('revocations.find', () => store.find(entryName, query, runtime.now()))).length > 0
    },
    async trim(shard) {
      const head = toHead(await get(shard))
      if (!head) return
      const entries = await readEntries(shard, head.first - 1, head.seq)
      const kept = entries.find(({ until }) => until > runtime.now())
      const first = kept?.seq ?? (entries.at(-1)?.seq ?? head.first - 1) + 1
      // The head first: a reader that comes between knows that the numbers below are gone.
      if (first > head.first) {
        const change = { first }
        if (!(await write([{ op: 'update', table: headName, ns: '', id: shard, change, if: { first: head.first } }]))) return
      }
      await call('revocations.trim', () => store.deleteWhere(entryName, shardQuery(shard, { lt: first }), runtime.now()))
    },
  }
}

function shardQuery(shard: string, range: StoredQuery['range']): StoredQuery {
  return { ns: '', where: { shard }, by: 'seq', index: ['shard', 'seq'], range, order: 'asc', limit: pageSize, after: undefined }
}

function toHead(row: StoredRow | null): Head | undefined {
  return row ? { seq: Number(row['seq']), first: Number(row['first']), tag: String(row['tag']) } : undefined
}

function toEntry(row: StoredRow): ReadEntry {
  return {
    seq: Number(row['seq']),
    tag: String(row['tag']),
    previous: String(row['previous']),
    key: String(row['key']),
    before: Number(row['before']),
    bounded: row['bounded'] === true,
    except: row['except'] === null || row['except'] === undefined ? null : String(row['except']),
    until: (row['until'] as Date).getTime(),
  }
}

async function toRow(
  { key, before, bounded, except, until }: NewEntry,
  place: { shard: string; seq: number; tag: string; previous: string },
): Promise<StoredRow> {
  const id = `${place.shard}.${place.seq}`
  return { ns: '', id, ...place, name: await nameOf(key), key, before, bounded, except, until: new Date(until) }
}

/** Keys of a provider may be long. */
async function nameOf(key: string): Promise<string> {
  return toHex(await sha256(key))
}
