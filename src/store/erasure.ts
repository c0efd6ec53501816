/** The record of deletions of people that have begun, for stores of records that do not belong to the adapter. */
import type { RecordSpec } from '../contract/records.ts'

export interface Erasure extends Record<string, unknown> {
  /** The tenant: all of them are found in one list. */
  tenant: string
  userId: string
  at: Date
}

/** What a crash left is finished by the clean-up. */
export const erasureRecord: RecordSpec<Erasure> = {
  fields: { tenant: { type: 'string', max: 32 }, userId: { type: 'text' }, at: { type: 'date' } },
  id: 'given',
}
