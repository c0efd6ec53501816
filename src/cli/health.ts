/** What the health checks say: the store, the mail server, the clock, keys, and checks of the host. */
import type { Auth, Context } from 'authkernel/kernel'
import { type HealthApi, type HealthCheck, healthChecks } from 'authkernel/plugins/health'
import type { Finding } from './report.ts'

/** With `healthPlugin` its checks, else those that need no plugin. Issuers are asked by the command itself. */
export async function askHealth(auth: Auth, ctx: Context): Promise<Finding[]> {
  const { health } = auth as Auth<Partial<HealthApi>>
  const checks: readonly HealthCheck[] = health ? (await health.check()).checks : await healthChecks(ctx, {}, ['issuer'])
  return checks.flatMap(({ name, status, message = 'failed' }): Finding[] => {
    if (status === 'pass' || name.startsWith('issuer:')) return []
    return [{ level: status === 'fail' ? 'error' : 'warning', code: 'health', message: `${name}: ${message}` }]
  })
}
