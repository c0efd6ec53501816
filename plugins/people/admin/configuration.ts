/** The configuration as `auth.inspect()` tells it, with warnings, and without secrets. */
import type { AnyContext, Inspection, Kernel } from 'authkernel/kernel'

/** One thing to look at. */
export interface ConfigurationWarning {
  /** `texts-missing`, `state-per-process`. */
  code: string
  /** What it means, and what to do. In English: it is for developers. */
  text: string
}
/** What `getConfiguration` answers. */
export interface Configuration {
  /** Options that are no secret. */
  options: {
    origin: string | null
    basePath: string
    sessionStrategy: string
    sessionMaxAge: number
    secureCookies: boolean | null
    debug: boolean
  }
  plugins: Inspection['plugins']
  providers: Inspection['providers']
  routes: Inspection['routes']
  services: Inspection['services']
  records: Inspection['records']
  sealed: Inspection['sealed']
  warnings: ConfigurationWarning[]
}

export function readConfiguration(kernel: Kernel, ctx: AnyContext): Configuration {
  const found = kernel.inspect()
  const { plugins, providers, routes, services, records, sealed } = found
  const { config } = ctx.app
  const options = {
    origin: ctx.settings.origin ?? null,
    basePath: ctx.settings.basePath,
    sessionStrategy: String(config.session.strategy ?? 'default'),
    sessionMaxAge: config.session.maxAge,
    secureCookies: config.useSecureCookies ?? null,
    debug: config.debug === true,
  }
  return { options, plugins, providers, routes, services, records, sealed, warnings: warningsOf(ctx, found) }
}

function warningsOf(ctx: AnyContext, { fault, gaps }: Inspection): ConfigurationWarning[] {
  const { config, services, store } = ctx.app
  const warnings: ConfigurationWarning[] = []
  const warn = (applies: boolean, code: string, text: string): void => {
    if (applies) warnings.push({ code, text })
  }
  warn(fault !== undefined, 'fault', String(fault))
  for (const { plugin, lang, keys } of gaps)
    warnings.push({ code: 'texts-missing', text: `Plugin "${plugin}" lacks ${keys.length} texts in "${lang}". English is shown there.` })
  warn(config.debug === true, 'debug', 'The option `debug` is on. Turn it off in production.')
  warn(
    ctx.once.shared !== true,
    'state-per-process',
    'Single use is checked in each process alone. Use an adapter with `once`, such as sqlAdapter.',
  )
  warn(
    services.records?.shared === false,
    'records-per-process',
    'Records are kept in one process. Use sqlAdapter or unstorageAdapter with Redis.',
  )
  warn(services.auditLog === undefined, 'no-audit', 'No audit log can be read here. Use auditPlugin with recordsSink().')
  warn(services.mailTransport === undefined, 'no-mail', 'No mail transport is configured, so that no mail can be sent.')
  warn(store?.supports('searchUsers') === false, 'no-search', 'The adapter has no searchUsers(): only the first 10,000 users are searched.')
  warn(
    ctx.settings.origin?.startsWith('http:') === true,
    'no-https',
    'The origin is http. Browsers send passwords and cookies in clear text.',
  )
  return warnings
}
