/** The end of a move: a last look at what better-auth has, and then nothing more is taken over. */
import { type AnyContext, AuthError } from 'authkernel/kernel'
import { type ImportProblem, listOpen } from '../import/report.ts'
import { lockRun } from '../import/run-lock.ts'
import { sourceName } from './live.ts'
import { endPeriod, readPeriod } from './period.ts'
import { columnOf, tableOf } from './schema.ts'
import { openSource } from './source.ts'
import { type Ground, takeOver } from './take-over.ts'

/** What `auth.betterAuth.finish` answers. */
export interface MoveEnd {
  /** Whether the move is over: now, or since an earlier call. */
  finished: boolean
  /** When it ended; null: it goes on. */
  at: Date | null
  /** What was not taken over, and what stays in the tables of better-auth. */
  problems: readonly ImportProblem[]
  /** Names of problems that stop it: none of them was accepted. */
  refused: readonly string[]
  /** SQL that removes what better-auth alone used. It is not run. */
  statements: readonly string[]
}

/**
 * Ends the move for good. It stays open while a run would still take something, or while a problem is neither solved nor named in `accept`. Throws AuthError before
 * the first run that wrote.
 */
export function finishMove(ctx: AnyContext, ground: Ground, accept: readonly string[]): Promise<MoveEnd> {
  // A run that is under way must not write after the end.
  return lockRun(ctx, sourceName, () => endMove(ctx, ground, accept))
}

async function endMove(ctx: AnyContext, ground: Ground, accept: readonly string[]): Promise<MoveEnd> {
  const { started, finished } = await readPeriod(ctx)
  const left = await describeLeft(ground)
  if (finished) return { finished: true, at: finished, problems: left.problems, refused: [], statements: left.statements }
  if (!started)
    throw new AuthError('Nothing was taken over from better-auth yet: run `npx authkernel migrate --from better-auth --apply` first.')
  const report = await takeOver(ctx, ground, { accept })
  const waiting = Object.entries(report.kinds).flatMap(([kind, { new: fresh, refreshed, removed }]): ImportProblem[] => {
    const count = fresh + refreshed + removed
    return count === 0 ? [] : [describeWaiting(kind, count)]
  })
  const problems = [...waiting, ...report.problems, ...left.problems]
  const refused = accept.includes('all') ? [] : [...listOpen(waiting, accept), ...report.refused]
  if (refused.length > 0) return { finished: false, at: null, problems, refused, statements: [] }
  await endPeriod(ctx)
  return { finished: true, at: (await readPeriod(ctx)).finished, problems, refused: [], statements: left.statements }
}

function describeWaiting(kind: string, count: number): ImportProblem {
  return {
    name: `${kind}-changed`,
    level: 'loss',
    count,
    message: `${count} of kind ${kind} changed in better-auth since the last run. Run \`npx authkernel migrate --from better-auth --apply\`, and finish then.`,
  }
}

/** Secrets that nothing reads any more, and sessions that go on. */
async function describeLeft({ database, schema }: Ground): Promise<{ problems: ImportProblem[]; statements: string[] }> {
  const source = await openSource(database, schema)
  const problems: ImportProblem[] = []
  const statements: string[] = []
  const note = (name: string, count: number, message: string): void => {
    if (count > 0) problems.push({ name, level: 'note', count, message: `${count} ${message}` })
  }
  const [account, password, provider] = [
    tableOf(schema, 'account'),
    columnOf(schema, 'account', 'password'),
    columnOf(schema, 'account', 'providerId'),
  ]
  const hashes = await source.count('account', [['password', 'is not', null]])
  note('left-passwords', hashes, `hashes of passwords stay in ${account}.${password}: only better-auth reads them.`)
  if (hashes > 0) statements.push(`update "${account}" set "${password}" = null where "${provider}" = 'credential'`)
  const factors = source.has('twoFactor') ? await source.count('twoFactor') : 0
  note('left-factors', factors, `second factors stay in ${tableOf(schema, 'twoFactor')}: only better-auth reads them.`)
  if (factors > 0) statements.push(`delete from "${tableOf(schema, 'twoFactor')}"`)
  note('left-sessions', await source.count('session'), 'sessions go on until they end: those that better-auth began look like the others.')
  return { problems, statements }
}
