/** Settings of one request: what the `settings` hook answers over the frozen ones, derived once per answer. */
import type { HandleOptions } from '../contract/entry-points.ts'
import type { JobTarget } from '../contract/plugin.ts'
import type { Settings } from '../contract/config.ts'
import { AuthError, HttpError } from '../errors/index.ts'
import { RequestTimeout, withTimeout } from '../errors/deadlines.ts'
import { originFault } from '../http/hosts.ts'
import { resolveOrigin } from '../http/origin.ts'
import { listSecrets, trimmedBasePath, merge, assertSecrets } from '../options/config.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { setBounded } from '../runtime/shared.ts'
import { isNamespace } from '../store/namespaces.ts'

// By snapshot, then by answer: the same object gives the same cookies and keys.
const settingsByAnswer = new WeakMap<Snapshot, WeakMap<object, Settings>>()
// By snapshot: the tenant of each host and cookie prefix.
const jars = new WeakMap<Snapshot, Map<string, string>>()
const maxJars = 10_000

/** Throws MissingSecret or an AuthError when the answer is not usable, and what the hook throws: an HttpError for an unknown tenant. */
export async function resolveSettings(app: Snapshot, request: Request, options: HandleOptions): Promise<Settings> {
  const settings = await askSettings(app, 'settings', { request })
  assertOwnJar(app, settings, request, options)
  return settings
}

/** Settings of a job for a tenant; null: the default namespace, which is the only one without a hook. */
export async function resolveTenant(app: Snapshot, { job, tenant }: JobTarget): Promise<Settings> {
  if (tenant === undefined && (app.bus.has('hook', 'settings') || app.bus.has('hook', 'tenant')))
    throw new AuthError(
      `The job "${job}" does not say for which tenant it runs: give \`tenant\`, its name, or null for the default namespace.`,
    )
  if (tenant === undefined || tenant === null) return app.settings
  if (!app.bus.has('hook', 'tenant'))
    throw new AuthError(
      `A job is for the tenant ${JSON.stringify(tenant)}, but no plugin answers the hook \`tenant\`: give tenantsPlugin the option \`tenant\`.`,
    )
  return askSettings(app, 'tenant', { tenant })
}

async function askSettings(app: Snapshot, hook: 'settings' | 'tenant', message: Record<string, unknown>): Promise<Settings> {
  const { request: deadline } = app.config.deadlines
  const answer = await withTimeout(
    app.bus.ask(hook, message) as Promise<Partial<Settings> | undefined>,
    deadline,
    () => new RequestTimeout(`The hook \`${hook}\` did not answer within ${deadline} ms (deadlines.request).`),
  )
  if (!answer) {
    if (hook === 'tenant')
      throw new HttpError(404, 'Not found.', {}, new AuthError(`The hook \`tenant\` knows no ${JSON.stringify(message['tenant'])}.`))
    assertSecrets(app.settings.secret)
    return app.settings
  }
  let known = settingsByAnswer.get(app)
  if (!known) settingsByAnswer.set(app, (known = new WeakMap()))
  const existing = known.get(answer)
  if (existing) return existing
  const settings: Settings = Object.freeze({
    ...merge(answer, app.settings),
    ...(answer.secret && { secret: listSecrets(answer.secret) }),
    ...(answer.basePath && { basePath: trimmedBasePath(answer.basePath) }),
  })
  assertSecrets(settings.secret)
  const fault = originFault(settings.origin)
  if (fault) throw new AuthError(`The hook \`${hook}\` answered with a wrong ${fault}`)
  if (!isNamespace(settings.namespace))
    throw new AuthError(`The hook \`${hook}\` answered with a wrong namespace: write up to 32 characters of a-z, 0-9 and "-".`)
  known.set(answer, settings)
  return settings
}

/** Two tenants whose browsers keep one set of cookies would read each other's. */
function assertOwnJar(app: Snapshot, settings: Settings, request: Request, options: HandleOptions): void {
  const { cookiePrefix, namespace } = settings
  const origin = ownOrigin(app, settings, request, options)
  // Answered with the mistake of the host, and no tenant is reached.
  if (origin === undefined) return
  let known = jars.get(app)
  if (!known) jars.set(app, (known = new Map()))
  const jar = `${new URL(origin).hostname} ${cookiePrefix}`
  const other = known.get(jar) ?? namespace
  if (other === namespace) return void setBounded(known, jar, namespace, maxJars)
  throw new AuthError(
    `The tenants ${JSON.stringify(other)} and ${JSON.stringify(namespace)} have one host and one \`cookiePrefix\`: give each a different prefix.`,
  )
}

function ownOrigin(app: Snapshot, settings: Settings, request: Request, options: HandleOptions): string | undefined {
  try {
    return resolveOrigin(request, settings, app.config, options)
  } catch {
    return undefined
  }
}
