/** What one compilation collects: registrations with their owners, rejected when they clash. */
import type { Ending, EndStep } from '../contract/access.ts'
import type { AnyContext } from '../contract/context.ts'
import type { CookieHandle } from '../contract/cookie.ts'
import type { Awaitable, CookiesOptions } from '../contract/data.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider } from '../contract/provider.ts'
import type { RecordSpec } from '../contract/records.ts'
import type { Observer } from '../contract/observer.ts'
import type { HandlerPlace, OptionalRecord } from '../contract/plugin.ts'
import type { Route } from '../contract/route.ts'
import type { CompileView, Services } from '../contract/services.ts'
import type { SessionAbility, SessionStrategy } from '../contract/session.ts'
import type { Settings } from '../contract/config.ts'
import { AuthError } from '../errors/index.ts'
import { type DeclaredRecord, declareRecord } from '../store/record-spec.ts'
import { HookBus, type Verb } from './hooks.ts'
import { PageRegistry } from './page-parts.ts'

/** What `kernel.onAccessEnd` was given. */
export type EndHandler = (ctx: AnyContext, ending: Ending) => Awaitable<number | undefined | void>
/** Something and the plugin that registered it. */
export interface OwnedBy<T> {
  value: T
  owner: string
}
/** A strategy as a plugin registered it. */
export interface NamedStrategy {
  name: string
  make(view: CompileView): SessionStrategy
  suits: ((view: CompileView) => boolean) | undefined
  /** How a host gets an ability: what comes after "Use". */
  remedies: Readonly<Partial<Record<SessionAbility, string>>> | undefined
  owner: string
  rank: Rank
}
/** What `kernel.decorate` was given. */
export type Decorator = (inner: never, view: CompileView) => object
/** Who comes first when a service has several candidates: what a plugin of the host gives, a fallback, the kernel's own. */
export type Rank = 'explicit' | 'fallback' | 'last'
type Candidate = OwnedBy<unknown> & { rank: Rank }

/** What `kernel.credential` was given. */
export interface Credential {
  readonly read: (headers: Headers) => string | undefined
  readonly header: string
}

export class Draft {
  /** Names of all plugins that are there. */
  readonly plugins: ReadonlySet<string>
  readonly bus: HookBus = new HookBus()
  readonly parts: PageRegistry = new PageRegistry()
  readonly routes: OwnedBy<Route>[] = []
  readonly providers: (OwnedBy<Provider | (() => Provider)> & { fallback?: boolean })[] = []
  readonly ownCookies: Map<string, OwnedBy<CookieHandle>> = new Map()
  readonly records: Map<string, DeclaredRecord & Pick<OwnedBy<RecordSpec>, 'owner'>> = new Map()
  readonly optionalRecords: { name: string; spec: RecordSpec; owner: string; when: OptionalRecord['when'] }[] = []
  readonly strategies: NamedStrategy[] = []
  readonly sessionKinds: Map<string, string> = new Map()
  readonly decorators: (OwnedBy<Decorator> & { name: string })[] = []
  readonly endSteps: { step: EndStep; end: EndHandler; owner: string }[] = []
  readonly eventOwners: Set<string> = new Set()
  readonly observers: Observer[] = []
  readonly credentials: Credential[] = []
  readonly preloads: (() => Promise<unknown>)[] = []
  readonly handlers: ({ kind: 'hook' | 'on'; name: string; owner: string; of?: string | readonly string[] } & HandlerPlace)[] = []
  readonly #types: Map<string, OwnedBy<ProviderFlow<Provider>> & { fallback: boolean }> = new Map()
  readonly #services: Map<string, Candidate[]> = new Map()
  readonly #hooks: Map<string, string> = new Map()
  readonly #providerOwners: Map<string, string> = new Map()
  readonly serviceOwners: Map<string, string> = new Map()
  settings: Partial<Settings> = {}
  cookies: Partial<CookiesOptions> = {}
  trustProxyFollowsHost = false

  constructor(plugins: Iterable<string> = []) {
    this.plugins = new Set(plugins)
  }

  declareHook(name: string, verb: Verb, carry: string | undefined, owner: string): void {
    const other = this.#hooks.get(name)
    if (other !== undefined || this.bus.specs().has(name)) {
      throw new AuthError(
        `The hook "${name}" of plugin "${owner}" is taken by ${other === undefined ? 'the kernel' : `plugin "${other}"`}.`,
      )
    }
    if (!['guard', 'first', 'pipe'].includes(verb))
      throw new AuthError(`The hook "${name}" of plugin "${owner}" has the kind ${JSON.stringify(verb)}. Known: "guard", "first", "pipe".`)
    if (verb === 'pipe' && !carry)
      throw new AuthError(`The hook "${name}" of plugin "${owner}" is a pipe and must name the field it carries.`)
    this.#hooks.set(name, owner)
    this.bus.declare(name, carry === undefined ? { verb } : { verb, carry })
  }

  /** Several plugins may tell the same. */
  declareEvents(names: readonly string[], owner: string): void {
    this.eventOwners.add(owner)
    for (const name of names) this.bus.events.add(name)
  }

  /** A name belongs to one plugin; the same handle again is the same cookie. */
  cookie(handle: CookieHandle, owner: string): void {
    const { name } = handle.spec
    const other = this.ownCookies.get(name)
    if (other && other.value !== handle)
      throw new AuthError(`The cookie "${name}" of plugin "${owner}" is also one of plugin "${other.owner}". Give it another name.`)
    if (['session-token', 'callback-url', 'csrf-token'].includes(name))
      throw new AuthError(`The cookie "${name}" of plugin "${owner}" is one of the kernel. Give it another name.`)
    this.ownCookies.set(name, { value: handle, owner })
  }

  /** A kind belongs to one plugin: it answers for the sessions. */
  sessionKind(kind: string, owner: string): void {
    if (!/^[a-z]{1,16}$/.test(kind))
      throw new AuthError(`Plugin "${owner}": a kind of session is 1 to 16 lower-case letters, not ${JSON.stringify(kind)}.`)
    const other = this.sessionKinds.get(kind)
    if (other !== undefined && other !== owner)
      throw new AuthError(`The kind of session "${kind}" of plugin "${owner}" is declared by plugin "${other}". Give it another name.`)
    this.sessionKinds.set(kind, owner)
  }

  /** A record belongs to one plugin; the same object again is the same record. */
  record<T>(name: string, declared: RecordSpec<T>, owner: string): void {
    const spec = declared as RecordSpec
    const other = this.records.get(name)
    if (other?.spec === spec) return
    if (other)
      throw new AuthError(`The record "${name}" of plugin "${owner}" is declared by plugin "${other.owner}". Give it another name.`)
    this.records.set(name, { ...declareRecord(name, spec), owner })
  }

  /** Declares the optional ones that are wanted: after all plugins had their say. */
  settleRecords(requires: CompileView['requires']): void {
    if (!this.#services.has('records')) return
    const facts = { needsTables: this.#recordsNeedTables() }
    for (const { name, spec, owner, when } of this.optionalRecords) if (when?.(requires, facts) ?? true) this.record(name, spec, owner)
  }

  handler(
    kind: 'hook' | 'on',
    name: string,
    handler: (message: never) => unknown,
    owner: string,
    { of, ...options }: HandlerPlace & { reads?: boolean; last?: boolean; of?: string | readonly string[] } = {},
  ): void {
    // What an absent plugin would ask or tell.
    if (of !== undefined && ![of].flat().some((plugin) => this.plugins.has(plugin))) return
    this.bus.add(kind, name, handler as (message: object) => unknown, owner, options)
    const { before, after } = options
    this.handlers.push({ kind, name, owner, before, after, ...(of !== undefined && { of }) })
  }

  /** Whether a new record needs a migration, as far as the store can be seen before services are made. */
  #recordsNeedTables(): boolean {
    const stores = (this.#services.get('records') ?? []).map(({ value }) => value)
    return stores.some((store) => typeof store !== 'object' || store === null || 'missing' in store)
  }

  providerType(type: string, flow: ProviderFlow<Provider>, owner: string, fallback: boolean): void {
    const { GET, POST } = flow.callback ?? {}
    if ((GET !== undefined && GET !== false) || ![undefined, 'token', 'csrf', 'crossSite', false].includes(POST))
      throw new AuthError(
        `The provider type "${type}" of plugin "${owner}" has the wrong \`callback\`: GET may be false, POST "token", "crossSite" or false.`,
      )
    const known = this.#types.get(type)
    if (known && fallback) return
    if (known && known.value !== flow && !known.fallback) {
      throw new AuthError(
        `The provider type "${type}" is registered by plugin "${known.owner}" and differently by plugin "${owner}". Use one of them.`,
      )
    }
    if (!known || known.fallback) this.#types.set(type, { value: flow, owner, fallback })
  }

  /** First segments of the paths that exist with a provider and without one. */
  providerPaths(): ReadonlySet<string> {
    const paths = new Set(this.routes.map(({ value: { path } }) => path))
    const named = [...paths].flatMap((path) => /^\/([^/:*]+)\/:provider$/.exec(path)?.[1] ?? [])
    return new Set(named.filter((segment) => paths.has(`/${segment}`)))
  }

  types(): ReadonlyMap<string, ProviderFlow<Provider>> {
    return new Map([...this.#types].map(([type, { value }]) => [type, value]))
  }

  /** Throws on a second provider of one id (D49). */
  claimProvider(providers: Map<string, Provider>, provider: Provider, owner: string): void {
    const other = this.#providerOwners.get(provider.id)
    if (other !== undefined) {
      throw new AuthError(
        `The provider id "${provider.id}" is used by plugin "${other}" and again by plugin "${owner}". Give one of them another \`id\`.`,
      )
    }
    this.#providerOwners.set(provider.id, owner)
    providers.set(provider.id, provider)
  }

  provide(name: string, service: unknown, rank: Rank, owner: string): void {
    const candidates = this.#services.get(name)
    const candidate = { value: service, owner, rank }
    // Two plugins made by one factory bring the same thing.
    if (candidates?.some(({ value, rank: other }) => value === service && other === rank)) return
    if (candidates) candidates.push(candidate)
    else this.#services.set(name, [candidate])
  }

  serviceNames(): (keyof Services)[] {
    return [...this.#services.keys()] as (keyof Services)[]
  }

  /** The one candidate that steps forward; explicit beats fallback. Throws when two remain. */
  service(name: string, view: CompileView): unknown {
    for (const rank of ['explicit', 'fallback', 'last'] satisfies Rank[]) {
      const remaining = (this.#services.get(name) ?? [])
        .filter((candidate) => candidate.rank === rank)
        .map(({ value, owner }) => ({
          owner,
          value: typeof value === 'function' ? runFactory(name, owner, value as (view: CompileView) => unknown, view) : value,
        }))
        .filter(({ value }) => value !== undefined)
      const [chosen, other] = remaining
      if (chosen && other) {
        throw new AuthError(
          `The service "${name}" is provided by plugin "${chosen.owner}" and by plugin "${other.owner}". Remove one of them.`,
        )
      }
      if (chosen) {
        this.serviceOwners.set(name, chosen.owner)
        return chosen.value
      }
    }
    return undefined
  }
}

/** What a factory makes; undefined: it declines. What it throws names the plugin. */
function runFactory(service: string, owner: string, factory: (view: CompileView) => unknown, view: CompileView): unknown {
  let value: unknown
  try {
    value = factory(view)
  } catch (error) {
    if (error instanceof AuthError) throw error
    const { message } = error instanceof Error ? error : { message: String(error) }
    throw new AuthError(`Plugin "${owner}" could not make its service "${service}": ${message}`, { cause: { err: error as Error } })
  }
  if (value === null || value instanceof Promise)
    throw new AuthError(
      `Plugin "${owner}" made its service "${service}" of ${value === null ? 'null' : 'a promise'}: return the service at once, or undefined to decline.`,
    )
  return value
}
