/** Hooks and events: verb, carried field and types in one place. Types only. */
import type { AuthError } from '../errors/index.ts'
import type { AccessPurpose, AccessSelector, EndReason, EndStep } from './access.ts'
import type { Account } from './account.ts'
import type { AccountKey, AdapterSession, AdapterUser } from './adapter.ts'
import type { AnyContext, Context, Facts } from './context.ts'
import type { Awaitable, JWT, Profile, Session, User } from './data.ts'
import type { Login } from './login.ts'
import type { CleanUpReport } from './entry-points.ts'
import type { Provider } from './provider.ts'
import type { RouteInfo } from './route.ts'
import type { HomeRealmAnswer } from './services.ts'
import type { SessionAttributes, SessionSelector } from './session.ts'
import type { Settings } from './config.ts'

/** All must say true; the first other answer wins: false, or a URL. `C` is the type of `message.ctx`. */
export interface Guard<Q, C = Context> {
  verb: 'guard'
  in: Q
  ctx: C
  out: boolean | string
}
/** The first handler with an opinion wins, newest first; undefined is no opinion. */
export interface First<Q, R, C = Context> {
  verb: 'first'
  in: Q
  ctx: C
  out: R
}
/** The carried field is handed on; null ends, undefined leaves it. */
export interface Pipe<M, Carried extends keyof M, C = Context> {
  verb: 'pipe'
  in: M
  ctx: C
  carry: Carried
  out: M[Carried] | null
}

/** Question of the `signIn` hook (row 136). */
export interface SignInQuestion {
  user: User | AdapterUser
  account: Account
  profile?: Profile
  email?: { verificationRequest?: boolean }
  credentials?: Record<string, unknown>
  /** Whether the account, or the address, has a stored owner. Not enumerable, so that messages stay what hosts of Auth.js compare. */
  readonly known?: boolean
}
/** A user who is about to be made. */
export interface NewUser {
  /** As it would be stored. */
  user: User | AdapterUser
  /** What the visitor signs in with. A guest has the provider `guest`. */
  account: { provider: string; providerAccountId: string; type: string }
  /** The address of `user` is the visitor's: a mail proved it, or a trusted provider says so. Before a mail is sent: that mail will prove it. */
  proved: boolean
}
/** Question of the `createUser` hook. */
export interface NewUserQuestion extends NewUser {
  /** False: asked before a mail or a code is sent, and nothing may be used up. True: the user is written next. */
  final: boolean
  /** Calls `listener` with the stored user, or with null if no user was made after all: rejected, failed, or another request was faster. */
  whenDone(listener: (user: User | null) => Awaitable<void>): void
}
/** Message of the `jwt` hook (row 131). */
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
/** Message of the `session` hook (row 123, D6). */
export interface SessionMessage {
  /** With database sessions the columns of the stored row are in it, all but the token; `user` is reduced to name, email and image. */
  session: Session & Partial<Omit<AdapterSession, 'sessionToken' | 'expires'>>
  /** jwt strategy. */
  token?: JWT
  /** Database strategy: the whole stored row. */
  user?: AdapterUser
  /** Sent by the client: untrusted. */
  newSession?: unknown
  trigger?: 'update'
}

/**
 * Questions that a flow waits for. Third parties merge their own in and declare the verb with `kernel.declareHook`. Every message has the
 * context as `ctx`, which is not enumerable: copies and comparisons see the other fields alone.
 */
export interface Hooks {
  /** Ends the request with the returned `Response`: maintenance, rate limit, captcha. `ctx.route` and `ctx.params` are the route of the request. */
  request: First<{}, Response>
  /** Tenants: secret, origin, basePath, cookiePrefix, namespace for one request. Throw an HttpError for an unknown tenant. */
  settings: First<{ request: Request }, Partial<Settings>, never>
  /** The same by the name of a tenant, for jobs. */
  tenant: First<{ tenant: string }, Partial<Settings>, never>
  /** Names of all tenants, as the hook `tenant` knows them: a list, or one that is read while it is used. A clean-up asks it. */
  tenants: First<{}, Iterable<string> | AsyncIterable<string>, never>
  /** A provider that is not in the list. */
  provider: First<{ id: string }, Provider, AnyContext>
  /** The list on `/providers` and pages. */
  providers: Pipe<{ providers: readonly Provider[] }, 'providers'>
  /**
   * Which provider a user signs in with, by what was typed first: an address, a name. `POST /identifier` asks it after its CSRF check. One answer, or several
   * for the user to choose from. Null: none, and no other plugin is asked. Without an answer the service `homeRealm` is asked for an address. Decide by what
   * all users of a company share, such as the domain: an answer that depends on one user tells attackers that the user exists.
   */
  homeRealm: First<{ identifier: string }, HomeRealmAnswer | readonly HomeRealmAnswer[] | null>
  /** Parameters of an authorization request (oauth, oidc), before `state`, `nonce` and PKCE are added. */
  authorizationRequest: Pipe<{ provider: Provider; parameters: URLSearchParams }, 'parameters'>
  /** Decides whether a user may sign in. All handlers must return `true`. A string is a URL to redirect to. */
  signIn: Guard<SignInQuestion>
  /**
   * Whether a visitor may become a user. Asked by every sign-in method before it stores a user, and before it sends a mail to an address without one.
   * Not asked for users that your own code or an import stores. Throw an error with a separate row to tell the visitor why.
   */
  createUser: Guard<NewUserQuestion, AnyContext>
  /** Before an account is linked to an existing user. */
  link: Guard<{ user: User; account: Account }, AnyContext>
  /**
   * Whether a user may be deleted. Asked twice: first whether, and with `final` when all have said true, for what must be written before. Throw an error with a separate row to tell the user why.
   */
  deleteUser: Guard<{ userId: string; final: boolean }, AnyContext>
  /**
   * Whether a user may be given access now: bans, memberships, guests. Asked wherever access is given, and at each use of API keys and tokens of apps.
   * `by` names what is given. All must say true. Code that changes the answer to no calls `endAccess` afterwards, which ends what was given before.
   */
  access: Guard<{ userId: string; by: AccessPurpose }, AnyContext>
  /** Settled, not yet signed in: a second factor parks the login here. */
  login: First<{ login: Login }, Response>
  /** Signs a request in by an API key or a bearer token. Runs before the session strategy. Null: the request is signed out, even with a session cookie. */
  authenticate: First<{}, Session | null>
  /** Decides where a flow may redirect to: the returned URL replaces the requested one. */
  redirect: First<{ url: string; baseUrl: string }, string>
  /** What the session token holds. */
  jwt: Pipe<JwtMessage, 'token'>
  /** What the client sees of a session. */
  session: Pipe<SessionMessage, 'session'>
  /** Where to go after sign-out: logout at the provider. */
  signOut: First<{ ended: Events['signOut'] }, string>
  /** Which level a sensitive change needs for the user who is signed in: `mfa` where they have a second factor. */
  proofLevel: First<{ login: Login }, 'mfa'>
  /** A signed-in user must prove again who they are: who can ask for that parks the login. `level` mfa: by a second factor. `maxAge` in seconds. `acr`: classes of which the session must get one. */
  stepUp: First<{ login: Login; level: 'mfa' | undefined; maxAge: number; acr?: readonly string[] | undefined }, Response>
  /** Answers instead of the error redirect. */
  failure: First<{ error: AuthError }, Response>
  /**
   * Gives an answer another form, before cookies and headers of the request are added: for clients of another product. `ctx.route` is the route, undefined
   * for a path that is none. A handler that throws is logged, and the answer stays as it is. Asked for every answer, so return undefined at once for others.
   */
  response: First<{ response: Response }, Response>
}
/** Facts told afterwards; a failing handler is reported and breaks nothing (row 150). Messages have `ctx` and `facts`, not enumerable. */
export interface Events {
  /** A user was made. */
  createUser: { user: User }
  /** A user was changed by a sign-in, or by a plugin with `ctx.users.update`. */
  updateUser: { user: User }
  /** A user and all that the user owned were deleted. */
  deleteUser: { userId: string }
  /** An account was linked to a user. */
  linkAccount: { account: Account; profile: User; user: User }
  /** An account was taken from a user. */
  unlinkAccount: { userId: string; account: AccountKey }
  /** A session was read. */
  session: { session: Session; token?: JWT }
  /** A user signed in. */
  signIn: { user: User; account: Account | null; profile?: Profile; isNewUser?: boolean | undefined }
  /** After `signIn` and after the cookies are set; null: the strategy issued no session. */
  signedIn: { login: Login; session: { id: string; attributes: SessionAttributes } | null }
  /** A session was ended by its owner. */
  signOut:
    | { session: AdapterSession | null | undefined }
    | { token: JWT | null }
    | { sessionId: string; userId: string; session?: undefined }
  /** Sessions were ended by another request or a provider; `count` is undefined if it is not known. */
  sessionsEnded: { which: SessionSelector; count: number | undefined; by: string | undefined }
  /** Access of a user, or of a session at a provider, was ended with all that rests on it. */
  accessEnded: { which: AccessSelector; reason: EndReason; by: string; ended: Readonly<Partial<Record<EndStep, number | undefined>>> }
  /** A login waits for something that plugin `by` asks for. */
  loginParked: { login: Login; by: string; expires: Date }
  /** It went on. */
  loginResumed: { login: Login; by: string }
  /** D25. `tried` is the name as it was typed, at most 200 characters. */
  signInFailed: { provider: string | undefined; error: AuthError; user?: User; account?: Account; tried?: string }
  /** A request that was rejected before any flow began: CSRF, host, method, limit, replay. */
  refused: { reason: string; route: RouteInfo | undefined; error: Error }
  /** A password, passkey, factor, address or API key was added, changed or removed; `user` is null if it belongs to no stored user. */
  credentialChanged: {
    user: User | null
    kind: 'password' | 'passkey' | 'factor' | 'address' | 'apiKey' | (string & {})
    action: 'added' | 'changed' | 'removed'
    /** Of the credential, where it has one that opens nothing. */
    id?: string
  }
  /** A signed-in user set out to link an account of a provider. */
  linkRequested: { user: User; provider: string }
  /** Ended rows were removed. */
  cleanedUp: { report: CleanUpReport }
  /** A clean-up has come to a tenant, whose context this is: the default one first, then each that the hook `tenants` names. */
  tenantCleanedUp: {}
  /** A fact for logs that has no other event: a password reset was requested, a device was trusted, a step-up was demanded. */
  noted: Note
  /** No request is served until the mistake is gone. */
  configurationFault: { error: AuthError }
}
/** A fact for logs, under a name of the list in docs/plugins/audit.md or one of a plugin's own. Nothing in it opens anything. */
export type Note = NoteDetails & ({ outcome: 'success'; reason?: string | undefined } | { outcome: 'failure' | 'denied'; reason: string })
/** What a note says beside its outcome. A code such as `breached` is the reason, no sentence. */
export interface NoteDetails {
  /** `password.reset.requested`, `device.trusted`: what it is about, then what happened. */
  name: string
  /** Whom it is about. */
  user?: { id?: string | undefined } | null | undefined
  provider?: string | undefined
  /** Public id of a session, never its token. */
  sessionId?: string | undefined
  /** What a visitor typed. Listeners that keep it key it, because users type passwords into name fields. */
  typed?: string | undefined
  details?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}
type WithContext<C> = [C] extends [never] ? {} : { readonly ctx: C }
/** What a handler of a hook is called with. */
export type HookMessage<K extends keyof Hooks> = Hooks[K]['in'] &
  (Hooks[K] extends { ctx: infer C } ? WithContext<C> : { readonly ctx: AnyContext })
/** The message of a hook. The kernel adds `ctx`. */
export type HookInput<K extends keyof Hooks> = Hooks[K]['in'] & { readonly ctx?: AnyContext }
/** What a listener is called with. */
export type EventMessage<K extends keyof Events> = Events[K] & { readonly ctx: AnyContext; readonly facts: Facts }
/** Answer to a hook. */
export type Answer<K extends keyof Hooks> = Hooks[K] extends { verb: 'first'; out: infer R } ? R | undefined : Hooks[K]['out']
/** Handler of a hook. Undefined: no opinion (`first`), unchanged (`pipe`), no (`guard`: a forgotten `return` must not give access). */
export type HookHandler<K extends keyof Hooks> = (message: HookMessage<K>) => Awaitable<Hooks[K]['out'] | undefined | void>
/** Handler of an event. */
export type EventHandler<K extends keyof Events> = (message: EventMessage<K>) => unknown
/** One event with its name, for `on('*')`. */
export type AnyEvent = { [K in keyof Events]: { readonly event: K; readonly message: EventMessage<K> } }[keyof Events]
