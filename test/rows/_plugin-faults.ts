/** Journeys through plugins with routes, over a host whose store, records and network fail once, at a chosen call. */
import { type Adapter, type Auth, type AuthConfig, createAuth } from 'authkernel'
import type { MailMessage, Plugin, RecordStore } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { captchaPlugin, turnstile } from 'authkernel/plugins/captcha'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { guestPlugin } from 'authkernel/plugins/guest'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { recordsPlugin } from 'authkernel/plugins/records'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { deadline, type Fault } from './_faults.ts'
import { LocalOp } from './_op.ts'

/** What a journey works on. */
export interface Ground {
  auth: Auth
  adapter: Adapter
  op: LocalOp
  mails: MailMessage[]
  runtime: ReturnType<typeof baseConfig>['runtime']
  errors: Error[]
  /** Keeps cookies; each response is checked by `arm`'s caller. */
  browser(): Client
  /** Every response so far, with what asked. */
  seen: { what: string; response: Response; ms: number }[]
  /** Calls since `arm`. */
  calls: string[]
  arm(at: number | undefined, fault?: Fault): void
  release(): Promise<void>
}
export interface Journey {
  name: string
  /** Slow hashes: the quick tier takes a few calls, one fault each; the full tier all. */
  slow?: boolean
  plugins(): Plugin<never>[]
  config?: (op: LocalOp) => AuthConfig
  /** Before faults: people who are there. */
  prepare?(ground: Ground): Promise<void>
  /** The whole way for a person of this name; throws or answers false where it did not arrive. `mustNot` is told what may never be true. */
  run(ground: Ground, who: string, mustNot: (what: string, happened: boolean) => void): Promise<boolean>
}

const password = 'seven purple otters sing'
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))
const byName = {
  id: 'credentials',
  name: 'Name',
  type: 'credentials',
  credentials: { user: { label: 'Name' } },
  authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
}

export async function createGround({ plugins, config, prepare }: Journey): Promise<Ground> {
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
          )
        : real(...args)
    }
  const data = memoryData()
  const { records, ...plain } = memoryAdapter(data) as Adapter & { records: RecordStore }
  const wrapped = <T extends object>(of: T, prefix: string, also: (name: string) => boolean): T =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => [
        name,
        typeof value === 'function' && also(name) ? faulty(prefix + name, value.bind(of)) : value,
      ]),
    ) as T
  const adapter = wrapped(plain, '', () => true)
  const called = new Set(['get', 'find', 'count', 'write', 'deleteWhere'])
  const mails: MailMessage[] = []
  base.runtime.fetch = faulty('fetch', (input: RequestInfo | URL, init?: RequestInit) => op.fetch(input, init)) as typeof fetch
  const auth = createAuth({
    ...base,
    session: { strategy: 'database' },
    throttle: false,
    deadlines: { store: deadline, network: deadline },
    ...config?.(op),
  })
    .use(adapterPlugin(adapter))
    .use(recordsPlugin(wrapped(records, 'records.', (name) => called.has(name))))
    .use({
      name: 'postbox',
      setup: (kernel) => kernel.provide('mailTransport', { send: faulty('mail', (mail: MailMessage) => void mails.push(mail)) as never }),
    })
  for (const plugin of plugins()) auth.use(plugin)
  await auth.ready()
  const seen: Ground['seen'] = []
  const handler = async (request: Request): Promise<Response> => {
    const started = performance.now()
    const response = await auth.handler(request)
    seen.push({ what: `${request.method} ${new URL(request.url).pathname}`, response: response.clone(), ms: performance.now() - started })
    return response
  }
  const ground: Ground = {
    auth,
    adapter: plain,
    op,
    mails,
    runtime: base.runtime,
    errors: base.logger.errors,
    browser: () => new Client({ handler }),
    seen,
    calls,
    arm(at, fault) {
      calls.length = seen.length = 0
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

async function person({ adapter }: Ground, who: string): Promise<void> {
  if (await adapter.getUser!(who)) return
  await adapter.createUser!({ id: who, name: who, email: `${who}@example.com`, emailVerified: new Date(0) })
}
const tokenIn = (mail: MailMessage | undefined): string => /token=([0-9a-f]{64})/.exec(mail?.text ?? '')?.[1] ?? ''
const signedIn = async (client: Client): Promise<boolean> => (await client.session().catch(() => null)) !== null

export const journeys: readonly Journey[] = [
  {
    name: 'passwords: sign-up, proof, sign-in, change, reset',
    slow: true,
    plugins: () => [passwordsPlugin({ breached: false }) as never],
    async run(ground, who, mustNot) {
      const [client, email] = [ground.browser(), `${who}@example.com`]
      await client.post('/passwords/sign-up', { email, password })
      await settle()
      mustNot('signed in before the address was proved', await signedIn(client))
      await client.post('/passwords/confirm', { token: tokenIn(ground.mails.at(-1)) })
      const other = ground.browser()
      await other.post('/callback/passwords', { email, password: 'a wrong password of letters' })
      mustNot('signed in by a wrong password', await signedIn(other))
      await other.post('/callback/passwords', { email, password })
      const changed = await other.post('/passwords/change', { current: password, password: `${password} twice` })
      await client.post('/passwords/reset', { email })
      await settle()
      const used = tokenIn(ground.mails.at(-1))
      await client.post('/passwords/new', { token: used, password: `${password} thrice` })
      const last = ground.browser()
      await last.post('/callback/passwords', { email, password: `${password} thrice` })
      return changed.status < 400 && (await signedIn(last))
    },
  },
  {
    name: 'two-factor: enrolment, factor, backup code',
    slow: true,
    plugins: () => [twoFactorPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who })
      const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
      const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
      const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const done = await (
        await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, ground.runtime.now()) })
      ).text()
      const backup = /<li><code>([A-Z2-9-]{11})<\/code>/.exec(done)?.[1]
      if (backup === undefined) return false
      ground.runtime.advance(30_000)
      const second = ground.browser()
      await second.post('/callback/credentials', { user: who })
      mustNot('signed in without the factor', await signedIn(second))
      await second.post('/two-factor', { code: '000000' })
      mustNot('signed in by a wrong code', await signedIn(second))
      await second.post('/two-factor', { code: totpAt(secret, ground.runtime.now()) })
      const third = ground.browser()
      await third.post('/callback/credentials', { user: who })
      await third.post('/two-factor', { code: backup })
      const fourth = ground.browser()
      await fourth.post('/callback/credentials', { user: who })
      const [both, again] = [await signedIn(third), await fourth.post('/two-factor', { code: backup })]
      mustNot('signed in by a backup code for the second time', both && again.status < 500 && (await signedIn(fourth)))
      return both && (await signedIn(second))
    },
  },
  {
    name: 'codes: asked for and typed',
    plugins: () => [codesPlugin({ via: email() }) as never],
    async run(ground, who, mustNot) {
      const client = ground.browser()
      const before = ground.mails.length
      await client.post('/signin/codes', { email: `${who}@example.com` })
      await settle()
      const mailed = /\b(\d{6})\b/.exec(ground.mails[before]?.text ?? '')?.[1] ?? 'none'
      const wrong = mailed === 'none' ? '111111' : String((Number(mailed) + 1) % 1_000_000).padStart(6, '0')
      await client.post('/callback/codes', { code: wrong })
      mustNot('signed in by a wrong code', await signedIn(client))
      await client.post('/callback/codes', { code: mailed })
      return signedIn(client)
    },
  },
  {
    name: 'api-keys: made, used, revoked',
    plugins: () => [apiKeysPlugin({ routes: true }) as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who })
      const json = { 'content-type': 'application/json', origin: 'http://localhost:3000' }
      const send = (path: string, method: string, body?: object) =>
        client.send(path, { method, headers: json, ...(body && { body: JSON.stringify(body) }) })
      const made = (await (await send('/api-keys', 'POST', { name: 'deploy' })).json()) as { key?: string; id?: string }
      const { key, id } = made
      const asKey = async (text: string): Promise<boolean> => {
        const answer = await ground.browser().get('/session', { 'x-api-key': text })
        return answer.status === 200 && (await answer.json()) !== null
      }
      mustNot('somebody by a key that was not made', await asKey(`ak_live_${'a'.repeat(12)}_${'b'.repeat(32)}000000`))
      if (!key || !id) return false
      const used = await asKey(key)
      const gone = await send(`/api-keys/${id}`, 'DELETE')
      if (gone.status !== 200) return false
      mustNot('somebody by a revoked key', await asKey(key))
      return used
    },
  },
  {
    name: 'guest: begun, and becomes a person',
    plugins: () => [guestPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/guest')
      const asGuest = await signedIn(client)
      await client.post('/callback/credentials', { user: who })
      return asGuest && (await client.session().catch(() => null))?.user?.name === who
    },
  },
  {
    name: 'jwt: a token and the keys',
    plugins: () => [jwtPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      const json = { 'content-type': 'application/json', origin: 'http://localhost:3000' }
      const token = (by: Client): Promise<Response> =>
        by.send('/jwt/token', { method: 'POST', headers: json, body: JSON.stringify({ audience: 'https://api.example' }) })
      mustNot('a token for nobody', (await token(ground.browser())).status === 200)
      await client.post('/callback/credentials', { user: who })
      const keys = await client.get('http://localhost:3000/.well-known/jwks.json')
      return [200, 404].includes(keys.status) && (await signedIn(client))
    },
  },
  {
    name: 'captcha: a widget that is verified elsewhere',
    plugins: () => [
      captchaPlugin(turnstile({ siteKey: 'site', secretKey: 'captcha-secret-canary' }), {
        when: 'always',
      } as never) as never,
    ],
    config: (op) => {
      op.answers['/turnstile/v0/siteverify'] = () => ({
        success: true,
        hostname: 'localhost',
        challenge_ts: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)).toISOString(),
      })
      return { providers: [byName as never] }
    },
    async run(ground, who, mustNot) {
      await person(ground, who)
      const without = ground.browser()
      await without.post('/callback/credentials', { user: who })
      mustNot('signed in without a captcha', await signedIn(without))
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who, 'cf-turnstile-response': `solved-${who}-${Math.random()}` })
      return signedIn(client)
    },
  },
  {
    name: 'provider-tokens: kept at sign-in, refreshed',
    plugins: () => [providerTokensPlugin() as never],
    config: (op) => ({ providers: [{ ...op.provider('oidc'), trustEmail: true } as never] }),
    async run(ground, who) {
      ground.op.person = { ...ground.op.person, sub: who, email: `${who}@example.com` }
      const client = ground.browser()
      const start = await client.post('/signin/oidc')
      const location = start.headers.get('location') ?? ''
      if (!location.startsWith('https://op.example/authorize')) return false
      await client.get(ground.op.authorize(location))
      return signedIn(client)
    },
  },
]
