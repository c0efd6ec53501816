/** Runs one flow on both libraries, with the same configuration, provider, store and requests, and compares what happened. */
import { createAuth, customFetch, raw, setEnvDefaults, skipCSRFCheck } from 'authkernel'
import * as ourErrors from 'authkernel/errors'
import * as ourJwt from 'authkernel/jwt'
import { authjsCompatPlugin, authjsKeyInfo } from 'authkernel/plugins/authjs-compat'
import passkey from 'authkernel/providers/passkey'
import { type AdapterOptions, recordedAdapter, type RecordedAdapter } from './_adapter.ts'
import { type AuthJs, freshAuthJs } from './_authjs.ts'
import { Browser, type Step } from './_browser.ts'
import { differences } from './_diff.ts'
import { wait, withClock } from './_clock.ts'
import { normalise } from './_normalise.ts'
import { FakeOp, type OpOptions } from './_op.ts'
import { Recorder } from './_recorder.ts'
import { applyRules, type Asked } from './_rules.ts'

type Options = Record<string, unknown>
/** `plain` is ours without authjsCompatPlugin: other names, keys and hashes. */
type Library = 'ours' | 'theirs' | 'plain'

/** What a flow builds its configuration from. */
export interface Kit {
  readonly library: 'ours' | 'theirs'
  readonly symbols: { customFetch: symbol; skipCSRFCheck: symbol; raw: symbol }
  /** Preset of a passkey provider. */
  passkey(options: Options): Options
  /** Error classes by name. */
  readonly errors: Record<string, new (...args: never[]) => Error>
  readonly op: FakeOp
  readonly recorder: Recorder
  adapter(options?: AdapterOptions): RecordedAdapter
  /** Callbacks that write down what they are asked; each answers what is given, or as Auth.js does by itself. */
  watch(...callbacks: (string | Record<string, (message: never) => unknown>)[]): Options
  setEnvDefaults(env: Record<string, string | undefined>, config: Options): void
  /** Moves both clocks. */
  wait(seconds: number): void
  /** A token of the session cookie, as the library itself makes it. */
  token(payload: Options, over?: Options): Promise<string>
}
/** One flow. */
export interface Flow {
  name: string
  op?: OpOptions
  config?: (kit: Kit) => Options
  run: (browser: Browser, kit: Kit) => Promise<void>
  origin?: string
  basePath?: string
  /** Differences of single steps, by number, each with the hook that announces it. */
  decided?: Record<number, Asked>
}

export const secret = 'a-secret-of-more-than-32-characters-for-tests'
export const start: Date = new Date(Date.UTC(2026, 0, 2, 3, 4, 5))
const allEvents = ['createUser', 'updateUser', 'linkAccount', 'session', 'signIn', 'signOut']

/** What the two libraries differ in and no hook announces. */
export async function compare(flow: Flow): Promise<string[]> {
  const theirs = await play(flow, 'theirs')
  const ours = await play(flow, 'ours')
  const pair = applyRules(normalise(ours), normalise(theirs), flow.decided ?? {})
  return [...pair.broken, ...differences(normalise(pair.ours), normalise(pair.theirs))]
}

/** What authjsCompatPlugin changes beside names, keys and hashes: nothing, that is. */
export async function compareNames(flow: Flow): Promise<string[]> {
  const [compat, plain] = [await play(flow, 'ours'), await play(flow, 'plain')]
  // What only the plugin does: a second look for Auth.js' hash (D3), and a warning (D34).
  const known = (steps: Step[]): Step[] => normalise(withoutCompat(steps))
  return differences(known(plain), known(compat))
}

/** The exchanges of a flow on one library. */
export function play(flow: Flow, library: Library): Promise<Step[]> {
  return withClock(start, async () => {
    const authjs = await freshAuthJs()
    const kit = createKit(flow, library, authjs)
    const config = configOf(flow, kit)
    const handler = library === 'theirs' ? (request: Request) => authjs.Auth(request, config) : ourHandler(config, library)
    const place = { origin: flow.origin ?? 'http://localhost:3000', basePath: flow.basePath ?? '/auth' }
    const browser = new Browser(handler, kit.recorder, place, reader(config, library, authjs))
    await flow.run(browser, kit)
    return library === 'plain' ? (JSON.parse(named(JSON.stringify(browser.steps), 'authkernel', 'authjs')) as Step[]) : browser.steps
  })
}

function configOf(flow: Flow, kit: Kit): Options {
  const given = flow.config?.(kit) ?? {}
  const listen = (name: string) => async (message: unknown) => void kit.recorder.note('event', name, message)
  return {
    providers: [],
    secret,
    trustHost: true,
    logger: kit.recorder.logger,
    ...(flow.basePath && { basePath: flow.basePath }),
    ...given,
    events: { ...Object.fromEntries(allEvents.map((name) => [name, listen(name)])), ...(given['events'] as Options | undefined) },
  }
}

function ourHandler(config: Options, library: Library): (request: Request) => Promise<Response> {
  if (library === 'ours') {
    const auth = createAuth({ ...config, env: false }).use(authjsCompatPlugin())
    return (request) => auth.handler(request)
  }
  // D60: only the plugin leaves the id out.
  const auth = createAuth({ ...config, env: false }).use({
    name: 'no-user-id',
    setup: (kernel) => kernel.defaults({ sessionUserId: false }),
  })
  // The browser of a flow knows the cookies by the names of Auth.js.
  return async (request) => {
    const cookie = request.headers.get('cookie')
    if (cookie !== null) request.headers.set('cookie', named(cookie, 'authjs', 'authkernel'))
    const response = await auth.handler(request)
    const headers = new Headers(response.headers)
    headers.delete('set-cookie')
    for (const line of response.headers.getSetCookie()) headers.append('set-cookie', named(line, 'authkernel', 'authjs'))
    return new Response(response.body, { status: response.status, headers })
  }
}

function named(text: string, from: string, to: string): string {
  return text.replaceAll(new RegExp(`\\b${from}(?=\\.(?:session-token|callback-url|csrf-token|pkce|state|nonce|challenge))`, 'g'), to)
}

function withoutCompat(steps: Step[]): Step[] {
  return steps.map((step) => ({
    ...step,
    calls: step.calls.filter(({ name }, i) => name !== 'useVerificationToken' || step.calls.findIndex((call) => call.name === name) === i),
    logs: step.logs.filter(({ type }) => type !== 'authjs-compat-trusts-forwarded-headers'),
    answer: {
      ...step.answer,
      headers: withoutVary(step.answer.headers),
      // Random, and keyed by the namespace of keys.
      cookies: step.answer.cookies.filter(({ name }) => !name.endsWith('.known-device')),
    },
  }))
}

/** It trusts forwarded headers, and the list of providers says so. */
function withoutVary({ vary, ...headers }: Record<string, string>): Record<string, string> {
  return vary === undefined || vary.startsWith('X-Forwarded-Host') ? headers : { ...headers, vary }
}

function createKit(flow: Flow, library: Library, authjs: AuthJs): Kit {
  const recorder = new Recorder()
  const ours = library !== 'theirs'
  const plain = library === 'plain'
  return {
    library: ours ? 'ours' : 'theirs',
    recorder,
    symbols: ours ? { customFetch, skipCSRFCheck, raw } : authjs,
    errors: ours ? (ourErrors as never) : authjs.errors,
    passkey: ours ? (options) => passkey(options as never) as never : authjs.passkey,
    op: new FakeOp(recorder, flow.op),
    adapter: (options) => recordedAdapter(recorder, options),
    watch: (...callbacks) => watch(recorder, callbacks),
    setEnvDefaults: ours ? (env, config) => setEnvDefaults(env, config) : authjs.setEnvDefaults,
    wait,
    token: (payload, over = {}) => {
      const params = { token: payload, secret, salt: 'authjs.session-token', ...over }
      if (plain) return ourJwt.encode({ ...params, salt: named(params.salt, 'authjs', 'authkernel') } as never)
      return ours ? ourJwt.encode({ keyInfo: authjsKeyInfo, ...params } as never) : authjs.jwt.encode(params)
    },
  }
}

const defaults: Record<string, (message: never) => unknown> = {
  signIn: () => true,
  jwt: ({ token }: { token: unknown }) => token,
  redirect({ url, baseUrl }: { url: string; baseUrl: string }) {
    if (url.startsWith('/')) return baseUrl + url
    return new URL(url).origin === baseUrl ? url : baseUrl
  },
  // The same subset from either library's input (D6).
  session({ session }: { session: { user?: { name?: unknown; email?: unknown; image?: unknown }; expires: Date | string } }) {
    const { name, email, image } = session.user ?? {}
    return { user: { name, email, image }, expires: new Date(session.expires).toISOString() }
  },
}

function watch(recorder: Recorder, wanted: Parameters<Kit['watch']>): Options {
  const handlers = wanted.flatMap((one) => (typeof one === 'string' ? [[one, defaults[one]] as const] : Object.entries(one)))
  return Object.fromEntries(
    handlers.map(([name, answer]) => [
      name,
      async (message: unknown) => {
        recorder.note('callback', name, message)
        return answer?.(message as never)
      },
    ]),
  )
}

/** Reads tokens of either library by the other's means too: both derive the same keys under authjsCompatPlugin (row 94). */
function reader(config: Options, library: Library, { jwt }: AuthJs): (name: string, value: string) => Promise<unknown> {
  const secrets = config['secret'] ?? secret
  return async (name, value) => {
    if (/\.\d+$/.test(name)) return `chunk of ${value.length}`
    // With its dot: one random value in 262,144 begins like a token.
    if (!/^eyJ[\w-]*\./.test(value)) return undefined
    try {
      if (library !== 'plain') return { token: await jwt.decode({ token: value, secret: secrets, salt: name }) }
      const read = await ourJwt.decode({ token: value, secret: secrets as string, salt: named(name, 'authjs', 'authkernel') })
      return read ? { token: read } : 'sealed'
    } catch {
      return 'sealed'
    }
  }
}
