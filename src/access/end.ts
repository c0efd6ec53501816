/** The order of an ending, once nothing that began before can be granted any more: sessions of browsers, then what plugins gave. */
import type { AccessSelector, EndOptions, EndReason, EndReport, EndStep } from '../contract/access.ts'
import type { AnyContext } from '../contract/context.ts'
import { abilitiesOf, abilityFor, strategyWith } from '../registry/abilities.ts'
import type { KernelContext } from '../registry/snapshot.ts'

const order: readonly EndStep[] = ['pending', 'app', 'key', 'token']

/** Throws MissingSessionAbility where the strategy cannot end sessions from elsewhere, unless `sessions` says `whereEndable`. */
export async function endAll(
  ctx: AnyContext,
  which: AccessSelector,
  { by, reason = reasonOf(which), sessions = 'required', silent = false }: EndOptions,
): Promise<EndReport> {
  const count = await endSessionsOf(ctx, which, by, sessions)
  const ended: Partial<Record<EndStep, number | undefined>> = {}
  for (const step of order) {
    const counts: (number | undefined)[] = []
    for (const { end } of stepsOf(ctx, step)) counts.push((await end(ctx, { which, reason, by })) ?? undefined)
    if (counts.length > 0) ended[step] = sumOf(counts)
  }
  if (silent) return { sessions: count, ended }
  const total = sumOf(['app' in ended ? ended.app : 0, count])
  if (total !== 0) await ctx.emit('sessionsEnded', { which, count: total, by })
  await ctx.emit('accessEnded', { which, reason, by, ended })
  return { sessions: count, ended }
}

/** Undefined where a part is not known. */
export function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

async function endSessionsOf(
  ctx: AnyContext,
  which: AccessSelector,
  by: string,
  needed: 'required' | 'whereEndable',
): Promise<number | undefined> {
  const ability = abilityFor(which)
  if (needed === 'whereEndable' && !abilitiesOf(ctx.service('session')).has(ability)) return 0
  return (await strategyWith(ctx, ability, by).revoke?.(ctx, which)) ?? undefined
}

function stepsOf(ctx: AnyContext, step: EndStep): KernelContext['compiled']['endSteps'][number][] {
  return (ctx as KernelContext).compiled.endSteps.filter((one) => one.step === step)
}

function reasonOf(which: AccessSelector): EndReason {
  return 'userId' in which ? 'signOutEverywhere' : 'providerLogout'
}
