/** One request: everything is lazy, and worked out at most once. */
import type { Store } from './adapter.ts'
import { type ParsedBody, readBody } from './body.ts'
import { findCallbackUrl } from './callback-url.ts'
import type { Compiled } from './compile.ts'
import type { Context } from './context.ts'
import { CookieJar, type CookieSet } from './cookies.ts'
import { csrfToken } from './csrf.ts'
import { digest, digests } from './digest.ts'
import { AuthError, EventError } from './errors.ts'
import type { Identity, Login, Provider, ProviderFlow } from './flow.ts'
import type { Answer, Decisions, Events, Settings } from './messages.ts'
import { resolveOrigin } from './origin.ts'
import type { HandleOptions, Route } from './plugin.ts'
import { findProvider, listProviders } from './lookup.ts'
import { flowOf } from './providers.ts'
import { resolveRedirect, withParams } from './redirect.ts'
import { redirectTo, text } from './responses.ts'
import type { Runtime } from './runtime.ts'
import type { Limit, Once, PageName, Services, SessionStrategy } from './services.ts'
import { complete, resume } from './signin.ts'
import type { Awaitable, CookieOptions, JWT, LoggerInstance, User } from './types.ts'

const paths = { signIn: '/signin', signOut: '/signout', error: '/error', verifyRequest: '/verify-request' } as const

export class RequestContext implements Context {
  readonly request: Request
  readonly app: Compiled
  readonly settings: Settings
  readonly options: HandleOptions
  readonly canSetCookies: boolean
  readonly jar: CookieJar
  /** Set by the dispatcher once the path is known. */
  route: Route | undefined
  params: Readonly<Record<string, string>> = {}
  /** Set while a configuration mistake is shown: the host may be the mistake, and the page needs some origin. */
  lenientOrigin = false
  /** Who is signing in, for `signInFailed`. */
  subject: User | undefined
  #origin: string | undefined
  #cookies: CookieSet | undefined
  #provider: Promise<Provider> | undefined
  #providers: Promise<readonly Provider[]> | undefined
  #body: Promise<ParsedBody> | undefined
  #candidate: string | undefined
  #callbackUrl: Promise<string> | undefined
  #csrfToken: Promise<string> | undefined
  #abort: AbortController | undefined

  constructor(app: Compiled, request: Request, settings: Settings, options: HandleOptions, canSetCookies: boolean) {
    this.app = app
    this.request = request
    this.settings = settings
    this.options = options
    this.canSetCookies = canSetCookies
    this.jar = new CookieJar(request.headers.get('cookie'))
  }

  get runtime(): Runtime {
    return this.app.config.runtime
  }
  get logger(): LoggerInstance {
    return this.app.config.logger
  }
  get now(): Date {
    return new Date(this.runtime.now())
  }
  get store(): Store | undefined {
    return this.app.store
  }
  get session(): SessionStrategy {
    return this.service('session')
  }
  get once(): Once {
    return this.service('once')
  }
  get limit(): Limit {
    return this.service('limit')
  }
  get clientAddress(): string | undefined {
    return this.options.clientAddress
  }
  get basePath(): string {
    return this.options.basePath ?? this.settings.basePath
  }
  get base(): string {
    return this.origin + (this.basePath === '/' ? '' : this.basePath)
  }
  get signal(): AbortSignal {
    return (this.#abort ??= new AbortController()).signal
  }

  get origin(): string {
    this.#origin ??= this.lenientOrigin
      ? this.settings.origin || new URL(this.request.url).origin
      : resolveOrigin(this.request, this.settings, this.app.config, this.options)
    return this.#origin
  }

  get url(): URL {
    const { pathname, search } = new URL(this.request.url)
    return new URL(this.origin + pathname + search)
  }

  get cookies(): CookieSet {
    this.#cookies ??= this.app.cookies(this.settings, this.app.config.useSecureCookies ?? this.origin.startsWith('https:'))
    return this.#cookies
  }

  abort(reason: Error): void {
    ;(this.#abort ??= new AbortController()).abort(reason)
  }

  service<K extends keyof Services>(name: K): Services[K] {
    const service = this.app.services[name]
    if (!service) throw new AuthError(`No plugin provides the service "${name}".`)
    return service as Services[K]
  }

  provider(): Promise<Provider> {
    return (this.#provider ??= findProvider(this, this.params['provider']))
  }

  providers(): Promise<readonly Provider[]> {
    return (this.#providers ??= listProviders(this))
  }

  flow<P extends Provider>(provider: P): ProviderFlow<P> {
    return flowOf(this.app.flows, provider.type) as ProviderFlow<P>
  }

  useCallbackUrl(candidate: string | undefined): void {
    this.#candidate = candidate
  }

  callbackUrl(): Promise<string> {
    return (this.#callbackUrl ??= findCallbackUrl(this, this.#candidate))
  }

  async body(): Promise<Record<string, unknown>> {
    return (await this.#readBody()).fields
  }

  async form(): Promise<URLSearchParams> {
    return this.request.method === 'POST' ? (await this.#readBody()).form : new URL(this.request.url).searchParams
  }

  #readBody(): Promise<ParsedBody> {
    return (this.#body ??= readBody(this.request, this.app.config.limits.body))
  }

  cookie(name: string): string | undefined {
    return this.jar.get(name)
  }
  chunkedCookie(name: string): string | undefined {
    return this.jar.getChunked(name)
  }
  setCookie(name: string, value: string, options?: CookieOptions): void {
    this.jar.set(name, value, options)
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
    return this.app.bus.has(kind, name)
  }

  emit<K extends keyof Events>(name: K, message: Events[K]): Awaitable<void> {
    const report = (error: unknown): void => {
      this.logger.error(new EventError(`A handler of the event "${name}" failed.`, { cause: { err: toError(error), event: name } }))
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
    return (this.#csrfToken ??= this.#prepareForm())
  }

  // A form needs both: the token now, and the callback URL when it comes back without one.
  async #prepareForm(): Promise<string> {
    const { name, options } = this.cookies.callbackUrl
    const callbackUrl = await this.callbackUrl()
    if (this.cookie(name) !== callbackUrl) this.setCookie(name, callbackUrl, options)
    return csrfToken(this)
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

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
