/** The options of a host: as it writes them, with their defaults, what may differ per request, and what its functions of tokens take. Types only. */
import type { Adapter, AdapterTables } from './adapter.ts'
import type { Awaitable, CookiesOptions, JWT, LoggerInstance, Optional, PagesOptions, Theme, User } from './data.ts'
import type { HookHandler, Hooks, EventHandler, Events, JwtMessage, SessionMessage } from './messages.ts'
import type { Provider } from './provider.ts'
import type { Runtime } from './services.ts'
import type { SessionStrategies } from './session.ts'
import type { raw, skipCSRFCheck } from './symbols.ts'

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
  /** Lifetime of a token in seconds. */
  maxAge: number
  /** Makes the session token of a payload, instead of the encryption of authkernel. */
  encode: (params: EncodeParams) => Promise<string> | string
  /** Reads what `encode` made. Null or an error: the request counts as signed out. */
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
  /** Makes the token of a session in the database; default: a random UUID. */
  generateSessionToken?: (() => string) | undefined
}

/** Options of `createAuth` that have a default. */
export interface AuthConfig {
  /** What users can sign in with, or functions that return one; default: none. */
  providers?: readonly ProviderInput[] | undefined
  /** The data layer. With one, the default session strategy is `database`. */
  adapter?: (Adapter & AdapterTables) | undefined
  /** At least 32 characters; default: `AUTH_SECRET`. Of a list the first one signs and encrypts, and all of them verify and decrypt. */
  secret?: string | readonly string[] | undefined
  /** Default `/auth`. */
  basePath?: string | undefined
  /** Strategy and lifetimes of sessions. */
  session?: SessionOptions | undefined
  /** Lifetime and format of the tokens of the jwt strategy. */
  jwt?: Optional<JWTOptions> | undefined
  /** Handlers of hooks by name, the same as `auth.hook`. */
  callbacks?: { [K in keyof Hooks]?: Callback<K> | undefined } | undefined
  /** Listeners by the name of the event, the same as `auth.on`. */
  events?: { [K in keyof Events]?: EventHandler<K> | undefined } | undefined
  /** Addresses of your pages; each replaces a built-in one. */
  pages?: Optional<PagesOptions> | undefined
  /** Names and attributes of cookies, merged with the defaults. */
  cookies?: Optional<CookiesOptions> | undefined
  /** `__Secure-` names and the attribute Secure; default: whether the app is on https. */
  useSecureCookies?: boolean | undefined
  /**
   * Whether any Host header is believed where `origin` is not set. Default of `createAuth`: AUTH_TRUST_HOST, else true on Vercel and Cloudflare
   * Pages and with AUTH_URL. Undefined: hosts of `allowedHosts`, and without it loopback hosts alone. False: none.
   */
  trustHost?: boolean | undefined
  /** Base URL of the one deployment whose redirect URI is registered at the providers; it hands the answer on. Default: AUTH_REDIRECT_PROXY_URL. */
  redirectProxyUrl?: string | undefined
  /** Logs a trace of each request to `logger.debug`; default false. */
  debug?: boolean | undefined
  /** Replaces `error`, `warn` or `debug` of the log; default: the console. */
  logger?: Optional<LoggerInstance> | undefined
  /** Colours and logo of pages and mails. */
  theme?: Theme | undefined
  /** `enableWebAuthn` permits providers of type `webauthn` in `providers`; default false. `.use(webauthnPlugin())` does not need it. */
  experimental?: { enableWebAuthn?: boolean | undefined } | undefined
  /** Only the exported symbol counts (row 45). */
  skipCSRFCheck?: typeof skipCSRFCheck | undefined
  /** The exported symbol: errors are thrown to the caller of `auth.handler` instead of an error page, except for requests with `X-Auth-Return-Redirect`. */
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
  /** What users call the application: on pages, in mails. Default: the host; on loopback the name of the package. */
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
  /** Attempts that are allowed; default 3 for mails, 10 for credentials. */
  max?: number | undefined
  /** Length of the window; default 600. */
  seconds?: number | undefined
}

/** The throttles with their defaults. */
export type Throttle = { mail: { max: number; seconds: number } | false; credentials: { max: number; seconds: number } | false }

/** The host's options with defaults in place; frozen. */
export interface ResolvedConfig extends Omit<
  AuthConfig,
  'session' | 'secret' | 'jwt' | 'pages' | 'cookies' | 'logger' | 'deadlines' | 'limits' | 'throttle' | 'providers' | 'runtime'
> {
  /** Newest first; empty where none was given. */
  readonly secret: readonly string[]
  /** Without a slash at the end. */
  readonly basePath: string
  /** Whether any Host header is believed where `origin` is not set; undefined: `allowedHosts`, else loopback hosts alone. */
  readonly trustHost: boolean | undefined
  /** Lifetimes in seconds. */
  readonly session: SessionOptions & { maxAge: number; updateAge: number }
  /** As the host gave them: what is missing has the defaults of the strategy. */
  readonly jwt: Partial<JWTOptions>
  /** Pages of the host alone; the built-in ones have no entry. */
  readonly pages: Partial<PagesOptions>
  /** What the host and plugins changed, not the defaults. */
  readonly cookies: Partial<CookiesOptions>
  /** Empty where none was given. */
  readonly theme: Theme
  /** What a failing store means for a session read. */
  readonly sessionOnError: 'throw' | 'null'
  /** Milliseconds. */
  readonly deadlines: { store: number; network: number; request: number }
  /** Bytes; characters for `callbackUrl`. */
  readonly limits: { body: number; callbackUrl: number; providerResponse: number }
  /** `false` where a throttle is switched off. */
  readonly throttle: Throttle
  /** All levels; one that throws or rejects fails no request. */
  readonly logger: LoggerInstance
  /** Clock, randomness and `fetch`. */
  readonly runtime: Runtime
}

/** Names the purpose of a derived key; Auth.js has its own, see `authjsCompatPlugin`. */
export type KeyInfo = (salt: string) => string

/** Settings that can differ for each request. Return the same object for the same tenant from the `settings` hook: it is the cache key. */
export interface Settings {
  /** Newest first. */
  secret: readonly string[]
  /** `https://host[:port]`, or '' to follow the request (D34). */
  origin: string
  basePath: string
  cookiePrefix: string
  /** Name of the session's cookie behind the prefix; default `session-token`. */
  sessionCookieName?: string
  /** Of the tenant: 0 to 32 characters of a-z, 0-9 and "-"; '' is the default. What one namespace stores is absent in every other. */
  namespace: string
  /** HKDF info of a key, by salt. */
  keyInfo(salt: string): string
  /** HKDF salt of the key of a sealed value, by purpose; default: the purpose. For cookies of another product (`nextAuth4CompatPlugin`). */
  keySalt?(purpose: string): string
  /** Algorithms accepted on open; the first one seals. */
  encryption: readonly ('A256CBC-HS512' | 'A256GCM')[]
  /** Whether `session.user` has the `id` of the user; default true. */
  sessionUserId?: boolean
  /** Digests that also count for CSRF and verification tokens: those of another product (`authjsCompatPlugin`). */
  legacyDigests?(value: string, secrets: readonly string[]): Awaitable<readonly string[]>
}

/** What `encode` needs. */
export interface EncodeParams<Payload = JWT> {
  /** Default: empty. */
  token?: Payload | undefined
  /** The first one encrypts (row 99). */
  secret: string | readonly string[]
  /** The name of the session cookie, for session tokens. */
  salt: string
  /** Seconds; default 2592000 (30 days). */
  maxAge?: number | undefined
  /** HKDF info of the key by `salt`; default: that of authkernel. Give the same one to `decode`. */
  keyInfo?: KeyInfo | undefined
}
/** What `decode` needs. */
export interface DecodeParams {
  /** What `encode` returned. Without one the answer is null. */
  token?: string | undefined
  /** Any of them decrypts (row 99). */
  secret: string | readonly string[]
  /** The one that `encode` got. */
  salt: string
  /** The one that `encode` got. */
  keyInfo?: KeyInfo | undefined
}
