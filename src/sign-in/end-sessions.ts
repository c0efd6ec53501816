/** Ending sessions from elsewhere, whatever the strategy. */
import { countSessions } from '../access/end.ts'
import type { AccessSelector, EndReason } from '../contract/access.ts'
import type { AnyContext } from '../contract/context.ts'
import type { SessionSelector } from '../contract/session.ts'
import { abilityFor, strategyWith } from '../registry/strategies.ts'

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
 * Ends all access of a user, or what rests on a session at a provider: no sign-in, code or approval that began before gives anything any more, and
 * sessions of browsers and apps end. Answers how many ended, undefined where that is not known. Throws MissingSessionAbility.
 */
export async function endAccess(ctx: AnyContext, which: AccessSelector, by: string, reason?: EndReason): Promise<number | undefined> {
  return countSessions(await ctx.access.end(which, { by, ...(reason !== undefined && { reason }) }))
}
