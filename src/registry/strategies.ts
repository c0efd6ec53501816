/** Which registered session strategy is the one: by its name in the options, else the host's only one, else the first that suits. */
import type { CompileView } from '../contract/services.ts'
import type { SessionAbility, SessionSelector, SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'

/** The session strategy cannot do what is asked of it: list sessions, end them from elsewhere, keep their attributes. */
export class MissingSessionAbility extends AuthError {
  static override type = 'MissingSessionAbility'
}

/** A strategy as a plugin registered it. */
export interface NamedStrategy {
  name: string
  make(view: CompileView): SessionStrategy
  suits: ((view: CompileView) => boolean) | undefined
  owner: string
  rank: 'explicit' | 'fallback' | 'kernel'
}

/** Undefined: none was registered, or none suits. Throws AuthError for a name that is unknown, and for several that nothing decides between. */
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
export function keepsWord(strategy: SessionStrategy, { name, owner }: NamedStrategy): SessionStrategy {
  for (const ability of strategy.abilities ?? []) {
    const member = ability.startsWith('revoke:') ? 'revoke' : (ability as 'list' | 'attributes')
    if (typeof strategy[member] !== 'function')
      throw new AuthError(
        `Plugin "${owner}": the session strategy "${name}" declares the ability "${ability}" and has no \`${member}\`. Add the member, or leave the ability out.`,
      )
  }
  return strategy
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
}

/** `who`: "Plugin … needs …". */
export function missingAbility(who: string, ability: SessionAbility): MissingSessionAbility {
  return new MissingSessionAbility(`${who}, which the one in use lacks. ${remedies[ability]}`)
}
