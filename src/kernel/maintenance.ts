/** Jobs of a host, loaded on demand: removing what has ended, and sealing fields under the newest secret. */
import type { ExpiredRows } from '../contract/adapter.ts'
import type { CleanUpReport, CleanUpRun, ResealReport } from '../contract/entry-points.ts'
import type { Lease } from '../contract/services.ts'
import type { JobContext } from '../request/common-context.ts'
import { finishErasures, recordScope } from '../request/context-store.ts'
import { failedCall } from '../store/store-error.ts'
import type { StoredKey, StoredRow, StoredValue } from '../contract/records.ts'
import { AuthError } from '../errors/index.ts'
import type { DeclaredRecord } from '../store/record-spec.ts'
import { type RecordScope, callRecordStore } from '../store/record-table.ts'
import { fromStored, toChange } from '../store/record-values.ts'

export { checkSurroundings } from './surroundings.ts'

// Rows of one statement.
const batch = 1_000
const page = 500
// Seconds that a batch may take: a process that was killed keeps others away for so long.
const leaseSeconds = 120

/** The context of a job for a tenant by its name; null: the default one. */
type ContextOf = (tenant: string | null) => Promise<JobContext>

/**
 * Removes what has ended: rows of records, sessions, magic links, marks; finishes deletions of users that a crash interrupted; and tells plugins of it in each
 * tenant. Null: another process is at it. Throws AdapterError.
 */
export async function cleanUp(contextOf: ContextOf, { onProgress }: CleanUpRun = {}): Promise<CleanUpReport | null> {
  const ctx = await contextOf(null)
  const lease = await ctx.lease('authkernel:clean-up', leaseSeconds)
  if (!lease) return null
  const report: CleanUpReport = { records: {}, sessions: 0, tokens: 0, once: 0, limit: 0, erasures: 0 }
  const reportProgress = (): void => onProgress?.({ ...report, records: { ...report.records } })
  try {
    report.erasures = await finishErasures(ctx)
    const { records, store } = ctx.services
    for (const [name, { stored }] of records ? ctx.compiled.records : []) {
      if (stored.expires === undefined) continue
      for (let removed = batch; removed >= batch;) {
        try {
          removed = await records!.deleteExpired(name, ctx.runtime.now(), batch)
        } catch (error) {
          throw failedCall('records.deleteExpired', error)
        }
        report.records[name] = (report.records[name] ?? 0) + removed
        if (removed > 0) reportProgress()
        if (!(await lease.renew(leaseSeconds))) return report
      }
    }
    if (store?.supports('deleteExpired')) {
      const count = (removed: ExpiredRows): void => {
        Object.assign(report, removed)
        reportProgress()
        void lease.renew(leaseSeconds)
      }
      const removed = await store.deleteExpired(ctx.now, { onProgress: count })
      // Adapters of others answer what they like.
      if (isCounts(removed)) Object.assign(report, removed)
    }
    await ctx.emit('cleanedUp', { report })
    await ctx.emit('tenantCleanedUp', {})
    await visitTenants(ctx, contextOf, lease)
    return report
  } finally {
    await lease.release()
  }
}

/** One that cannot be reached keeps no other from its clean-up. */
async function visitTenants(ctx: JobContext, contextOf: ContextOf, lease: Lease): Promise<void> {
  // The verb `first` answers what one handler did.
  const names = (await ctx.compiled.bus.ask('tenants', {})) as Iterable<string> | AsyncIterable<string> | undefined
  for await (const tenant of names ?? []) {
    if (!(await lease.renew(leaseSeconds))) return
    try {
      await (await contextOf(tenant)).emit('tenantCleanedUp', {})
    } catch (error) {
      const err = error instanceof Error ? error : new Error(String(error))
      ctx.logger.error(new AuthError(`cleanup: the tenant ${JSON.stringify(tenant)} was left out.`, { cause: { err } }))
    }
  }
}

function isCounts(value: unknown): value is ExpiredRows {
  return typeof (value as Partial<ExpiredRows> | null | undefined)?.sessions === 'number'
}

/** Seals the fields of all records of one tenant under the newest secret: what was sealed with a former one is lost when that is dropped. */
export async function resealAll(ctx: JobContext, onProgress?: (report: ResealReport) => void): Promise<ResealReport> {
  const total: ResealReport = { resealed: 0, unreadable: 0 }
  for (const declared of ctx.services.records ? ctx.compiled.records.values() : []) {
    const { resealed, unreadable } = await resealRecord(recordScope(ctx), declared, (done) =>
      onProgress?.({ resealed: total.resealed + done.resealed, unreadable: total.unreadable + done.unreadable }),
    )
    total.resealed += resealed
    total.unreadable += unreadable
  }
  return total
}

/** Row by row: a row that changes meanwhile is sealed again by that change. */
async function resealRecord(
  scope: RecordScope,
  declared: DeclaredRecord,
  onProgress: (report: ResealReport) => void,
): Promise<ResealReport> {
  const report: ResealReport = { resealed: 0, unreadable: 0 }
  const { name } = declared.stored
  const fields = [...declared.fields].filter(([, { sealed }]) => sealed).map(([field]) => field)
  if (fields.length === 0) return report
  const query = { ns: scope.namespace, where: {}, by: undefined, index: [], range: {}, order: 'asc', limit: page } as const
  for (let last: StoredRow | undefined, more = true; more;) {
    const after = last && { value: null, id: last.id }
    const rows: StoredRow[] = await callRecordStore(scope, `records("${name}").find`, () =>
      scope.store.find(name, { ...query, after }, scope.now()),
    )
    for (const row of rows) {
      const outcome = await resealRow(scope, declared, fields, row)
      if (outcome) report[outcome]++
    }
    if (rows.length > 0) onProgress({ ...report })
    last = rows.at(-1)
    more = rows.length === page
  }
  return report
}

async function resealRow(
  scope: RecordScope,
  declared: DeclaredRecord,
  fields: readonly string[],
  row: StoredRow,
): Promise<keyof ResealReport | undefined> {
  const held = fields.filter((field) => row[field] !== null)
  if (held.length === 0) return undefined
  const opened = await fromStored(declared, row, scope)
  const readable = held.filter((field) => opened[field] !== null)
  const change = await toChange(declared, row.id, Object.fromEntries(readable.map((field) => [field, opened[field]])), scope)
  const before: StoredKey = Object.fromEntries(readable.map((field) => [field, row[field] as StoredValue]))
  const { name } = declared.stored
  if (readable.length > 0) {
    const write = { op: 'update', table: name, ns: row.ns, id: row.id, change, if: before } as const
    await callRecordStore(scope, `records("${name}").update`, () => scope.store.write([write], scope.now()))
  }
  return readable.length === held.length ? 'resealed' : 'unreadable'
}
