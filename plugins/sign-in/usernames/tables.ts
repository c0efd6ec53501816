/** The record of names. */
import type { RecordSpec } from 'authkernel/kernel'

/** The name of a user. */
export interface UserNameRow {
  userId: string
  /** In its one form: small letters, NFC. */
  name: string
  /** What names that look alike have in common. */
  skeleton: string
  changed: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    userName: UserNameRow
  }
}

export const nameTable: RecordSpec<UserNameRow> = {
  fields: {
    userId: { type: 'string' },
    name: { type: 'string', max: 64 },
    skeleton: { type: 'string', max: 64 },
    changed: { type: 'date' },
  },
  unique: [['userId'], ['name'], ['skeleton']],
  owner: { field: 'userId', of: 'user' },
}
