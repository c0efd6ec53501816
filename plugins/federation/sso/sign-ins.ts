/** The log of sign-ins by a connection, for the IT of the company: what failed, and what to fix. */
import { type AnyContext, type AuthError, type Kernel, redactText, toAddress } from 'authkernel/kernel'
import { type Actor, requireConnection } from './actor.ts'
import { explainFailure } from './explain.ts'
import { readEmail } from './mapping.ts'
import type { ResolvedOptions } from './options.ts'
import { findConnection } from './provider.ts'
import type { SignInRow } from './tables.ts'

/** One sign-in in the log. */
export interface LoggedSignIn extends Omit<SignInRow, 'connectionId' | 'expires'> {
  id: string
}
/** A page of the log, newest first. */
export interface SignInPage {
  signIns: LoggedSignIn[]
  /** Give it as `cursor`; undefined: this was the last page. */
  cursor: string | undefined
}

const dayMs = 86_400_000

export function addLog(kernel: Kernel, options: ResolvedOptions): void {
  kernel.on('signedIn', async ({ login, ctx }) => {
    const row = await findConnection(ctx, login.account.provider)
    const email = row && login.profile ? readEmail(row, login.profile) : null
    if (row)
      await write(ctx, options, { connectionId: row.id, outcome: 'ok', reason: null, cause: null, email, userId: login.user.id ?? null })
  })
  kernel.on('signInFailed', async ({ provider, error, user, ctx }) => {
    const row = provider === undefined ? null : await findConnection(ctx, provider)
    if (!row) return
    // Any visitor can open the callback with a wrong state.
    if (!(await ctx.limit.take(`sso log ${row.id}`, { max: 300, seconds: 3600 })).allowed) return
    await write(ctx, options, {
      connectionId: row.id,
      outcome: error.type,
      reason: reasonOf(error),
      cause: explainFailure(error),
      email: toAddress(user?.email) ?? null,
      userId: null,
    })
  })
}

async function write(ctx: AnyContext, { logDays }: ResolvedOptions, row: Omit<SignInRow, 'at' | 'expires'>): Promise<void> {
  await ctx
    .records('ssoSignIn')
    .create({ ...row, email: row.email?.slice(0, 254) ?? null, at: ctx.now, expires: new Date(ctx.now.getTime() + logDays * dayMs) })
}

/** The cause says more than the error: which claim, which status. Values that look like tokens are removed. */
function reasonOf(error: AuthError): string {
  const { err: inner, fix, description } = (error.cause ?? {}) as Readonly<Record<string, unknown>>
  const more = inner instanceof Error && inner.message !== error.message ? inner.message : description
  const text = typeof more === 'string' && more !== error.message ? `${error.message} ${more}` : error.message
  // SAML says what to fix.
  return redactText(typeof fix === 'string' ? `${text} ${fix}` : text).slice(0, 500)
}

/** Newest first. */
export async function listSignIns(
  actor: Actor,
  id: string,
  { cursor, limit = 50 }: { cursor?: string | undefined; limit?: number | undefined } = {},
): Promise<SignInPage> {
  const row = await requireConnection(actor, id, false)
  const size = Math.min(Math.max(Math.trunc(limit) || 50, 1), 200)
  const page = await actor.ctx.records('ssoSignIn').find({ where: { connectionId: row.id }, order: 'desc', limit: size, cursor })
  const signIns = page.rows.map(({ id: key, at, outcome, reason, cause, email, userId }) => ({
    id: key,
    at,
    outcome,
    reason,
    cause,
    email,
    userId,
  }))
  return { signIns, cursor: page.cursor }
}
