/** `authkernel doctor`: loads the app's auth module, compiles it and reports what is wrong, what is unsafe and what to register where. */
import type { Auth, Context, RouteInfo } from 'authkernel/kernel'
import { findFaults, findUnreachable } from './faults.ts'
import { askIssuers } from './issuers.ts'
import { type LoadedModule, loadModule } from './load.ts'
import { findMoves, nameMove } from './moves.ts'
import { type Finding, type Paint, type Report, type Setting, UsageError, table } from './report.ts'
import { askRootPaths } from './root-paths.ts'
import { lookInside, originOf } from './snapshot.ts'
import { findRisks } from './risks.ts'
import { type HealthApi, type HealthCheck, healthChecks } from 'authkernel/plugins/health'

const defaultPause = 10

/** Options of the command. */
export interface DoctorOptions {
  auth?: string | undefined
  env?: string | undefined
  origin?: string | undefined
  offline?: boolean | undefined
  /** Warnings count as errors. */
  strict?: boolean | undefined
  /** Seconds between two looks. */
  watch?: string | undefined
}
/** Not ok when anything of level `error` was found; with `strict` also for a warning. With `watch` it looks again and again until SIGINT. */
export async function doctor(options: DoctorOptions, setting: Setting): Promise<Report> {
  const loaded = await loadModule(options, setting)
  try {
    return options.watch === undefined ? await examineApp(loaded, options, setting) : await watchApp(loaded, options, setting)
  } finally {
    await loaded.auth.close()
  }
}

/** Prints a report whenever it differs from the one before; answers the last one. */
async function watchApp(loaded: LoadedModule, options: DoctorOptions, setting: Setting): Promise<Report> {
  const seconds = Number(options.watch === '' ? defaultPause : options.watch)
  if (!(seconds >= 1)) throw new UsageError('doctor: --watch takes seconds, at least 1.')
  let [over, wake] = [false, (): void => {}]
  const end = (): void => {
    over = true
    wake()
  }
  process.once('SIGINT', end).once('SIGTERM', end)
  let shown = ''
  for (;;) {
    const report = await examineApp(loaded, options, setting)
    const text = report.lines.join('\n')
    if (text !== shown) setting.print(`${new Date().toISOString()}\n${text}\n`)
    shown = text
    setting.progress(`looked at ${new Date().toLocaleTimeString()}, again in ${seconds} s`)
    if (!over)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    if (over) return { ...report, lines: [] }
  }
}

async function examineApp({ auth, file }: LoadedModule, options: DoctorOptions, setting: Setting): Promise<Report> {
  const inspection = auth.inspect()
  const findings = nameMove(auth, await findFaults(auth))
  const sound = !findings.some(({ level }) => level === 'error')
  const ctx = await lookInside(auth, 'https://your-app.example')
  const { origin, isGuess } = originOf(options.origin, ctx.app.settings.origin)
  const providers = [...ctx.app.providers.values()].map((provider) => {
    const { id, name, type } = provider
    const path = ('callbackPath' in provider && provider.callbackPath) || `/callback/${id}`
    return { id, name, type, callbackUrl: `${origin}${ctx.app.settings.basePath}${path}` }
  })
  findings.push(...findUnreachable(ctx, setting.env), ...findRisks(ctx.app, setting.env))
  findings.push(...inspection.gaps.map(describeGap))
  if (!options.offline) {
    findings.push(...(await askIssuers(ctx.app.providers.values(), ctx.runtime.fetch)))
    if (!isGuess)
      findings.push(...(await askRootPaths(auth, ctx.app.routes.list.filter(isAtRoot), origin, inspection.plugins, ctx.runtime.fetch)))
  }
  if (!options.offline) findings.push(...(await findMoves(auth)))
  // What lacks a package or a table cannot be well.
  if (!options.offline && sound) findings.push(...(await askHealth(auth, ctx)))
  const { plugins, services, routes } = inspection
  const data = { file, origin, plugins, services, routes, providers, findings }
  return {
    data,
    ok: !findings.some(({ level }) => level === 'error' || options.strict),
    lines: describeFindings(data, isGuess, strategyOf(ctx), setting.paint),
  }
}

function describeGap({ plugin, lang, keys }: { plugin: string; lang: string; keys: string[] }): Finding {
  const shown = keys.length > 3 ? `${keys.slice(0, 3).join(', ')} and ${keys.length - 3} more` : keys.join(', ')
  return {
    level: 'warning',
    code: 'messages',
    message: `Plugin "${plugin}" says ${shown} in English to users who read "${lang}". Give the texts in \`messages.${lang}\`.`,
  }
}

function strategyOf({ app }: Context): string {
  return app.config.session.strategy ?? (app.store ? 'database' : 'jwt')
}

function describeFindings(
  {
    file,
    plugins,
    providers,
    services,
    routes,
    findings,
  }: {
    file: string
    plugins: { name: string; layer: string }[]
    providers: { id: string; type: string; callbackUrl: string }[]
    services: Record<string, string>
    routes: unknown[]
    findings: Finding[]
  },
  isGuess: boolean,
  strategy: string,
  { strong, faint, good, bad, warn }: Paint,
): string[] {
  const section = (title: string, lines: string[]): string[] => ['', strong(title), ...lines.map((line) => `  ${line}`)]
  const owners = Object.entries(services).map(([service, plugin]) => [service, faint(plugin)])
  return [
    `${strong('authkernel doctor')} ${faint(file)}`,
    ...section('Plugins', [plugins.map(({ name, layer }) => (layer === 'preset' ? faint(name) : name)).join(', ') || 'none']),
    ...section('Services', table(owners)),
    ...section('Sessions', [`${strategy}; ${routes.length} routes (authkernel routes lists them)`]),
    ...section(
      isGuess
        ? 'Providers and the callback URLs to register (replace the host, or give --origin)'
        : 'Providers and the callback URLs to register',
      providers.length > 0 ? table(providers.map(({ id, type, callbackUrl }) => [id, type, callbackUrl])) : ['none'],
    ),
    ...section(
      'Findings',
      findings.length === 0
        ? [good('nothing to change')]
        : findings.map(({ level, code, message }) => `${(level === 'error' ? bad : warn)(level)} ${message} ${faint(`[${code}]`)}`),
    ),
  ]
}

/**
 * What the health checks say: the store, the mail server, the clock, keys, and checks of the host. With `healthPlugin` its checks, else those that need no
 * plugin. Issuers are asked by the command itself.
 */
async function askHealth(auth: Auth, ctx: Context): Promise<Finding[]> {
  const { health } = auth as Auth<Partial<HealthApi>>
  const checks: readonly HealthCheck[] = health ? (await health.check()).checks : await healthChecks(ctx, {}, ['issuer'])
  return checks.flatMap(({ name, status, message = 'failed' }): Finding[] => {
    if (status === 'pass' || name.startsWith('issuer:')) return []
    return [{ level: status === 'fail' ? 'error' : 'warning', code: 'health', message: `${name}: ${message}` }]
  })
}

function isAtRoot({ at, method }: RouteInfo): boolean {
  return at === 'root' && method === 'GET'
}
