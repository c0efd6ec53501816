/** Decisions and events: verb, carried field and types in one place. Types only. */
import type { AdapterSession, AdapterUser } from './adapter.ts'
import type { Context } from './context.ts'
import type { AuthError } from './errors.ts'
import type { Login, Provider } from './flow.ts'
import type { Account, Awaitable, JWT, Profile, Session, User } from './types.ts'

/** All must say true; the first other answer wins: false, or a URL. */
export interface Guard<Q> {
  verb: 'guard'
  in: Q
  out: boolean | string
}
/** The first handler with an opinion wins, newest first; undefined is no opinion. */
export interface First<Q, R> {
  verb: 'first'
  in: Q
  out: R
}
/** The carried field is handed on; null ends, undefined leaves it. */
export interface Pipe<M, C extends keyof M> {
  verb: 'pipe'
  in: M
  carry: C
  out: M[C] | null
}

/** Question of the `signIn` decision (row 136). */
export interface SignInQuestion {
  user: User | AdapterUser
  account: Account
  profile?: Profile
  email?: { verificationRequest?: boolean }
  credentials?: Record<string, unknown>
}
/** Message of the `jwt` decision (row 131). */
export interface JwtMessage {
  token: JWT
  user?: User | AdapterUser
  account?: Account | null
  profile?: Profile
  trigger?: 'signIn' | 'signUp' | 'update'
  /** @deprecated use `trigger === 'signUp'` */
  isNewUser?: boolean | undefined
  /** Sent by the client: untrusted (row 368). */
  session?: unknown
}
/** Message of the `session` decision (row 123, D6). */
export interface SessionMessage {
  session: Session & Partial<Pick<AdapterSession, 'userId'>>
  /** jwt strategy. */
  token?: JWT
  /** Database strategy. */
  user?: AdapterUser
  /** Sent by the client: untrusted. */
  newSession?: unknown
  trigger?: 'update'
}

/** Questions that a flow waits for. Third parties merge their own in and declare the verb with `kernel.decision`. */
export interface Decisions {
  /** Maintenance, rate limit, captcha: an answer ends the request. */
  request: First<{ ctx: Context }, Response>
  /** Tenants: secret, origin, basePath, cookiePrefix for one request. */
  settings: First<{ request: Request }, Partial<Settings>>
  /** A provider that is not in the list. */
  provider: First<{ id: string; ctx: Context }, Provider>
  /** The list on `/providers` and pages. */
  providers: Pipe<{ providers: readonly Provider[]; ctx: Context }, 'providers'>
  signIn: Guard<SignInQuestion>
  /** Before an account is linked to an existing user. */
  link: Guard<{ user: User; account: Account }>
  /** Settled, not yet signed in: a second factor parks the login here. */
  login: First<{ login: Login; ctx: Context }, Response>
  /** API keys, bearer tokens: asked before the strategy. */
  authenticate: First<{ ctx: Context }, Session>
  redirect: First<{ url: string; baseUrl: string }, string>
  jwt: Pipe<JwtMessage, 'token'>
  session: Pipe<SessionMessage, 'session'>
  /** Where to go after sign-out: logout at the provider. */
  signOut: First<{ ctx: Context; ended: Events['signOut'] }, string>
  /** Answers in place of the error redirect. */
  failure: First<{ error: AuthError; ctx: Context }, Response>
}
/** Facts told afterwards; a failing handler is reported and breaks nothing (row 150). */
export interface Events {
  createUser: { user: User }
  updateUser: { user: User }
  linkAccount: { account: Account; profile: User; user: User }
  session: { session: Session; token?: JWT }
  signIn: { user: User; account: Account | null; profile?: Profile; isNewUser?: boolean | undefined }
  signOut: { session: AdapterSession | null | undefined } | { token: JWT | null }
  /** D25. */
  signInFailed: { provider: string | undefined; error: AuthError; user?: User }
}
/** Answer to a decision. */
export type Answer<K extends keyof Decisions> = Decisions[K] extends { verb: 'first'; out: infer R } ? R | undefined : Decisions[K]['out']
/** Handler of a decision. Undefined: no opinion (`first`), unchanged (`pipe`), no (`guard`: a forgotten `return` must not let anybody in). */
export type DecisionHandler<K extends keyof Decisions> = (message: Decisions[K]['in']) => Awaitable<Decisions[K]['out'] | undefined | void>
/** Handler of an event. */
export type EventHandler<K extends keyof Events> = (message: Events[K]) => unknown

/** What may differ per request. Objects returned by the `settings` decision should be reused: derived values are cached by identity. */
export interface Settings {
  /** Newest first. */
  secret: readonly string[]
  /** `https://host[:port]`, or '' to follow the request (D34). */
  origin: string
  basePath: string
  cookiePrefix: string
  /** HKDF info of a key, by salt. */
  keyInfo(salt: string): string
  /** Algorithms accepted on open; the first one seals. */
  encryption: readonly ('A256CBC-HS512' | 'A256GCM')[]
  /** Digests that also count for CSRF and verification tokens: those of another product (`authjsCompatPlugin`). */
  legacyDigests?(value: string, secrets: readonly string[]): Awaitable<readonly string[]>
}
