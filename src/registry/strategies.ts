/** Session strategies: which of the registered ones is used, what it can do, and the error where it cannot. */
import type { AnyContext } from '../contract/context.ts'
import type { CompileView } from '../contract/services.ts'
import type { SessionAbility, SessionSelector, SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'
import type { Draft, NamedStrategy } from './draft.ts'
import type { KernelContext } from './snapshot.ts'

/**
 * The one that `session.strategy` names, else the host's only one, else the first that suits. Undefined: none was registered, or none suits. Throws AuthError for a name that is unknown, and for several that
 * nothing decides between.
 */
export function chooseStrategy(all: readonly NamedStrategy[], view: CompileView): NamedStrategy | undefined {
  const { strategy } = view.config.session
  if (strategy !== undefined) {
    const named = all.filter(({ name }) => name === strategy)
    // The host's own goes before one of the preset.
    const found = named.find(({ rank }) => rank === 'explicit') ?? named[0]
    if (found || all.length === 0) return found
    const names = [...new Set(all.map(({ name }) => JSON.stringify(name)))]
    throw new AuthError(`createAuth: \`session.strategy\` must be ${names.join(' or ')}, not ${JSON.stringify(strategy)}.`)
  }
  const own = all.filter(({ rank }) => rank === 'explicit')
  if (own.length === 1) return own[0]
  const suiting = (own.length > 0 ? own : all).find(({ suits }) => suits?.(view))
  if (suiting || own.length === 0) return suiting
  throw new AuthError(
    `Plugins bring the session strategies ${own.map(({ name, owner }) => `"${name}" (${owner})`).join(' and ')}: choose one with \`session.strategy\`.`,
  )
}

/** Throws AuthError for a strategy that declares an ability and lacks the member for it: what it cannot do must not look done. */
export function assertAbilities(strategy: SessionStrategy, { name, owner }: NamedStrategy): SessionStrategy {
  for (const ability of strategy.abilities ?? []) {
    const member = ability.startsWith('revoke:') ? 'revoke' : (ability as 'list' | 'attributes' | 'kinds')
    if (typeof strategy[member] !== 'function')
      throw new AuthError(
        `Plugin "${owner}": the session strategy "${name}" declares the ability "${ability}" and has no \`${member}\`. Add the member, or leave the ability out.`,
      )
  }
  return strategy
}

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
