/** The record of bans: one per user, gone when the ban ends. */
import type { RecordSpec } from 'authkernel/kernel'

/** A row of `userBan`. */
export interface BanRow {
  userId: string
  reason: string
  /** Id of the administrator. */
  by: string
  since: Date
  until: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    userBan: BanRow
  }
}
/** Dates end within the range that every database holds. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))

export const banTable: RecordSpec<BanRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    reason: { type: 'string', max: 500 },
    by: { type: 'string' },
    since: { type: 'date' },
    until: { type: 'date' },
  },
  index: [['userId']],
  owner: 'user',
  expires: 'until',
}
