/** The record of sessions and the devices they are bound to; its id is made of the session's. */
import type { RecordSpec, Row } from 'authkernel/kernel'

/** A row of `deviceSession`. */
export interface DeviceSessionRow {
  sessionId: string
  userId: string
  started: Date
  /** When it was last used, accurate to a minute. */
  seen: Date
  address: string | null
  userAgent: string | null
  /** The last answer of the host to a change was that the user must prove again who they are. */
  doubted: boolean
  /** What the browser must sign to register a key; null: it cannot any more. */
  offer: string | null
  offerUntil: Date | null
  /** What Chrome calls the session; null: not bound. */
  bound: string | null
  /** The public key as JSON. */
  key: string | null
  /** What the browser must sign next. */
  challenge: string | null
  challengeUntil: Date | null
  /** Digests of the short cookie: the present value and the one before, and until when they count. */
  value: string | null
  valueUntil: Date | null
  former: string | null
  formerUntil: Date | null
  /** The row is kept so long. */
  expires: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    deviceSession: DeviceSessionRow
  }
}

/** Kind of the sessions that have a row: without it they are signed out. */
export const kind = 'bound'

const text = { type: 'string', max: 64, optional: true, secret: true } as const
const date = { type: 'date', optional: true } as const

export const deviceSessionTable: RecordSpec<DeviceSessionRow> = {
  id: 'given',
  fields: {
    sessionId: { type: 'string', max: 128 },
    userId: { type: 'string' },
    started: { type: 'date' },
    seen: { type: 'date' },
    address: { type: 'string', max: 64, optional: true },
    userAgent: { type: 'string', max: 256, optional: true },
    doubted: { type: 'boolean' },
    offer: text,
    offerUntil: date,
    bound: text,
    key: { type: 'text', optional: true },
    challenge: text,
    challengeUntil: date,
    value: text,
    valueUntil: date,
    former: text,
    formerUntil: date,
    expires: { type: 'date' },
  },
  unique: [['sessionId']],
  index: [['userId', 'started'], ['bound']],
  owner: 'user',
  expires: 'expires',
}

/** A row with its id, which is made of the session's. */
export type DeviceSession = Row<DeviceSessionRow>
