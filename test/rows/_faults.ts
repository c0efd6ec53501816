/** A store that misbehaves once, at a chosen call, and the flows that are run over it. */
import type { Adapter } from 'authkernel'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { Client } from '../_setup.ts'
import { createWorld, type World } from './_world.ts'

/** What the planted errors say: it may stand in the log and nowhere else. */
export const planted = 'planted: relation "users" of postgres://root:hunter2@db'
/** Milliseconds a call may take. */
export const deadline = 50
export const origin = 'http://localhost:3000'

/** Instead of one call; `real` runs the operation, `later` keeps something until `release`, `args` is what the call was given. */
export type Fault = (real: () => unknown, later: (work: () => void) => void, args: readonly unknown[]) => unknown

/** Every way to go wrong; the adapter under it works. */
export const faults: Readonly<Record<string, Fault>> = {
  throws: () => {
    throw new Error(planted)
  },
  rejects: () => Promise.reject(new Error(planted)),
  'rejects with no Error': () => Promise.reject(planted as unknown as Error),
  'throws after the commit': (real) => {
    real()
    throw new Error(planted)
  },
  'loses its answer after the commit': (real) => {
    real()
    return new Promise(() => {})
  },
  hangs: () => new Promise(() => {}),
  'answers after the deadline': (real, later) => new Promise((resolve) => later(() => resolve(Promise.resolve().then(real)))),
  'answers nothing after the deadline': (_real, later) => new Promise((resolve) => later(() => resolve(undefined))),
  'fails after the deadline': (_real, later) => new Promise((_resolve, reject) => later(() => reject(new Error(planted)))),
}
/** Answers that are none; where any answer does (`linkAccount`), they are no fault. */
export const garbage: Readonly<Record<string, Fault>> = {
  'answers {}': () => ({}),
  'answers a text': () => 'planted',
  'answers with dates that are none': (real) => spoiled(real()),
}

function spoiled(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return 'planted'
  const fields = Object.entries(row).map(([name, value]) => [name, value !== null && name !== 'id' ? { planted: true } : value])
  return { ...Object.fromEntries(fields), expires: 'soon', emailVerified: 'never', createdAt: {} }
}

export interface App extends World {
  data: MemoryData
  /** Names of the operations called since `arm`. */
  calls: string[]
  /** Counts from here on; the call of that index goes wrong. */
  arm(at: number | undefined, fault?: Fault): void
  /** Lets late answers come, and what follows from them happen. */
  release(): Promise<void>
  browser(): Client
}

/** A host; `split`: its adapter has no createUserWithAccount. */
export function createApp(split: boolean): App {
  const data = memoryData()
  const { createUserWithAccount, ...plain } = memoryAdapter(data)
  const whole: Adapter = split ? plain : { ...plain, createUserWithAccount }
  const calls: string[] = []
  const late: (() => void)[] = []
  let target: number | undefined
  let chosen: Fault | undefined
  const entries = Object.entries(whole).map(([name, operation]) => {
    if (typeof operation !== 'function') return [name, operation]
    return [
      name,
      (...args: unknown[]) => {
        const real = (): unknown => (operation as (...all: unknown[]) => unknown)(...args)
        const at = calls.push(name) - 1
        return chosen && at === target ? chosen(real, (work) => late.push(work), args) : real()
      },
    ]
  })
  const world = createWorld('database', split ? 'split' : 'whole', {
    adapter: Object.fromEntries(entries) as Adapter,
    deadlines: { store: deadline },
    throttle: false,
  })
  return {
    ...world,
    data,
    calls,
    arm(at, fault) {
      calls.length = 0
      target = at
      chosen = fault
    },
    async release() {
      for (const work of late.splice(0)) work()
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    },
    browser: () => new Client(world.auth),
  }
}

/** One step of a sign-in: `prepare` goes up to it, `run` takes it. */
export interface Flow {
  name: string
  split?: boolean
  prepare(app: App): Promise<Step>
}
export interface Step {
  client: Client
  run(): Promise<Response>
  /** The same step once more, or from the start where it can be taken only once. */
  retry(): Promise<Response>
  /** Whether a response is the success of this step. */
  succeeded(response: Response): Promise<boolean>
}

const leadsHome = async (response: Response): Promise<boolean> => response.headers.get('location') === origin

async function byProvider(app: App, client: Client = app.browser()): Promise<Step> {
  const come = async (): Promise<() => Promise<Response>> => {
    const back = await app.toProvider('oidc', {}, client)
    return () => client.get(back)
  }
  const run = await come()
  return { client, run, retry: async () => (await come())(), succeeded: leadsHome }
}

async function byLink(app: App, client: Client = app.browser()): Promise<Step> {
  const ask = async (): Promise<string> => {
    await client.post('/signin/mail', { email: 'ann@example.com' })
    return app.mails.at(-1)?.url ?? ''
  }
  const url = await ask()
  const retry = async (): Promise<Response> => {
    const again = await client.get(url)
    return (await leadsHome(again)) ? again : client.get(await ask())
  }
  return { client, run: () => client.get(url), retry, succeeded: leadsHome }
}

async function byPasskey(app: App, client: Client, key: Authenticator, action: 'register' | 'authenticate', query = ''): Promise<Step> {
  const come = async (with_: Authenticator): Promise<() => Promise<Response>> => {
    const answer = await client.get(`/webauthn-options/passkey?action=${action}${query}`)
    const { options } = (await answer.json()) as { options: CreationOptions & RequestOptions }
    const data = action === 'register' ? with_.create(options) : with_.get(options)
    return () => client.post('/callback/passkey', { action, data })
  }
  const run = await come(key)
  // When only the session failed, the registration is over and the passkey can sign in.
  const registered = (): boolean => [...app.data.accounts.values()].some(({ providerAccountId }) => providerAccountId === key.storedId)
  const retry = async (): Promise<Response> => {
    if (action === 'authenticate') return (await come(key))()
    return registered() ? (await byPasskey(app, client, key, 'authenticate')).run() : (await come(key))()
  }
  return { client, run, retry, succeeded: leadsHome }
}

/** Signs in at the provider; the browser then holds a session. */
async function signedIn(app: App, client: Client = app.browser()): Promise<Client> {
  await (await byProvider(app, client)).run()
  return client
}

function reads(client: Client, send: () => Promise<Response>): Step {
  return {
    client,
    run: send,
    retry: send,
    succeeded: async (response) => response.status === 200 && (await response.clone().json()) !== null,
  }
}

const stranger = { sub: 'ann-at-op', name: 'Ann', email: 'other@example.com', email_verified: true }

export const flows: readonly Flow[] = [
  {
    name: 'F1: a link is asked for',
    async prepare(app) {
      const client = app.browser()
      const run = (): Promise<Response> => client.post('/signin/mail', { email: 'ann@example.com' })
      const succeeded = async (response: Response): Promise<boolean> =>
        response.headers.get('location')?.includes('/verify-request') === true && app.mails.length > 0
      return { client, run, retry: run, succeeded }
    },
  },
  { name: 'F2: a link, new user', prepare: byLink },
  {
    name: 'F2: a link, first proof of a known user, in a browser with an earlier session',
    async prepare(app) {
      await signedIn(app)
      app.op.person = { ...app.op.person, sub: 'bob', email: 'bob@example.com' }
      return byLink(app, await signedIn(app))
    },
  },
  {
    name: 'F3: a sign-in at a provider begins',
    async prepare(app) {
      const client = app.browser()
      const run = (): Promise<Response> => client.post('/signin/oidc')
      return {
        client,
        run,
        retry: run,
        succeeded: async (response) => response.headers.get('location')?.startsWith('https://op.example/authorize') === true,
      }
    },
  },
  { name: 'F4: a callback, new user', prepare: byProvider },
  { name: 'F4: a callback, new user, two writes', split: true, prepare: byProvider },
  {
    name: 'F5: a callback, known user',
    async prepare(app) {
      await signedIn(app)
      return byProvider(app)
    },
  },
  {
    name: 'F6: an account is linked',
    async prepare(app) {
      const client = app.browser()
      await (await byLink(app, client)).run()
      app.op.person = stranger
      return byProvider(app, client)
    },
  },
  {
    name: 'F7: credentials',
    async prepare(app) {
      app.data.users.set('u-pat', { id: 'u-pat', name: 'Pat', email: 'pat@example.com', emailVerified: null })
      const client = app.browser()
      const run = (): Promise<Response> => client.post('/callback/password', { password: 'right' })
      return { client, run, retry: run, succeeded: leadsHome }
    },
  },
  {
    name: 'F8: a passkey is registered by a new user',
    prepare: (app) => byPasskey(app, app.browser(), new Authenticator(origin), 'register', '&email=ann@example.com'),
  },
  {
    name: 'F8: a passkey is registered by a new user, two writes',
    split: true,
    prepare: (app) => byPasskey(app, app.browser(), new Authenticator(origin), 'register', '&email=ann@example.com'),
  },
  {
    name: 'F8: a passkey is added',
    prepare: async (app) => byPasskey(app, await signedIn(app), new Authenticator(origin), 'register'),
  },
  {
    name: 'F9: a passkey signs in',
    async prepare(app) {
      const key = new Authenticator(origin)
      await (await byPasskey(app, app.browser(), key, 'register', '&email=ann@example.com')).run()
      return byPasskey(app, app.browser(), key, 'authenticate')
    },
  },
  {
    name: 'F10: a session is read',
    async prepare(app) {
      const client = await signedIn(app)
      for (const session of app.data.sessions.values()) session.expires = new Date(app.options.runtime.now() + 2_592_000_000 + 1000)
      return reads(client, () => client.get('/session'))
    },
  },
  {
    name: 'F11: a session is extended',
    async prepare(app) {
      const client = await signedIn(app)
      app.options.runtime.advance(1000)
      return reads(client, () => client.get('/session'))
    },
  },
  {
    name: 'F12: signing out',
    async prepare(app) {
      const client = await signedIn(app)
      const before = new Map(client.cookies)
      const run = (): Promise<Response> => client.post('/signout')
      return {
        client,
        run,
        retry: () => {
          for (const [name, value] of before) client.cookies.set(name, value)
          return run()
        },
        succeeded: leadsHome,
      }
    },
  },
]
