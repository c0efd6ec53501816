/** Turns registrations into one frozen snapshot and checks it; the only place where plugins can conflict. */

import type { ProviderInput, ResolvedConfig, Settings } from '../contract/config.ts'
import type { Observer } from '../contract/observer.ts'
import type { Provider } from '../contract/provider.ts'
import type { SharedState } from '../contract/services.ts'
import type { RecordSpec } from '../contract/records.ts'
import { AuthError, InvalidProvider } from '../errors/index.ts'
import { createCookieSets } from '../http/cookie-set.ts'
import { merge, assertSecrets } from '../options/config.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { createAddresses, flowOf, normaliseProvider, suffixesOf } from '../options/providers.ts'
import { lazily } from '../runtime/lazy.ts'
import { sharedMoments } from '../runtime/shared.ts'
import { Draft } from './draft.ts'
import type { Registration, Step } from './registration.ts'
import { createRoutes, noRoutes } from './router.ts'
import { resolveServices } from './services.ts'
import type { Snapshot } from './snapshot.ts'

// What is wrong with options is found before the first request; registering needs none of it.
const checks = /* @__PURE__ */ lazily(() => import('./validate-options.ts'))

/** Replays all records, in their order, and then `closing`, into a new snapshot. Never throws: what is wrong is in `fault`, more of it after `check`. */
export function compileSnapshot(
  records: readonly Registration[],
  config: ResolvedConfig,
  shared: SharedState,
  baseSettings: Settings,
  closing: Step = () => {},
): Snapshot {
  const draft = new Draft(records.filter(({ layer }) => layer !== 'host').map(({ name }) => name))
  const faults: AuthError[] = []
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      faults.push(asFault(error))
      return undefined
    }
  }
  for (const record of records) for (const step of record.steps) attempt(() => step(draft))
  const required = new Set<string>(records.flatMap(({ requires, prefers }) => [...requires, ...prefers]))
  const requires = (requirement: string): boolean => required.has(requirement)
  attempt(() => draft.settleRecords(requires))
  attempt(() => closing(draft))
  attempt(() => draft.bus.arrange())

  const resolved = withDefaults(config, draft)
  for (const observer of draft.observers) draft.bus.observe(observer)
  const settings = Object.freeze({ ...baseSettings, ...draft.settings, ...hostSettings(config) })
  const flows = draft.types()
  const normalise = (provider: ProviderInput): Provider => {
    const written = typeof provider === 'function' ? provider({}) : provider
    if (typeof written !== 'object' || written === null)
      throw new InvalidProvider(`\`providers\` has an entry that is ${String(written)}: leave it out, or give a provider.`)
    checkOptionNames(written, flows.get(written.type))
    return Object.freeze(normaliseProvider(written, resolved.env, suffixesOf(flows.get(written.type))))
  }
  const providers = new Map<string, Provider>()
  for (const { value, owner, fallback } of [...draft.providers].sort((a, b) => Number(a.fallback ?? false) - Number(b.fallback ?? false))) {
    const provider = attempt(() => normalise(value))
    if (fallback && [...providers.values()].some(({ type }) => type === provider?.type)) continue
    if (provider) attempt(() => draft.claimProvider(providers, provider, owner))
  }
  const { services, scopeTo } = resolveServices(draft, resolved, shared, { providers, requires }, attempt)
  const owned = [...draft.records.values()].some(({ stored }) => stored.owner !== undefined)
  if (owned && services.store && services.records && !services.records.erases)
    attempt(() => draft.record('erasure', erasureRecord, 'kernel'))
  attempt(() => services.records?.define([...draft.records.values()].map(({ stored }) => stored)))
  // Tenants bring their own secrets, checked when they come.
  if (settings.secret.length > 0 || !draft.bus.has('hook', 'settings')) attempt(() => assertSecrets(settings.secret))
  const routes = attempt(() => createRoutes(draft.routes)) ?? noRoutes
  const known = new WeakMap<Provider, Provider>()
  const app = {
    config: resolved,
    settings,
    providers,
    routes,
    parts: draft.parts.parts(),
    mailTemplates: draft.parts.templates(),
    services,
    store: services.store,
    sessionKinds: new Set(draft.sessionKinds.keys()),
    plugins: records.filter(({ layer }) => layer !== 'host').map(({ name }) => name),
    shared,
  }
  const inner = {
    scoped: scopeTo,
    moments: sharedMoments(shared, resolved.runtime),
    watchesStore:
      draft.records.has('erasure') ||
      draft.records.has('access') ||
      draft.bus.has('hook', 'login') ||
      draft.bus.has('hook', 'deleteUser') ||
      draft.bus.has('on', 'deleteUser') ||
      draft.bus.has('on', 'unlinkAccount'),
    required,
    providerPaths: draft.providerPaths(),
    records: draft.records,
    bus: draft.bus,
    observers: draft.observers,
    credentials: draft.credentials,
    endSteps: draft.endSteps,
    flows,
    cookies: createCookieSets(
      resolved.cookies,
      [...draft.ownCookies.values()].map(({ value }) => value.spec),
    ),
    addressed: createAddresses(),
    async dynamic(provider: Provider): Promise<Provider> {
      const existing = known.get(provider)
      if (existing) return existing
      const checked = normalise(provider)
      await flowOf(flows, checked.type).validate?.(checked, [checked], resolved)
      known.set(provider, checked)
      return checked
    },
    draft,
  }
  const found: { fault: AuthError | undefined; checked: boolean } = { fault: faults[0], checked: false }
  const check = lazily(async () => {
    const { checkSnapshot } = await checks()
    try {
      if (!found.fault) await checkSnapshot({ ...app, ...inner }, records)
    } catch (error) {
      found.fault ??= asFault(error)
    }
    found.checked = true
    return found
  })
  const view = Object.freeze(withFault(app, found))
  return Object.freeze(withFault({ ...app, view, ...inner, found, check }, found))
}

/** It may be found after the snapshot was frozen, by the first request. */
function withFault<T extends object>(object: T, found: Snapshot['found']): T & Pick<Snapshot, 'fault'> {
  return Object.defineProperty(object, 'fault', { get: () => found.fault, enumerable: true }) as T & Pick<Snapshot, 'fault'>
}

function asFault(error: unknown): AuthError {
  return error instanceof AuthError ? error : new AuthError(error instanceof Error ? error : String(error))
}

function withDefaults(config: ResolvedConfig, draft: Draft): ResolvedConfig {
  const cookies = merge(config.cookies, draft.cookies)
  const trustProxy = config.trustProxy ?? (draft.trustProxyFollowsHost && config.trustHost === true)
  const { observers } = draft
  const runtime = observers.some(({ fetch }) => fetch)
    ? { ...config.runtime, fetch: observeFetch(config.runtime.fetch, observers) }
    : config.runtime
  return Object.freeze({ ...config, cookies, trustProxy, runtime })
}

function observeFetch(fetch: typeof globalThis.fetch, observers: readonly Observer[]): typeof globalThis.fetch {
  return observers.reduceRight<typeof fetch>((send, { fetch: see }) => (see ? (input, init) => see(input, init, send) : send), fetch)
}

/** What the host said itself stands above what a plugin suggests. */
function hostSettings({ secret, origin }: ResolvedConfig): Partial<Settings> {
  return { ...(secret.length > 0 && { secret }), ...(origin && { origin }) }
}

export interface Erasure extends Record<string, unknown> {
  /** The tenant: all of them are found in one list. */
  tenant: string
  userId: string
  at: Date
}

/** What a crash left is finished by the clean-up. */
export const erasureRecord: RecordSpec<Erasure> = {
  fields: { tenant: { type: 'string', max: 32 }, userId: { type: 'text' }, at: { type: 'date' } },
  id: 'given',
}
