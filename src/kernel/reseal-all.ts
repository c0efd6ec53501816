/** Sealed fields of all records under the newest secret. */
import type { ResealReport } from '../contract/maintenance.ts'
import type { JobContext } from '../request/job-context.ts'
import { recordScope } from '../request/record-scope.ts'
import { reseal } from '../store/reseal.ts'

/** Of one tenant. Throws AdapterError. */
export async function resealAll(ctx: JobContext, onProgress?: (report: ResealReport) => void): Promise<ResealReport> {
  const total: ResealReport = { resealed: 0, unreadable: 0 }
  for (const declared of ctx.services.records ? ctx.compiled.records.values() : []) {
    const { resealed, unreadable } = await reseal(recordScope(ctx), declared, (done) =>
      onProgress?.({ resealed: total.resealed + done.resealed, unreadable: total.unreadable + done.unreadable }),
    )
    total.resealed += resealed
    total.unreadable += unreadable
  }
  return total
}
