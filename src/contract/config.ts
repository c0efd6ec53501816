/** The options of a host. Types only. */
import type { Adapter, AdapterTables } from './adapter.ts'
import type { CookiesOptions, JWT, LoggerInstance, Optional, PagesOptions, Theme, User } from './data.ts'
import type { HookHandler, Hooks, EventHandler, Events, JwtMessage, SessionMessage } from './messages.ts'
import type { Provider } from './provider.ts'
import type { Runtime } from './runtime.ts'
import type { SessionStrategies } from './session.ts'
import type { raw, skipCSRFCheck } from './symbols.ts'
import type { DecodeParams, EncodeParams } from './token.ts'

/** Where environment values come from. */
export type Env = Record<string, string | undefined> | ((name: string) => string | undefined)
/** Texts by language and key: see `plugins/pages/pages/messages`. */
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
  /** Name of a registered strategy. Default: the one you `.use()`, else `database` with an adapter, else `jwt` (row 29). */
  strategy?: keyof SessionStrategies | undefined
  /** Idle lifetime; default 2592000 (30 days). */
  maxAge?: number | undefined
  /** At most one extension in that time; default 86400, 0: every access. */
  updateAge?: number | undefined
  /** Caps a session however often it is extended (D37). */
  absoluteMaxAge?: number | undefined
  /**
   * A jwt ends when it is signed out or revoked. Needs the service `records`; with a shared `once` alone only sign-out and `revoke(id)` end
   * one (D58).
   */
  revocable?: boolean | undefined
  generateSessionToken?: (() => string) | undefined
}

/** Options of `createAuth` that have a default. */
export interface AuthConfig {
  providers?: readonly ProviderInput[] | undefined
  adapter?: (Adapter & AdapterTables) | undefined
  secret?: string | readonly string[] | undefined
  /** Default `/auth`. */
  basePath?: string | undefined
  session?: SessionOptions | undefined
  jwt?: Optional<JWTOptions> | undefined
  callbacks?: { [K in keyof Hooks]?: Callback<K> | undefined } | undefined
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

  // ---- options that Auth.js does not have
  /** Address of the app, `https://app.example`. Links and redirect URIs are made from it only (D34). AUTH_URL sets it. */
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
  /** What people call the application: on pages, in mails. Default: the host; on loopback the name of the package. */
  appName?: string | undefined
  /** Texts of the pages, over the built-in ones. */
  messages?: Messages | undefined
  /** Language of the pages; default: Accept-Language. */
  locale?: ((request: Request) => string) | undefined
  /** Further origins that a callbackUrl may lead to, beside that of the app. */
  allowedRedirects?: readonly string[] | undefined
  /** Clock, random and fetch: for tests and special runtimes. */
  runtime?: Optional<Runtime> | undefined
}
/**
 * A hook as an option. `session` may count on what only one of the strategies brings, as configurations of Auth.js do: the host knows
 * its strategy. `auth.hook` tells the plain truth.
 */
export type Callback<K extends keyof Hooks> = K extends 'session'
  ? (message: Required<Pick<SessionMessage, 'token' | 'user'>> & SessionMessage & { session: { user: User } }) => ReturnType<HookHandler<K>>
  : K extends 'jwt'
    ? // What a client sent has no type, and configurations of Auth.js do not narrow it.
      (message: JwtMessage & { session?: any }) => ReturnType<HookHandler<K>>
    : HookHandler<K>
/** A number of attempts in a window. */
export interface ThrottleRule {
  max?: number | undefined
  seconds?: number | undefined
}

/** The throttles with their defaults. */
export type Throttle = { mail: { max: number; seconds: number } | false; credentials: { max: number; seconds: number } | false }

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
