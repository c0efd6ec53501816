/** How the system is, for probes and operators. */
import type { AnyContext, Pipe, Plugin } from 'authkernel/kernel'
import type { OwnCheck } from './checks.ts'
import { type HealthOptions, resolveOptions } from './options.ts'
import { createReport, type HealthReport, waitUntilHealthy } from './report.ts'
import { addRoutes } from './routes.ts'

export { type HealthCheck, type HealthStatus, type OwnCheck, runChecks as healthChecks } from './checks.ts'
export type { HealthOptions } from './options.ts'
export type { HealthReport } from './report.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** More checks, by name. */
    health: Pipe<{ checks: Readonly<Record<string, OwnCheck>> }, 'checks', AnyContext>
  }
}
/** What the plugin puts on `auth`. */
export interface HealthApi {
  health: {
    /** Looks now. */
    check(): Promise<HealthReport>
    /** Looks until nothing fails. Rejects with the last messages when `seconds` (default 60) have passed. */
    ready(options?: { seconds?: number; onProgress?: (report: HealthReport) => void }): Promise<HealthReport>
  }
}

/** `GET /health` for readiness and `GET /health/live` for liveness. */
export function healthPlugin(options: HealthOptions = {}): Plugin<HealthApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'health',
    setup(kernel) {
      kernel.declareHook('health', 'pipe', 'checks')
      addRoutes(kernel, resolved)
      return {
        health: {
          check: () => createReport(kernel, resolved.checks),
          ready: (options) => waitUntilHealthy(() => createReport(kernel, resolved.checks), options),
        },
      }
    },
  }
}
