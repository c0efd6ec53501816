/** `authkernel migrate --from better-auth --finish`: ends the time in which both products run, and says what stays. */
import type { Auth } from 'authkernel/kernel'
import type { MoveEnd } from 'authkernel/plugins/better-auth-compat'
import { describeProblem } from './migrate-report.ts'
import { type Report, type Setting, UsageError } from './report.ts'

interface FinishOptions {
  from?: string | undefined
  apply?: boolean | undefined
  conflicts?: string | undefined
  html?: string | undefined
  accept: readonly string[]
}

/** Throws UsageError for a move that cannot be finished by a command, and before the first `--apply`. */
export async function finishMove(auth: Auth, { from, apply, conflicts, html, accept }: FinishOptions, { paint }: Setting): Promise<Report> {
  const { betterAuth } = auth as { betterAuth?: { finish(options: { accept: readonly string[] }): Promise<MoveEnd> } }
  if (from !== 'better-auth' || !betterAuth)
    throw new UsageError(
      '--finish belongs to a move that goes on beside the other product: give --from better-auth, and use betterAuthCompatPlugin({ db }).',
    )
  if (apply === true || conflicts !== undefined || html !== undefined)
    throw new UsageError('--finish takes --accept alone: run `npx authkernel migrate --from better-auth --apply` before it.')
  const end = await betterAuth.finish({ accept }).catch((error: unknown) => {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  })
  await auth.close()
  const { finished, at, problems, refused, statements } = end
  const sql =
    statements.length === 0 ? [] : ['', 'To remove what better-auth alone used, run this yourself:', ...statements.map((one) => `${one};`)]
  const last = finished
    ? paint.good(`The move is finished since ${at!.toISOString()}. Nothing that better-auth writes is taken over any more.`)
    : paint.bad(`The move goes on. What stops \`--finish\`: ${refused.join(', ')}. Solve it, or accept each by its name.`)
  return {
    data: { ...end },
    ok: finished,
    lines: [...problems.map((problem) => describeProblem(problem, refused, paint)), ...sql, '', last],
  }
}
