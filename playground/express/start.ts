/** Starts and ends the parts of the playground; tests start it on free ports. */
import type { Adapter } from 'authkernel'
import { createServer, type RequestListener } from 'node:http'
import { close, listen } from '../_shared/listen.ts'
import { startMailbox } from '../_shared/mail.ts'
import { startOP } from '../_shared/op.ts'
import { createApp } from './app.ts'
import { createAudit, record } from './audit.ts'
import { createPlaygroundAuth, type PlaygroundAuth, seed, waysIn } from './auth.ts'
import { catalogue } from './catalogue.ts'
import { openStore } from './store.ts'
import { createBoard } from './switches.ts'
import { type Watched, watchPlugin } from './watch.ts'

/** 0: any free port. */
export interface PlaygroundOptions {
  port: number
  opPort: number
  strategy: 'jwt' | 'database'
  /** `memory`, or a folder; default: `.data` beside this file. */
  store?: string | undefined
  /** Nothing is written to the console. */
  quiet?: boolean
}
/** A running playground. */
export interface Playground {
  url: string
  issuer: string
  strategy: 'jwt' | 'database'
  /** Where data is, in words. */
  store: string
  adapter: Adapter
  auth: PlaygroundAuth
  close(): Promise<void>
}

const clients = {
  acme: { id: 'playground', secret: 'playground-secret-of-acme' },
  globex: { id: 'playground-oauth', secret: 'playground-secret-of-globex' },
}

/** Rejects with the configuration mistake, or when a port cannot be had. */
export async function startPlayground({ port, opPort, strategy, store: wished, quiet = false }: PlaygroundOptions): Promise<Playground> {
  let answer: RequestListener = (_req, res) => res.writeHead(503).end()
  const server = createServer((req, res) => answer(req, res))
  const appPort = await listen(server, port)
  const mailbox = await startMailbox()
  const op = await startOP(opPort, () => registrations(appPort))
  const store = await openStore(wished)
  await seed(store.adapter)

  const audit = createAudit()
  const surroundings = {
    issuer: op.issuer,
    clients,
    mailServer: { ...mailbox.server },
    adapter: store.adapter,
    secret: store.secret,
    strategy,
    quiet,
  }
  const auth = createPlaygroundAuth(surroundings)
  const requests: Watched[] = []
  auth.use(watchPlugin(requests))
  const text = (to: string, message: string): void => audit.write('text message', `${message} → ${to}`)
  const board = createBoard(auth, catalogue(waysIn(surroundings), { audit, secret: store.secret, adapter: store.adapter, text }))
  record((name, handler) => auth.on(name, handler), audit)
  mailbox.onMail(({ to, subject }) => audit.write('mail', `${subject} → ${to}`))
  await auth.ready()
  answer = createApp({ auth, audit, board, requests, mailbox, issuer: op.issuer, strategy })

  return {
    // Not 127.0.0.1: passkeys are bound to a host name.
    url: `http://localhost:${appPort}`,
    issuer: op.issuer,
    strategy,
    store: store.place,
    adapter: store.adapter,
    auth,
    close: async () => void (await Promise.all([close(server), op.close(), mailbox.close(), auth.close()])),
  }
}

function registrations(
  port: number,
): { id: string; secret: string; name: string; redirectUris: string[]; origins: string[]; backChannel?: string }[] {
  const origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  return Object.entries(clients).map(([provider, { id, secret }]) => ({
    id,
    secret,
    name: 'authkernel playground',
    redirectUris: origins.map((origin) => `${origin}/auth/callback/${provider}`),
    origins,
    ...(provider === 'acme' && { backChannel: `${origins[1]}/auth/backchannel-logout/acme` }),
  }))
}
