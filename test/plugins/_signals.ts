/** A transmitter with organizations and SCIM, and a receiver that signs its users in there; both speak over real HTTP, the pushes over TLS. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuth } from 'authkernel'
import type { Auth, Plugin } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { type SharedSignalsApi, sharedSignalsPlugin, type Signal, type TransmitterOptions } from 'authkernel/plugins/shared-signals'
import { Client, locationOf } from '../_client.ts'
import { createScimWorld, type ScimWorld } from './_scim.ts'

export const origin = 'http://localhost:3000'
export const issuer = 'http://localhost:3000/auth'
const clientSecret = 's'.repeat(40)

export interface Listener {
  port: number
  close(): Promise<void>
}
type Handle = (request: Request) => Promise<Response>

/** Serves a handler by HTTP, or by TLS with a certificate for `receiver.example`. `at`: the origin that it believes to have. */
export async function listen(handle: Handle, at: string, tls?: { key: string; cert: string }): Promise<Listener> {
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => void parts.push(part))
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
      handle(new Request(`${at}${request.url}`, { method: request.method!, headers, ...(hasBody && { body: Buffer.concat(parts) }) }))
        .then(async (answer) => {
          const headers = { ...Object.fromEntries(answer.headers), 'set-cookie': answer.headers.getSetCookie() }
          response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()))
        })
        .catch(() => response.writeHead(500).end())
    })
  }
  const server: Server = tls ? (createTlsServer(tls, listener) as unknown as Server) : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  }
}

/** A key and a certificate for `receiver.example`. */
export function createCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-signals-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=receiver.example', '-addext', 'subjectAltName=DNS:receiver.example']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return made
}

export interface SignalsWorld extends Omit<ScimWorld, 'auth'> {
  auth: ScimWorld['auth'] & SharedSignalsApi & AccountsApi
  receiver: Auth
  signals: Signal[]
  /** What the receiver logged. */
  errors: Error[]
  /** The address that events are pushed to. */
  endpoint: string
  /** Answers pushes instead of the receiver, while it is set. */
  answers: { push: Handle | undefined }
  pushes: { headers: Headers; body: string }[]
  /** A browser that has signed in to the receiver by the transmitter. */
  enter(email: string): Promise<Client>
  isIn(browser: Client): Promise<boolean>
  ssf(
    method: string,
    path: string,
    token: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>
  close(): Promise<void>
}

export async function createSignalsWorld(
  options: Partial<TransmitterOptions> = {},
  plugins: readonly Plugin[] = [],
): Promise<SignalsWorld> {
  const tls = createCertificate()
  const answers: SignalsWorld['answers'] = { push: undefined }
  const pushes: SignalsWorld['pushes'] = []
  const place: { receiver?: Auth } = {}
  const receiverServer = await listen(
    async (request) => {
      pushes.push({ headers: request.headers, body: await request.clone().text() })
      return answers.push ? answers.push(request) : place.receiver!.handler(request)
    },
    'https://receiver.example',
    tls,
  )
  const open = createPublicFetch({ allow: ['127.0.0.1'], ca: tls.cert, lookup: () => ['127.0.0.1'] })
  const guard: Plugin = { name: 'guard', setup: (kernel) => kernel.provide('publicFetch', open) }
  const client = {
    client_id: 'receiver',
    client_name: 'Receiver',
    client_secret: clientSecret,
    redirect_uris: ['https://receiver.example/auth/callback/hub'],
    first_party: true,
  }
  const transmitter = sharedSignalsPlugin({ transmitter: { every: 0, ...options } })
  const world = await createScimWorld({
    plugins: [jwtPlugin(), authorizationServerPlugin({ clients: [client] }), accountsPlugin(), guard, transmitter, ...plugins],
    now: Date.now(),
  })
  const hub = await listen((request) => world.auth.handler(request), origin)
  const fetch: typeof globalThis.fetch = (input, init) =>
    globalThis.fetch(String(input instanceof Request ? input.url : input).replace(origin, `http://127.0.0.1:${hub.port}`), init)
  const signals: Signal[] = []
  const errors: Error[] = []
  const receiver = createAuth({
    secret: 'the-secret-of-the-receiver-has-40-letters',
    origin: 'https://receiver.example',
    env: false,
    adapter: memoryAdapter(),
    session: { strategy: 'database' },
    runtime: { now: () => world.runtime!.now(), fetch },
    logger: { error: (error) => void errors.push(error), warn() {} },
  })
    .use(oidcPlugin({ id: 'hub', issuer, clientId: 'receiver', clientSecret }))
    .use(sharedSignalsPlugin({ providers: { hub: { revoke: true, authorization: 'Bearer agreed' } } }))
  receiver.on('signalReceived', (signal) => void signals.push(signal))
  await receiver.ready()
  place.receiver = receiver
  return {
    ...world,
    auth: world.auth as SignalsWorld['auth'],
    receiver,
    signals,
    errors,
    endpoint: `https://receiver.example:${receiverServer.port}/auth/signals/hub`,
    answers,
    pushes,
    async enter(email) {
      const atHub = await world.signIn(email)
      const browser = new Client(receiver, { origin: 'https://receiver.example' })
      const toHub = locationOf(await browser.signIn('hub'))
      await browser.get(locationOf(await atHub.get(toHub)))
      return browser
    },
    isIn: async (browser) => (await browser.session())?.user !== undefined,
    async ssf(method, path, token, body) {
      const answer = await globalThis.fetch(`http://127.0.0.1:${hub.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
    },
    async close() {
      await receiver.close()
      await world.auth.close()
      await Promise.all([hub.close(), receiverServer.close()])
    },
  }
}
