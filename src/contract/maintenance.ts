/** What a host runs once a day or after a change of secrets. Types only. */
import type { ExpiredRows } from './adapter.ts'

/** Rows that `auth.cleanup()` removed. */
export interface CleanUpReport extends ExpiredRows {
  /** Expired rows of plugins' records, by the name of the record. */
  records: Record<string, number>
  /** Deletions of users that had been interrupted, and are finished now. */
  erasures: number
}
/** How a clean-up is run. */
export interface CleanUpRun {
  /** Called after each batch with what has been removed so far. */
  onProgress?(removed: CleanUpReport): void
}

/** What `auth.reseal()` did. */
export interface ResealReport {
  /** Rows whose sealed fields are now under the newest secret. */
  resealed: number
  /** Rows with a sealed field that none of the secrets opens. They stay as they are. */
  unreadable: number
}
/** How `reseal` is run. */
export interface ResealRun {
  /** Name of the tenant, for kernels with tenants; null: the default namespace. */
  tenant?: string | null
  onProgress?(done: ResealReport): void
}
