/**
 * Tokens that count as ended: rows in records with one head row, of which each process has a copy. A session read looks into the copy. While
 * sessions are read, the head is read once in half of the staleness; rows are read when it has changed.
 */
import {
  type AnyContext,
  type Kernel,
  type RecordSpec,
  type RecordTable,
  type Revocation,
  type Revocations,
  type Shared,
  sha256,
  toHex,
} from 'authkernel/kernel'

interface RevocationFields extends Record<string, unknown> {
  /** Namespace, a blank, and what is ended. The id is its hash: keys of a provider may be long. */
  key: string
  /** Of the head row: another number after each write. */
  before: number
  except: string | null
  at: Date
  expires: Date | null
}

/** One list for all namespaces, so that the cost does not grow with tenants. */
export const revocationRecord: RecordSpec<RevocationFields> = {
  fields: {
    key: { type: 'text' },
    before: { type: 'integer' },
    except: { type: 'string', optional: true },
    at: { type: 'date' },
    expires: { type: 'date', optional: true },
  },
  index: [['at']],
  expires: 'expires',
  id: 'given',
}

const headId = 'head'
// Clocks of hosts may differ that much: what one of them wrote late is still found.
const skew = 300_000
const pageSize = 1_000
// Of one `atomic`, with the head.
const maxWrites = 19
const maxEntries = 100_000
const margin = 60

type Entry = Revocation & { until: number }
/** What outlives a snapshot. */
interface Copy {
  entries: Map<string, Entry>
  freshUntil: number
  renewAt: number
  head: number | undefined
  last: number
  complete: boolean
}

/** `staleness` in seconds. The copy is shared by the kernels of one host. */
export function createRevocations(kernel: Kernel, shared: Shared, staleness: number): Revocations {
  const known = shared.cache<Revocations & Copy>('revocations')
  const existing = known.get('copy')
  if (existing) return existing
  const { runtime, config } = kernel
  const inRecords = <T>(work: (table: RecordTable<RevocationFields>, ctx: AnyContext) => Promise<T>): Promise<T> =>
    kernel.job({ job: 'revocations', tenant: null }, (ctx) =>
      work(ctx.records('revocation') as unknown as RecordTable<RevocationFields>, ctx),
    )

  const copy: Revocations & Copy = {
    entries: new Map<string, Entry>(),
    freshUntil: 0,
    renewAt: 0,
    head: undefined,
    last: 0,
    complete: true,
    sync: () => shared.flight('revocations', sync),
    ended: (key) => inRecords(async (table) => (await table.get(await idOf(key))) !== null),
    async revoke({ settings: { namespace } }, revocations, seconds) {
      const at = runtime.now()
      const until = at + (seconds + margin) * 1000
      const entries = revocations.map(({ key, before, except = null }): Entry => ({ key: `${namespace} ${key}`, before, except, until }))
      for (let from = 0; from < entries.length; from += maxWrites) await write(entries.slice(from, from + maxWrites), at)
      for (const entry of entries) enter(copy, entry)
    },
  }
  known.set('copy', copy)
  return copy

  async function sync(): Promise<void> {
    const began = runtime.now()
    await inRecords(async (table) => {
      const head = (await table.get(headId))?.before ?? 0
      if (head !== copy.head) await load(table, copy, began)
      copy.head = head
    })
    if (copy.complete && copy.entries.size > maxEntries) {
      copy.complete = false
      config.logger.warn('revocations-many')
    }
    if (!copy.complete) for (const key of copy.entries.keys()) if (key.includes(' id:')) copy.entries.delete(key)
    copy.freshUntil = began + staleness * 1000
    copy.renewAt = began + staleness * 500
  }

  async function write(entries: readonly Entry[], at: number): Promise<void> {
    const rows = await Promise.all(
      entries.map(async ({ until, ...entry }) => ({
        record: 'revocation',
        put: { id: await idOf(rowOf(entry)), ...entry, at: new Date(at), expires: new Date(until) },
      })),
    )
    // Any other number than before says that there is something new.
    const [high = 0, ...low] = runtime.random(7)
    const before = low.reduce((number, byte) => number * 256 + byte, high % 16)
    const head = { record: 'revocation', put: { id: headId, key: headId, before, except: null, at: new Date(0), expires: null } }
    await inRecords(async (_table, ctx) => {
      const commit = (): Promise<readonly unknown[] | false> => ctx.atomic([...rows, head] as never)
      // Of several that make the head at once one wins.
      if (!(await commit()) && !(await commit())) throw new Error('The revocation could not be written.')
    })
  }
}

async function load(table: RecordTable<RevocationFields>, copy: Copy, now: number): Promise<void> {
  const since = new Date(Math.max(1, copy.last - skew))
  let cursor: string | undefined
  do {
    const page = await table.find({ range: { at: { gte: since } }, limit: pageSize, ...(cursor !== undefined && { cursor }) })
    for (const { key, before, except, at, expires } of page.rows) {
      enter(copy, { key, before, except, until: expires?.getTime() ?? Infinity })
      copy.last = Math.max(copy.last, at.getTime())
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  for (const [key, { until }] of copy.entries) if (until <= now) copy.entries.delete(key)
}

/** A watermark never goes back: a sign-out that arrives late must not undo a later one. */
function enter({ entries }: Copy, entry: Entry): void {
  if (!((entries.get(entry.key)?.before ?? -1) > entry.before)) entries.set(entry.key, entry)
}

// Each watermark has a row of its own, so that a late one cannot replace a later one. What is ended by its id is looked up by that.
function rowOf({ key, before }: Pick<Entry, 'key' | 'before'>): string {
  return key.includes(' id:') ? key : `${key} ${before}`
}

async function idOf(key: string): Promise<string> {
  return toHex(await sha256(key))
}
