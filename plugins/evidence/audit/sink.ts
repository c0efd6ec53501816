/** Where records go. */
import type { AnyContext, Awaitable, Kernel } from 'authkernel/kernel'
import type { AuditHead, AuditRecord } from './record.ts'

/** Which records to list. */
export interface AuditQuery {
  /** Records about this user, or by this user. */
  userId?: string
  /** Name of a record, such as `session.created`. */
  name?: string
  /** Records of this time and later. */
  since?: Date
  /** Records before this time. */
  until?: Date
  /** Default 100, at most 1000; newest first. */
  limit?: number
  /** Of the page before. */
  cursor?: string | undefined
}
/** One page of records that a sink returns, and where the next page begins. */
export interface AuditPage {
  records: AuditRecord[]
  /** Ids of rows that are not among `records`, because the columns that were asked by disagree with the record. They were changed. */
  altered?: string[]
  cursor: string | undefined
}

/** A place for records. A write that rejects, or takes longer than `deadlines.network`, is repeated: records have ids by which to tell. */
export interface AuditSink {
  readonly name: string
  /** Services that it needs. */
  readonly requires?: readonly 'records'[]
  /** Declares what it needs. */
  setup?(kernel: Kernel): void
  /** When a record of this time ends, in milliseconds. It is kept in the record, so that the chain covers it. */
  until?(time: number): number
  /** Takes a batch, all or none. `contextOf` is of the tenant of a record. */
  write(records: readonly AuditRecord[], contextOf: (record: AuditRecord) => AnyContext): Awaitable<void>
  /** Takes the end of a chain. */
  head?(head: AuditHead & { seal: string }, ctx: AnyContext): Awaitable<void>
  /** What was kept, by tenant of the context. */
  list?(ctx: AnyContext, query: AuditQuery): Promise<AuditPage>
  read?(ctx: AnyContext): AsyncIterable<AuditRecord>
  heads?(ctx: AnyContext): Promise<(AuditHead & { seal: string })[]>
  /** Replaces one record by another of the same id: personal data was taken out. */
  replace?(ctx: AnyContext, record: AuditRecord, userId: string): Promise<void>
  /** Days after which records end; undefined: never. */
  readonly retention?: number | undefined
  close?(): Awaitable<void>
}
