/** The report of all checks, made now or awaited. */
import type { Kernel } from 'authkernel/kernel'
import { type HealthCheck, type HealthStatus, type OwnCheck, runChecks } from './checks.ts'

/** The results of all checks. */
export interface HealthReport {
  /** The worst of all checks. */
  status: HealthStatus
  checks: readonly HealthCheck[]
  /** Milliseconds since the epoch. */
  at: number
}

const pause = 1_000
const order: readonly HealthStatus[] = ['pass', 'warn', 'fail']

/** Runs all checks. */
export async function createReport(kernel: Kernel, own: Readonly<Record<string, OwnCheck>>): Promise<HealthReport> {
  const checks = await kernel.job({ job: 'health', tenant: null }, (ctx) => runChecks(ctx, own))
  const status = checks.reduce<HealthStatus>(
    (worst, check) => (order.indexOf(check.status) > order.indexOf(worst) ? check.status : worst),
    'pass',
  )
  return { status, checks, at: kernel.runtime.now() }
}

/** Runs the checks until nothing fails. Rejects after `seconds` with the last messages. */
export async function waitUntilHealthy(
  check: () => Promise<HealthReport>,
  { seconds = 60, onProgress }: { seconds?: number; onProgress?: (report: HealthReport) => void } = {},
): Promise<HealthReport> {
  const until = performance.now() + seconds * 1000
  for (;;) {
    const report = await check()
    onProgress?.(report)
    if (report.status !== 'fail') return report
    if (performance.now() + pause > until) {
      const failed = report.checks.filter(({ status }) => status === 'fail').map(({ name, message }) => `${name}: ${message}`)
      throw new Error(`auth.health.ready: not ready after ${seconds} s. ${failed.join(' ')}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
