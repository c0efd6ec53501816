/** A session strategy whose code is loaded by the first request that asks it something. */
import type { SessionStrategy } from '../contract/session.ts'
import type { Lazy } from '../runtime/lazily.ts'

/** What a snapshot must know of a strategy before any request: abilities, operations of the adapter, whether users are stored. */
export type StrategyFacts = Pick<SessionStrategy, 'abilities' | 'methods' | 'storedUsers'>
/** What requests ask a strategy. */
export type StrategyWork = Required<Omit<SessionStrategy, keyof StrategyFacts>>

/**
 * A strategy with all members. The first request that asks it loads the module, by `load` of `lazily`, and `make` makes the strategy of it, once.
 * From then on its members are those of the made one: a session read runs through nothing more.
 */
export function lateStrategy<M extends object>(facts: StrategyFacts, load: Lazy<M>, make: (module: M) => StrategyWork): SessionStrategy {
  let made: StrategyWork | undefined
  const become = async (): Promise<StrategyWork> => {
    const module = await load()
    if (!made) Object.assign(strategy, (made = make(module)))
    return made
  }
  // A decorator may keep what it was given.
  const later = <K extends keyof StrategyWork>(name: K): StrategyWork[K] => {
    const ask = (...given: unknown[]): unknown => {
      const own = (work: StrategyWork): unknown => (work[name] as (...given: unknown[]) => unknown)(...given)
      return made ? own(made) : become().then(own)
    }
    return ask as StrategyWork[K]
  }
  const strategy: SessionStrategy = {
    ...facts,
    read: later('read'),
    user: later('user'),
    subject: later('subject'),
    id: later('id'),
    issue: later('issue'),
    attributes: later('attributes'),
    list: later('list'),
    update: later('update'),
    end: later('end'),
    revoke: later('revoke'),
  }
  return strategy
}
