/** Brings rows of a source to this side, again and again: new ones are stored, changed ones refreshed, and nothing that changed here is replaced. */
import { AdapterError, type AnyContext, type ImportState, type ImportTarget, RecordConflict, sha256, toHex } from 'authkernel/kernel'
import { type Decision, decideGone, decideRow } from './decisions.ts'
import { type KindReport, newKindReport, noteConflict, noteRefusal } from './report.ts'
import { entryId, type ImportEntryRow, readEntries } from './tables.ts'

/** One kind of things of a source. */
export interface ImportKind<T> {
  /** Name of the source: at most 32 characters. */
  source: string
  /** Name of the kind: at most 32 characters. */
  kind: string
  target: ImportTarget<T>
}
/** A row of the source. */
export interface SourceRow<T> {
  /** Names the thing there and here; at most 512 characters. */
  key: string
  /** Plain data: its JSON is compared with that of the last run. */
  value: T
  /** The user it belongs to; null: none. */
  userId: string | null
  /** What is compared instead of the value: the row as the source has it. */
  compare?: unknown
  /** Why it is not taken, now or by a later run: the key of a user whose address was never verified. It is counted as rejected. */
  withheld?: string
}
/** How a run goes. */
export interface ImportRun {
  /** Writes; false: only decides. */
  apply: boolean
  /** Which side wins where both changed; undefined: neither, the row is listed and stays as it is here. */
  conflicts?: 'here' | 'source' | undefined
}

/** What a kind has before a run. Where it has nothing, no page is compared with it: the first run of a large move reads half as much. */
export interface Beginning {
  /** Nothing was taken from the source yet. */
  noEntries: boolean
  /** Nothing of the kind is here. */
  nothingHere: boolean
}

type Entry = ImportEntryRow & { id: string }
interface ComparedRow<T> {
  row: SourceRow<T>
  digest: string
  entry: Entry | undefined
  here: ImportState | undefined
  decision: Decision
  reason?: string
}

/** Rows of one call; sources are read in pages of this size. */
export const pageSize = 500
const pagesAtOnce = 4

/**
 * Takes rows of one kind, a page after the other, and answers how many of each decision there were. Each page costs a few calls of the store. A run that was
 * interrupted goes on when it is run again. In a dry run tables that do not exist yet count as empty. `beginning` is looked up when it is not given.
 */
export async function importPages<T>(
  ctx: AnyContext,
  kind: ImportKind<T>,
  pages: AsyncIterable<readonly SourceRow<T>[]> | Iterable<readonly SourceRow<T>[]>,
  run: ImportRun,
  beginning?: Beginning,
): Promise<KindReport> {
  const report = newKindReport()
  const known = beginning ?? (await findBeginning(ctx, kind, run.apply))
  const running = new Set<Promise<void>>()
  const faults: unknown[] = []
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += pageSize) {
      const work: Promise<void> = takePage(ctx, kind, page.slice(at, at + pageSize), run, report, known)
        .catch((error: unknown) => void faults.push(error))
        .finally(() => running.delete(work))
      running.add(work)
      // The store writes one page while the next ones are read and compared.
      if (running.size >= pagesAtOnce) await Promise.race(running)
      if (faults.length > 0) break
    }
    if (faults.length > 0) break
  }
  await Promise.all(running)
  if (faults.length > 0) throw faults[0]
  return report
}

/** Two short reads. A dry run also calls it before the first migration. */
export async function findBeginning<T>(ctx: AnyContext, { source, kind, target }: ImportKind<T>, apply: boolean): Promise<Beginning> {
  const entries = await readOrEmpty(apply, 0, () => ctx.records('importEntry').count({ source, kind }, { max: 1 }))
  const nothingHere = await readOrEmpty(apply, true, async () => (await target.isEmpty?.(ctx)) ?? false)
  return { noEntries: entries === 0, nothingHere }
}

/**
 * Finds entries whose rows the source no longer has, and removes here what nothing changed since. Call it only after the source was read whole. `isThere` gets
 * up to 500 keys and answers those that the source has.
 */
export async function removeGone(
  ctx: AnyContext,
  { source, kind, target }: ImportKind<never>,
  isThere: (keys: readonly string[]) => Promise<ReadonlySet<string>> | ReadonlySet<string>,
  { apply, conflicts }: ImportRun,
  report: KindReport,
): Promise<void> {
  let cursor: string | undefined
  do {
    const page = await readOrEmpty(apply, { rows: [], cursor: undefined }, () =>
      ctx.records('importEntry').find({ where: { source, kind }, limit: pageSize, cursor }),
    )
    cursor = page.cursor
    const live = page.rows.filter(({ digest }) => digest !== '')
    if (live.length === 0) continue
    const there = await isThere(live.map(({ key }) => key))
    const gone = live.filter(({ key }) => !there.has(key))
    if (gone.length === 0) continue
    const states = await target.read(
      ctx,
      gone.map(({ key }) => ({ key })),
    )
    const remove: { key: string; version: string }[] = []
    const [close, forget]: [Entry[], Entry[]] = [[], []]
    for (const [at, entry] of gone.entries()) {
      const here = states[at]
      const decision = decideGone(entry, here)
      const removes = decision === 'removed' || (decision === 'conflict' && conflicts === 'source')
      report[decision === 'conflict' && removes ? 'removed' : decision]++
      if (decision === 'conflict' && !removes) noteConflict(report, entry.key, conflicts !== undefined)
      if (here && removes) remove.push({ key: entry.key, version: here.version })
      // What the source has again after it was gone on both sides is new.
      if (removes) forget.push(entry)
      else if (decision !== 'conflict' || conflicts !== undefined) close.push(entry)
    }
    if (!apply) continue
    if (remove.length > 0) await target.remove(ctx, remove)
    await forgetEntries(ctx, forget)
    await putEntries(
      ctx,
      close.map((entry) => ({ ...entry, digest: '', version: null, taken: ctx.now })),
    )
  } while (cursor !== undefined)
}

async function takePage<T>(
  ctx: AnyContext,
  kind: ImportKind<T>,
  rows: readonly SourceRow<T>[],
  run: ImportRun,
  report: KindReport,
  beginning: Beginning,
): Promise<void> {
  const compared = await comparePage(ctx, kind, rows, run.apply, beginning)
  const write: ComparedRow<T>[] = []
  const note: { one: ComparedRow<T>; version: string | null }[] = []
  for (const one of compared) {
    report.found++
    if (one.decision === 'refused') {
      noteRefusal(report, one.row.key, one.reason ?? '')
      // A later run leaves it out too, also when the address is verified until then.
      if (one.row.withheld !== undefined) note.push({ one, version: null })
    } else if (one.decision === 'new' || one.decision === 'refreshed' || (one.decision === 'conflict' && run.conflicts === 'source')) {
      write.push(one)
      continue
    } else if (one.decision === 'conflict') {
      noteConflict(report, one.row.key, run.conflicts !== undefined)
      if (run.conflicts === 'here') note.push({ one, version: null })
    } else if (one.decision === 'unchanged' && (!one.entry || one.entry.digest !== one.digest)) {
      note.push({ one, version: one.here?.own ? null : (one.here?.version ?? null) })
    }
    report[one.decision]++
  }
  const count = ({ decision }: ComparedRow<T>): void => void report[decision === 'conflict' ? 'refreshed' : decision]++
  if (!run.apply) return write.forEach(count)
  const versions = write.length === 0 ? [] : await kind.target.write(ctx, write.map(toWrite))
  const unread: SourceRow<T>[] = []
  for (const [at, one] of write.entries()) {
    const version = versions[at]
    if (version === undefined && (beginning.noEntries || beginning.nothingHere)) unread.push(one.row)
    else if (version === undefined) {
      // Another request changed it after it was compared: the next run sees that.
      report.conflict++
      noteConflict(report, one.row.key, false)
    } else {
      count(one)
      note.push({ one, version })
    }
  }
  await writeEntries(ctx, kind, note)
  if (unread.length === 0) return
  // The source has a key twice, or something was stored here since the run began.
  report.found -= unread.length
  await takePage(ctx, kind, unread, run, report, { noEntries: false, nothingHere: false })
}

async function comparePage<T>(
  ctx: AnyContext,
  { source, kind, target }: ImportKind<T>,
  rows: readonly SourceRow<T>[],
  apply: boolean,
  { noEntries, nothingHere }: Beginning,
): Promise<ComparedRow<T>[]> {
  const none = rows.map(() => undefined)
  const keys = rows.map(({ key }) => key)
  const [entries, here, digests] = [
    noEntries ? none : await readOrEmpty(apply, none, () => readEntries(ctx, source, kind, keys)),
    nothingHere ? none : await readOrEmpty(apply, none, () => target.read(ctx, rows)),
    await Promise.all(rows.map(({ value, compare = value }) => digestOf(compare))),
  ]
  return Promise.all(
    rows.map(async (row, at) => {
      const [entry, state, digest] = [entries[at], here[at], digests[at]!]
      const decision = decideRow(entry, digest, state)
      const facts = { row, digest, entry, here: state }
      const settled = decision === 'unchanged' || decision === 'kept'
      const reason = settled ? undefined : (row.withheld ?? (await target.refuse?.(ctx, row.value)))
      return reason === undefined ? { ...facts, decision } : { ...facts, decision: 'refused' as const, reason }
    }),
  )
}

function toWrite<T>({ row: { key, value }, here }: ComparedRow<T>): { key: string; value: T; over?: string } {
  return { key, value, ...(here && { over: here.version }) }
}

async function writeEntries<T>(
  ctx: AnyContext,
  { source, kind }: ImportKind<T>,
  notes: readonly { one: ComparedRow<T>; version: string | null }[],
): Promise<void> {
  const rows = await Promise.all(
    notes.map(async ({ one: { row, digest, entry }, version }) => ({
      first: entry === undefined,
      entry: {
        id: entry?.id ?? (await entryId(source, kind, row.key)),
        source,
        kind,
        key: row.key,
        digest,
        version,
        userId: row.userId,
        taken: ctx.now,
      },
    })),
  )
  const [fresh, known] = [rows.filter(({ first }) => first), rows.filter(({ first }) => !first)].map((some) =>
    some.map(({ entry }) => entry),
  ) as [Entry[], Entry[]]
  try {
    await ctx.records('importEntry').createMany(fresh)
  } catch (error) {
    // Two runs at once.
    if (!(error instanceof RecordConflict)) throw error
    known.push(...fresh)
  }
  await putEntries(ctx, known)
}

async function forgetEntries(ctx: AnyContext, entries: readonly Entry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += 20)
    await ctx.atomic(entries.slice(at, at + 20).map(({ id }) => ({ record: 'importEntry' as const, delete: id })))
}

async function putEntries(ctx: AnyContext, entries: readonly Entry[]): Promise<void> {
  // As many as one commit takes.
  for (let at = 0; at < entries.length; at += 20)
    await ctx.atomic(entries.slice(at, at + 20).map((put) => ({ record: 'importEntry' as const, put })))
}

/** SHA-256 of the JSON of a value. Fields are compared in the order in which they were given. */
export async function digestOf(value: unknown): Promise<string> {
  return toHex(await sha256(JSON.stringify(value)))
}

/** Before the first migration there are no tables of records: everything counts as new then. */
async function readOrEmpty<R>(apply: boolean, empty: R, read: () => Promise<R>): Promise<R> {
  try {
    return await read()
  } catch (error) {
    if (!apply && error instanceof AdapterError) return empty
    throw error
  }
}
