/** What requests and jobs have in common, and the context of a job. */
import type { Access } from '../contract/access.ts'
import type { Store } from '../contract/adapter.ts'
import type { Settings } from '../contract/config.ts'
import type { AnyContext, App, CommonContext as Common, Facts, JobContext as Job, UserWrites } from '../contract/context.ts'
import type { Awaitable, JWT, LoggerInstance } from '../contract/data.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Answer, Events, HookInput, Hooks } from '../contract/messages.ts'
import type { Provider } from '../contract/provider.ts'
import type { AtomicWrite, RecordFields, RecordTable } from '../contract/records.ts'
import type { Lease, Limit, Once, Runtime, Services } from '../contract/services.ts'
import type { SessionStrategy } from '../contract/session.ts'
import { createAccess } from '../access/access.ts'
import { AuthError, EventError, InvalidProvider } from '../errors/index.ts'
import { randomUUID } from '../keys/crypto.ts'
import { computeDigest, computeDigests } from '../keys/digest.ts'
import { flowOf } from '../options/providers.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { createUserWrites } from '../sign-in/user-writes.ts'
import { createRecordTable, writeAtomic } from '../store/records.ts'
import { recordScope, takeLease, watchedStore } from './context-store.ts'

export abstract class CommonContext implements Common {
  readonly app: App
  readonly compiled: Snapshot
  readonly settings: Settings
  readonly runtime: Runtime
  readonly logger: LoggerInstance
  readonly services: Readonly<Partial<Services>>
  readonly session: SessionStrategy
  readonly store: Store | undefined
  /** Number of the moment at which it began. */
  readonly begun: number
  private accessGate: Access | undefined
  private dynamicProviders: Map<string, Provider> | undefined
  abstract readonly facts: Facts
  abstract readonly signal: AbortSignal

  constructor(compiled: Snapshot, settings: Settings) {
    this.app = compiled.view
    this.compiled = compiled
    this.settings = settings
    this.runtime = compiled.config.runtime
    this.logger = compiled.config.logger
    this.services = compiled.scoped(settings.namespace)
    // A kernel without one is refused at compile.
    this.session = this.services.session as SessionStrategy
    this.begun = compiled.moments.next()
    this.store = compiled.watchesStore ? watchedStore(this) : this.services.store
  }

  private get self(): AnyContext {
    // `AnyContext` is the union of the two subclasses.
    return this as unknown as AnyContext
  }
  get now(): Date {
    return new Date(this.runtime.now())
  }
  get access(): Access {
    return (this.accessGate ??= createAccess(this.self))
  }
  get users(): UserWrites {
    return createUserWrites(this.self)
  }
  get once(): Once {
    return this.service('once')
  }
  get limit(): Limit {
    return this.service('limit')
  }

  service<K extends keyof Services>(name: K): Services[K] {
    const service = name === 'store' ? this.store : this.services[name]
    if (!service) throw new AuthError(`No plugin provides the service "${name}".`)
    return service as Services[K]
  }

  async providerById(id: string): Promise<Provider> {
    const dynamic = this.has('hook', 'provider') ? await this.ask('provider', { id }) : undefined
    const provider = dynamic ? await this.compiled.dynamic(dynamic) : this.compiled.providers.get(id)
    if (dynamic && provider) (this.dynamicProviders ??= new Map<string, Provider>()).set(id, provider)
    if (!provider) throw new InvalidProvider(`There is no provider with the id ${JSON.stringify(id.slice(0, 64))}.`)
    return provider
  }

  peekProvider(id: string): Provider | undefined {
    return this.dynamicProviders?.get(id) ?? this.compiled.providers.get(id)
  }

  flow<P extends Provider>(provider: P): ProviderFlow<P> {
    return flowOf(this.compiled.flows, provider.type) as ProviderFlow<P>
  }

  seal(purpose: string, payload: JWT, seconds: number | null): Awaitable<string> {
    return this.service('sealer').seal(purpose, payload, seconds, this.settings)
  }

  open<T extends object = JWT>(purpose: string, token: string, endless?: boolean): Awaitable<(JWT & T) | null> {
    return this.service('sealer').open(purpose, token, this.settings, endless) as Awaitable<(JWT & T) | null>
  }

  records<K extends string>(name: K): RecordTable<RecordFields<K>> {
    // What plugins merge in are interfaces, which have no index signature.
    return this.ownRecords(name) as unknown as RecordTable<RecordFields<K>>
  }
  ownRecords<T extends Record<string, unknown>>(name: string): RecordTable<T> {
    return createRecordTable<T>(name, recordScope(this))
  }
  atomic(writes: readonly AtomicWrite[]): Promise<readonly unknown[] | false> {
    return writeAtomic(recordScope(this), writes)
  }
  lease(key: string, seconds: number): Promise<Lease | null> {
    return takeLease(this, key, seconds)
  }

  ask<K extends keyof Hooks>(name: K, message: HookInput<K>, skip?: string | readonly string[]): Promise<Answer<K>> {
    return this.compiled.bus.ask(name, message as Record<string, unknown>, this.self, skip) as Promise<Answer<K>>
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    return this.compiled.bus.has(kind, name)
  }

  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void> {
    const { bus, config } = this.compiled
    if (!this.has('on', name)) return
    return bus.emit(name, message as Record<string, unknown>, {
      ctx: this.self,
      deadline: config.deadlines.store,
      report: (error) => {
        this.logger.error(
          new EventError(`A handler of the event "${name}" failed.`, {
            cause: { err: error instanceof Error ? error : new Error(String(error)), event: name },
          }),
        )
      },
    })
  }

  digest(purpose: string, value: string, secret: string = this.settings.secret[0] ?? ''): Promise<string> {
    return computeDigest(this.compiled.shared, this.settings, purpose, value, secret)
  }

  digests(purpose: string, value: string, secret?: string): Promise<readonly string[]> {
    return computeDigests(this.compiled.shared, this.settings, purpose, value, secret === undefined ? this.settings.secret : [secret])
  }
}

/** Work without a request. */
export class JobContext extends CommonContext implements Job {
  readonly request: undefined
  readonly job: string
  readonly facts: Facts
  readonly signal: AbortSignal

  constructor(compiled: Snapshot, settings: Settings, job: string, signal: AbortSignal = new AbortController().signal) {
    super(compiled, settings)
    this.job = job
    this.signal = signal
    this.facts = Object.freeze({
      requestId: randomUUID(this.runtime),
      address: undefined,
      userAgent: undefined,
      namespace: settings.namespace,
      at: this.runtime.now(),
      job,
    })
  }
}
