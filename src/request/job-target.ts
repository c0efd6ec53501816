/** For whom an API on `auth` works where it is given no request. */
import type { JobTarget, OfTenant } from '../contract/plugin.ts'
import { AuthError } from '../errors/index.ts'

/** The target of `kernel.contextOf` for what a caller named. Throws AuthError when `tenant` and its former name `of` differ. */
export function jobFor(job: string, { tenant, of: former }: OfTenant = {}): JobTarget {
  if (tenant !== undefined && former !== undefined && tenant !== former)
    throw new AuthError(`The job "${job}" is for the tenant ${JSON.stringify(tenant)} and for ${JSON.stringify(former)}: leave \`of\` out.`)
  const named = tenant === undefined ? former : tenant
  return named === undefined ? { job } : { job, tenant: named }
}
