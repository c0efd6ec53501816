/** The record of sessions: what lets them be found by user, and by the provider's names for session and user. */
import type { RecordSpec } from '../contract/records.ts'

/** Fields of a kept session; its id is that of the session. */
export interface SessionFields extends Record<string, unknown> {
  /** Whose session it is. */
  userId: string
  /** What opens it, for strategies that must delete by it. */
  token: string | null
  /** Id of the provider that was signed in with. */
  provider: string
  /** As `indexed` makes them. */
  sub: string | null
  sid: string | null
  /** `SessionAttributes`. */
  attributes: unknown
  /** When the person signed in. */
  started: Date
  lastUsed: Date
  /** When the session ends. */
  expires: Date
}

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
