/** What every kernel test needs: a clock that stands still, counted randomness, a client that keeps cookies, and a log to look at. */
import { createHash } from 'node:crypto'
import { parseSetCookie } from 'cookie-es'
import type { AuthConfig, LoggerInstance, Runtime } from 'authkernel/kernel'

export const secret = 'a-secret-of-more-than-32-characters-for-tests'

let instances = 0

/** A clock that moves only by `advance`, in milliseconds, and random bytes that are the same in every run and differ between instances. */
export function fakeRuntime(fetch: typeof globalThis.fetch = refuse): Runtime & { advance(ms: number): void } {
  let now = Date.UTC(2026, 0, 2, 3, 4, 5)
  let drawn = 0
  const instance = instances++
  return {
    now: () => now,
    advance: (ms) => void (now += ms),
    random(bytes) {
      const out = new Uint8Array(bytes)
      for (let i = 0; i < bytes; i += 32)
        out.set(
          createHash('sha256')
            .update(`${instance} ${drawn++}`)
            .digest()
            .subarray(0, bytes - i),
          i,
        )
      return out
    },
    fetch,
  }
}

function refuse(): Promise<Response> {
  return Promise.reject(new Error('no network in this test'))
}

/** Collects what is logged. */
export function recordingLogger(): LoggerInstance & { errors: Error[]; warnings: string[]; debugs: unknown[] } {
  const errors: Error[] = []
  const warnings: string[] = []
  const debugs: unknown[] = []
  return {
    errors,
    warnings,
    debugs,
    error: (error) => void errors.push(error),
    warn: (code) => void warnings.push(code),
    debug: (...message) => void debugs.push(message),
  }
}

/** Options that most tests start from. */
export function baseConfig(
  config: AuthConfig = {},
): AuthConfig & { logger: ReturnType<typeof recordingLogger>; runtime: ReturnType<typeof fakeRuntime> } {
  return { secret, trustHost: true, env: false, logger: recordingLogger(), runtime: fakeRuntime(), ...config } as never
}

type Handler = (request: Request) => Promise<Response>

/** A browser without a window: keeps cookies, follows nothing. */
export class Client {
  readonly cookies: Map<string, string> = new Map()
  readonly origin: string
  readonly base: string
  readonly #handler: Handler

  constructor(auth: { handler: Handler }, origin = 'http://localhost:3000', basePath = '/auth') {
    this.#handler = (request) => auth.handler(request)
    this.origin = origin
    this.base = origin + basePath
  }

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (this.cookies.size > 0) headers.set('cookie', this.cookieHeader())
    const url = path.startsWith('http') ? path : this.base + path
    const response = await this.#handler(new Request(url, { redirect: 'manual', ...init, headers }))
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    return response
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(path, { headers })
  }

  async csrfToken(): Promise<string> {
    const { csrfToken } = (await (await this.get('/csrf')).json()) as { csrfToken: string }
    return csrfToken
  }

  /** POST of a form with a fresh CSRF token. */
  async post(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    const csrfToken = await this.csrfToken()
    return this.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }), headers })
  }

  async session(): Promise<{ user?: Record<string, unknown>; expires: string; [key: string]: unknown } | null> {
    return (await this.get('/session')).json() as never
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(line: string): void {
    const cookie = parseSetCookie(line)
    if (!cookie) return
    const raw = line.slice(line.indexOf('=') + 1).split(';')[0] ?? ''
    if (cookie.maxAge === 0 || raw === '') this.cookies.delete(cookie.name)
    else this.cookies.set(cookie.name, raw)
  }
}
