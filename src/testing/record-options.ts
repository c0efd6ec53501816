/** What the contract of records needs. Types only. */
import type { Adapter, Awaitable, RecordStore, StoredWrite } from 'authkernel/kernel'
import type { RecordHost } from './record-host.ts'

/** What a process is asked to do. Plain data: it may be sent as JSON. */
export type RecordTask =
  | { do: 'write'; writes: readonly StoredWrite[]; times: number }
  /** Commits of an increment and a creation, one after the other, until the process is killed. */
  | { do: 'churn'; id: string; group: string }
/** A process that has the store open. */
export interface RecordProcess {
  /** The answers of `workOnRecords`. */
  run(task: RecordTask): Promise<readonly unknown[]>
  /** SIGKILL. */
  kill(): Promise<void>
}

/** What `testRecords` needs. */
export interface TestRecordsOptions {
  /** Makes the store, once. It may hold other rows: every test brings different values. */
  create(): Awaitable<RecordStore>
  /** The adapter whose `deleteUser` deletes what a user owns, over the same rows. */
  adapter?: (() => Awaitable<Adapter>) | undefined
  /** Starts processes that have the store open too, for the races between them. Each runs `workOnRecords(store, task)`. */
  processes?: ((count: number) => Promise<readonly RecordProcess[]>) | undefined
  /** Rows that are there when a field and an index are added; default 10000. */
  rows?: number
  /** Runs after the last test. */
  close?(): Awaitable<unknown>
}

/** A subject of the rules: the store is there once a test runs. */
export interface RecordSubject {
  host(): RecordHost
  options: TestRecordsOptions
}
