/** Ending sessions from elsewhere, whatever the strategy. */
import type { AnyContext } from '../contract/context.ts'
import type { SessionSelector, SessionStrategy } from '../contract/session.ts'
import { abilitiesOf, abilityFor, missingAbility } from '../registry/abilities.ts'

/**
 * Ends the sessions that a selector names and tells `sessionsEnded`. Answers how many, undefined where nobody knows. `by` is who asks, for messages
 * and for the event. Throws MissingSessionAbility when the strategy cannot.
 */
export async function endSessions(ctx: AnyContext, which: SessionSelector, by: string): Promise<number | undefined> {
  const strategy = strategyWith(ctx, abilityFor(which), by)
  const count = (await strategy.revoke?.(ctx, which)) ?? undefined
  if (count !== 0) await ctx.emit('sessionsEnded', { which, count, by })
  return count
}

/** The session strategy, when it has an ability. Throws MissingSessionAbility. */
export function strategyWith(ctx: AnyContext, ability: Parameters<typeof missingAbility>[1], by: string): SessionStrategy {
  const strategy = ctx.service('session')
  if (abilitiesOf(strategy).has(ability)) return strategy
  throw missingAbility(`${by} needs the ability "${ability}" of the session strategy`, ability)
}
