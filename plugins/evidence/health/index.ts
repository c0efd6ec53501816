/** How the system is, for probes and for people who run it. */
import { assertOptions, type AnyContext, type Context, json, type Kernel, type Pipe, type Plugin } from 'authkernel/kernel'
import { type HealthCheck, type HealthStatus, type OwnCheck, runChecks } from './checks.ts'

export { type HealthCheck, type HealthStatus, type OwnCheck, runChecks as healthChecks } from './checks.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** More checks, by name. */
    health: Pipe<{ checks: Readonly<Record<string, OwnCheck>> }, 'checks', AnyContext>
  }
}
/** Options of `healthPlugin`. */
export interface HealthOptions {
  /** Who sees the checks and their messages; default: nobody, who gets the status alone. */
  details?: (ctx: Context) => unknown
  /** Checks of the host by name. */
  checks?: Readonly<Record<string, OwnCheck>>
  /** Seconds for which an answer is good; default 5. Nobody makes the server work by asking often. */
  cache?: number
}
/** What was found. */
export interface HealthReport {
  /** The worst of all checks. */
  status: HealthStatus
  checks: readonly HealthCheck[]
  /** Milliseconds since the epoch. */
  at: number
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

const pause = 1_000
const order: readonly HealthStatus[] = ['pass', 'warn', 'fail']

/** `GET /health` for readiness and `GET /health/live` for liveness. */
export function healthPlugin(options: HealthOptions = {}): Plugin<HealthApi> {
  assertOptions('Plugin "health"', options, { details: true, checks: true, cache: true })
  const { details, checks = {}, cache = 5 } = options
  return {
    name: 'health',
    setup(kernel) {
      kernel.declareHook('health', 'pipe', 'checks')
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
          const told = details && (await details(ctx)) ? report : { status: report.status }
          return respondWith(told, report.status)
        },
      })
      // Restarting does not help against a store that is away, so this looks at nothing.
      kernel.route({ method: 'GET', path: '/health/live', handler: () => respondWith({ status: 'pass' }, 'pass') })
      return {
        health: { check: () => createReport(kernel, checks), ready: (options) => waitFor(() => createReport(kernel, checks), options) },
      }
    },
  }
}

function respondWith(body: object, status: HealthStatus): Response {
  return json(body, status === 'fail' ? 503 : 200)
}

async function createReport(kernel: Kernel, own: Readonly<Record<string, OwnCheck>>): Promise<HealthReport> {
  const checks = await kernel.job({ job: 'health', tenant: null }, (ctx) => runChecks(ctx, own))
  const status = checks.reduce<HealthStatus>(
    (worst, check) => (order.indexOf(check.status) > order.indexOf(worst) ? check.status : worst),
    'pass',
  )
  return { status, checks, at: kernel.runtime.now() }
}

async function waitFor(
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
