/** The records: names that providers give to users; receivers, their streams, and events that wait. */
import type { RecordSpec } from 'authkernel/kernel'

/** Whose `sub` at a provider: a row for each account whose id is another text. Its id is made of provider and name. */
export interface ProviderSubjectRow extends Record<string, unknown> {
  userId: string
}

/** A row of `signalReceiver`: who gets signals of one organization. */
export interface SignalReceiverRow {
  organizationId: string
  name: string
  /** `aud` of its tokens. */
  audience: string
  /** How tokens name users: `iss_sub` or `email`. */
  subject: string
  /** SHA-256 of its token in hex. */
  digest: string
  tail: string
  created: Date
  used: Date | null
}
/** A row of `signalStream`: what one receiver gets, and how. */
export interface SignalStreamRow {
  receiverId: string
  organizationId: string
  /** `iss` of its tokens. */
  issuer: string
  /** `push` (RFC 8935) or `poll` (RFC 8936). */
  method: string
  /** Where tokens are pushed to; null: they are polled. */
  endpoint: string | null
  /** The header `Authorization` of a push. */
  authorization: string | null
  /** URIs of the events that it gets. */
  events: string[]
  /** `enabled`, `paused` (events wait) or `disabled` (there are none). */
  status: string
  reason: string | null
  description: string | null
  created: Date
  /** When it asked for a verification last. */
  verified: Date | null
  /** Pushes that failed one after the other. */
  attempts: number
  /** When the next push is due. */
  next: Date
  /** What went wrong with the last push, without values. */
  problem: string | null
  /** Grows with each event, so that none is overlooked by a process that has just found none. */
  queued: number
}
/** A row of `signalSubject`: a user whom a receiver added to a stream, or removed from it. */
export interface SignalSubjectRow {
  streamId: string
  userId: string
  included: boolean
}
/** A row of `signalEvent`: an event that its receiver has not taken yet. The id is its `jti`. */
export interface SignalEventRow {
  streamId: string
  /** Whom it is about; null: the user is deleted, or it is about the stream. */
  userId: string | null
  /** `iat`, `sub_id` and `events` of the token. It is signed when it is sent, because keys change. */
  claims: { iat: number; sub_id: Record<string, unknown>; events: Record<string, Record<string, unknown>> }
  created: Date
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    providerSubject: ProviderSubjectRow
    signalReceiver: SignalReceiverRow
    signalStream: SignalStreamRow
    signalEvent: SignalEventRow
    signalSubject: SignalSubjectRow
  }
}

export const subjectTable: RecordSpec<ProviderSubjectRow> = {
  fields: { userId: { type: 'string', max: 200 } },
  index: [['userId']],
  owner: 'user',
  id: 'given',
}

const id = { type: 'string', max: 64 } as const
const date = { type: 'date' } as const

export const receiverTable: RecordSpec<SignalReceiverRow> = {
  fields: {
    organizationId: id,
    name: { type: 'string', max: 100 },
    audience: { type: 'text' },
    subject: { type: 'string', max: 16 },
    digest: { type: 'string', max: 64, secret: true },
    tail: { type: 'string', max: 4 },
    created: date,
    used: { ...date, optional: true },
  },
  unique: [['digest']],
  index: [['organizationId', 'created']],
}
export const streamTable: RecordSpec<SignalStreamRow> = {
  fields: {
    receiverId: id,
    organizationId: id,
    issuer: { type: 'text' },
    method: { type: 'string', max: 8 },
    endpoint: { type: 'text', optional: true },
    authorization: { type: 'text', optional: true, sealed: true },
    events: { type: 'json' },
    status: { type: 'string', max: 16 },
    reason: { type: 'string', max: 255, optional: true },
    description: { type: 'string', max: 255, optional: true },
    created: date,
    verified: { ...date, optional: true },
    attempts: { type: 'integer', default: 0 },
    next: date,
    problem: { type: 'string', max: 255, optional: true },
    queued: { type: 'integer', default: 0 },
  },
  index: [
    ['receiverId', 'created'],
    ['organizationId', 'created'],
    ['status', 'next'],
  ],
}
export const signalSubjectTable: RecordSpec<SignalSubjectRow> = {
  fields: { streamId: id, userId: { type: 'string', max: 255 }, included: { type: 'boolean' } },
  index: [['streamId'], ['userId']],
  owner: 'user',
  id: 'given',
}
export const signalEventTable: RecordSpec<SignalEventRow> = {
  fields: {
    streamId: id,
    userId: { type: 'string', max: 255, optional: true },
    claims: { type: 'json' },
    created: date,
    expires: date,
  },
  index: [['streamId', 'created'], ['userId']],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
  id: 'given',
}
