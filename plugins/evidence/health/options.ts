/** Options of `healthPlugin`. */
import { assertOptions, type Context } from 'authkernel/kernel'
import type { OwnCheck } from './checks.ts'

/** What `healthPlugin` takes. */
export interface HealthOptions {
  /** Which clients see the checks and their messages; default: none, they get the status alone. */
  details?: (ctx: Context) => unknown
  /** Checks of the host by name. */
  checks?: Readonly<Record<string, OwnCheck>>
  /** Seconds for which an answer is good; default 5. Frequent requests cause no further work. */
  cache?: number
}
/** The options with their defaults. */
export interface ResolvedOptions {
  details: HealthOptions['details']
  checks: Readonly<Record<string, OwnCheck>>
  cache: number
}

/** Throws AuthError for an option that does not exist. */
export function resolveOptions(options: HealthOptions): ResolvedOptions {
  assertOptions('Plugin "health"', options, { details: true, checks: true, cache: true })
  const { details, checks = {}, cache = 5 } = options
  return { details, checks, cache }
}
