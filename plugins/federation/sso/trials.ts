/** Test sign-ins: through the identity provider and back, with every check, and without a session. A connection is tested before it is switched on. */
import {
  AuthError,
  type Context,
  HttpError,
  InvalidCheck,
  type Kernel,
  randomHex,
  redirectTo,
  type Row,
  withParams,
} from 'authkernel/kernel'
import { type Actor, requireConnection } from './actor.ts'
import { SsoInput } from './errors.ts'
import { isDraft } from './input.ts'
import { findConnection, providerOf } from './provider.ts'
import type { ConnectionRow } from './tables.ts'
import { trials } from './trial-list.ts'
import { reportAnswer, reportFailure, reportStartFailure, type TrialReport } from './trial-report.ts'

/** A test sign-in. */
export interface Trial {
  connectionId: string
  outcome: 'open' | 'passed' | 'failed'
  /** Null while it is open. */
  report: TrialReport | null
  started: Date
}

/** The parameter of the URL that the flow returns to. */
const parameter = 'trial'

/**
 * Leads this browser to the identity provider. The flow ends at `returnTo`, a path below the base path, with the id of the trial in the query. Throws
 * SsoInput for a connection without identity provider, HttpError 429 after 30 tests in an hour.
 */
export async function startTrial(actor: Actor & { ctx: Context }, id: string, returnTo: string): Promise<Response> {
  const row = await requireConnection(actor, id, false)
  const { ctx } = actor
  if (isDraft(row)) throw new SsoInput('sso: the connection has no identity provider yet.')
  if (!(await ctx.limit.take(`sso trial ${row.id}`, { max: 30, seconds: 3600 })).allowed)
    throw new HttpError(429, 'There were 30 tests in the last hour. Wait a few minutes.', { 'Retry-After': '300' })
  const trial = randomHex(ctx.runtime, 12)
  const target = withParams(ctx.base + returnTo, { [parameter]: trial })
  await ctx.records('ssoTrial').create({
    id: trial,
    connectionId: row.id,
    organizationId: row.organizationId,
    outcome: 'open',
    report: null,
    started: ctx.now,
    // The result is read soon, and has data of a user.
    expires: new Date(ctx.now.getTime() + 3_600_000),
  })
  ctx.useCallbackUrl(target)
  const provider = await providerOf(ctx, row)
  const { start } = ctx.flow(provider)
  if (!start) throw new SsoInput('sso: sign-ins of this connection do not begin here.')
  try {
    const started = await start(ctx, provider)
    await trials.add(ctx, trial, { connection: row.id, returnTo: target })
    return started
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    // A wrong issuer or an address without metadata is what a test is for: its page says so.
    ctx.logger.error(error)
    await ctx.records('ssoTrial').update(trial, { outcome: 'failed', report: reportStartFailure(row, error) }, { if: { outcome: 'open' } })
    return redirectTo(target)
  }
}

/** Null: there is none, or it is older than an hour. */
export async function getTrial(actor: Actor, id: string): Promise<Trial | null> {
  const row = /^[0-9a-f]{24}$/.test(id) ? await actor.ctx.records('ssoTrial').get(id) : null
  if (!row || (actor.within !== undefined && row.organizationId !== actor.within)) return null
  const { connectionId, outcome, report, started } = row
  await requireConnection(actor, connectionId, false)
  return { connectionId, outcome, report: report as TrialReport | null, started }
}

/** Ends a test sign-in where a sign-in would go on. Before the guard, which would reject a connection that is switched off. */
export function addTrials(kernel: Kernel): void {
  kernel.pending(trials)
  kernel.hook('signIn', async ({ account, profile, ctx }) => {
    const found = await findTrial(ctx, account.provider)
    if (!found) return true
    return finishTrial(ctx, found, await reportAnswer(ctx, found.row, profile ?? {}, account.providerAccountId))
  })
  kernel.hook('failure', async ({ error, ctx }) => {
    if (ctx.route?.flow !== 'callback') return undefined
    const found = await findTrial(ctx, ctx.params['provider'] ?? '')
    return found && redirectTo(await finishTrial(ctx, found, reportFailure(found.row, error)))
  })
}

interface FoundTrial {
  row: Row<ConnectionRow>
  id: string
  returnTo: string
}

/** The test that this browser began, and that the flow of this request carries as its target. */
async function findTrial(ctx: Context, providerId: string): Promise<FoundTrial | undefined> {
  const row = trials.cookie.get(ctx) === undefined ? null : await findConnection(ctx, providerId)
  if (!row) return undefined
  const target = await ctx.callbackUrl()
  const entry = (await trials.all(ctx)).find(({ connection, returnTo }) => connection === row.id && returnTo === target)
  return entry && { row, id: entry.id, returnTo: entry.returnTo }
}

/** Answers where the result is shown. The row counts once, so a second answer of the provider changes nothing. */
async function finishTrial(ctx: Context, { row, id, returnTo }: FoundTrial, report: TrialReport): Promise<string> {
  if (!(await trials.take(ctx, id))) throw new InvalidCheck('The test sign-in was used before.', { cause: { provider: row.id } })
  const outcome = report.checks.every(({ ok }) => ok) ? 'passed' : 'failed'
  await ctx.records('ssoTrial').update(id, { outcome, report }, { if: { outcome: 'open' } })
  if (outcome === 'passed') await ctx.records('ssoConnection').update(row.id, { tested: row.version }, { if: { version: row.version } })
  return returnTo
}
