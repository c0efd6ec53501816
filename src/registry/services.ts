/** Which service a name stands for, with its decorators, for each tenant. */
import type { ResolvedConfig } from '../contract/config.ts'
import type { CompileView, Limit, Once, Services, SharedState } from '../contract/services.ts'
import type { SessionStrategy } from '../contract/session.ts'
import { AuthError } from '../errors/index.ts'
import { createLimit, setBounded } from '../runtime/shared.ts'
import { lazily, lazyObject } from '../runtime/lazy.ts'
import type { Draft } from './draft.ts'
import { overlay } from './overlay.ts'
import { chooseStrategy, assertAbilities } from './strategies.ts'
import { encodeKey } from '../store/namespaces.ts'

/** The services of one snapshot. */
export interface ServiceSet {
  /** Of the default namespace. */
  readonly services: Readonly<Partial<Services>>
  /** Of one tenant: what stores something stores it apart. */
  scopeTo(namespace: string): Readonly<Partial<Services>>
}
type Members = Record<string, unknown>

const maxNamespaces = 1_000
// Loaded by the first attempt that is counted.
const steady = /* @__PURE__ */ lazily(() => import('../store/steady-limit.ts'))

/** Chooses, then decorates in the order of `use()`. Mistakes go to `attempt`. */
export function resolveServices(
  draft: Draft,
  config: ResolvedConfig,
  shared: SharedState,
  { providers, requires }: Pick<CompileView, 'providers' | 'requires'>,
  attempt: <T>(work: () => T) => T | undefined,
): ServiceSet {
  const chosen: Members = {}
  const hasTenants = draft.bus.has('hook', 'settings') || draft.bus.has('hook', 'tenant')
  const done = new Map<string, unknown>()
  const running: string[] = []
  const view: CompileView = {
    config,
    shared,
    providers,
    records: new Map([...draft.records].map(([name, { spec }]) => [name, spec])),
    requires,
    service<K extends keyof Services>(name: K): Services[K] | undefined {
      if (done.has(name)) return done.get(name) as Services[K] | undefined
      if (running.includes(name)) throw new AuthError(`The services ${[...running, name].join(' -> ')} wait for each other.`)
      running.push(name)
      try {
        const given = draft.service(name, view) ?? (name === 'session' ? strategy() : undefined)
        chosen[name] = withFallback(name, name === 'store' && hasTenants ? apartFromTenants(given) : given, view)
        const service = decorateService(name, chosen[name] && withKeys(name, chosen[name], ''))
        done.set(name, service)
        return service as Services[K] | undefined
      } finally {
        running.pop()
      }
    },
  }
  // What a plugin provides by hand goes before what is registered by name.
  const strategy = (): SessionStrategy | undefined => {
    const named = chooseStrategy(draft.strategies, view)
    if (named) draft.serviceOwners.set('session', named.owner)
    return named && assertAbilities(named.make(view), named)
  }
  const decorateService = (name: string, service: unknown): unknown =>
    service === undefined
      ? undefined
      : draft.decorators
          .filter((decorator) => decorator.name === name)
          // The name says the type of the service.
          .reduce((inner, { value }) => overlay(inner, value(inner as never, view) as object), service as object)

  for (const name of new Set<keyof Services>([...draft.serviceNames(), 'session'])) attempt(() => view.service(name))
  const services = Object.fromEntries([...done].filter(([, service]) => service !== undefined)) as Partial<Services>
  const scopes = new Map<string, Partial<Services>>()
  return {
    services,
    scopeTo(namespace) {
      if (namespace === '') return services
      const known = scopes.get(namespace)
      if (known) return known
      const own = Object.entries(services as Members).map(([name, service]) => {
        const apart = scopeService(name, chosen[name], namespace)
        return [name, apart === undefined ? service : decorateService(name, apart)]
      })
      return setBounded(scopes, namespace, Object.freeze(Object.fromEntries(own)) as Partial<Services>, maxNamespaces)
    },
  }
}

/** The store of the default namespace, which does not reach into the others: it looks whose a user is, which costs a query where ids are given. */
function apartFromTenants(store: unknown): unknown {
  const { namespaced } = Object(store) as { namespaced?: (namespace: string) => unknown }
  return typeof namespaced === 'function' ? namespaced.call(store, '') : store
}

/** A limit whose store is away still limits. */
function withFallback(name: string, service: unknown, { config, shared }: CompileView): unknown {
  if (name !== 'limit' || service === undefined) return service
  const { logger, deadlines, runtime } = config
  return lazyObject(['take', 'refund'], steady, ({ steadyLimit }) =>
    steadyLimit(service as Limit, { local: createLimit(runtime, shared), logger, deadline: deadlines.store }),
  )
}

/** The service for one tenant; undefined: it stores nothing, and is the same for all. */
function scopeService(name: string, service: unknown, namespace: string): unknown {
  const { namespaced } = service as { namespaced?: (namespace: string) => unknown }
  if (typeof namespaced === 'function') return namespaced.call(service, namespace)
  if (name === 'store') throw new AuthError('The service "store" knows no tenants: make it with createStore() or adapterPlugin().')
  const own = withKeys(name, service, namespace)
  return own === service ? undefined : own
}

/** The service for one namespace: keys carry the tenant, as values in the store do. The same object where a service has no keys. */
function withKeys(name: string, service: unknown, namespace: string): unknown {
  const key = (plain: string): string => encodeKey(namespace, plain)
  if (name === 'once') {
    const once = service as Once
    return overlay<Once>(once, { take: (plain, seconds) => once.take(key(plain), seconds), taken: (plain) => once.taken(key(plain)) })
  }
  if (name === 'limit') {
    const limit = service as Limit
    return overlay<Limit>(limit, { take: (plain, rule) => limit.take(key(plain), rule), refund: (plain) => limit.refund(key(plain)) })
  }
  return service
}
