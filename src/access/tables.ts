/** The record of endings: apart from what reads and writes it, because the kernel declares it at start and reads it when access ends. */
import type { RecordSpec } from '../contract/records.ts'

/** Name of the record. */
export const accessRecordName = 'access'

/** One row. */
export interface EndingRow extends Record<string, unknown> {
  /** Number of the ending, greater than each one before it, in decimal digits: it does not fit into the integers of every database. */
  generation: string
  process: string
  expires: Date
}

/** The record. It has no owner: a stamp of a deleted user must not come alive when the row goes with the user. */
export const accessRecord: RecordSpec<EndingRow> = {
  fields: { generation: { type: 'string', max: 20 }, process: { type: 'string', max: 16 }, expires: { type: 'date' } },
  expires: 'expires',
  id: 'given',
}
