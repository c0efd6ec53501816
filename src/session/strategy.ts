/** What session strategies share: the names of their members, and the record in which sessions are found by user, and by the provider's names for them. */
import type { RecordSpec, SessionFields } from '../contract/records.ts'
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

/** One object: whichever strategy declares it, it is the same table. */
export const sessionRecord: RecordSpec<SessionFields> = {
  fields: {
    userId: { type: 'string' },
    token: { type: 'text', sealed: true, optional: true },
    provider: { type: 'string', max: 128 },
    sub: { type: 'string', max: 200, optional: true },
    sid: { type: 'string', max: 200, optional: true },
    attributes: { type: 'json' },
    started: { type: 'date' },
    lastUsed: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [
    ['userId', 'started'],
    ['provider', 'sid', 'started'],
    ['provider', 'sub', 'started'],
  ],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
  id: 'given',
}
