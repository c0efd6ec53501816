/** A provider on a port, and a browser that signs in, allows what is asked, and follows redirects with cookies of each origin. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import {
  type AuthorizationServerApi,
  type AuthorizationServerOptions,
  type ClientOptions,
  authorizationServerPlugin,
} from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { Auth, LoggerInstance } from 'authkernel/kernel'

export const secret: string = 's'.repeat(40)

export interface Listening {
  origin: string
  /** Answers from now on. */
  answer(listener: RequestListener): void
  close(): Promise<void>
}

export async function listen(): Promise<Listening> {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (listener) => void server.on('request', listener),
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  }
}

export interface Provider {
  auth: Auth<AuthorizationServerApi>
  origin: string
  issuer: string
  /** What was logged as a fault. */
  errors: Error[]
  close(): Promise<void>
}

export async function startProvider(
  clients: readonly ClientOptions[],
  options: Partial<AuthorizationServerOptions> = {},
): Promise<Provider> {
  const site = await listen()
  const errors: Error[] = []
  const logger: LoggerInstance = { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined }
  const store = memoryAdapter()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: new Date(0) })
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    logger,
    providers: [
      { id: 'password', name: 'Password', type: 'credentials', credentials: { user: {} }, authorize: ({ user }) => ({ id: String(user) }) },
    ],
    session: { strategy: 'database' },
  })
    .use(adapterPlugin(store))
    // RS256: what every relying party takes without a setting.
    .use(jwtPlugin({ algorithm: 'RS256' }))
    .use(authorizationServerPlugin({ clients, ...options }))
    .use(nodeBinding())
  await auth.ready()
  site.answer((req, res) => void auth.node.handler(req, res).then((answered) => answered || res.writeHead(404).end()))
  return { auth, origin: site.origin, issuer: `${site.origin}/auth`, errors, close: site.close }
}

/** Keeps cookies by origin. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()
  readonly #provider: string
  /** Addresses that it was led to. */
  readonly visited: string[] = []
  constructor(provider: Pick<Provider, 'origin'>) {
    this.#provider = provider.origin
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    const headers = new Headers(init.headers)
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    this.visited.push(url)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /** Follows redirects to a page; a page of the provider is answered as its user would. */
  async open(url: string, init: RequestInit = {}): Promise<{ url: string; status: number; text: string }> {
    const response = await this.send(url, init)
    const to = response.headers.get('location')
    if (to !== null) return this.open(new URL(to, url).href)
    const text = await response.text()
    if (url.startsWith(`${this.#provider}/auth/oauth2/authorize`)) {
      const ticket = /name="ticket" value="([^"]+)"/.exec(text)?.[1]
      if (ticket !== undefined) return this.#post('/oauth2/consent', { ticket, decision: 'allow' })
    }
    if (url.startsWith(`${this.#provider}/auth/signin`)) {
      const callbackUrl = new URL(url).searchParams.get('callbackUrl') ?? ''
      return this.#post('/callback/password', { user: 'ada', callbackUrl })
    }
    return { url, status: response.status, text }
  }

  async #post(path: string, fields: Record<string, string>): Promise<{ url: string; status: number; text: string }> {
    const base = `${this.#provider}/auth`
    const { csrfToken } = (await (await this.send(`${base}/csrf`)).json()) as { csrfToken: string }
    return this.open(`${base}${path}`, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) })
  }
}
