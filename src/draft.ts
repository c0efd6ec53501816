/** What one compilation collects: registrations with their owners, refused when they clash. */
import { AuthError } from './errors.ts'
import type { Provider, ProviderFlow } from './flow.ts'
import { HookBus, type Verb } from './hooks.ts'
import type { Settings } from './messages.ts'
import type { CompileView } from './compile.ts'
import type { Route } from './plugin.ts'
import type { Services } from './services.ts'
import type { CookiesOptions } from './types.ts'

/** Something and the plugin that registered it. */
export interface Owned<T> {
  value: T
  owner: string
}
/** Who comes first when a service has several candidates: what a plugin of the host gives, a fallback, the kernel's own. */
export type Rank = 'explicit' | 'fallback' | 'kernel'
type Candidate = Owned<unknown> & { rank: Rank }

export class Draft {
  readonly bus: HookBus = new HookBus()
  readonly routes: Owned<Route>[] = []
  readonly providers: Owned<Provider | (() => Provider)>[] = []
  readonly handlers: { kind: 'hook' | 'on'; name: string; owner: string }[] = []
  readonly #types: Map<string, Owned<ProviderFlow<never>> & { fallback: boolean }> = new Map()
  readonly #services: Map<string, Candidate[]> = new Map()
  readonly #decisions: Map<string, string> = new Map()
  readonly #providerOwners: Map<string, string> = new Map()
  readonly serviceOwners: Map<string, string> = new Map()
  settings: Partial<Settings> = {}
  cookies: Partial<CookiesOptions> = {}
  trustProxyFollowsHost = false

  decision(name: string, verb: Verb, carry: string | undefined, owner: string): void {
    const other = this.#decisions.get(name)
    if (other !== undefined || this.bus.specs().has(name)) {
      throw new AuthError(
        `The decision "${name}" of plugin "${owner}" is taken by ${other === undefined ? 'the kernel' : `plugin "${other}"`}.`,
      )
    }
    if (verb === 'pipe' && !carry)
      throw new AuthError(`The decision "${name}" of plugin "${owner}" is a pipe and must name the field it carries.`)
    this.#decisions.set(name, owner)
    this.bus.decision(name, carry === undefined ? { verb } : { verb, carry })
  }

  handler(kind: 'hook' | 'on', name: string, handler: (message: never) => unknown, owner: string): void {
    this.bus.add(kind, name, handler as (message: object) => unknown, owner)
    this.handlers.push({ kind, name, owner })
  }

  providerType(type: string, flow: ProviderFlow<never>, owner: string, fallback: boolean): void {
    const known = this.#types.get(type)
    if (known && fallback) return
    if (known && known.value !== flow && !known.fallback) {
      throw new AuthError(
        `The provider type "${type}" is registered by plugin "${known.owner}" and differently by plugin "${owner}". Use one of them.`,
      )
    }
    if (!known || known.fallback) this.#types.set(type, { value: flow, owner, fallback })
  }

  types(): ReadonlyMap<string, ProviderFlow<never>> {
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
    if (candidates) candidates.push(candidate)
    else this.#services.set(name, [candidate])
  }

  serviceNames(): (keyof Services)[] {
    return [...this.#services.keys()] as (keyof Services)[]
  }

  /** The one candidate that steps forward; explicit beats fallback. Throws when two remain. */
  service(name: string, view: CompileView): unknown {
    for (const rank of ['explicit', 'fallback', 'kernel'] satisfies Rank[]) {
      const remaining = (this.#services.get(name) ?? [])
        .filter((candidate) => candidate.rank === rank)
        .map(({ value, owner }) => ({
          owner,
          value: typeof value === 'function' ? (value as (view: CompileView) => unknown)(view) : value,
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
