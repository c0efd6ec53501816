/** Ended tokens as rows, and the copy of a process. */
import type { RecordSpec, Revocation } from 'authkernel/kernel'

/** One reason as a row. */
export interface RevocationFields {
  /** Namespace, a blank, and what is ended. The id is its hash: keys of a provider may be long. */
  key: string
  /** Of the head row: another number after each write. */
  before: number
  except: string | null
  at: Date
  expires: Date | null
}

declare module 'authkernel/kernel' {
  interface Records {
    revocation: RevocationFields
  }
}

/** One list for all namespaces, so that the cost does not grow with tenants. */
export const revocationRecord: RecordSpec<RevocationFields> = {
  fields: {
    key: { type: 'text' },
    before: { type: 'integer' },
    except: { type: 'string', optional: true },
    at: { type: 'date' },
    expires: { type: 'date', optional: true },
  },
  index: [['at']],
  expires: 'expires',
  id: 'given',
}

/** One reason, and the millisecond from which it may be forgotten. */
export type RevocationEntry = Omit<Revocation, 'earlier'> & { until: number; earlier?: RevocationEntry | undefined }
/** What outlives a snapshot. */
export interface RevocationCopy {
  entries: Map<string, RevocationEntry>
  freshUntil: number
  renewAt: number
  head: number | undefined
  last: number
  complete: boolean
}
