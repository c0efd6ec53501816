/** A browser of few words: cookies, forms, and redirects that are looked at and not followed. */

/** A user who can sign in with a form. */
export interface BindingPerson {
  /** Id of the credentials provider. */
  provider: string
  /** Name in the session. */
  name: string
  /** Fields that sign in. */
  right: Record<string, string>
  /** Fields that do not. */
  wrong: Record<string, string>
}
/** An answer as it came. */
export interface Reply {
  /** What was asked and how it was answered: for messages of rules that fail. */
  summary: string
  status: number
  headers: Headers
  cookies: string[]
  text: string
}

export class Client {
  readonly jar: Map<string, string> = new Map()
  readonly origin: string
  readonly base: string

  constructor(origin: string, base: string) {
    this.origin = origin
    this.base = base
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(path, { headers })
  }

  /** A form; no Origin header unless it is given. */
  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(path, { method: 'POST', headers, body: new URLSearchParams(fields) })
  }

  /** As a page of the app does it: token first, then the form. */
  async signIn(
    { provider }: BindingPerson,
    fields: Record<string, string>,
    kind: 'form' | 'json' = 'form',
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const all = { ...fields, csrfToken: await this.token(), callbackUrl: '/after' }
    const path = `${this.base}/callback/${provider}`
    if (kind === 'form') return this.post(path, all, { origin: this.origin, ...headers })
    const body = JSON.stringify(all)
    return this.send(path, { method: 'POST', body, headers: { 'content-type': 'application/json', origin: this.origin, ...headers } })
  }

  async signOut(): Promise<Reply> {
    return this.post(`${this.base}/signout`, { csrfToken: await this.token(), callbackUrl: '/bye' }, { origin: this.origin })
  }

  async token(): Promise<string> {
    const { status, text, summary } = await this.get(`${this.base}/csrf`)
    if (status !== 200) throw new Error(`${summary}\nIs the handler mounted at ${this.base}?`)
    return (JSON.parse(text) as { csrfToken: string }).csrfToken
  }

  async send(path: string, init: RequestInit): Promise<Reply> {
    const headers = new Headers(init.headers)
    if (this.jar.size > 0) headers.set('cookie', [...this.jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(new URL(path, this.origin), { ...init, headers, redirect: 'manual' })
    const cookies = response.headers.getSetCookie()
    for (const cookie of cookies) this.keep(cookie)
    const text = await response.text()
    const summary = `${init.method ?? 'GET'} ${path} was answered with ${response.status}: ${text.slice(0, 300)}`
    return { summary, status: response.status, headers: response.headers, cookies, text }
  }

  private keep(cookie: string): void {
    const [pair = ''] = cookie.split(';')
    const at = pair.indexOf('=')
    if (/max-age=0/i.test(cookie)) this.jar.delete(pair.slice(0, at))
    else this.jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
}
