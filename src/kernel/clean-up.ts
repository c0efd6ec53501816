/** Removes what has ended: rows of records, sessions, mailed links, marks; and finishes deletions of people that a crash interrupted. */
import type { ExpiredRows } from '../contract/adapter.ts'
import type { CleanUpReport, CleanUpRun } from '../contract/maintenance.ts'
import type { JobContext } from '../request/job-context.ts'
import { finishErasures } from '../request/watched-store.ts'
import { failedCall } from '../store/store-error.ts'

// Rows of one statement.
const batch = 1_000
// Seconds that a batch may take: a process that was killed keeps others away for so long.
const leaseSeconds = 120

/** Null: another process is at it. Throws AdapterError. */
export async function cleanUp(ctx: JobContext, { onProgress }: CleanUpRun = {}): Promise<CleanUpReport | null> {
  const lease = await ctx.lease('authkernel:clean-up', leaseSeconds)
  if (!lease) return null
  const report: CleanUpReport = { records: {}, sessions: 0, tokens: 0, once: 0, limit: 0, erasures: 0 }
  const told = (): void => onProgress?.({ ...report, records: { ...report.records } })
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
        if (removed > 0) told()
        if (!(await lease.renew(leaseSeconds))) return report
      }
    }
    if (store?.supports('deleteExpired')) {
      const count = (removed: ExpiredRows): void => {
        Object.assign(report, removed)
        told()
        void lease.renew(leaseSeconds)
      }
      const removed = await store.deleteExpired(ctx.now, { onProgress: count })
      // Adapters of others answer what they like.
      if (isCounts(removed)) Object.assign(report, removed)
    }
    await ctx.emit('cleanedUp', { report })
    return report
  } finally {
    await lease.release()
  }
}

function isCounts(value: unknown): value is ExpiredRows {
  return typeof (value as Partial<ExpiredRows> | null | undefined)?.sessions === 'number'
}
