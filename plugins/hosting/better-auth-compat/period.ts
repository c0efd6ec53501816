/** The time in which both products run: it begins with the first run that writes, and ends for good when the operator says so. */
import { AdapterError, type AnyContext, AuthError, RecordConflict, setBounded } from 'authkernel/kernel'
import { entryId } from '../import/tables.ts'

/** Both null: nothing was taken over yet. */
export interface Period {
  started: Date | null
  /** From then on nothing of better-auth is taken over. */
  finished: Date | null
}

const source = 'better-auth'
// No kind of things: entries of the ledger that say when.
const kind = 'move'

const nothing: Period = { started: null, finished: null }
const maxKept = 1_000

/** One read of the store, and none once the move is over: it never begins again. */
export async function readPeriod(ctx: AnyContext): Promise<Period> {
  return (await findPeriod(ctx)) ?? nothing
}

/** Whether the other product writes to the same users now. */
export async function isOpen(ctx: AnyContext): Promise<boolean> {
  const { started, finished } = await readPeriod(ctx)
  return started !== null && finished === null
}

/**
 * Whether bans and second factors of better-auth count here: until the end, also before the first run. Else the app that was started too early would let a banned
 * user in. False without the table of the ledger.
 */
export async function isWatched(ctx: AnyContext): Promise<boolean> {
  const period = await findPeriod(ctx)
  return period !== undefined && period.finished === null
}

/** Undefined: there is no table yet. Throws AdapterError when the store fails: a move under way must not look as if there was none. */
async function findPeriod(ctx: AnyContext): Promise<Period | undefined> {
  if (ctx.app.services.records === undefined) return undefined
  const over = ctx.app.shared.cache<Period>('better-auth-compat.period')
  const { namespace } = ctx.settings
  const known = over.get(namespace)
  if (known) return known
  const ids = await Promise.all(['started', 'finished'].map((key) => entryId(source, kind, key)))
  try {
    const rows = new Map((await ctx.records('importEntry').getMany(ids)).map((row) => [row.id, row.taken]))
    const period = { started: rows.get(ids[0]!) ?? null, finished: rows.get(ids[1]!) ?? null }
    if (period.finished) setBounded(over, namespace, period, maxKept)
    return period
  } catch (error) {
    if (error instanceof AdapterError && (await hasNoTable(ctx))) return undefined
    throw error
  }
}

/** Before the first migration. A store that fails cannot say so. */
async function hasNoTable({ app }: AnyContext): Promise<boolean> {
  try {
    return ((await app.services.records?.missing?.()) ?? []).length > 0
  } catch {
    return false
  }
}

/** The first run that writes begins it; later ones change nothing. */
export function startPeriod(ctx: AnyContext): Promise<void> {
  return writeMark(ctx, 'started')
}

/** Ends it, in every process at once. */
export function endPeriod(ctx: AnyContext): Promise<void> {
  return writeMark(ctx, 'finished')
}

/** Throws AuthError when the move is over. */
export async function assertOpen(ctx: AnyContext): Promise<void> {
  const { finished } = await readPeriod(ctx)
  if (finished) throw new AuthError(describeEnd(finished))
}

/** The message of a move that is over. */
export function describeEnd(finished: Date): string {
  return `The move from better-auth was finished on ${finished.toISOString()}: nothing more is taken over. What better-auth has that is missing here must be made here.`
}

async function writeMark(ctx: AnyContext, key: 'started' | 'finished'): Promise<void> {
  const entry = { source, kind, key, digest: '', version: null, userId: null, taken: ctx.now }
  try {
    await ctx.records('importEntry').create({ id: await entryId(source, kind, key), ...entry })
  } catch (error) {
    // It stays as it was written first.
    if (!(error instanceof RecordConflict)) throw error
  }
}
