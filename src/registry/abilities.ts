/** What session strategies can do, and what is said where one cannot. */
import type { SessionAbility, SessionSelector, SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'
import type { Draft } from './draft.ts'

/** The session strategy cannot do what is asked of it: list sessions, end them from elsewhere, keep their attributes. */
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

/** `who`: "Plugin … needs …". The registered strategies say how a host gets the ability. */
export function missingAbility({ strategies }: Pick<Draft, 'strategies'>, who: string, ability: SessionAbility): MissingSessionAbility {
  const remedies = strategies.flatMap(({ remedies }) => remedies?.[ability] ?? [])
  const own = 'give yours the member `kinds` (docs/writing-a-session-strategy.md)'
  const all = ability === 'kinds' ? [...remedies, own] : remedies
  return new MissingSessionAbility(`${who}, which the one in use lacks. Use ${all.join(', or ') || 'one that has it'}.`)
}
