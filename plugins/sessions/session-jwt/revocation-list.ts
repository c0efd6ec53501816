/** Reading and writing the rows of ended tokens. */
import { type AnyContext, type Kernel, type RecordTable, type Revocation, sha256, toHex } from 'authkernel/kernel'
import { readRows } from 'authkernel/kernel/stores'
import type { RevocationCopy, RevocationEntry, RevocationFields } from './tables.ts'

const headId = 'head'
// Clocks of hosts may differ that much: what one of them wrote late is still found.
const skew = 300_000
// Of one `atomic`, with the head.
const maxWrites = 19
const maxEntries = 100_000
const margin = 60

/** Brings the copy up to date. `staleness` in seconds. */
export async function syncCopy(kernel: Kernel, copy: RevocationCopy, staleness: number): Promise<void> {
  const { runtime, config } = kernel
  const began = runtime.now()
  await inRecords(kernel, async (table) => {
    const head = (await table.get(headId))?.before ?? 0
    if (head !== copy.head) await loadRows(table, copy, began)
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

/** Whether there is a row of the key: for copies that do not hold everything. */
export function isEnded(kernel: Kernel, key: string): Promise<boolean> {
  return inRecords(kernel, async (table) => (await table.get(await rowIdOf(key))) !== null)
}

/** Writes rows that are kept for `seconds`, and enters them into the copy. */
export async function writeRevocations(
  kernel: Kernel,
  copy: RevocationCopy,
  { namespace, revocations, seconds }: { namespace: string; revocations: readonly Revocation[]; seconds: number },
): Promise<void> {
  const at = kernel.runtime.now()
  const until = at + (seconds + margin) * 1000
  const entries = revocations.map(({ key, before, except = null }): RevocationEntry => ({
    key: `${namespace} ${key}`,
    before,
    except,
    until,
  }))
  for (let from = 0; from < entries.length; from += maxWrites) await writeRows(kernel, entries.slice(from, from + maxWrites), at)
  for (const entry of entries) addEntry(copy, entry)
}

function inRecords<T>(kernel: Kernel, work: (table: RecordTable<RevocationFields>, ctx: AnyContext) => Promise<T>): Promise<T> {
  return kernel.job({ job: 'revocations', tenant: null }, (ctx) => work(ctx.records('revocation'), ctx))
}

async function writeRows(kernel: Kernel, entries: readonly RevocationEntry[], at: number): Promise<void> {
  const rows = await Promise.all(
    entries.map(async ({ until, ...entry }) => ({
      record: 'revocation' as const,
      put: { id: await rowIdOf(rowKeyOf(entry)), ...entry, at: new Date(at), expires: new Date(until) },
    })),
  )
  // Any other number than before says that there is something new.
  const [high = 0, ...low] = kernel.runtime.random(7)
  const before = low.reduce((number, byte) => number * 256 + byte, high % 16)
  const head = { record: 'revocation' as const, put: { id: headId, key: headId, before, except: null, at: new Date(0), expires: null } }
  await inRecords(kernel, async (_table, ctx) => {
    const commit = (): Promise<readonly unknown[] | false> => ctx.atomic([...rows, head])
    // Of several that make the head at once one wins.
    if (!(await commit()) && !(await commit())) throw new Error('The revocation could not be written.')
  })
}

async function loadRows(table: RecordTable<RevocationFields>, copy: RevocationCopy, now: number): Promise<void> {
  const since = new Date(Math.max(1, copy.last - skew))
  for await (const { key, before, except, at, expires } of readRows(table, { range: { at: { gte: since } } })) {
    addEntry(copy, { key, before, except, until: expires?.getTime() ?? Infinity })
    copy.last = Math.max(copy.last, at.getTime())
  }
  for (const [key, entry] of copy.entries) if (isOver(entry, now)) copy.entries.delete(key)
}

/**
 * A watermark never goes back: a sign-out that arrives late must not undo a later one. One that spares a session does not replace an earlier one, which may
 * end that very session.
 */
function addEntry({ entries }: RevocationCopy, entry: RevocationEntry): void {
  const chain: RevocationEntry[] = [entry]
  for (let one = entries.get(entry.key); one; one = one.earlier) chain.push(one)
  // The one that was written last comes first among equals.
  chain.sort((one, other) => other.before - one.before)
  const spared = new Set<string>()
  const kept: RevocationEntry[] = []
  for (const one of chain) {
    if (typeof one.except === 'string' && spared.has(one.except)) continue
    kept.push(one)
    if (typeof one.except !== 'string') break
    spared.add(one.except)
  }
  const first = kept.reduceRight<RevocationEntry | undefined>((earlier, one) => ({ ...one, earlier }), undefined)
  entries.set(entry.key, first as RevocationEntry)
}

function isOver({ until, earlier }: RevocationEntry, now: number): boolean {
  return until <= now && (earlier === undefined || isOver(earlier, now))
}

// Each watermark has a row of its own, so that a late one cannot replace a later one. What is ended by its id is looked up by that.
function rowKeyOf({ key, before }: Pick<RevocationEntry, 'key' | 'before'>): string {
  return key.includes(' id:') ? key : `${key} ${before}`
}

async function rowIdOf(key: string): Promise<string> {
  return toHex(await sha256(key))
}
