/** How sessions are kept, what is known of one, and how they are ended from elsewhere. Types only. */
import type { AdapterMethod } from './adapter.ts'
import type { AnyContext, Context } from './context.ts'
import type { Awaitable, Session, User } from './data.ts'
import type { Login } from './login.ts'
import type { Events } from './messages.ts'

/** Attributes of a session: provider, methods, times, address, user agent. Clients get them only if a plugin returns them. */
export interface SessionAttributes {
  /** Id of the provider. */
  readonly provider: string
  /** The user there: `sub` of an ID token, else the account's id. */
  readonly sub?: string
  /** The session there (`sid`, OpenID Connect Back-Channel Logout 1.0 section 2.1). */
  readonly sid?: string
  /** Authentication context class. */
  readonly acr?: string
  /** When the class was proved, in seconds. */
  readonly acrTime?: number
  /** When the user last proved who they are, in seconds. */
  readonly authTime: number
  /** Each authentication method (RFC 8176) and the second it was proved; `amr` is the list of its keys. */
  readonly methods: Readonly<Record<string, number>>
  /** How many independent factors. */
  readonly factors: 1 | 2
  /** When the second of two factors was proved, in seconds. */
  readonly factorsTime?: number
  /** When it began, in milliseconds; a step-up keeps it. */
  readonly started: number
  /** Name of the app that has it, for sessions without cookies. */
  readonly app?: string
  /** Where it began. */
  readonly address?: string
  /** At most 256 characters. */
  readonly userAgent?: string
  /**
   * Kinds of the session, by the names that plugins declared with `kernel.sessionKind`; absent: an ordinary session. A session of a kind that no plugin
   * declares is signed out.
   */
  readonly kinds?: readonly string[]
  /** When it ends however it is used, in milliseconds; absent: with its lifetime. */
  readonly until?: number
  /** Id of the user who acts as the user of the session. In a jwt it is the claim `act` (RFC 8693 section 4.1). */
  readonly actor?: string
}

/** What a strategy can do beyond reading, issuing and ending the session of the request. */
export type SessionAbility = 'list' | 'revoke:id' | 'revoke:user' | 'revoke:attribute' | 'attributes' | 'kinds'

/**
 * Which sessions to end. `until`: only those that began up to then, in milliseconds. `sub` beside `sid`: only when the session is of that user.
 * `brief`: for a logout token of the provider, with as few statements as the strategy can, whatever their number; how many were ended may be unknown.
 */
export type SessionSelector =
  | { id: string; userId?: string }
  | { userId: string; except?: string }
  | { provider: string; sid: string; sub?: string; until?: number; brief?: true }
  | { provider: string; sub: string; until?: number; brief?: true }

/** A session without its token, to show to its owner. */
export interface SessionInfo {
  /** Names the session, opens nothing. */
  id: string
  userId: string
  expires: Date
  /** When it began, where that is known. */
  createdAt: Date | null
  /** When it was last extended, where that is known: exact to `session.updateAge`. */
  lastUsed: Date | null
  /** Null if they were not stored. */
  attributes: SessionAttributes | null
}

/** How sessions are kept. */
export interface SessionStrategy {
  /** What it can do. Default: `revoke:id` and `revoke:user` where `revoke` is there. */
  readonly abilities?: ReadonlySet<SessionAbility>
  /** Adapter operations demanded at compile. */
  readonly methods?: readonly AdapterMethod[]
  /** `true`: sessions point to stored users, so an unstored one cannot be signed in (D52). */
  readonly storedUsers?: boolean
  /** Extends / re-issues only when `ctx.canSetCookies`. */
  read(ctx: Context): Awaitable<Session | null>
  /** Who is signed in, from the store where there is one. */
  user(ctx: Context): Awaitable<User | null>
  /**
   * Text that stays the same while the same user is signed in, null: signed out. Reads no store. A flow that leads elsewhere and back keeps it,
   * so that a planted flow links nothing; default: the id of `user`.
   */
  subject?(ctx: Context): Awaitable<string | null>
  /** The id of the session of this request, null: none. Reads no store. */
  id?(ctx: Context): Awaitable<string | null>
  /**
   * `new`: fresh token, the browser's former session is deleted; `keep`: same session, cookie again; `renew`: a fresh token and id for the same
   * session, which must be there. `before` is called with the id of a new session before the session exists, for rows that guard it; what it
   * throws stops the sign-in. Answers the id, never the token.
   */
  issue(
    ctx: Context,
    login: Login,
    attributes: SessionAttributes,
    before?: (id: string) => Awaitable<void>,
  ): Awaitable<{ id: string } | null>
  /**
   * With the ability `kinds`: `attributes.kinds` of the session of this request, kept where it cannot get lost without the session itself. Empty: an
   * ordinary session, or none. A session whose marks do not hold (`marksHold`) is none for every member.
   */
  kinds?(ctx: Context): Awaitable<readonly string[]>
  /** The attributes that `issue` got. Null if the request is signed out, or they were not stored. */
  attributes?(ctx: Context): Awaitable<SessionAttributes | null>
  /** Sessions of a user that have not ended, the newest first. */
  list?(ctx: AnyContext, userId: string): Awaitable<SessionInfo[]>
  /** Changes the session with data of the client or of server code. Returns the session, or null for a signed-out request. */
  update(ctx: Context, data: unknown): Awaitable<Session | null>
  /** Null: there was no session, and no event fires. */
  end(ctx: Context): Awaitable<Events['signOut'] | null>
  /**
   * Undoes the `issue` of this request: the session must not live, and its token has not left the server. Default: `revoke` by id, where the strategy
   * can.
   */
  takeBack?(ctx: Context, issued: { id: string }): Awaitable<void>
  /** Whether the session of this request still counts, asked of the store past any copy. Default: true. */
  isLive?(ctx: Context): Awaitable<boolean>
  /** Number of sessions that were ended; undefined if it is not known. */
  revoke?(ctx: AnyContext, which: SessionSelector): Awaitable<number | undefined | void>
}

/** Strategies by name: what `session.strategy` may say. Plugins merge theirs in. */
export interface SessionStrategies {
  jwt: SessionStrategy
  database: SessionStrategy
}

/** One reason why sessions count as ended. */
export interface Revocation {
  /**
   * `id:<session>`, `user:<id>`, `sid:<provider>:<sid>`, `sub:<provider>:<sub>`, `pair:<provider>:<sub>:<sid>` (provider and `sub` of a pair
   * URL-encoded), or `all`.
   */
  key: string
  /** Sessions that began up to then, in milliseconds; of no meaning for an `id:`. */
  before: number
  /** Id of the session that continues. */
  except?: string | null
  /** Reaches only sessions that began up to `before`, also where places are known. Default: `before` stands for the moment of writing. */
  bounded?: boolean
  /** Place of the session that an `id:` names, where it is known. See `Revocations.place`. */
  place?: string | undefined
  /** In a copy: an earlier one of the same key, which spares another session. */
  readonly earlier?: Revocation | undefined
}
/** Revoked tokens: a list in records, of which each process has a copy. */
export interface Revocations {
  /** The copy, by namespace, a blank and the key. */
  readonly entries: ReadonlyMap<string, Revocation>
  /** Time in milliseconds until which the copy is valid. */
  readonly freshUntil: number
  /** Time in milliseconds from which `sync` should run in the background. */
  readonly renewAt: number
  /** False: there are too many for a copy, which then has no `id:` entries; ask `ended`. */
  readonly complete: boolean
  /** Whether the store has an entry: namespace, a blank, and the key. `place`: of the session. */
  ended(key: string, place?: string): Promise<boolean>
  /** Brings the copy up to date: one read when nothing changed. `place`: of a session whose home is read then. */
  sync(place?: string): Promise<void>
  /**
   * Where revocations are in an order: how far they were read here. A new token keeps it, and revocations that were written later reach
   * the token, whatever the clocks say.
   */
  place?(): string | undefined
  /** Whether an entry reaches a session. Default: by `before` and `started`. */
  reaches?(entry: Revocation, session: { started: number; place: string | undefined }): boolean
  /** Throws unless the copy says all that was acknowledged up to the staleness ago of the home of a session; reads where that is needed. */
  follow?(place: string | undefined): Promise<void>
  /** The list that was used before, and counts too. */
  readonly former?: Revocations
  /** Ends tokens: here at once, elsewhere within the staleness. `seconds`: how long the longest of them lives. */
  revoke(ctx: AnyContext, revocations: readonly Revocation[], seconds: number): Promise<void>
}
