/** A host whose store, records, marks, limits, network and mails fail once, at a chosen call. Journeys of plugins run over it. */
import { type Adapter, type Auth, type AuthConfig, createAuth } from 'authkernel'
import type { Limit, MailMessage, Once, Plugin, RecordStore } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { baseConfig, Client } from '../_setup.ts'
import { deadline, type Fault } from './_faults.ts'
import { LocalOp } from './_op.ts'

/** One exchange of a journey. `sent` is the body of the request. */
export interface Exchange {
  what: string
  request: Request
  sent: string
  response: Response
  ms: number
}
/** What a journey works on. */
export interface Ground {
  auth: Auth
  adapter: Adapter
  op: LocalOp
  mails: MailMessage[]
  /** Codes by text message. */
  texts: { to: string; code?: string | undefined }[]
  runtime: ReturnType<typeof baseConfig>['runtime']
  logger: ReturnType<typeof baseConfig>['logger']
  /** Keeps cookies; each response is checked by `arm`'s caller. */
  browser(origin?: string): Client
  /** A call of the host's to an API of a plugin; null when it was refused. A rejection must be an error of the package. */
  api<T>(what: string, work: () => Promise<T>): Promise<T | null>
  /** Every response so far, with what asked. */
  seen: Exchange[]
  /** Calls to APIs so far, and what they were refused with. */
  asked: { what: string; error: unknown; ms: number }[]
  /** Calls since `arm`. */
  calls: string[]
  arm(at: number | undefined, fault?: Fault): void
  release(): Promise<void>
}
export interface Journey {
  name: string
  /** Many calls or slow hashes: the quick tier takes a few calls, one fault each; the full tier all. */
  slow?: boolean
  plugins(ground: Pick<Ground, 'texts'>): Plugin<never>[]
  config?: (op: LocalOp) => AuthConfig
  /** Before faults: people who are there. */
  prepare?(ground: Ground): Promise<void>
  /** The whole way for a person of this name; throws or answers false where it did not arrive. `mustNot` is told what may never be true. */
  run(ground: Ground, who: string, mustNot: (what: string, happened: boolean) => void): Promise<boolean>
}

/** `more`: plugins and options that look on. */
export async function createGround(
  { plugins, config, prepare }: Journey,
  more: { plugins?: readonly Plugin<never>[]; config?: AuthConfig } = {},
): Promise<Ground> {
  const base = baseConfig()
  const op = new LocalOp(base.runtime.now)
  const calls: string[] = []
  const late: (() => void)[] = []
  let [target, chosen]: [number | undefined, Fault | undefined] = [undefined, undefined]
  const faulty =
    <A extends unknown[]>(name: string, real: (...args: A) => unknown) =>
    (...args: A): unknown => {
      const at = calls.push(name) - 1
      return chosen && at === target
        ? chosen(
            () => real(...args),
            (work) => late.push(work),
            args,
          )
        : real(...args)
    }
  const wrapped = <T extends object>(of: T, prefix: string, also: (name: string) => boolean): T =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => [
        name,
        typeof value === 'function' && also(name) ? faulty(prefix + name, value.bind(of)) : value,
      ]),
    ) as T
  const { records, ...plain } = memoryAdapter(memoryData()) as Adapter & { records: RecordStore }
  const adapter = wrapped(plain, '', () => true)
  const called = new Set(['get', 'find', 'count', 'write', 'deleteWhere'])
  const [mails, texts]: [MailMessage[], Ground['texts']] = [[], []]
  base.runtime.fetch = faulty('fetch', (input: RequestInfo | URL, init?: RequestInit) => op.fetch(input, init)) as typeof fetch
  const auth = createAuth({
    ...base,
    session: { strategy: 'database' },
    throttle: false,
    deadlines: { store: deadline, network: deadline },
    ...config?.(op),
    ...more.config,
  })
    .use(
      adapterPlugin(adapter, {
        once: wrapped(onceOf(base.runtime.now), 'once.', () => true),
        limit: wrapped(limitOf(base.runtime.now), 'limit.', () => true),
      }),
    )
    .use(recordsPlugin(wrapped(records, 'records.', (name) => called.has(name))))
    .use({
      name: 'postbox',
      setup: (kernel) => kernel.provide('mailTransport', { send: faulty('mail', (mail: MailMessage) => void mails.push(mail)) as never }),
    })
  for (const plugin of [...plugins({ texts }), ...(more.plugins ?? [])]) auth.use(plugin)
  await auth.ready()
  const [seen, asked]: [Exchange[], Ground['asked']] = [[], []]
  const handler = async (request: Request): Promise<Response> => {
    const sent = await request.clone().text()
    const started = performance.now()
    const response = await auth.handler(request)
    const what = `${request.method} ${new URL(request.url).pathname}`
    seen.push({ what, request, sent, response: response.clone(), ms: performance.now() - started })
    return response
  }
  const ground: Ground = {
    auth,
    adapter: plain,
    op,
    mails,
    texts,
    runtime: base.runtime,
    logger: base.logger,
    browser: (origin) => new Client({ handler }, origin),
    async api(what, work) {
      const started = performance.now()
      try {
        const answer = await work()
        asked.push({ what, error: undefined, ms: performance.now() - started })
        return answer
      } catch (error) {
        asked.push({ what, error, ms: performance.now() - started })
        return null
      }
    },
    seen,
    asked,
    calls,
    arm(at, fault) {
      calls.length = seen.length = asked.length = 0
      ;[target, chosen] = [at, fault]
    },
    async release() {
      for (const work of late.splice(0)) work()
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve))
    },
  }
  await prepare?.(ground)
  return ground
}

function onceOf(now: () => number): Once {
  const ends = new Map<string, number>()
  const taken = (key: string): boolean => (ends.get(key) ?? 0) > now()
  return { shared: true, taken, take: (key, seconds) => !taken(key) && ends.set(key, now() + seconds * 1000) !== undefined }
}

function limitOf(now: () => number): Limit {
  const windows = new Map<string, { count: number; until: number }>()
  return {
    take(key, { max, seconds }) {
      const known = windows.get(key)
      const window = known && known.until > now() ? known : { count: 0, until: now() + seconds * 1000 }
      windows.set(key, { ...window, count: window.count + 1 })
      const allowed = window.count < max
      return { allowed, retryAfter: allowed ? 0 : Math.ceil((window.until - now()) / 1000) }
    },
    refund(key) {
      const window = windows.get(key)
      if (window) windows.set(key, { ...window, count: window.count - 1 })
    },
  }
}

/** A sign-in by name alone. */
export const byName: Record<string, unknown> = {
  id: 'credentials',
  name: 'Name',
  type: 'credentials',
  credentials: { user: { label: 'Name' } },
  authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
}
export const json: Record<string, string> = { 'content-type': 'application/json', origin: 'http://localhost:3000' }

export async function person({ adapter }: Ground, who: string, proved: Date | null = new Date(0)): Promise<void> {
  if (await adapter.getUser!(who)) return
  await adapter.createUser!({ id: who, name: who, email: `${who}@example.com`, emailVerified: proved })
}
/** A browser with a signed-in user. */
export async function signedInAs(ground: Ground, who: string, origin?: string): Promise<Client> {
  await person(ground, who)
  const client = ground.browser(origin)
  await client.post('/callback/credentials', { user: who })
  return client
}
export const asks = (client: Client, headers: Record<string, string> = {}, path = '/'): Request =>
  new Request(client.origin + path, { headers: { cookie: client.cookieHeader(), ...headers } })
/** Mails leave after the answer: waits until there are more than `before`, or for as long as none will come. */
export async function settle(list: readonly unknown[], before: number): Promise<void> {
  for (let looks = 0; looks < 100 && list.length <= before; looks++) await new Promise((resolve) => setTimeout(resolve, 2))
}
export const tokenIn = (mail: MailMessage | undefined): string => /token=([0-9a-f]{64})/.exec(mail?.text ?? '')?.[1] ?? ''
export const signedIn = async (client: Client): Promise<boolean> => (await client.session().catch(() => null)) !== null
/** Keeps the cookies of an answer that an API gave. */
export async function keep(client: Client, response: Response): Promise<Response> {
  const carrier = new Client({ handler: () => Promise.resolve(response) })
  for (const [name, value] of client.cookies) carrier.cookies.set(name, value)
  await carrier.get('/')
  client.cookies.clear()
  for (const [name, value] of carrier.cookies) client.cookies.set(name, value)
  return response
}
