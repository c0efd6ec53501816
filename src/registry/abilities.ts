/** What session strategies can do, and the error where one cannot. */
import type { AnyContext } from '../contract/context.ts'
import type { SessionAbility, SessionSelector, SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'
import type { Draft } from './draft.ts'
import type { KernelContext } from './snapshot.ts'

/** The session strategy lacks an ability that a plugin needs: to list sessions, to end them from elsewhere, to keep their attributes. */
export class MissingSessionAbility extends AuthError {
  static override type = 'MissingSessionAbility'
}

/** A strategy from before abilities were declared: what it can do is seen by what it has. */
export function abilitiesOf({ abilities, revoke }: SessionStrategy): ReadonlySet<SessionAbility> {
  return abilities ?? new Set<SessionAbility>(revoke ? ['revoke:id', 'revoke:user'] : [])
}

/** The ability that a selector needs. */
export function abilityFor(which: SessionSelector): SessionAbility {
  if ('id' in which) return 'revoke:id'
  return 'userId' in which ? 'revoke:user' : 'revoke:attribute'
}

/** The session strategy, when it has an ability. `by` is who asks, for the message. Throws MissingSessionAbility. */
export function strategyWith(ctx: AnyContext, ability: SessionAbility, by: string): SessionStrategy {
  const strategy = ctx.service('session')
  if (abilitiesOf(strategy).has(ability)) return strategy
  throw missingAbility((ctx as KernelContext).compiled.draft, by, ability)
}

/** The registered strategies say how a host gets the ability. */
export function missingAbility({ strategies }: Pick<Draft, 'strategies'>, by: string, ability: SessionAbility): MissingSessionAbility {
  const remedies = strategies.flatMap(({ remedies }) => remedies?.[ability] ?? [])
  const own = 'give yours the member `kinds` (docs/writing-a-session-strategy.md)'
  const all = ability === 'kinds' ? [...remedies, own] : remedies
  const lacks = `${by} needs the ability "${ability}" of the session strategy, which the one in use lacks`
  return new MissingSessionAbility(`${lacks}. Use ${all.join(', or ') || 'one that has it'}.`)
}
