/** A session strategy whose code is loaded by the first request that asks it something. */
import type { SessionStrategy } from '../contract/session.ts'
import { lateObject, type Lazy } from '../runtime/lazily.ts'

/** What a snapshot must know of a strategy before any request: abilities, operations of the adapter, whether users are stored. */
export type StrategyFacts = Pick<SessionStrategy, 'abilities' | 'methods' | 'storedUsers'>
/** What requests ask a strategy. */
export type StrategyWork = Required<Omit<SessionStrategy, keyof StrategyFacts>>

const work: readonly (keyof StrategyWork)[] = [
  'read',
  'user',
  'subject',
  'id',
  'issue',
  'takeBack',
  'isLive',
  'attributes',
  'list',
  'update',
  'end',
  'revoke',
  'kinds',
]

/**
 * A strategy with all members. The first request that asks it loads the module, by `load` of `lazily`, and `make` makes the strategy of it, once.
 * From then on its members are those of the made one: a session read runs through nothing more.
 */
export function lateStrategy<M extends object>(facts: StrategyFacts, load: Lazy<M>, make: (module: M) => StrategyWork): SessionStrategy {
  return Object.assign(lateObject(work, load, make), facts)
}
