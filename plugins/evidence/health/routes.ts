/** `GET /health` for readiness and `GET /health/live` for liveness. */
import { json, type Kernel } from 'authkernel/kernel'
import type { HealthStatus } from './checks.ts'
import type { ResolvedOptions } from './options.ts'
import { createReport, type HealthReport } from './report.ts'

/** Requests within `cache` seconds get one report, and those at the same moment wait for one. */
export function addRoutes(kernel: Kernel, { details, checks, cache }: ResolvedOptions): void {
  let last: HealthReport | undefined
  let running: Promise<HealthReport> | undefined
  const recent = (): Promise<HealthReport> => {
    if (last && kernel.runtime.now() - last.at < cache * 1000) return Promise.resolve(last)
    running ??= createReport(kernel, checks)
      .then((report) => (last = report))
      .finally(() => (running = undefined))
    return running
  }
  kernel.route({
    method: 'GET',
    path: '/health',
    async handler(ctx) {
      const report = await recent()
      const body = details && (await details(ctx)) ? report : { status: report.status }
      return respondWith(body, report.status)
    },
  })
  // Restarting does not help against a store that is away, so this runs no check.
  kernel.route({ method: 'GET', path: '/health/live', handler: () => respondWith({ status: 'pass' }, 'pass') })
}

function respondWith(body: object, status: HealthStatus): Response {
  return json(body, status === 'fail' ? 503 : 200)
}
