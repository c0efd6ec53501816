/** The members of a session strategy: those that its code is needed for, and those that a snapshot reads before any request. */
import type { SessionStrategy } from '../contract/session.ts'

/** What a snapshot must know of a strategy before any request: abilities, operations of the adapter, whether users are stored. */
export type StrategyFacts = Pick<SessionStrategy, 'abilities' | 'methods' | 'storedUsers'>
/** What requests ask a strategy. */
export type StrategyWork = Required<Omit<SessionStrategy, keyof StrategyFacts>>

/** Names for `lazyObject`: `lazyObject(strategyMethods, load, ({ createStrategy }) => createStrategy(options), { abilities })` is a whole strategy. */
export const strategyMethods: readonly (keyof StrategyWork)[] = [
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
