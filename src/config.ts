/** The options of a host (SPEC, "Configuration"), their defaults, and the one way options are merged (D50). */
import { createDefu } from 'defu'
import type { Adapter } from './adapter.ts'
import type { Provider } from './flow.ts'
import type { DecisionHandler, Decisions, EventHandler, Events, JwtMessage, SessionMessage } from './messages.ts'
import { createLogger } from './logger.ts'
import { type Runtime, resolveRuntime } from './runtime.ts'
import type { raw, skipCSRFCheck } from './symbols.ts'
import type { CookiesOptions, JWT, LoggerInstance, Optional, PagesOptions, Theme, User } from './types.ts'
import type { DecodeParams, EncodeParams } from './jwe.ts'

/** Where environment values come from. */
export type Env = Record<string, string | undefined> | ((name: string) => string | undefined)
/** Texts by language and key: see `plugins/_pages/messages`. */
export type Messages = Record<string, Record<string, string>>
/** Providers as a host writes them: called, or as they are. */
export type ProviderInput = Provider | ProviderFactory
/** Parameters of methods are compared both ways, so presets fit whose options are narrower; what they need may be in the environment. */
export type ProviderFactory = { make(options?: object): Provider }['make']

/** Token options of the jwt strategy; `maxAge` in seconds, default `session.maxAge` (row 34). */
export interface JWTOptions {
  maxAge: number
  encode: (params: EncodeParams) => Promise<string> | string
  decode: (params: DecodeParams) => Promise<JWT | null> | JWT | null
}

/** Lifetimes in seconds. */
export interface SessionOptions {
  /** Default: `database` with an adapter, else `jwt` (row 29). */
  strategy?: 'jwt' | 'database' | undefined
  /** Idle lifetime; default 2592000 (30 days). */
  maxAge?: number | undefined
  /** At most one extension in that time; default 86400, 0: every access. */
  updateAge?: number | undefined
  /** Caps a session however often it is extended (D37). */
  absoluteMaxAge?: number | undefined
  /** Refuses a jwt after its sign-out; needs a shared `once` (D58). */
  revocable?: boolean | undefined
  generateSessionToken?: (() => string) | undefined
}

/** Everything that has a default. */
export interface AuthConfig {
  providers?: readonly ProviderInput[] | undefined
  adapter?: Adapter | undefined
  secret?: string | readonly string[] | undefined
  /** Default `/auth`. */
  basePath?: string | undefined
  session?: SessionOptions | undefined
  jwt?: Optional<JWTOptions> | undefined
  callbacks?: { [K in keyof Decisions]?: Callback<K> | undefined } | undefined
  events?: { [K in keyof Events]?: EventHandler<K> | undefined } | undefined
  pages?: Optional<PagesOptions> | undefined
  cookies?: Optional<CookiesOptions> | undefined
  useSecureCookies?: boolean | undefined
  trustHost?: boolean | undefined
  redirectProxyUrl?: string | undefined
  debug?: boolean | undefined
  logger?: Optional<LoggerInstance> | undefined
  theme?: Theme | undefined
  experimental?: { enableWebAuthn?: boolean | undefined } | undefined
  /** Only the exported symbol counts (row 45). */
  skipCSRFCheck?: typeof skipCSRFCheck | undefined
  raw?: typeof raw | undefined

  // ---- beyond SPEC.md (DECISIONS, "Options beyond SPEC.md")
  /** `https://app.example`: links and redirect URIs come from it alone (D34). AUTH_URL sets it. */
  origin?: string | undefined
  /** `host[:port]` or `*.host`: which Host headers count (D34). */
  allowedHosts?: readonly string[] | undefined
  /** Whether X-Forwarded-* counts, or how many proxies append to it (D34). */
  trustProxy?: boolean | number | undefined
  /** Replaces `process.env`; false reads nothing (D41). */
  env?: Env | false | undefined
  /** What a failing store means for a session read (D38). */
  sessionOnError?: 'throw' | 'null' | undefined
  /** Milliseconds, total time (D31, D10). */
  deadlines?: { store?: number | undefined; network?: number | undefined; request?: number | undefined } | undefined
  /** Bytes, and characters for `callbackUrl` (D20, D10). */
  limits?: { body?: number | undefined; callbackUrl?: number | undefined; providerResponse?: number | undefined } | undefined
  /** Attempts in a window of `seconds`; false switches it off (D54). */
  throttle?: { mail?: ThrottleRule | false | undefined; credentials?: ThrottleRule | false | undefined } | false | undefined
  /** Texts of the pages, over the built-in ones. */
  messages?: Messages | undefined
  /** Language of the pages; default: Accept-Language. */
  locale?: ((request: Request) => string) | undefined
  /** Origins beside the own one that a callbackUrl may name. */
  allowedRedirects?: readonly string[] | undefined
  /** Clock, random and fetch: for tests and special runtimes. */
  runtime?: Optional<Runtime> | undefined
}
/**
 * A decision as an option. `session` may count on what only one of the strategies brings, as configurations of Auth.js do: the host knows
 * its strategy. `auth.hook` tells the plain truth.
 */
export type Callback<K extends keyof Decisions> = K extends 'session'
  ? (
      message: Required<Pick<SessionMessage, 'token' | 'user'>> & SessionMessage & { session: { user: User } },
    ) => ReturnType<DecisionHandler<K>>
  : K extends 'jwt'
    ? // What a client sent has no type, and configurations of Auth.js do not narrow it.
      (message: JwtMessage & { session?: any }) => ReturnType<DecisionHandler<K>>
    : DecisionHandler<K>
/** A number of attempts in a window. */
export interface ThrottleRule {
  max?: number | undefined
  seconds?: number | undefined
}

type Throttle = { mail: { max: number; seconds: number } | false; credentials: { max: number; seconds: number } | false }

/** The host's options with defaults in place; frozen. */
export interface ResolvedConfig extends Omit<
  AuthConfig,
  'session' | 'secret' | 'jwt' | 'pages' | 'cookies' | 'logger' | 'deadlines' | 'limits' | 'throttle' | 'providers' | 'runtime'
> {
  readonly secret: readonly string[]
  readonly basePath: string
  readonly trustHost: boolean
  readonly session: SessionOptions & { maxAge: number; updateAge: number }
  readonly jwt: Partial<JWTOptions>
  readonly pages: Partial<PagesOptions>
  readonly cookies: Partial<CookiesOptions>
  readonly theme: Theme
  readonly sessionOnError: 'throw' | 'null'
  readonly deadlines: { store: number; network: number; request: number }
  readonly limits: { body: number; callbackUrl: number; providerResponse: number }
  readonly throttle: Throttle
  readonly logger: LoggerInstance
  readonly runtime: Runtime
}

const defaults = {
  basePath: '/auth',
  trustHost: false,
  session: { maxAge: 30 * 24 * 60 * 60, updateAge: 24 * 60 * 60 },
  jwt: {},
  pages: {},
  cookies: {},
  theme: {},
  sessionOnError: 'throw',
  deadlines: { store: 5_000, network: 10_000, request: 15_000 },
  limits: { body: 65_536, callbackUrl: 2_048, providerResponse: 1_048_576 },
}
const throttleDefaults = { mail: { max: 3, seconds: 600 }, credentials: { max: 10, seconds: 600 } }

/** Puts defaults under a host's options. The host's object is read, never written (D18). */
export function resolveConfig(config: AuthConfig): ResolvedConfig {
  const { adapter, logger, runtime, secret, throttle, providers: _providers, ...plain } = config
  const merged = merge(plain, defaults) as unknown as ResolvedConfig
  return Object.freeze<ResolvedConfig>({
    ...merged,
    adapter,
    basePath: trimmedBasePath(merged.basePath),
    secret: secrets(secret),
    throttle: throttle === false ? { mail: false, credentials: false } : (merge(throttle ?? {}, throttleDefaults) as Throttle),
    logger: createLogger(logger, config.debug),
    runtime: resolveRuntime(runtime),
  })
}

/** `/auth/` means `/auth`; what is no path stays, to be refused at compile. */
export function trimmedBasePath(path: string): string {
  return typeof path === 'string' && path.startsWith('/') ? path.replace(/\/+$/, '') || '/' : path
}

/** Secrets as a list, newest first; empty strings do not count. */
export function secrets(secret: string | readonly string[] | undefined): readonly string[] {
  return (typeof secret === 'string' ? [secret] : (secret ?? [])).filter((value) => value !== '')
}

/**
 * `over` over `under`: arrays replace, objects merge, `undefined` keeps what is under, `null` is a value,
 * symbol keys are copied. Plain defu would join arrays and drop nulls and symbols.
 */
export function merge<T extends object, U extends object>(over: T, under: U): T & U {
  const result = combine(over, under) as Record<PropertyKey, unknown>
  for (const key of Reflect.ownKeys(over)) {
    const value = (over as Record<PropertyKey, unknown>)[key]
    if (value === null || (typeof key === 'symbol' && value !== undefined)) result[key] = value
  }
  return result as T & U
}

const combine = createDefu((target, key, value) => {
  if (Array.isArray(value)) target[key] = value
  else if (isPlain(value) && isPlain(target[key])) target[key] = merge(value, target[key]) as never
  else return false
  return true
})

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
