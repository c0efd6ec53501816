/** The records of questions that a user answers apart from the client, which polls for the answer: CIBA and devices. */
import type { RecordSpec, Row, SessionAttributes, StampOfAccess } from 'authkernel/kernel'
import type { AuthorizationDetail } from './options.ts'
import { maxClientId } from './tables.ts'

/** A question of a client to a user, who answers it apart from the client, which polls for the answer. */
interface PolledQuestion {
  clientId: string
  /** Name of the client when it asked. */
  clientName: string
  scopes: string[]
  audiences: string[]
  details: AuthorizationDetail[]
  status: 'pending' | 'approved' | 'denied'
  /** Of the session that approved it. */
  attributes: SessionAttributes | null
  /** The state of the user's access when it was approved. */
  access: StampOfAccess | null
  /** Seconds between two polls. */
  interval: number
  polled: Date
  /** Too late after that. The row stays for a while, so that the client learns why. */
  until: Date
  expires: Date
}

/** A row of `oauthBackchannel`: a question of a client to a user who is elsewhere (CIBA). Its id is a keyed hash of the `auth_req_id`. */
export interface OAuthBackchannelRow extends PolledQuestion {
  userId: string
  /** What the other device shows too. */
  binding: string | null
  needsSecondFactor: boolean
  /** For the client that wants to be called: its token, and the `auth_req_id`. Sealed. */
  ping: { id: string; token: string } | null
}
export type OAuthBackchannelRecord = Row<OAuthBackchannelRow>

/** A row of `oauthDeviceCode`: a device that shows a code (RFC 8628). Its id is a keyed hash of the device code. */
export interface OAuthDeviceCodeRow extends PolledQuestion {
  /** A keyed hash: eight letters could be tried out in a copy of the table. */
  userCode: string
  /** Who approved it. */
  userId: string | null
  /** Of the device that asked. */
  address: string | null
  userAgent: string | null
}
export type OAuthDeviceCode = Row<OAuthDeviceCodeRow>

declare module 'authkernel/kernel' {
  interface Records {
    oauthBackchannel: OAuthBackchannelRow
    oauthDeviceCode: OAuthDeviceCodeRow
  }
}

/** Seconds between two polls, at first. */
export const pollInterval = 5

const questionFields = {
  clientId: { type: 'string', max: maxClientId },
  clientName: { type: 'string', max: 100 },
  scopes: { type: 'json' },
  audiences: { type: 'json' },
  details: { type: 'json' },
  status: { type: 'string', max: 8 },
  attributes: { type: 'json', optional: true },
  access: { type: 'json', optional: true },
  interval: { type: 'integer' },
  polled: { type: 'date' },
  until: { type: 'date' },
  expires: { type: 'date' },
} as const

export const oauthBackchannelTable: RecordSpec<OAuthBackchannelRow> = {
  id: 'given',
  fields: {
    ...questionFields,
    userId: { type: 'string' },
    binding: { type: 'string', max: 100, optional: true },
    needsSecondFactor: { type: 'boolean' },
    ping: { type: 'json', sealed: true, optional: true, unreadable: 'absent' },
  },
  index: [['userId', 'until']],
  owner: 'user',
  expires: 'expires',
}

export const oauthDeviceCodeTable: RecordSpec<OAuthDeviceCodeRow> = {
  id: 'given',
  fields: {
    ...questionFields,
    userCode: { type: 'string', max: 64, secret: true },
    userId: { type: 'string', optional: true },
    address: { type: 'string', max: 64, optional: true },
    userAgent: { type: 'text', optional: true },
  },
  unique: [['userCode']],
  index: [['userId']],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
}
