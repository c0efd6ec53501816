/** The record of the last sign-in by a number. */
import type { RecordSpec } from 'authkernel/kernel'

/** The id is the SHA-256 of the number. */
export interface PhoneUseRow {
  userId: string
  used: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    phoneUse: PhoneUseRow
  }
}

export const phoneUseTable: RecordSpec<PhoneUseRow> = {
  id: 'given',
  fields: { userId: { type: 'string' }, used: { type: 'date' } },
  owner: { field: 'userId', of: 'user' },
}
