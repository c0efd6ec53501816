/** Turns registrations into one frozen snapshot and checks it; the only place where plugins can conflict. */
import type { Store } from './adapter.ts'
import { merge, type ProviderInput, type ResolvedConfig } from './config.ts'
import { type CookieSet, createCookieSets } from './cookies.ts'
import { checkSnapshot } from './checks.ts'
import { Draft } from './draft.ts'
import { AuthError, InvalidProvider } from './errors.ts'
import type { Provider, ProviderFlow } from './flow.ts'
import type { HookBus } from './hooks.ts'
import type { Settings } from './messages.ts'
import { createAddresses, flowOf, normaliseProvider, suffixesOf } from './providers.ts'
import type { Record as PluginRecord } from './registry.ts'
import { createRoutes, type Routes } from './router.ts'
import type { Services } from './services.ts'
import type { Shared } from './shared.ts'

/** What a service factory may look at. */
export interface CompileView {
  readonly config: ResolvedConfig
  /** The configured strategy, else `database` with a store, else `jwt` (row 29). */
  readonly strategy: 'jwt' | 'database'
  readonly shared: Shared
  /** Another service, or undefined; a circle is an error. */
  service<K extends keyof Services>(name: K): Services[K] | undefined
}

/** One frozen snapshot: what requests read. */
export interface Compiled {
  readonly config: ResolvedConfig
  readonly settings: Settings
  readonly shared: Shared
  readonly bus: HookBus
  readonly routes: Routes
  readonly services: Partial<Services>
  readonly store: Store | undefined
  readonly providers: ReadonlyMap<string, Provider>
  readonly flows: ReadonlyMap<string, ProviderFlow<never>>
  /** Cookies of a request's settings, for http or https. */
  cookies(settings: Settings, secure: boolean): CookieSet
  /** The provider with the URLs of a base. */
  addressed(provider: Provider, base: string): Provider
  /** A provider that came at run time: normalised and checked once per object. Throws its configuration error. */
  dynamic(provider: Provider): Provider
  /** Who registered what, for `inspect()`. */
  readonly draft: Draft
  /** The first configuration mistake; no request is served until it is gone. */
  readonly fault: AuthError | undefined
}

/** Replays all records, in their order, into a new snapshot. Never throws: what is wrong is in `fault`. */
export function compile(records: readonly PluginRecord[], config: ResolvedConfig, shared: Shared, baseSettings: Settings): Compiled {
  const draft = new Draft()
  const faults: AuthError[] = []
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      faults.push(error instanceof AuthError ? error : new AuthError(error instanceof Error ? error : String(error)))
      return undefined
    }
  }
  for (const record of records) for (const step of record.steps) attempt(() => step(draft))

  const resolved = withDefaults(config, draft)
  const settings = Object.freeze({ ...baseSettings, ...draft.settings, ...hostSettings(config) })
  const flows = draft.types()
  const normalise = (provider: ProviderInput): Provider => {
    const written = typeof provider === 'function' ? provider({}) : provider
    if (typeof written !== 'object' || written === null)
      throw new InvalidProvider(`\`providers\` has an entry that is ${String(written)}: leave it out, or give a provider.`)
    return Object.freeze(normaliseProvider(written, resolved.env, suffixesOf(flows.get(written.type))))
  }
  const providers = new Map<string, Provider>()
  for (const { value, owner } of draft.providers) {
    const provider = attempt(() => normalise(value))
    if (provider) attempt(() => draft.claimProvider(providers, provider, owner))
  }
  const services = resolveServices(draft, resolved, shared, attempt)
  const routes = attempt(() => createRoutes(draft.routes)) ?? createRoutes([])
  const known = new WeakMap<Provider, Provider>()
  const snapshot = {
    config: resolved,
    settings,
    shared,
    bus: draft.bus,
    routes,
    services,
    store: services.store,
    providers,
    flows,
    cookies: createCookieSets(resolved.cookies),
    addressed: createAddresses(),
    dynamic(provider: Provider): Provider {
      const existing = known.get(provider)
      if (existing) return existing
      const checked = normalise(provider)
      flowOf(flows, checked.type).validate?.(checked as never, [checked], resolved)
      known.set(provider, checked)
      return checked
    },
    draft,
  }
  attempt(() => checkSnapshot(snapshot, records))
  return Object.freeze({ ...snapshot, fault: faults[0] })
}

function withDefaults(config: ResolvedConfig, draft: Draft): ResolvedConfig {
  const cookies = merge(config.cookies, draft.cookies)
  const trustProxy = config.trustProxy ?? (draft.trustProxyFollowsHost && config.trustHost)
  return Object.freeze({ ...config, cookies, trustProxy })
}

/** What the host said itself stands above what a plugin suggests. */
function hostSettings({ secret, origin }: ResolvedConfig): Partial<Settings> {
  return { ...(secret.length > 0 && { secret }), ...(origin && { origin }) }
}

function resolveServices(
  draft: Draft,
  config: ResolvedConfig,
  shared: Shared,
  attempt: <T>(work: () => T) => T | undefined,
): Partial<Services> {
  const done = new Map<string, unknown>()
  const running: string[] = []
  const view: CompileView = {
    config,
    shared,
    get strategy() {
      return config.session.strategy ?? (view.service('store') ? 'database' : 'jwt')
    },
    service<K extends keyof Services>(name: K): Services[K] | undefined {
      if (done.has(name)) return done.get(name) as Services[K] | undefined
      if (running.includes(name)) throw new AuthError(`The services ${[...running, name].join(' -> ')} wait for each other.`)
      running.push(name)
      try {
        const service = draft.service(name, view)
        done.set(name, service)
        return service as Services[K] | undefined
      } finally {
        running.pop()
      }
    },
  }
  for (const name of draft.serviceNames()) attempt(() => view.service(name))
  return Object.fromEntries([...done].filter(([, service]) => service !== undefined)) as Partial<Services>
}
