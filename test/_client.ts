/** A browser as far as `auth.handler` can tell: keeps cookies, follows nothing by itself. */

/** Something that answers requests. */
export interface Handler {
  handler(request: Request): Promise<Response>
}
/** A Set-Cookie header, taken apart. */
export interface SetCookie {
  name: string
  value: string
  /** Attributes by lower-case name; `''` for flags. */
  attributes: Record<string, string>
}

export class Client {
  readonly cookies: Map<string, string> = new Map()
  readonly auth: Handler
  readonly origin: string
  readonly basePath: string
  /** Sent with every request. */
  headers: Record<string, string> = {}

  constructor(auth: Handler, { origin = 'http://localhost:3000', basePath = '/auth' }: { origin?: string; basePath?: string } = {}) {
    this.auth = auth
    this.origin = origin
    this.basePath = basePath
  }

  /** A browser with the same cookies: a second tab, or a copy made before a change. */
  clone(): Client {
    const copy = new Client(this.auth, { origin: this.origin, basePath: this.basePath })
    for (const [name, value] of this.cookies) copy.cookies.set(name, value)
    return copy
  }

  /** `target`: a path below the base path, or an absolute URL. */
  async request(method: string, target: string, init: { body?: BodyInit; headers?: Record<string, string> } = {}): Promise<Response> {
    const url = target.startsWith('/') ? `${this.origin}${this.basePath}${target}` : target
    const headers = new Headers({ ...this.headers, ...init.headers })
    if (this.cookies.size > 0) headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await this.auth.handler(new Request(url, { method, headers, ...(init.body !== undefined && { body: init.body }) }))
    for (const cookie of setCookies(response)) {
      if (cookie.attributes['max-age'] === '0') this.cookies.delete(cookie.name)
      else this.cookies.set(cookie.name, cookie.value)
    }
    return response
  }

  get(target: string, headers?: Record<string, string>): Promise<Response> {
    return this.request('GET', target, headers && { headers })
  }

  /** A form as a browser posts it from a page of the own origin. */
  post(target: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.request('POST', target, { body: new URLSearchParams(fields), headers: { origin: this.origin, ...headers } })
  }

  async csrfToken(): Promise<string> {
    const { csrfToken } = (await (await this.get('/csrf')).json()) as { csrfToken: string }
    return csrfToken
  }

  /** Starts a sign-in; the Location is the provider's authorization URL. */
  async signIn(provider: string, fields: Record<string, string> = {}, query = ''): Promise<Response> {
    return this.post(`/signin/${provider}${query}`, { csrfToken: await this.csrfToken(), ...fields })
  }

  async session(): Promise<{ user?: { name?: string; email?: string; image?: string }; expires: string } | null> {
    return (await (await this.get('/session')).json()) as never
  }
}

/** Location of a redirect; throws when there is none. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location')
  if (location === null) throw new Error(`no redirect but status ${response.status}`)
  return location
}

/** Set-Cookie headers of a response. */
export function setCookies(response: Response): SetCookie[] {
  return response.headers.getSetCookie().map((header) => {
    const [pair = '', ...rest] = header.split(';')
    const equals = pair.indexOf('=')
    const attributes = rest.map((part) => {
      const [name = '', ...value] = part.trim().split('=')
      return [name.toLowerCase(), value.join('=')]
    })
    return {
      name: pair.slice(0, equals),
      value: pair.slice(equals + 1),
      attributes: Object.fromEntries(attributes) as Record<string, string>,
    }
  })
}
