/** A browser without a window that keeps cookies and writes down every exchange. */
import type { Call, Entry, Recorder } from './_recorder.ts'
import { forms, type PageFacts } from './_page.ts'

/** One Set-Cookie header. */
export interface SetCookie {
  name: string
  value: unknown
  /** Attributes as they stand on the wire, in their order. */
  flags: string[]
}
/** What came back. */
export interface Answer {
  status: number
  headers: Record<string, string>
  location?: { url: string; params: Record<string, unknown> }
  cookies: SetCookie[]
  body: unknown
  page?: PageFacts
}
/** One exchange with everything that happened during it. */
export interface Step {
  request: string
  calls: Call[]
  logs: Entry[]
  answer: Answer
}
/** What a request may bring along. */
export interface Send {
  query?: Record<string, string> | undefined
  form?: Record<string, string> | [string, string][] | undefined
  json?: unknown
  /** Body and type as they are. */
  text?: [type: string, body: string] | undefined
  headers?: Record<string, string> | undefined
}
type Handler = (request: Request) => Promise<Response>
/** Turns the value of a session cookie into what it says; undefined: not a token. */
export type ReadToken = (name: string, value: string) => Promise<unknown>

export class Browser {
  readonly steps: Step[] = []
  readonly cookies: Map<string, string> = new Map()
  readonly origin: string
  readonly base: string
  readonly #handler: Handler
  readonly #recorder: Recorder
  readonly #readToken: ReadToken

  constructor(handler: Handler, recorder: Recorder, { origin, basePath }: { origin: string; basePath: string }, readToken: ReadToken) {
    this.#handler = handler
    this.#recorder = recorder
    this.#readToken = readToken
    this.origin = origin
    this.base = origin + basePath
  }

  /** `path` is a URL, or below the base path. Throws nothing: what the handler throws is written down. */
  async send(method: string, path: string, { query, form, json, text, headers: given }: Send = {}): Promise<Response | undefined> {
    const url = new URL(path.startsWith('http') ? path : this.base + path)
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
    const headers = new Headers(given)
    if (this.cookies.size > 0 && !headers.has('cookie')) headers.set('cookie', [...this.cookies].map((pair) => pair.join('=')).join('; '))
    let body: string | URLSearchParams | null = form === undefined ? null : new URLSearchParams(form)
    if (json !== undefined) {
      headers.set('content-type', 'application/json')
      body = JSON.stringify(json)
    }
    if (text) {
      headers.set('content-type', text[0])
      body = text[1]
    }
    const label = `${method} ${url.href.slice(this.origin.length) || '/'}`
    const request = new Request(url, { method, headers, body, redirect: 'manual' })
    let response: Response
    try {
      response = await this.#handler(request)
    } catch (error) {
      const answer = { status: 0, headers: {}, cookies: [], body: `thrown ${(error as { type?: string }).type ?? (error as Error).name}` }
      this.steps.push({ request: label, ...this.#recorder.take(), answer })
      return undefined
    }
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    this.steps.push({ request: label, ...this.#recorder.take(), answer: await this.#read(response.clone()) })
    return response
  }

  get(path: string, options?: Send): Promise<Response | undefined> {
    return this.send('GET', path, options)
  }

  async csrfToken(): Promise<string> {
    const response = await this.get('/csrf')
    const { csrfToken = '' } = (response ? await response.json().catch(() => ({})) : {}) as { csrfToken?: string }
    return csrfToken
  }

  /** A form with a fresh CSRF token. */
  async post(path: string, form: Record<string, string> = {}, options: Send = {}): Promise<Response | undefined> {
    const csrfToken = await this.csrfToken()
    return this.send('POST', path, { ...options, form: { csrfToken, ...form } })
  }

  /** Where the last answer leads: a redirect, or JSON for clients that asked for it. */
  get next(): string {
    const { location, body } = this.steps.at(-1)?.answer ?? {}
    const url = this.#last ?? location?.url ?? (body as { url?: string } | null)?.url ?? ''
    return url.startsWith('/') ? this.origin + url : url
  }
  #last: string | undefined

  async #read(response: Response): Promise<Answer> {
    const type = response.headers.get('content-type') ?? ''
    const text = await response.text()
    const location = response.headers.get('location') ?? undefined
    this.#last = location
    const headers: Record<string, string> = {}
    for (const [name, value] of response.headers) if (name !== 'set-cookie' && name !== 'location') headers[name] = value
    return {
      status: response.status,
      headers,
      ...(location !== undefined && { location: split(location) }),
      cookies: await Promise.all(response.headers.getSetCookie().map((line) => this.#cookie(line))),
      body: type.includes('html') ? '<page>' : type.includes('json') ? withSplitUrl(text === '' ? 'nothing' : JSON.parse(text)) : text,
      ...(type.includes('html') && { page: forms(text) }),
    }
  }

  async #cookie(line: string): Promise<SetCookie> {
    const [pair = '', ...flags] = line.split('; ')
    const name = pair.slice(0, pair.indexOf('='))
    const value = decode(pair.slice(name.length + 1))
    const read = value === '' ? undefined : await this.#readToken(name, value)
    return { name, value: read ?? value, flags }
  }

  #keep(line: string): void {
    const [pair = '', ...flags] = line.split('; ')
    const name = pair.slice(0, pair.indexOf('='))
    const value = pair.slice(name.length + 1)
    if (flags.includes('Max-Age=0') || value === '') this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

/** A URL with its parameters apart, so that their order does not count. */
export function split(url: string): { url: string; params: Record<string, unknown> } {
  const [head = '', query = ''] = url.split(/\?(.*)/s)
  const params: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(query)) params[name] = name in params ? [params[name], value].flat() : value
  return { url: head, params }
}

function withSplitUrl(body: unknown): unknown {
  const { url, ...rest } = Object(body) as { url?: unknown }
  return typeof url === 'string' && Object.keys(rest).length === 0 ? { redirect: split(url) } : body
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
