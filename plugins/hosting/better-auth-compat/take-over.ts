/** The move itself: every kind of things is compared, stored by the plugin that owns it, and counted before and after. */
import { type AnyContext, AdapterError, AuthError, type ImportTarget } from 'authkernel/kernel'
import { type ImportRun, removeGone, importPages } from '../import/ledger.ts'
import { type ImportProblem, type ImportReport, type KindReport, listOpen, newKindReport, problemsOf } from '../import/report.ts'
import { lockRun } from '../import/run-lock.ts'
import { describeRest } from './findings.ts'
import { describeGaps } from './gaps.ts'
import { isThereIn, kinds as movedKinds } from './kinds.ts'
import { sourceName } from './live.ts'
import type { Move } from './users.ts'
import { describePasskeys } from './passkeys.ts'
import { assertOpen, describeEnd, readPeriod, startPeriod } from './period.ts'
import { type BetterAuthSchema, tableOf } from './schema.ts'
import { type BetterAuthDatabase, openSource, type Source } from './source.ts'

/** What was found, and what was, or would be, stored. */
export interface BetterAuthReport extends ImportReport {
  users: number
  sessions: number
  passwords: { found: number; taken: number }
  factors: { found: number; taken: number }
  /** Messages of the problems that stop `apply`. */
  notes: readonly string[]
}
/** How a move runs. */
export interface TakeOverOptions {
  /** Writes. Default false: a dry run. */
  apply?: boolean | undefined
  /** Names of problems that do not stop it; `all` accepts each of them. */
  accept?: readonly string[] | undefined
  /** Which side wins where both changed since the last run; default: the row stays as it is here, and is listed. */
  conflicts?: 'here' | 'source' | undefined
  /** Called after each 500 rows with their number so far in this stage, and how many there are about. */
  onProgress?: ((rows: number, stage: 'look' | 'write', total: number) => void) | undefined
}
/** What the plugin knows. */
export interface Ground {
  database: BetterAuthDatabase
  schema: BetterAuthSchema
  secrets: readonly string[]
  scimSecret: string | undefined
  /** The service that stores a kind; undefined where no plugin provides it. */
  findTarget(service: string): ImportTarget<never> | undefined
}

/** Decides first, writes nothing while a problem is open, and then writes. Throws AuthError for tables that lack a column. */
export function takeOver(ctx: AnyContext, ground: Ground, options: TakeOverOptions): Promise<BetterAuthReport> {
  return options.apply === true ? lockRun(ctx, sourceName, () => runMove(ctx, ground, options)) : runMove(ctx, ground, options)
}

async function runMove(
  ctx: AnyContext,
  ground: Ground,
  { apply = false, accept = [], conflicts, onProgress }: TakeOverOptions,
): Promise<BetterAuthReport> {
  if (apply) await assertOpen(ctx)
  const source = await openSource(ground.database, ground.schema)
  const missing = (['user', 'account', 'session'] as const).filter((model) => !source.has(model))
  if (missing.length > 0) return describeMissing(missing.map((model) => tableOf(ground.schema, model)))
  const before = await countHere(ctx, apply)
  const total = onProgress ? await countAll(ctx, source) : 0
  const tellIn = (stage: 'look' | 'write'): Tell => {
    let rows = 0
    return (more) => onProgress?.((rows += more), stage, Math.max(total, rows))
  }
  const move = (): Move => ({ ctx, source, secrets: ground.secrets, scimSecret: ground.scimSecret, problems: [] })
  // Where everything is accepted nothing can stop it, and one pass is enough.
  const whole = accept.includes('all')
  const dry = move()
  // From the first write on: a run that is ended half-way has taken passwords, and may not have reached the factors and bans of their users.
  if (apply && whole) await startPeriod(ctx)
  let kinds = await takeKinds(dry, ground, { apply: apply && whole, conflicts }, tellIn(apply && whole ? 'write' : 'look'))
  const unreadable = dry.problems.find(({ name }) => name === 'factors-unreadable')?.count ?? 0
  const { finished } = await readPeriod(ctx)
  const end: ImportProblem[] = finished ? [{ name: 'finished', level: 'note', count: 1, message: describeEnd(finished) }] : []
  const gaps = await describeGaps(dry, kinds)
  const problems = [
    ...end,
    ...dry.problems,
    ...gaps,
    ...(await describePasskeys(dry)),
    ...(await describeRest(dry, (kinds['factors']?.found ?? 0) + unreadable)),
  ]
  const refused = whole ? [] : listOpen(problems, accept)
  const applied = apply && refused.length === 0
  if (applied && !whole) {
    await startPeriod(ctx)
    kinds = await takeKinds(move(), ground, { apply: true, conflicts }, tellIn('write'))
  }
  const after = applied ? await countHere(ctx, true) : before
  if (applied) problems.push(...compareCounts(before, after, kinds))
  const takenOf = (kind: string): { found: number; taken: number } => {
    const { found, new: fresh, refreshed } = kinds[kind] ?? newKindReport()
    const lost = problems.find(({ name }) => name === `${kind}-unreadable`)?.count ?? 0
    return { found: Math.max(found, lost), taken: ground.findTarget(serviceOf(kind)) ? fresh + refreshed : 0 }
  }
  return {
    source: sourceName,
    users: await source.count('user'),
    sessions: await source.count('session'),
    passwords: takenOf('passwords'),
    factors: takenOf('factors'),
    notes: problems.filter(({ level }) => level !== 'note').map(({ message }) => message),
    applied,
    kinds,
    before,
    after,
    problems,
    refused,
  }
}

/** How many things the source has, and how many were taken: two counts for each kind, without a look at the rows. */
export async function compareWithLedger(ctx: AnyContext, ground: Ground): Promise<{ kind: string; there: number; taken: number }[]> {
  if ((await readPeriod(ctx)).finished) return []
  const source = await openSource(ground.database, ground.schema)
  const compared: { kind: string; there: number; taken: number }[] = []
  for (const moved of movedKinds) {
    const { kind, count } = moved
    if (!isThereIn(source, moved)) continue
    const there = await count(source, ctx.now)
    const taken = await countEntries(ctx, kind, there + 1)
    compared.push({ kind, there, taken })
  }
  return compared
}

/** Hears of rows that were taken. */
type Tell = (rows: number) => void

async function countAll(ctx: AnyContext, source: Source): Promise<number> {
  let total = 0
  for (const moved of movedKinds) if (isThereIn(source, moved)) total += await moved.count(source, ctx.now)
  return total
}

async function* watchPages<T>(pages: AsyncIterable<readonly T[]>, tell: Tell): AsyncGenerator<readonly T[]> {
  for await (const page of pages) {
    yield page
    tell(page.length)
  }
}

async function takeKinds(move: Move, { findTarget }: Ground, run: ImportRun, tell: Tell): Promise<Record<string, KindReport>> {
  const reports: Record<string, KindReport> = {}
  for (const moved of movedKinds) {
    if (!isThereIn(move.source, moved)) continue
    const target = findTarget(moved.service) as ImportTarget<unknown> | undefined
    if (!target) {
      // With those that cannot be read.
      const found = Math.max(await countRows(moved.pages(move)), await moved.count(move.source, move.ctx.now))
      if (found === 0) continue
      reports[moved.kind] = { ...newKindReport(), found }
      move.problems.push({ name: moved.kind, count: found, ...moved.absent(found) })
      continue
    }
    const kind = { source: sourceName, kind: moved.kind, target }
    const report = await importPages(move.ctx, kind, watchPages(moved.pages(move), tell), run)
    // Kinds differ in the type of their value. A removal reads keys alone.
    await removeGone(move.ctx, kind as never, (keys) => moved.isThere(move, keys), run, report)
    if (report.found + report.removed + report.conflict > 0) reports[moved.kind] = report
    move.problems.push(...problemsOf(moved.kind, report))
  }
  return reports
}

async function countRows(pages: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0
  for await (const page of pages) count += page.length
  return count
}

async function countEntries(ctx: AnyContext, kind: string, max: number): Promise<number> {
  try {
    return await ctx.records('importEntry').count({ source: sourceName, kind }, { max })
  } catch (error) {
    // Before the first migration there is no table.
    if (error instanceof AdapterError) return 0
    throw error
  }
}

/** Rows of the records that are written, as far as plugins declare them. */
async function countHere(ctx: AnyContext, apply: boolean): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind, record } of movedKinds) {
    if (record === undefined) continue
    try {
      counts[kind] = await ctx.records(record as 'importEntry').count({}, { max: Number.MAX_SAFE_INTEGER })
    } catch (error) {
      // No plugin declares it, or its table is not made yet.
      if (!(error instanceof AdapterError) && !(error instanceof AuthError) && !(error instanceof TypeError)) throw error
      if (apply && error instanceof AdapterError) throw error
    }
  }
  return counts
}

function compareCounts(before: Record<string, number>, after: Record<string, number>, kinds: Record<string, KindReport>): ImportProblem[] {
  return Object.entries(kinds).flatMap(([kind, report]): ImportProblem[] => {
    const [was, is] = [before[kind], after[kind]]
    if (was === undefined || is === undefined || is - was === report.new - report.removed) return []
    return [
      {
        name: `${kind}-counts`,
        level: 'note',
        count: is - was,
        message: `${kind}: ${was} before and ${is} after, and ${report.new} were stored, ${report.removed} removed. Users changed some meanwhile, or rows are missing: run it again.`,
      },
    ]
  })
}

function describeMissing(tables: readonly string[]): BetterAuthReport {
  const none = { found: 0, taken: 0 }
  const problems = tables.map((table): ImportProblem => ({
    name: 'tables',
    level: 'loss',
    count: 1,
    message: `There is no table ${table}.`,
  }))
  return {
    source: sourceName,
    users: 0,
    sessions: 0,
    passwords: none,
    factors: none,
    applied: false,
    kinds: {},
    before: {},
    after: {},
    problems,
    refused: ['tables'],
    notes: problems.map(({ message }) => message),
  }
}

function serviceOf(kind: string): string {
  return movedKinds.find((moved) => moved.kind === kind)?.service ?? ''
}
