/** What session strategies can do, and what is said where one cannot. */
import type { SessionAbility, SessionSelector, SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'

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

const remedies: Readonly<Record<SessionAbility, string>> = {
  list: 'Use the database strategy with an adapter that has listSessionsByUserId, or jwt with `session.revocable: true` and the service "records".',
  'revoke:id': 'Use the database strategy, or jwt with `session.revocable: true`.',
  'revoke:user':
    'Use the database strategy with an adapter that has deleteSessionsByUserId, or jwt with `session.revocable: true` and the service "records".',
  'revoke:attribute':
    'It needs the service "records": an adapter of authkernel, or `recordsPlugin(…)`. With jwt it also needs `session.revocable: true`.',
  attributes: 'Use one of the strategies of authkernel.',
  kinds: 'Use one of the strategies of authkernel, or give yours the member `kinds` (docs/writing-a-session-strategy.md).',
}

/** `who`: "Plugin … needs …". */
export function missingAbility(who: string, ability: SessionAbility): MissingSessionAbility {
  return new MissingSessionAbility(`${who}, which the one in use lacks. ${remedies[ability]}`)
}
