/** Which of the registered session strategies is used. */
import type { CompileView } from '../contract/services.ts'
import type { SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'
import type { NamedStrategy } from './draft.ts'

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
