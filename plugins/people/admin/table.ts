/** The record of bans: one per user, gone when the ban ends. */
import { type AnyContext, type RecordSpec, sha256, toHex } from 'authkernel/kernel'

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
/** A ban as it may be shown to administrators. */
export interface Ban {
  reason: string
  /** Id of the administrator. */
  by: string
  since: Date
  /** Null: it does not end by itself. */
  until: Date | null
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

/** The id of a user's row. */
export async function banId(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}

/** Null: the user is not banned now. */
export async function findBan(ctx: AnyContext, userId: string): Promise<Ban | null> {
  const row = await ctx.records('userBan').get(await banId(userId))
  if (!row) return null
  const { reason, by, since, until } = row
  return { reason, by, since, until: until.getTime() === never.getTime() ? null : until }
}
