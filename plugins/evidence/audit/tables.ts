/** The records `audit` and `auditHead` of `recordsSink`. */
import type { RecordSpec } from 'authkernel/kernel'
import type { AuditHead, AuditRecord } from './record.ts'

/** A row of the log. */
export interface AuditRow {
  at: Date
  name: string
  /** Subject, else actor; '' for none. */
  userId: string
  chainId: string
  seq: number
  record: AuditRecord
  until: Date
}
/** Where a chain ended when it was last written. */
export interface AuditHeadRow {
  at: Date
  head: AuditHead & { seal: string }
  until: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    audit: AuditRow
    auditHead: AuditHeadRow
  }
}

export const auditTable: RecordSpec<AuditRow> = {
  id: 'given',
  fields: {
    at: { type: 'date' },
    name: { type: 'string', max: 64 },
    userId: { type: 'string' },
    chainId: { type: 'string', max: 64 },
    seq: { type: 'integer' },
    record: { type: 'json' },
    until: { type: 'date' },
  },
  index: [['at'], ['userId', 'at'], ['name', 'at'], ['chainId', 'seq']],
  expires: 'until',
}

export const auditHeadTable: RecordSpec<AuditHeadRow> = {
  id: 'given',
  fields: { at: { type: 'date' }, head: { type: 'json' }, until: { type: 'date' } },
  index: [['at']],
  expires: 'until',
}
