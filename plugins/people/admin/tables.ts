/** The records of the plugin: bans, roles of administrators, acts that wait for a second administrator, and counts of each day. */
import type { RecordSpec } from 'authkernel/kernel'
import type { AdminAct } from './options.ts'

/** A row of `userBan`: one per user, gone when the ban ends. */
export interface BanRow {
  userId: string
  reason: string
  /** Id of the administrator. */
  by: string
  since: Date
  until: Date
}
/** A row of `adminRole`: one per administrator. */
export interface RoleRow {
  userId: string
  role: string
  /** Id of the administrator who gave it. */
  by: string
  since: Date
}
/** A row of `adminRequest`: an act that waits for other administrators. */
export interface RequestRow {
  act: AdminAct
  /** To whom. */
  userId: string
  /** Id of the administrator who asks. */
  by: string
  reason: string
  /** What else the act needs. */
  input: Readonly<Record<string, unknown>>
  /** Ids of those who agreed. */
  approvedBy: string[]
  /** How many agreed, compared when one more does. */
  approvals: number
  created: Date
  expires: Date
}
/** A row of `adminCount`: how often something happened on a day. */
export interface CountRow {
  /** `2026-11-23`, in UTC. */
  day: string
  kind: string
  count: number
  until: Date
}
/** A row of `userSeen`: when a user signed in last. */
export interface SeenRow {
  userId: string
  at: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    userBan: BanRow
    adminRole: RoleRow
    adminRequest: RequestRow
    adminCount: CountRow
    userSeen: SeenRow
  }
}
/** Dates end within the range that every database holds. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))

const date = { type: 'date' } as const
const userId = { type: 'string' } as const

export const banTable: RecordSpec<BanRow> = {
  id: 'given',
  fields: { userId, reason: { type: 'string', max: 500 }, by: { type: 'string' }, since: date, until: date },
  index: [['userId']],
  owner: 'user',
  expires: 'until',
}
export const roleTable: RecordSpec<RoleRow> = {
  id: 'given',
  fields: { userId, role: { type: 'string', max: 32 }, by: { type: 'string' }, since: date },
  index: [['userId'], ['role']],
  owner: 'user',
  // It gives rights to a thief of the account.
  added: 'since',
}
export const approvalTable: RecordSpec<RequestRow> = {
  fields: {
    act: { type: 'string', max: 32 },
    userId,
    by: { type: 'string' },
    reason: { type: 'string', max: 500 },
    input: { type: 'json' },
    approvedBy: { type: 'json' },
    approvals: { type: 'integer' },
    created: date,
    expires: date,
  },
  index: [['created'], ['userId', 'act']],
  owner: 'user',
  expires: 'expires',
}
export const countTable: RecordSpec<CountRow> = {
  id: 'given',
  fields: { day: { type: 'string', max: 10 }, kind: { type: 'string', max: 16 }, count: { type: 'integer' }, until: date },
  index: [['day']],
  expires: 'until',
}
export const seenTable: RecordSpec<SeenRow> = {
  id: 'given',
  fields: { userId, at: date },
  index: [['userId'], ['at']],
  owner: 'user',
}
