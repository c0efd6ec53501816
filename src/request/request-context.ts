/** One request: what it has is worked out at the first use, and at most once. */
import type { Account } from '../contract/account.ts'
import type { Settings } from '../contract/config.ts'
import type { Context, Facts, ProgramActor } from '../contract/context.ts'
import type { CookieOptions, CookieSet, Session, User } from '../contract/data.ts'
import type { HandleOptions } from '../contract/entry-points.ts'
import type { Identity, Login, ParkedLogin, ParkOptions, ResumeOptions } from '../contract/login.ts'
import type { Provider } from '../contract/provider.ts'
import type { Match, Route, RouteInfo } from '../contract/route.ts'
import type { PageName } from '../contract/services.ts'
import { AuthError, HttpError, InvalidProvider, SessionTokenError, UntrustedHost } from '../errors/index.ts'
import { type BodyReader, createBodyReader } from '../http/body.ts'
import { CookieJar, PlainJar } from '../http/cookies.ts'
import { redirectTo } from '../http/messages.ts'
import { resolveOrigin } from '../http/origin.ts'
import { randomUUID } from '../keys/crypto.ts'
import type { Snapshot, KernelContext } from '../registry/snapshot.ts'
import { lazily, type Lazy } from '../runtime/lazy.ts'
import { CommonContext } from './common-context.ts'
import { pageRedirect, renderPage } from './pages.ts'

/** Redirects, CSRF tokens and sign-ins: a session read needs none of it. */
export const flows: Lazy<typeof import('./flows.ts')> = /* @__PURE__ */ lazily(() => import('./flows.ts'))

const actorShape = /^[a-z][a-z0-9-]{0,31}$/
// What an audit log says of users and of the app itself: a program must not pass for one of them.
const reservedActors: ReadonlySet<string> = new Set(['user', 'admin', 'provider', 'system', 'anonymous'])
const maxUserAgent = 256
const none: readonly never[] = []

/** What is worked out at most once. */
interface Memo {
  sent?: URL
  origin?: string
  cookies?: CookieSet
  secure?: boolean
  provider?: Promise<Provider>
  providers?: Promise<readonly Provider[]>
  facts?: Facts
  body?: BodyReader
  candidate?: string | undefined
  callbackUrl?: Promise<string>
  csrfToken?: Promise<string>
  abort?: AbortController
}

export class RequestContext extends CommonContext implements KernelContext, Context {
  readonly request: Request
  readonly options: HandleOptions
  readonly canSetCookies: boolean
  readonly clientAddress: string | undefined
  /** Credentials in its headers, each once. With one the request has no cookies but that against cross-site requests. */
  readonly presented: readonly string[]
  jar: CookieJar
  /** Headers of the answer that plugins added. */
  added: Headers | undefined
  /** These three are set by the dispatcher, once the path is known. */
  route: RouteInfo | undefined
  matched: Route | undefined
  params: Readonly<Record<string, string>> = {}
  /** Set while a configuration mistake is shown: the host may be the mistake, and the page needs some origin. */
  lenientOrigin = false
  /** Who is signing in, for `signInFailed`. */
  subject: User | undefined
  account: Account | undefined
  private readonly memo: Memo = {}

  constructor(compiled: Snapshot, request: Request, settings: Settings, options: HandleOptions, canSetCookies: boolean) {
    super(compiled, settings)
    this.request = request
    this.options = options
    this.canSetCookies = canSetCookies
    this.clientAddress = options.clientAddress
    this.presented = readCredentials(compiled, request.headers)
    this.jar = createJar(compiled, request.headers.get('cookie'), this.presented)
  }

  /** A route was found: from here on the context knows it. */
  enter({ route, info, params }: Extract<Match, { params: unknown }>): void {
    this.matched = route
    this.route = info
    this.params = params
    // What a browser adds by itself proves nothing to a route for tokens.
    if (route.csrf === 'bearer') this.jar = new CookieJar(null, true)
  }

  /** The URL of the request as it came, parsed once. */
  get sent(): Readonly<URL> {
    return (this.memo.sent ??= new URL(this.request.url))
  }
  get url(): URL {
    const { pathname, search } = this.sent
    return new URL(this.origin + pathname + search)
  }
  get origin(): string {
    return (this.memo.origin ??=
      this.settings.origin ||
      (this.lenientOrigin ? this.sent.origin : resolveOrigin(this.request, this.settings, this.app.config, this.options, this.sent)))
  }
  get basePath(): string {
    return this.options.basePath ?? this.settings.basePath
  }
  get base(): string {
    return this.origin + (this.basePath === '/' ? '' : this.basePath)
  }
  get facts(): Facts {
    return (this.memo.facts ??= readFacts(this))
  }
  actAs(actor: ProgramActor): void {
    this.memo.facts = withActor(this.facts, this.route, actor)
  }

  get signal(): AbortSignal {
    return (this.memo.abort ??= new AbortController()).signal
  }
  abort(reason: Error): void {
    ;(this.memo.abort ??= new AbortController()).abort(reason)
  }
  assertAwaited(): void {
    // Without a signal no work was stopped.
    const signal = this.memo.abort?.signal
    if (signal?.aborted) throw signal.reason as Error
  }

  assertOneCredential(): void {
    if (this.presented.length > 1) throw badRequest('Two different credentials were sent. Send one, in one header.')
  }
  assertNoCredential(): void {
    if (this.presented.length > 0)
      throw badRequest('A request with an API key or an access token cannot sign in. Send it without the credential.')
  }

  async currentSession(): Promise<Session | null> {
    if (this.has('hook', 'authenticate')) {
      this.assertOneCredential()
      const session = await this.ask('authenticate', {})
      if (session !== undefined) return session && this.showSession(session)
    }
    try {
      return await this.session.read(this)
    } catch (error) {
      return this.reportUnread(error)
    }
  }
  /** What `authenticate` answered, past the hook and the event that every session passes. */
  private async showSession(session: Session): Promise<Session | null> {
    const shown = this.has('hook', 'session') ? await this.ask('session', { session }) : session
    await this.emit('session', { session: shown as Session })
    return shown
  }
  private reportUnread(error: unknown): null {
    // A configuration mistake is no outage: it must not look as if the request were signed out (row 129).
    if (error instanceof UntrustedHost) throw error
    const failure = error instanceof SessionTokenError ? error : new SessionTokenError(error as Error)
    if (this.compiled.config.sessionOnError !== 'null') throw failure
    this.logger.error(failure)
    return null
  }

  /** Throws InvalidProvider for an unknown id (row 7). */
  provider(): Promise<Provider> {
    return (this.memo.provider ??= this.findProvider())
  }
  private async findProvider(): Promise<Provider> {
    const id = this.params['provider']
    if (id === undefined) throw new InvalidProvider('The path names no provider.')
    return this.compiled.addressed(await this.providerById(id), this.base)
  }
  /** What `/providers` and the pages show. */
  providers(): Promise<readonly Provider[]> {
    return (this.memo.providers ??= this.listProviders())
  }
  private async listProviders(): Promise<readonly Provider[]> {
    const { compiled, base } = this
    const providers = [...compiled.providers.values()]
    const shown = this.has('hook', 'providers') ? ((await this.ask('providers', { providers })) ?? []) : providers
    const known = await Promise.all(shown.map((provider) => (providers.includes(provider) ? provider : compiled.dynamic(provider))))
    return known.map((provider) => compiled.addressed(provider, base))
  }

  /** The name that was typed, for `signInFailed`. */
  async tried(): Promise<string | undefined> {
    if (!this.has('on', 'signInFailed') || this.request.method === 'GET') return undefined
    const { username, email, identifier, name } = await this.body().catch((): Record<string, unknown> => ({}))
    const typed = [email, username, identifier, name].find((value) => typeof value === 'string' && value !== '')
    return (typed as string | undefined)?.slice(0, 200)
  }

  useCallbackUrl(candidate: string | undefined): void {
    if (candidate !== undefined && this.memo.callbackUrl)
      throw new TypeError('ctx.callbackUrl(candidate) was called after the callback URL was used: name the candidate first.')
    this.memo.candidate = candidate
  }
  async callbackUrl(candidate?: string): Promise<string> {
    if (candidate !== undefined) this.useCallbackUrl(candidate)
    return (this.memo.callbackUrl ??= this.findCallbackUrl())
  }
  private async findCallbackUrl(): Promise<string> {
    return (await flows()).findCallbackUrl(this, this.memo.candidate)
  }

  private get reader(): BodyReader {
    return (this.memo.body ??= createBodyReader(this.request, this.matched?.body?.bytes ?? this.app.config.limits.body))
  }
  async body(): Promise<Record<string, unknown>> {
    return (await this.reader.parsed()).fields
  }
  async form(): Promise<URLSearchParams> {
    const { method, url } = this.request
    return method === 'GET' || method === 'HEAD' ? new URL(url).searchParams : (await this.reader.parsed()).form
  }
  text(): Promise<string> {
    return this.reader.text()
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.reader.bytes()
  }

  get cookies(): CookieSet {
    if (this.memo.cookies) return this.memo.cookies
    const { settings, request, options, compiled } = this
    const { useSecureCookies, trustHost, trustProxy, allowedHosts } = compiled.config
    // Without proxies and lists the protocol is plain to see; everything else is for the origin to say.
    const plain = settings.origin !== '' || (trustHost && !trustProxy && !options.trustForwarded && !allowedHosts)
    this.memo.secure = useSecureCookies ?? (plain ? settings.origin || request.url : this.origin).startsWith('https:')
    return (this.memo.cookies = compiled.cookies(settings, this.memo.secure))
  }
  cookie(name: string): string | undefined {
    return this.jar.get(name)
  }
  chunkedCookie(name: string): string | undefined {
    const value = this.jar.getChunked(name)
    if (value === undefined && this.jar.isDoubled(name)) this.logger.warn('doubled-cookie', { name })
    return value
  }
  setCookie(name: string, value: string, options?: CookieOptions, when?: 'always'): void {
    this.jar.set(name, value, this.withSecure(options), when)
  }
  setChunkedCookie(name: string, value: string, options?: CookieOptions): void {
    const secured = this.withSecure(options)
    this.expireDoubled(name, secured)
    this.jar.setChunked(name, value, secured)
  }
  deleteCookie(name: string, options?: CookieOptions): void {
    const secured = this.withSecure(options)
    this.expireDoubled(name, secured)
    this.jar.delete(name, secured)
  }
  /** Cookies of plugins are `Secure` where the own ones are. */
  private withSecure(options: CookieOptions | undefined): CookieOptions {
    return options && 'secure' in options ? options : { secure: this.cookies && this.memo.secure, ...options }
  }
  private expireDoubled(name: string, options: CookieOptions): void {
    if (this.jar.isDoubled(name)) this.jar.expireElsewhere(name, options, new URL(this.origin).hostname, this.basePath)
  }
  addHeader(name: string, value: string): void {
    ;(this.added ??= new Headers()).append(name, value)
  }

  page(name: PageName | 'newUser', params: Record<string, string | undefined> = {}): Response {
    return pageRedirect(this, name, params)
  }
  render(name: PageName, params: Readonly<Record<string, string | undefined>> = {}): Promise<Response> {
    return renderPage(this, name, params)
  }
  async redirect(target: string): Promise<Response> {
    return redirectTo(await (await flows()).resolveRedirect(this, target))
  }
  csrfToken(): Promise<string> {
    return (this.memo.csrfToken ??= this.prepareForm())
  }
  private async prepareForm(): Promise<string> {
    return (await flows()).prepareForm(this)
  }

  async complete(identity: Identity): Promise<Response> {
    this.subject = identity.user
    this.account = identity.account
    return (await flows()).completeSignIn(this, identity)
  }
  async park(login: Login, options: ParkOptions): Promise<Response> {
    return (await flows()).parkLogin(this, login, options)
  }
  async parked<D = unknown>(by?: string): Promise<ParkedLogin<D> | null> {
    return (await flows()).findParked<D>(this, by)
  }
  async keep(login: ParkedLogin, data: unknown): Promise<void> {
    return (await flows()).keepParkedData(this, login, data)
  }
  async drop(login: ParkedLogin): Promise<void> {
    return (await flows()).dropParked(this, login)
  }
  async resume(given: ParkedLogin | Login, options?: ResumeOptions): Promise<Response> {
    const { user, account } = 'login' in given ? given.login : given
    this.subject = user
    this.account = account
    return (await flows()).resumeLogin(this, given, options)
  }
  async loginAgain({ callbackUrl }: { callbackUrl: string }): Promise<Login | null> {
    return (await flows()).loginAgain(this, callbackUrl)
  }
}

/** What plugins find in the headers, each text once. */
function readCredentials({ credentials }: Snapshot, headers: Headers): readonly string[] {
  if (credentials.length === 0) return none
  return [...new Set(credentials.map(({ read }) => read(headers)).filter((text) => text !== undefined))]
}

/** A request with a credential in a header reads and writes one cookie: that against cross-site requests. */
function createJar({ config }: Snapshot, header: string | null, presented: readonly string[]): CookieJar {
  if (presented.length === 0) return new CookieJar(header)
  const name = config.cookies.csrfToken?.name
  return new PlainJar(header, (cookie) => cookie === name || cookie.endsWith('csrf-token'))
}

function readFacts({ request, options, runtime, settings, clientAddress, app, begun }: RequestContext): Facts {
  const isProxyTrusted = app.config.trustProxy || options.trustForwarded
  return Object.freeze({
    requestId: options.requestId ?? (isProxyTrusted ? readRequestId(request.headers) : undefined) ?? randomUUID(runtime),
    address: clientAddress,
    userAgent: request.headers.get('user-agent')?.slice(0, maxUserAgent),
    namespace: settings.namespace,
    // When the request began, however late the first question comes.
    at: Math.floor(begun / 1000),
    job: undefined,
  })
}

/** The facts of a request in which a program acts. Throws TypeError outside of routes, for another shape, and for a second program. */
function withActor(facts: Facts, route: RouteInfo | undefined, actor: ProgramActor): Facts {
  if (!route) throw new TypeError('ctx.actAs: call it in the handler of a route, after the credential of the program was checked.')
  const { type, id } = Object(actor) as Partial<ProgramActor>
  if (typeof type !== 'string' || !actorShape.test(type) || reservedActors.has(type))
    throw new TypeError(
      `ctx.actAs: the type ${JSON.stringify(type)} is none of a program. Write a word such as "scim": lower-case letters, digits and hyphens, and none of ${[...reservedActors].join(', ')}.`,
    )
  if (typeof id !== 'string' || id === '' || id.length > 255) throw new TypeError('ctx.actAs: `id` is a text of 1 to 255 characters.')
  const known = facts.actor
  if (known && (known.type !== type || known.id !== id))
    throw new TypeError(`ctx.actAs: ${known.type} ${JSON.stringify(known.id)} acts in this request already. One request has one program.`)
  return Object.freeze({ ...facts, actor: Object.freeze({ type, id }) })
}

// What ends in logs must not be able to look like two entries.
function readRequestId(headers: Headers): string | undefined {
  return /^[\w.:-]{1,128}$/.exec(headers.get('x-request-id') ?? '')?.[0]
}

function badRequest(what: string): HttpError {
  return new HttpError(400, what, {}, new AuthError(what))
}
