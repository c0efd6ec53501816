/** One request: everything is lazy, and worked out at most once. */
import type { Context } from '../contract/context.ts'
import type { CookieOptions } from '../contract/data.ts'
import type { Identity, Login } from '../contract/login.ts'
import type { Parked, ParkOptions, ResumeOptions } from '../contract/park.ts'
import type { Provider } from '../contract/provider.ts'
import type { Match } from '../contract/route.ts'
import type { PageName } from '../contract/services.ts'
import { CookieJar } from '../http/cookies.ts'
import { redirectTo } from '../http/messages.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { lazily, type Lazy } from '../runtime/lazy.ts'
import type { BodyReader } from './body-reader.ts'
import { findProvider, listProviders } from './find-provider.ts'
import { pageRedirect, renderPage } from './pages.ts'
import { ReadContext } from './read-context.ts'

/** Bodies, redirects, CSRF tokens and sign-ins. */
export const flows: Lazy<typeof import('./flows.ts')> = /* @__PURE__ */ lazily(() => import('./flows.ts'))

export class RequestContext extends ReadContext implements KernelContext, Context {
  /** A route was found: from here on the context knows it. */
  enter({ route, info, params }: Extract<Match, { params: unknown }>): void {
    this.matched = route
    this.route = info
    this.params = params
    // What a browser adds by itself proves nothing to a route for tokens.
    if (route.csrf === 'bearer') this.jar = new CookieJar(null, true)
  }

  /** The name that somebody typed, for `signInFailed`. */
  async tried(): Promise<string | undefined> {
    if (!this.has('on', 'signInFailed') || this.request.method === 'GET') return undefined
    const { username, email, identifier, name } = await this.body().catch((): Record<string, unknown> => ({}))
    const typed = [email, username, identifier, name].find((value) => typeof value === 'string' && value !== '')
    return (typed as string | undefined)?.slice(0, 200)
  }

  get basePath(): string {
    return this.options.basePath ?? this.settings.basePath
  }
  get base(): string {
    return this.origin + (this.basePath === '/' ? '' : this.basePath)
  }
  get signal(): AbortSignal {
    return (this.cache.abort ??= new AbortController()).signal
  }

  get url(): URL {
    const { pathname, search } = this.sent
    return new URL(this.origin + pathname + search)
  }

  /** Without a signal nobody was told yet: making one costs more than asking. */
  assertAwaited(): void {
    const signal = this.cache.abort?.signal
    if (signal?.aborted) throw signal.reason as Error
  }

  abort(reason: Error): void {
    ;(this.cache.abort ??= new AbortController()).abort(reason)
  }

  provider(): Promise<Provider> {
    return (this.cache.provider ??= findProvider(this, this.params['provider']))
  }
  providers(): Promise<readonly Provider[]> {
    return (this.cache.providers ??= listProviders(this))
  }

  useCallbackUrl(candidate: string | undefined): void {
    if (candidate !== undefined && this.cache.callbackUrl)
      throw new TypeError('ctx.callbackUrl(candidate) was called after the callback URL was used: name the candidate first.')
    this.cache.candidate = candidate
  }

  async callbackUrl(candidate?: string): Promise<string> {
    if (candidate !== undefined) this.useCallbackUrl(candidate)
    return (this.cache.callbackUrl ??= this.foundCallbackUrl())
  }

  private async foundCallbackUrl(): Promise<string> {
    return (await flows()).findCallbackUrl(this, this.cache.candidate)
  }

  private async reader(): Promise<BodyReader> {
    const { createBodyReader } = await flows()
    return (this.cache.body ??= createBodyReader(this))
  }
  async body(): Promise<Record<string, unknown>> {
    return (await (await this.reader()).parsed()).fields
  }
  async form(): Promise<URLSearchParams> {
    return this.request.method === 'GET' || this.request.method === 'HEAD'
      ? new URL(this.request.url).searchParams
      : (await (await this.reader()).parsed()).form
  }
  async text(): Promise<string> {
    return (await this.reader()).text()
  }
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.reader()).bytes()
  }

  cookie(name: string): string | undefined {
    return this.jar.get(name)
  }
  /** Cookies of plugins are `Secure` where the own ones are. */
  private secured(options: CookieOptions | undefined): CookieOptions {
    return options && 'secure' in options ? options : { secure: this.cookies && this.cache.secure, ...options }
  }
  setCookie(name: string, value: string, options?: CookieOptions, when?: 'always'): void {
    this.jar.set(name, value, this.secured(options), when)
  }
  setChunkedCookie(name: string, value: string, options?: CookieOptions): void {
    const secured = this.secured(options)
    this.sweep(name, secured)
    this.jar.setChunked(name, value, secured)
  }
  deleteCookie(name: string, options?: CookieOptions): void {
    const secured = this.secured(options)
    this.sweep(name, secured)
    this.jar.delete(name, secured)
  }
  private sweep(name: string, options: CookieOptions): void {
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
    return (this.cache.csrfToken ??= this.preparedForm())
  }

  private async preparedForm(): Promise<string> {
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
  async parked<D = unknown>(by?: string): Promise<Parked<D> | null> {
    return (await flows()).findParked<D>(this, by)
  }
  async keep(login: Parked, data: unknown): Promise<void> {
    return (await flows()).keepParkedData(this, login, data)
  }
  async drop(login: Parked): Promise<void> {
    return (await flows()).dropParked(this, login)
  }
  async resume(given: Parked | Login, options?: ResumeOptions): Promise<Response> {
    const { user, account } = 'login' in given ? given.login : given
    this.subject = user
    this.account = account
    return (await flows()).resumeLogin(this, given, options)
  }
  async loginAgain({ callbackUrl }: { callbackUrl: string }): Promise<Login | null> {
    return (await flows()).loginAgain(this, callbackUrl)
  }
}
