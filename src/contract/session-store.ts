/** Sessions in a store of their own, beside the adapter that has users and accounts. */
import type { AdapterSession, CleanUpOptions, MissingPart } from './adapter.ts'
import type { Awaitable } from './data.ts'

/**
 * Keeps sessions and nothing else, for `adapterPlugin(adapter, { sessions })`. A session that was ended must not be found again, in any process, and no
 * change of a session brings an ended one back. Users are not checked: the adapter has them, and a session whose user is gone is none.
 */
export interface SessionStore {
  /** False: the store has no atomic commands, so an end may be lost between processes. It then holds copies only (`sessionFallback`). Default true. */
  readonly shared?: boolean
  /** Stores a session. Throws when the token is taken. */
  createSession(session: AdapterSession): Awaitable<AdapterSession>
  /** A session by its token; null: there is none, or it was ended. */
  getSession(sessionToken: string): Awaitable<AdapterSession | null>
  /** Changes a session, never its user; null: there is none. */
  updateSession(change: Partial<AdapterSession> & Pick<AdapterSession, 'sessionToken'>): Awaitable<AdapterSession | null>
  /** Ends a session and answers it. Takes the form that `listSessionsByUserId` answers, too. */
  deleteSession(sessionToken: string): Awaitable<AdapterSession | null>
  /** Ends several. */
  deleteSessions(sessionTokens: readonly string[]): Awaitable<void>
  /** Sessions of a user. The tokens may be hashes: `sha256:` and 64 hexadecimal digits. */
  listSessionsByUserId(userId: string): Awaitable<AdapterSession[]>
  /** Ends all sessions of a user as one act: after the answer none of them is found. A session that was ended before is not kept by `except`. */
  deleteSessionsByUserId(userId: string, except?: { sessionToken: string }): Awaitable<void>
  /**
   * Keeps what `read` answers of a session that another store has. The place of the copy is reserved before `read` is called: a session that is ended after
   * that leaves no copy. `session` is what was read of it before.
   */
  copyCurrent(session: AdapterSession, read: () => Promise<AdapterSession | null>, options?: CopyOptions): Promise<CopiedSession>
  /** Removes ended sessions and answers how many; absent where they go by themselves. */
  deleteExpired?(now: Date, options?: CleanUpOptions): Awaitable<number>
  /** What the server lacks for what the store promises. Asked by `auth.ready()` and `authkernel doctor`. */
  findFaults?(): Awaitable<readonly MissingPart[]>
  /** Makes the tables that the store needs; a dry run unless `apply` is true. For `authkernel migrate`. */
  migrate?(options: { apply: boolean }): Awaitable<{ statements: readonly string[]; notes?: readonly string[] }>
  /** Frees connections that the store opened itself. */
  close?(): Awaitable<void>
}

/** How a copy of a session is kept. */
export interface CopyOptions {
  /** The copy lives so many seconds from its reservation on; default: as long as the session. */
  seconds?: number
  /** Only where nothing is. Where something is, `read` is not called. Default false: what is there is replaced. */
  absent?: boolean
}
/** What became of a copy. */
export interface CopiedSession {
  /** The session as it was read last; null: it was ended. */
  session: AdapterSession | null
  /** False: another caller has the place, or the session was ended. */
  isKept: boolean
}
