/** A whole host in memory, and a record of everything it is asked and told, by three hands at once: options, `auth.hook` / `auth.on`, a plugin. */
import { type Adapter, type Auth, type AuthConfig, createAuth, type VerificationRequest } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { memoryAdapter, memoryData, type MemoryData } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from './_op.ts'

/** `ad.*` calls of the adapter, `cb.*` hooks, `ev.*` events. */
export interface Entry {
  what: string
  /** `plugin`, `config` or `hook`; `store` for the adapter. */
  by: string
  message: unknown
}
export type Strategy = 'jwt' | 'database'
/** `whole`: all operations; `split`: without createUserWithAccount; `none`: no adapter. */
export type StoreKind = 'whole' | 'split' | 'none'
/** Answers of the hooks; undefined has no opinion. */
export type Answers = Partial<Record<'signIn' | 'redirect' | 'jwt' | 'session', (message: never) => unknown>>

const hooks = ['signIn', 'redirect', 'jwt', 'session'] as const
const events = ['createUser', 'updateUser', 'linkAccount', 'session', 'signIn', 'signOut', 'signInFailed'] as const

export interface World {
  auth: Auth
  client: Client
  op: LocalOp
  data: MemoryData
  mails: VerificationRequest[]
  log: Entry[]
  options: ReturnType<typeof baseConfig>
  /** Answers of the option callbacks; the other two hands agree. */
  answers: Answers
  /** Sends, and gives what happened meanwhile: one name per question, checked to have reached all three hands in order and alike. */
  during(send: () => Promise<Response>): Promise<{ response: Response; seen: string[] }>
  /** Messages of one kind in the last `during`. */
  messages(what: string): unknown[]
  /** Runs a sign-in at the provider up to its callback URL. */
  toProvider(provider: string, fields?: Record<string, string>, client?: Client): Promise<string>
}

export function createWorld(strategy: Strategy, store: StoreKind = 'split', config: AuthConfig = {}): World {
  const log: Entry[] = []
  const answers: Answers = {}
  const mails: VerificationRequest[] = []
  const data = memoryData()
  const options = baseConfig()
  const op = new LocalOp(options.runtime.now)
  options.runtime.fetch = op.fetch
  const sendVerificationRequest = (request: VerificationRequest): void => void mails.push(request)
  const mail = { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest }
  const providers = [
    op.provider('oidc'),
    op.provider('oauth'),
    { ...op.provider('oidc', 'trusting'), allowDangerousEmailAccountLinking: true },
    { id: 'password', name: 'Password', type: 'credentials', authorize },
    ...(store === 'none' ? [] : [mail, passkey()]),
  ] as never[]
  const auth = createAuth({
    ...options,
    session: { strategy, updateAge: 0 },
    experimental: { enableWebAuthn: true },
    providers,
    ...(store !== 'none' && { adapter: traced(adapterOf(store, data), log) }),
    callbacks: Object.fromEntries(hooks.map((name) => [name, answering('config', name)])),
    events: Object.fromEntries(events.map((name) => [name, listening('config', name)])),
    ...config,
  } as AuthConfig)
  for (const name of hooks) auth.hook(name, answering('hook', name) as never)
  for (const name of events) auth.on(name, listening('hook', name))
  auth.use(watcher())
  const client = new Client(auth)
  return { auth, client, op, data, mails, log, options, answers, during, messages, toProvider }

  /** The third hand, used last: order must not depend on when. */
  function watcher(): Plugin {
    return {
      name: 'watcher',
      setup(kernel) {
        for (const name of hooks) kernel.hook(name, answering('plugin', name) as never)
        for (const name of events) kernel.on(name, listening('plugin', name))
      },
    }
  }
  function answering(by: string, name: (typeof hooks)[number]): (message: never) => unknown {
    return (message) => {
      log.push({ what: `cb.${name}`, by, message: structuredClone(message) })
      const answer = answers[name]?.(message)
      if (answer !== undefined && by === 'config') return answer
      return name === 'signIn' ? true : undefined
    }
  }
  function listening(by: string, name: string): (message: unknown) => void {
    return (message) => void log.push({ what: `ev.${name}`, by, message: shown(message) })
  }
  function authorize(credentials: Record<string, unknown>): { id: string; name: string; email: string; role: string } | null {
    log.push({ what: 'authorize', by: 'store', message: structuredClone(credentials) })
    return credentials['password'] === 'right' ? { id: 'u-pat', name: 'Pat', email: 'pat@example.com', role: 'admin' } : null
  }
  async function during(send: () => Promise<Response>): Promise<{ response: Response; seen: string[] }> {
    log.length = 0
    const response = await send()
    return { response, seen: collapsed(log) }
  }
  function messages(what: string): unknown[] {
    return log.filter((entry) => entry.what === what && (entry.by === 'config' || entry.by === 'store')).map(({ message }) => message)
  }
  async function toProvider(provider: string, fields: Record<string, string> = {}, from: Client = client): Promise<string> {
    const response = await from.post(`/signin/${provider}`, fields)
    return op.authorize(response.headers.get('location') ?? '')
  }
}

/** Names in order, each question once; checks that it reached plugin, options and `auth.hook` in this order (`first`: reversed), and alike. */
function collapsed(log: readonly Entry[]): string[] {
  const seen: string[] = []
  for (let i = 0; i < log.length;) {
    const { what, by, message } = log[i] as Entry
    seen.push(what)
    const hands = by === 'store' ? ['store'] : what === 'cb.redirect' ? ['hook', 'config', 'plugin'] : ['plugin', 'config', 'hook']
    let asked = 0
    for (; asked < hands.length && log[i + asked]?.what === what && log[i + asked]?.by === hands[asked]; asked++) {
      // A pipe hands on what it carries; everything else is told alike.
      const same = JSON.stringify(log[i + asked]?.message) === JSON.stringify(message)
      if (!same && what !== 'cb.jwt' && what !== 'cb.session') throw new Error(`${what} was told differently to ${hands[asked]}`)
    }
    if (asked === 0 || (asked < hands.length && what.startsWith('ev.'))) throw new Error(`${what} reached ${by} out of turn`)
    i += asked
  }
  return seen
}

/** An error as its name: what an entry is compared by. */
function shown(message: unknown): unknown {
  const { error, ...rest } = message as { error?: Error }
  return structuredClone(error === undefined ? rest : { ...rest, error: error.name })
}

function adapterOf(store: StoreKind, data: MemoryData): Adapter {
  const { createUserWithAccount, ...rest } = memoryAdapter(data)
  return store === 'whole' ? { ...rest, createUserWithAccount } : rest
}

/** The adapter with every call written down. */
export function traced(adapter: Adapter, log: Entry[]): Adapter {
  const wrapped: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(adapter)) {
    wrapped[name] =
      typeof value === 'function'
        ? (...args: unknown[]) => {
            log.push({ what: `ad.${name}`, by: 'store', message: args.length === 1 ? structuredClone(args[0]) : structuredClone(args) })
            return (value as (...all: unknown[]) => unknown)(...args)
          }
        : value
  }
  return wrapped as Adapter
}
