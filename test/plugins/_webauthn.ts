/** An app with passkeys, a browser that keeps cookies, and a record of everything that happened. */
import { type AuthConfig, createAuth, type Session } from 'authkernel'
import type { Adapter, AuthError, Events } from 'authkernel/kernel'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import type { Authenticator, Bend, CreationOptions, RequestOptions } from './_authenticator.ts'

export const origin = 'https://app.example'
export type Ceremony = { action: 'register'; options: CreationOptions } | { action: 'authenticate'; options: RequestOptions }

type OptionsOf<T extends Ceremony['action']> = T extends 'register' ? CreationOptions : RequestOptions

export interface App {
  data: MemoryData
  /** `ad.createUser`, `ev.createUser`, `cb.signIn` in their order. */
  log: string[]
  errors: AuthError[]
  failures: Events['signInFailed'][]
  warnings: string[]
  /** Milliseconds; advance it. */
  clock: { now: number }
  browser(at?: string): Browser
}

export function createApp(config: AuthConfig = {}, adapter: (adapter: Adapter) => Adapter = (same) => same): App {
  const data = memoryData()
  const log: string[] = []
  const errors: AuthError[] = []
  const failures: Events['signInFailed'][] = []
  const warnings: string[] = []
  const clock = { now: Date.UTC(2030, 0, 1) }
  const auth = createAuth({
    secret: 'a secret of more than thirty-two characters',
    origin,
    trustHost: true,
    env: false,
    experimental: { enableWebAuthn: true },
    providers: [passkey()],
    adapter: adapter(recorded(memoryAdapter(data), log)),
    runtime: { now: () => clock.now },
    logger: { error: (error) => void errors.push(error as AuthError), warn: (code) => void warnings.push(code), debug: () => {} },
    ...config,
  })
  for (const event of ['createUser', 'linkAccount', 'signIn', 'updateUser'] as const) auth.on(event, () => void log.push(`ev.${event}`))
  auth.on('signInFailed', (failure) => void failures.push(failure))
  return { data, log, errors, failures, warnings, clock, browser: (at = origin) => new Browser((request) => auth.handler(request), at) }
}

/** Keeps cookies and the CSRF token, as a browser at one origin. */
export class Browser {
  readonly cookies: Map<string, string> = new Map()
  readonly origin: string
  readonly #handler: (request: Request) => Promise<Response>

  constructor(handler: (request: Request) => Promise<Response>, at: string) {
    this.#handler = handler
    this.origin = at
  }

  get(path: string): Promise<Response> {
    return this.#send(new Request(`${this.origin}/auth${path}`, { headers: this.#headers() }))
  }

  async post(path: string, fields: Record<string, string>): Promise<Response> {
    const { csrfToken } = (await (await this.get('/csrf')).json()) as { csrfToken: string }
    const body = new URLSearchParams({ csrfToken, ...fields })
    return this.#send(
      new Request(`${this.origin}/auth${path}`, { method: 'POST', headers: { ...this.#headers(), origin: this.origin }, body }),
    )
  }

  async options<T extends Ceremony['action']>(query: string, provider = 'passkey'): Promise<OptionsOf<T>> {
    const response = await this.get(`/webauthn-options/${provider}?${query}`)
    if (response.status !== 200) throw new Error(`options: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { options: OptionsOf<T> }).options
  }

  /** Options and callback of a registration. */
  async register(key: Authenticator, query = '', bend: Bend = {}, provider = 'passkey'): Promise<Response> {
    const options = await this.options<'register'>(`action=register&${query}`, provider)
    return this.post(`/callback/${provider}`, { action: 'register', data: key.create(options, bend) })
  }

  /** Options and callback of a sign-in. */
  async authenticate(key: Authenticator, query = '', bend: Bend = {}, provider = 'passkey'): Promise<Response> {
    const options = await this.options<'authenticate'>(`action=authenticate&${query}`, provider)
    return this.post(`/callback/${provider}`, { action: 'authenticate', data: key.get(options, bend) })
  }

  async session(): Promise<Session | null> {
    return (await (await this.get('/session')).json()) as Session | null
  }

  #headers(): Record<string, string> {
    return { host: new URL(this.origin).host, cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
  }

  async #send(request: Request): Promise<Response> {
    const response = await this.#handler(request)
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.slice(0, cookie.indexOf(';')).split('=')
      if (/Max-Age=0/i.test(cookie)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }
}

/** Name of the challenge cookie. */
export const challengeCookie = '__Secure-authkernel.challenge'
/** Name of the session cookie. */
export const sessionCookie = '__Secure-authkernel.session-token'

/** Where a response leads, as a URL. */
export function target(response: Response): URL {
  return new URL(response.headers.get('location') ?? '', origin)
}

function recorded(adapter: Adapter, log: string[]): Adapter {
  const entries = Object.entries(adapter).map(([name, operation]) => [
    name,
    (...args: unknown[]) => {
      log.push(`ad.${name}`)
      return (operation as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(entries) as Adapter
}
