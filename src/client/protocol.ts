/** Requests to the routes of the server, and word of changes to all parts of the page that show the session. */
import { createTabs } from './tabs.ts'

/** Where a server is, and how it is reached. */
export interface Server {
  /** Path of the routes; default `/auth`. */
  basePath?: string | undefined
  /**
   * Origin of the server: `https://app.example`. Default: that of the page. Code that runs outside of a page, such as server rendering and tests, needs it.
   */
  baseURL?: string | undefined
  /**
   * Sends the requests; default: the global `fetch`. Outside of a page it has to bring the cookies along. It is called with a URL as text and its options.
   */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** The body of a rejection by the server. */
interface Refusal {
  error?: string
  code?: string
  issues?: readonly unknown[]
}

/** The server rejected or failed. `status` is the HTTP status. */
export class AuthClientError extends Error {
  declare readonly status: number
  /** Type of the error, where the server told it: `AccessDenied`, `InvalidInput` … */
  declare readonly error: string | undefined
  /** What a method of a plugin gave its `CredentialsSignin`. */
  declare readonly code: string | undefined
  /** What a schema has against the input. */
  declare readonly issues: readonly unknown[]
  constructor(message: string, status: number, { error, code, issues = [] }: Refusal = {}) {
    super(message)
    this.name = 'AuthClientError'
    this.status = status
    this.error = error
    this.code = code
    this.issues = issues
  }
}

/** What a sign-in or sign-out came to. */
export interface FlowResult {
  /** Neither an HTTP failure nor an `error`. */
  ok: boolean
  status: number
  /** URL to go to; with an error, the page that shows it. */
  url: string
  /** Error type: `CredentialsSignin`, `AccessDenied`, `Configuration` … */
  error: string | undefined
  /** What `authorize` gave its `CredentialsSignin`. */
  code: string | undefined
}

/** One server: its base path, its requests, and who listens for changes. */
export interface Protocol {
  /** Address of the routes: `/auth`, with the origin where `baseURL` was given. */
  readonly base: string
  /** GET as JSON. Throws AuthClientError. */
  get<T>(path: string): Promise<T>
  /** The CSRF token of this browser. Throws AuthClientError. */
  token(): Promise<string>
  /** POST with the CSRF token as JSON. Throws AuthClientError. */
  update<T>(path: string, data: unknown): Promise<T>
  /** A method of a plugin: GET with `?input=`, else POST with the CSRF token beside the fields of `input`. Throws AuthClientError. */
  call<T = unknown>(path: string, reads: boolean, input: unknown): Promise<T>
  /** A flow's POST: its redirect comes back as a result. */
  flow(path: string, fields: Record<string, unknown>, redirectTo: string): Promise<FlowResult>
  /** Tells this tab and the others that the session may have changed. */
  announce(): void
  /** Tells the others, before this page goes away. */
  leave(): Promise<void>
  /** Calls `listener` at every announcement; returns how to stop. */
  onChange(listener: () => void): () => void
}

// Milliseconds that a flow waits for reads: a server that answers none of them must not keep a user signed in.
const patience = 3_000

export function createProtocol({ basePath = '/auth', baseURL = '', fetch: request }: Server): Protocol {
  const base = baseURL + basePath.replace(/\/$/, '')
  const credentials = baseURL ? 'include' : 'same-origin'
  const listeners = new Set<() => void>()
  const tabs = createTabs(`authkernel ${base}`)
  let stop: (() => void) | undefined

  function tell(): void {
    for (const listener of listeners) listener()
  }

  function send(path: string, init: RequestInit): Promise<Response> {
    // To another origin cookies go along where that server permits it. Ours are SameSite=Lax: it has to be of the same site.
    return (request ?? fetch)(base + path, { cache: 'no-store', credentials, ...init })
  }

  // An answer may renew the session cookie: one that comes after the sign-out would sign in again.
  const reads = new Set<Promise<unknown>>()
  async function waitForReads(): Promise<void> {
    if (reads.size > 0) await Promise.race([Promise.allSettled(reads), new Promise((resolve) => setTimeout(resolve, patience))])
  }

  async function get<T>(path: string): Promise<T> {
    const reading = send(path, { headers: { accept: 'application/json' } })
    reads.add(reading)
    return answer<T>(path, await reading.finally(() => reads.delete(reading)))
  }

  const token = async (): Promise<string> => (await get<{ csrfToken: string }>('/csrf')).csrfToken

  async function post<T>(path: string, fields: object | undefined, more?: Record<string, string>): Promise<T> {
    const body = JSON.stringify({ ...fields, csrfToken: await token() })
    return answer(path, await send(path, { method: 'POST', headers: { 'content-type': 'application/json', ...more }, body }))
  }

  return {
    base,
    get,
    token,
    update: (path, data) => post(path, { data }),
    async call(path, reads, input) {
      if (!reads) return post(path, input as object | undefined, { 'X-Auth-Return-Redirect': '1' })
      return get(input === undefined ? path : `${path}?${new URLSearchParams({ input: JSON.stringify(input) })}`)
    },
    async flow(path, fields, redirectTo) {
      const body = new URLSearchParams()
      for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== null) body.set(key, String(value))
      body.set('csrfToken', await token())
      body.set('callbackUrl', redirectTo)
      await waitForReads()
      // Makes a redirect readable for a script: 200 with { url }, errors included.
      const response = await send(path, { method: 'POST', headers: { 'X-Auth-Return-Redirect': '1' }, body })
      const { url } = ((await response.json().catch(() => null)) ?? {}) as { url?: string }
      if (!url) throw new AuthClientError(`${base}${path} answered ${response.status}.`, response.status)
      const query = new URL(url, 'https://page').searchParams
      const error = query.get('error') ?? undefined
      return { ok: response.ok && !error, status: response.status, url, error, code: query.get('code') ?? undefined }
    },
    announce() {
      tell()
      void tabs.tell()
    },
    leave: tabs.tell,
    onChange(listener) {
      listeners.add(listener)
      // One for all listeners, so that nothing is told twice.
      stop ??= tabs.listen(tell)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }

  async function answer<T>(path: string, response: Response): Promise<T> {
    const said = (await response.json().catch(() => undefined)) as unknown
    if (response.ok) return said as T
    throw new AuthClientError(`${base}${path} answered ${response.status}.`, response.status, Object(said) as Refusal)
  }
}
