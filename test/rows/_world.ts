/** A whole host in memory, and a record of everything it is asked and told, by three hands at once: options, `auth.hook` / `auth.on`, a plugin. */
import { type Adapter, type Auth, type AuthConfig, createAuth, type VerificationRequest } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { memoryAdapter, memoryData, type MemoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from './_op.ts'

/** `ad.*` calls of the adapter, `cb.*` decisions, `ev.*` events. */
export interface Entry {
  what: string
  /** `plugin`, `config` or `hook`; `store` for the adapter. */
  by: string
  message: unknown
}
export type Strategy = 'jwt' | 'database'
/** `whole`: all operations; `split`: without createUserWithAccount; `none`: no adapter. */
export type StoreKind = 'whole' | 'split' | 'none'
/** Answers of the decisions; undefined has no opinion. */
export type Answers = Partial<Record<'signIn' | 'redirect' | 'jwt' | 'session', (message: never) => unknown>>

const decisions = ['signIn', 'redirect', 'jwt', 'session'] as const
const events = ['createUser', 'updateUser', 'linkAccount', 'session', 'signIn', 'signOut', 'signInFailed'] as const
/** Who answers in which order: `first` asks the newest first (DESIGN section 4). */
const order: Record<string, readonly string[]> = { 'cb.redirect': ['hook', 'config', 'plugin'] }
const usual = ['plugin', 'config', 'hook']

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
  const providers = [
    op.provider('oidc'),
    op.provider('oauth'),
    { ...op.provider('oidc', 'trusting'), allowDangerousEmailAccountLinking: true },
    { id: 'password', name: 'Password', type: 'credentials', authorize },
    ...(store === 'none' ? [] : [{ id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest: (mail: VerificationRequest) => void mails.push(mail) }]),
  ] as never[]
  const auth = createAuth({
    ...options,
    session: { strategy, updateAge: 0 },
    providers,
    ...(store !== 'none' && { adapter: traced(adapterOf(store, data), log) }),
    callbacks: Object.fromEntries(decisions.map((name) => [name, answering('config', name)])),
    events: Object.fromEntries(events.map((name) => [name, listening('config', name)])),
    ...config,
  } as AuthConfig)
  for (const name of decisions) auth.hook(name, answering('hook', name) as never)
  for (const name of events) auth.on(name, listening('hook', name))
  auth.use(recorder)
  return { auth, client: new Client(auth), op, data, mails, log, options, answers, during, messages, toProvider }

  function answering(by: string, name: (typeof decisions)[number]): (message: never) => unknown {
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
  async function toProvider(provider: string, fields: Record<string, string> = {}, client = this.client): Promise<string> {
    const response = await client.post(`/signin/${provider}`, fields)
    return op.authorize(response.headers.get('location') ?? '')
  }
}

/** The order of names, each question once: that it reached plugin, options and `auth.hook` in order and with equal messages is checked here. */
function collapsed(log: readonly Entry[]): string[] {
  const seen: string[] = []
  for (let i = 0; i < log.length; ) {
    const { what, by } = log[i] as Entry
    seen.push(what)
    if (by === 'store') {
      i++
      continue
    }
    const group = log.slice(i, i + 3)
    const expected = order[what] ?? usual
    const agreed = group.filter((entry) => entry.what === what).map((entry) => entry.by)
    // A decided question ends there: the hands that were asked must be the first of the order.
    if (JSON.stringify(agreed) !== JSON.stringify(expected.slice(0, agreed.length))) {
      throw new Error(`${what} reached ${agreed.join(', ')} instead of ${expected.join(', ')}`)
    }
    const decides = what === 'cb.signIn' || what === 'cb.redirect' || what === 'cb.jwt'
    if (!decides && agreed.length !== 3) throw new Error(`${what} reached ${agreed.join(', ')} only`)
    i += agreed.length
  }
  return seen
}

const recorderNames = { decisions, events }

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
