/** One request: everything is lazy, and worked out at most once. */
import type { Store } from './adapter.ts'
import { type ParsedBody, readBody } from './body.ts'
import { findCallbackUrl } from './callback-url.ts'
import type { Compiled } from './compile.ts'
import type { Context } from './context.ts'
import { CookieJar, type CookieSet } from './cookies.ts'
import { prepareForm } from './csrf.ts'
import { digest, digests } from './digest.ts'
import { AuthError, EventError, SessionTokenError, UntrustedHost } from './errors.ts'
import type { Identity, Login, Provider, ProviderFlow } from './flow.ts'
import type { Answer, Decisions, Events, Settings } from './messages.ts'
import { resolveOrigin } from './origin.ts'
import type { Memo } from './memo.ts'
import type { HandleOptions, Route } from './plugin.ts'
import { findProvider, listProviders } from './lookup.ts'
import { flowOf } from './providers.ts'
import { resolveRedirect, withParams } from './redirect.ts'
import { redirectTo, text } from './responses.ts'
import type { Runtime } from './runtime.ts'
import type { Limit, Once, PageName, Services, SessionStrategy } from './services.ts'
import { complete, resume } from './signin.ts'
import type { Awaitable, CookieOptions, JWT, LoggerInstance, Session, User } from './types.ts'

const paths = { signIn: '/signin', signOut: '/signout', error: '/error', verifyRequest: '/verify-request' } as const

// Fields, not getters, where nothing is worked out: a session read goes through here, and pays per function.
export class RequestContext implements Context {
  declare readonly request: Request
  declare readonly app: Compiled
  declare readonly settings: Settings
  declare readonly options: HandleOptions
  declare readonly canSetCookies: boolean
  declare readonly jar: CookieJar
  declare readonly runtime: Runtime
  declare readonly logger: LoggerInstance
  declare readonly store: Store | undefined
  declare readonly session: SessionStrategy
  declare readonly clientAddress: string | undefined
  /** Set by the dispatcher once the path is known. */
  declare route: Route | undefined
  declare params: Readonly<Record<string, string>>
  /** Set while a configuration mistake is shown: the host may be the mistake, and the page needs some origin. */
  declare lenientOrigin: boolean
  /** Who is signing in, for `signInFailed`. */
  declare subject: User | undefined
  declare private readonly memo: Memo

  constructor(app: Compiled, request: Request, settings: Settings, options: HandleOptions, canSetCookies: boolean) {
    this.app = app
    this.request = request
    this.settings = settings
    this.options = options
    this.canSetCookies = canSetCookies
    this.jar = new CookieJar(request.headers.get('cookie'))
    this.runtime = app.config.runtime
    this.logger = app.config.logger
    this.store = app.store
    // A kernel without one is refused at compile.
    this.session = app.services.session as SessionStrategy
    this.clientAddress = options.clientAddress
    this.route = undefined
    this.params = {}
    this.lenientOrigin = false
    this.subject = undefined
    this.memo = {}
  }

  get now(): Date {
    return new Date(this.runtime.now())
  }
  get once(): Once {
    return this.service('once')
  }
  get limit(): Limit {
    return this.service('limit')
  }
  get basePath(): string {
    return this.options.basePath ?? this.settings.basePath
  }
  get base(): string {
    return this.origin + (this.basePath === '/' ? '' : this.basePath)
  }
  get signal(): AbortSignal {
    return (this.memo.abort ??= new AbortController()).signal
  }

  get origin(): string {
    return (this.memo.origin ??= this.lenientOrigin
      ? this.settings.origin || new URL(this.request.url).origin
      : resolveOrigin(this.request, this.settings, this.app.config, this.options))
  }

  get url(): URL {
    const { pathname, search } = new URL(this.request.url)
    return new URL(this.origin + pathname + search)
  }

  get cookies(): CookieSet {
    const { app, settings, request, options } = this
    const { useSecureCookies, trustHost, trustProxy, allowedHosts } = app.config
    // Without proxies and lists the protocol is plain to see; everything else is for the origin to decide.
    const plain = settings.origin !== '' || (trustHost && !trustProxy && !options.trustForwarded && !allowedHosts)
    this.memo.cookies ??= app.cookies(
      settings,
      useSecureCookies ?? (plain ? settings.origin || request.url : this.origin).startsWith('https:'),
    )
    return this.memo.cookies
  }

  abort(reason: Error): void {
    ;(this.memo.abort ??= new AbortController()).abort(reason)
  }

  service<K extends keyof Services>(name: K): Services[K] {
    const service = this.app.services[name]
    if (!service) throw new AuthError(`No plugin provides the service "${name}".`)
    return service as Services[K]
  }

  provider(): Promise<Provider> {
    return (this.memo.provider ??= findProvider(this, this.params['provider']))
  }

  providers(): Promise<readonly Provider[]> {
    return (this.memo.providers ??= listProviders(this))
  }

  flow<P extends Provider>(provider: P): ProviderFlow<P> {
    return flowOf(this.app.flows, provider.type) as ProviderFlow<P>
  }

  useCallbackUrl(candidate: string | undefined): void {
    this.memo.candidate = candidate
  }

  callbackUrl(): Promise<string> {
    return (this.memo.callbackUrl ??= findCallbackUrl(this, this.memo.candidate))
  }

  async body(): Promise<Record<string, unknown>> {
    return (await this.readParsed()).fields
  }

  async form(): Promise<URLSearchParams> {
    return this.request.method === 'POST' ? (await this.readParsed()).form : new URL(this.request.url).searchParams
  }

  private readParsed(): Promise<ParsedBody> {
    return (this.memo.body ??= readBody(this.request, this.app.config.limits.body))
  }

  cookie(name: string): string | undefined {
    return this.jar.get(name)
  }
  chunkedCookie(name: string): string | undefined {
    return this.jar.getChunked(name)
  }
  setCookie(name: string, value: string, options?: CookieOptions, when?: 'always'): void {
    this.jar.set(name, value, options, when)
  }
  setChunkedCookie(name: string, value: string, options?: CookieOptions): void {
    this.jar.setChunked(name, value, options)
  }
  deleteCookie(name: string, options?: CookieOptions): void {
    this.jar.delete(name, options)
  }

  seal(purpose: string, payload: JWT, seconds: number): Awaitable<string> {
    return this.service('sealer').seal(purpose, payload, seconds, this.settings)
  }

  open(purpose: string, token: string): Awaitable<JWT | null> {
    return this.service('sealer').open(purpose, token, this.settings)
  }

  ask<K extends keyof Decisions>(name: K, message: Decisions[K]['in'], skip?: string): Awaitable<Answer<K>> {
    return this.app.bus.ask(name, message as Record<string, unknown>, skip) as Awaitable<Answer<K>>
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    return this.app.bus.known.has(`${kind}:${name}`)
  }

  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void> {
    if (!this.app.bus.known.has(`on:${name}`)) return
    const report = (error: unknown): void => {
      this.logger.error(
        new EventError(`A handler of the event "${name}" failed.`, {
          cause: { err: error instanceof Error ? error : new Error(String(error)), event: name },
        }),
      )
    }
    return this.app.bus.emit(name, message as Record<string, unknown>, report, this.app.config.deadlines.store)
  }

  page(name: Exclude<PageName, 'verifyConfirm'> | 'newUser', params: Record<string, string | undefined> = {}): Response {
    const target = name === 'newUser' ? (this.app.config.pages.newUser ?? this.origin) : this.base + paths[name]
    return redirectTo(withParams(target, params))
  }

  async render(name: PageName, params: Readonly<Record<string, string | undefined>> = {}): Promise<Response> {
    const { pages } = this.app.services
    return pages ? pages.render(name, this, params) : text(params['error'] ?? name)
  }

  async redirect(target: string): Promise<Response> {
    return redirectTo(await resolveRedirect(this.app.bus, target, this.origin, this.app.config.allowedRedirects ?? []))
  }

  csrfToken(): Promise<string> {
    return (this.memo.csrfToken ??= prepareForm(this))
  }

  async currentSession(): Promise<Session | null> {
    const { bus, config } = this.app
    if (bus.known.has('hook:authenticate')) {
      const session = await this.ask('authenticate', { ctx: this })
      if (session) return session
    }
    try {
      return await this.session.read(this)
    } catch (error) {
      // A configuration mistake is no outage: it must not look like "nobody is signed in" (row 129).
      if (error instanceof UntrustedHost) throw error
      const failure = error instanceof SessionTokenError ? error : new SessionTokenError(error as Error)
      if (config.sessionOnError !== 'null') throw failure
      this.logger.error(failure)
      return null
    }
  }

  complete(identity: Identity): Promise<Response> {
    this.subject = identity.user
    return complete(this, identity)
  }

  resume(login: Login, skip?: string): Promise<Response> {
    this.subject = login.user
    return resume(this, login, skip)
  }

  digest(purpose: string, value: string, secret: string = this.settings.secret[0] ?? ''): Promise<string> {
    return digest(this.app.shared, this.settings, purpose, value, secret)
  }

  digests(purpose: string, value: string, secret?: string): Promise<readonly string[]> {
    return digests(this.app.shared, this.settings, purpose, value, secret === undefined ? this.settings.secret : [secret])
  }
}
