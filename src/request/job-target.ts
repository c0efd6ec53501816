/** For whom an API on `auth` works where it is given no request. */
import type { JobTarget, OfTenant } from '../contract/plugin.ts'

/** The target of `kernel.contextOf` for what a caller named. */
export function jobFor(job: string, { tenant }: OfTenant = {}): JobTarget {
  return tenant === undefined ? { job } : { job, tenant }
}
