/** Addresses that get no mail any more. */
import type { RecordSpec } from 'authkernel/kernel'

/** One address; its id is the SHA-256 of the canonical form. */
export interface MailBounceRow {
  email: string
  /** `bounce`: the mailbox does not exist or rejects for good. `complaint`: its owner reported a mail as spam. */
  reason: 'bounce' | 'complaint'
  /** Which mailer said so. */
  mailer: string
  at: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    mailBounce: MailBounceRow
  }
}

export const bounceTable: RecordSpec<MailBounceRow> = {
  id: 'given',
  fields: {
    email: { type: 'string', max: 320 },
    reason: { type: 'string', max: 16 },
    mailer: { type: 'string', max: 16 },
    at: { type: 'date' },
  },
}
