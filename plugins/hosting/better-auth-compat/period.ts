/** The time in which both products run: it begins with the first run that writes, and ends for good when the operator says so. */
import { AdapterError, type AnyContext, AuthError, RecordConflict } from 'authkernel/kernel'
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

/** One read of the store. */
export async function readPeriod(ctx: AnyContext): Promise<Period> {
  const ids = await Promise.all(['started', 'finished'].map((key) => entryId(source, kind, key)))
  try {
    const rows = new Map((await ctx.records('importEntry').getMany(ids)).map((row) => [row.id, row.taken]))
    return { started: rows.get(ids[0]!) ?? null, finished: rows.get(ids[1]!) ?? null }
  } catch (error) {
    // Before the first migration there is no table.
    if (error instanceof AdapterError) return { started: null, finished: null }
    throw error
  }
}

/** Whether the other product writes to the same users now. */
export async function isOpen(ctx: AnyContext): Promise<boolean> {
  if (ctx.app.services.records === undefined) return false
  const { started, finished } = await readPeriod(ctx)
  return started !== null && finished === null
}

/**
 * Whether bans and second factors of better-auth count here: until the end, also before the first run. Else the app that was started too early would let a banned
 * user in. False without the table of the ledger.
 */
export async function isWatched(ctx: AnyContext): Promise<boolean> {
  if (ctx.app.services.records === undefined) return false
  try {
    return (await ctx.records('importEntry').getMany([await entryId(source, kind, 'finished')])).length === 0
  } catch (error) {
    // Before the first migration there is no table.
    if (error instanceof AdapterError) return false
    throw error
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

/** What is said of a move that is over. */
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
