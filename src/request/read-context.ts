/** What requests and jobs have in common, and what a session read needs: in one file, because a read pays per function and file. */
import type { Account } from '../contract/account.ts'
import type { Store } from '../contract/adapter.ts'
import type { Access } from '../contract/access.ts'
import type { App } from '../contract/app.ts'
import type { AnyContext, CommonContext as Common, Context, Facts } from '../contract/context.ts'
import type { Awaitable, CookieSet, JWT, LoggerInstance, Session, User } from '../contract/data.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { HandleOptions } from '../contract/handle-options.ts'
import type { Answer, Events, HookInput, Hooks } from '../contract/messages.ts'
import type { Provider } from '../contract/provider.ts'
import type { AtomicWrite, RecordFields, RecordTable } from '../contract/records.ts'
import type { Route, RouteInfo } from '../contract/route.ts'
import type { Runtime } from '../contract/runtime.ts'
import type { Lease, Limit, Once, Services } from '../contract/services.ts'
import type { SessionStrategy } from '../contract/session.ts'
import type { Settings } from '../contract/settings.ts'
import { createAccess } from '../access/access.ts'
import { AuthError, EventError, SessionTokenError, UntrustedHost } from '../errors/index.ts'
import { CookieJar } from '../http/cookies.ts'
import { resolveOrigin } from '../http/origin.ts'
import { computeDigest, computeDigests } from '../keys/digest.ts'
import { flowOf } from '../options/providers.ts'
import { assertOneCredential, jarWithout, presentedIn } from '../registry/presented.ts'
import type { Compiled } from '../registry/snapshot.ts'
import { createRecordTable, writeAtomic } from '../store/records.ts'
import { factsOf } from './facts.ts'
import { providerById } from './find-provider.ts'
import { recordScope, takeLease } from './record-scope.ts'
import { type Cached, nothingYet } from './request-cache.ts'
import { watchedStore } from './watched-store.ts'

export abstract class CommonContext implements Common {
  // Assigned by the classes below: a constructor here would be one more call for each session read.
  declare app: App
  declare compiled: Compiled
  declare settings: Settings
  declare runtime: Runtime
  declare logger: LoggerInstance
  declare store: Store | undefined
  declare session: SessionStrategy
  declare services: Readonly<Partial<Services>>
  declare begun: number
  declare private granting: Access | undefined
  abstract readonly facts: Facts
  abstract readonly signal: AbortSignal

  get now(): Date {
    return new Date(this.runtime.now())
  }
  get access(): Access {
    return (this.granting ??= createAccess(this as never))
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

  providerById(id: string): Promise<Provider> {
    return providerById(this as never, id)
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
    return createRecordTable(name, recordScope(this)) as unknown as RecordTable<RecordFields<K>>
  }
  atomic(writes: readonly AtomicWrite[]): Promise<readonly unknown[] | false> {
    return writeAtomic(recordScope(this), writes)
  }
  lease(key: string, seconds: number): Promise<Lease | null> {
    return takeLease(this, key, seconds)
  }

  ask<K extends keyof Hooks>(name: K, message: HookInput<K>, skip?: string | readonly string[]): Awaitable<Answer<K>> {
    return this.compiled.bus.ask(name, message as Record<string, unknown>, this as unknown as AnyContext, skip) as Awaitable<Answer<K>>
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    const { known } = this.compiled.bus
    // `on('*')` hears session reads only when it says so.
    return known.has(`${kind}:${name}`) || (kind === 'on' && name !== 'session' && known.has('on:*'))
  }

  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void> {
    const { bus, config } = this.compiled
    if (!this.has('on', name)) return
    return bus.emit(name, message as Record<string, unknown>, {
      ctx: this as unknown as AnyContext,
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

const none: readonly string[] = Object.freeze([])

// Fields, not getters, where nothing is worked out.
export abstract class ReadContext extends CommonContext {
  declare readonly request: Request
  declare readonly options: HandleOptions
  declare readonly canSetCookies: boolean
  declare readonly clientAddress: string | undefined
  declare jar: CookieJar
  /** Credentials in its headers, each once. With one the request has no cookies but that against cross-site requests. */
  declare readonly presented: readonly string[]
  /** Headers of the answer that plugins added. */
  declare added: Headers | undefined
  /** Set by the dispatcher once the path is known. */
  declare route: RouteInfo | undefined
  declare matched: Route | undefined
  declare params: Readonly<Record<string, string>>
  /** Set while a configuration mistake is shown: the host may be the mistake, and the page needs some origin. */
  declare lenientOrigin: boolean
  /** Who is signing in, for `signInFailed`. */
  declare subject: User | undefined
  declare account: Account | undefined
  declare protected readonly cache: Cached

  constructor(compiled: Compiled, request: Request, settings: Settings, options: HandleOptions, canSetCookies: boolean) {
    super()
    this.app = compiled.view
    this.compiled = compiled
    this.begun = compiled.moments.next()
    this.request = request
    this.settings = settings
    this.options = options
    this.canSetCookies = canSetCookies
    this.presented = compiled.credentials.length === 0 ? none : presentedIn(compiled, request.headers)
    const cookie = request.headers.get('cookie')
    this.jar = this.presented.length === 0 ? new CookieJar(cookie) : jarWithout(compiled, cookie)
    this.runtime = compiled.config.runtime
    this.logger = compiled.config.logger
    this.services = settings.namespace === '' ? compiled.services : compiled.scoped(settings.namespace)
    this.store = compiled.watchesStore ? watchedStore(this) : this.services.store
    // A kernel without one is refused at compile.
    this.session = this.services.session as SessionStrategy
    this.clientAddress = options.clientAddress
    this.route = undefined
    this.matched = undefined
    this.params = {}
    this.lenientOrigin = false
    this.subject = undefined
    this.account = undefined
    this.added = undefined
    this.cache = { ...nothingYet }
  }

  get facts(): Facts {
    return (this.cache.facts ??= factsOf(this))
  }
  get origin(): string {
    const { settings, lenientOrigin } = this
    return (this.cache.origin ??=
      settings.origin ||
      (lenientOrigin ? this.sent.origin : resolveOrigin(this.request, settings, this.app.config, this.options, this.sent)))
  }
  /** The URL of the request as it came, parsed once: nobody changes it. */
  get sent(): Readonly<URL> {
    return (this.cache.sent ??= new URL(this.request.url))
  }

  get cookies(): CookieSet {
    if (this.cache.cookies) return this.cache.cookies
    const { settings, request, options } = this
    const { useSecureCookies, trustHost, trustProxy, allowedHosts } = this.compiled.config
    // Without proxies and lists the protocol is plain to see; everything else is for the origin to say.
    const plain = settings.origin !== '' || (trustHost && !trustProxy && !options.trustForwarded && !allowedHosts)
    this.cache.secure = useSecureCookies ?? (plain ? settings.origin || request.url : this.origin).startsWith('https:')
    const made = this.compiled.cookieSets.get(settings)?.[this.cache.secure ? 1 : 0]
    return (this.cache.cookies = made ?? this.compiled.cookies(settings, this.cache.secure))
  }

  chunkedCookie(name: string): string | undefined {
    const value = this.jar.getChunked(name)
    if (value === undefined && this.jar.isDoubled(name)) this.logger.warn('doubled-cookie', { name })
    return value
  }
  async currentSession(): Promise<Session | null> {
    return this.sessionNow()
  }

  /** The same without a promise where the strategy answers at once. `asks`: whether `authenticate` may know more. */
  sessionNow(asks: boolean = this.compiled.bus.known.has('hook:authenticate')): Awaitable<Session | null> {
    if (asks) return this.authenticated()
    try {
      const read = this.session.read(this as unknown as Context)
      // A decorator may answer with a promise of its own kind.
      const isLater = typeof (read as { then?: unknown } | null)?.then === 'function'
      return isLater ? Promise.resolve(read).catch((error: unknown) => this.unread(error)) : read
    } catch (error) {
      return this.unread(error)
    }
  }

  private async authenticated(): Promise<Session | null> {
    assertOneCredential(this)
    const session = await this.ask('authenticate', {})
    return session === undefined ? this.sessionNow(false) : session && this.shown(session)
  }

  private unread(error: unknown): null {
    // A configuration mistake is no outage: it must not look like "nobody is signed in" (row 129).
    if (error instanceof UntrustedHost) throw error
    const failure = error instanceof SessionTokenError ? error : new SessionTokenError(error as Error)
    if (this.compiled.config.sessionOnError !== 'null') throw failure
    this.logger.error(failure)
    return null
  }

  /** What `authenticate` answered, past the hook and the event that every session passes. */
  private async shown(session: Session): Promise<Session | null> {
    const reduced = this.has('hook', 'session') ? await this.ask('session', { session }) : session
    await this.emit('session', { session: reduced as Session })
    return reduced
  }
}
