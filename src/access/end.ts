/** Ending access: sessions of browsers, then what plugins gave. Nothing that began before can be granted any more by then. */
import type { AccessSelector, EndOptions, EndReason, EndReport, EndStep } from '../contract/access.ts'
import type { AnyContext } from '../contract/context.ts'
import { abilitiesOf, abilityFor, strategyWith } from '../registry/strategies.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import type { SessionSelector } from '../contract/session.ts'

const order: readonly EndStep[] = ['pending', 'app', 'key', 'token']

/**
 * Ends the sessions that a selector names and emits `sessionsEnded`; for all sessions of a user or of a provider it is `endAccess`. Answers how many ended,
 * undefined where that is not known. `by` is who asks, for messages and for the event. Throws MissingSessionAbility when the strategy cannot.
 */
export async function endSessions(ctx: AnyContext, which: SessionSelector, by: string, reason?: EndReason): Promise<number | undefined> {
  if (!('id' in which)) return endAccess(ctx, which, by, reason)
  const strategy = strategyWith(ctx, abilityFor(which), by)
  const count = (await strategy.revoke?.(ctx, which)) ?? undefined
  if (count !== 0) await ctx.emit('sessionsEnded', { which, count, by })
  return count
}

/**
 * Ends all access of a user, or what rests on a session at a provider. Sign-ins, codes and approvals that began before give no access any more. Sessions of browsers and apps end. Answers how many ended, undefined where that is not known. Throws MissingSessionAbility.
 */
export async function endAccess(ctx: AnyContext, which: AccessSelector, by: string, reason?: EndReason): Promise<number | undefined> {
  return countSessions(await ctx.access.end(which, { by, ...(reason !== undefined && { reason }) }))
}

/** Throws MissingSessionAbility where the strategy cannot end sessions from elsewhere, unless `sessions` says `whereEndable`. */
export function assertEndable(ctx: AnyContext, which: AccessSelector, { by, sessions = 'required' }: EndOptions): void {
  if (sessions === 'required' && !('member' in which)) strategyWith(ctx, abilityFor(which), by)
}

/** Ends sessions where the strategy can, and then what plugins gave, step by step. */
export async function endAll(
  ctx: AnyContext,
  which: AccessSelector,
  { by, reason = endReason(which), before, silent = false }: EndOptions,
): Promise<EndReport> {
  const sessions = await endSessionsOf(ctx, which)
  const ended: Partial<Record<EndStep, number | undefined>> = {}
  for (const step of order) {
    const counts: (number | undefined)[] = []
    for (const { end } of stepsOf(ctx, step)) counts.push((await end(ctx, { which, reason, by, ...(before && { before }) })) ?? undefined)
    if (counts.length > 0) ended[step] = sumOf(counts)
  }
  const report = { sessions, ended }
  if (silent) return report
  const count = countSessions(report)
  if (count !== 0 && !('member' in which)) await ctx.emit('sessionsEnded', { which, count, by })
  await ctx.emit('accessEnded', { which, reason, by, ended })
  return report
}

/** How many sessions of browsers and apps an ending reached; undefined where that is not known. */
export function countSessions({ sessions, ended }: EndReport): number | undefined {
  return sumOf([sessions, 'app' in ended ? ended.app : 0])
}

/** Undefined where a part is not known. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

async function endSessionsOf(ctx: AnyContext, which: AccessSelector): Promise<number | undefined> {
  // Sessions read the membership at each use, and the rest of the user stays.
  if ('member' in which) return 0
  const strategy = ctx.service('session')
  return abilitiesOf(strategy).has(abilityFor(which)) ? ((await strategy.revoke?.(ctx, which)) ?? undefined) : 0
}

function stepsOf(ctx: AnyContext, step: EndStep): KernelContext['compiled']['endSteps'][number][] {
  return (ctx as KernelContext).compiled.endSteps.filter((one) => one.step === step)
}

function endReason(which: AccessSelector): EndReason {
  if ('member' in which) return 'membershipEnded'
  return 'userId' in which ? 'signOutEverywhere' : 'providerLogout'
}
