/** One adapter of two stores: users, accounts and the rest in one, sessions in another. */
import {
  type Adapter,
  type AdapterSession,
  type AdapterTables,
  type AdapterUser,
  type Awaitable,
  type SessionStore,
} from 'authkernel/kernel'
import { storeMethods, toListedForm, toListedName } from 'authkernel/kernel/stores'
import { sessionMethods } from './session-options.ts'

/** Reports of failures, at intervals. */
export interface FailureReports {
  now(): number
  /** When the next failure is reported, in milliseconds. */
  nextReport: number
  log(error: unknown): void
}
/** How sessions are shared between the two stores. */
export interface SplitOptions {
  /** Of a tenant, whose adapter keeps it apart from others. */
  namespace?: string
  /** See `AdapterPluginOptions.sessionFallback`. */
  fallback?: { readonly staleness: number } | undefined
  /** See `AdapterPluginOptions.moveSessions`. */
  move?: boolean | undefined
  /** Logs that the session store failed and the adapter replaced it; shared by all tenants. */
  failures?: FailureReports | undefined
}

/** The adapter with its sessions in `store`. A session whose user is gone is none. With `fallback` or `move` the adapter must have session operations. */
export function splitSessions(adapter: Adapter & AdapterTables, store: SessionStore, options: SplitOptions = {}): Adapter & AdapterTables {
  const own = bindMethods(adapter)
  const sessions = inNamespace(store, options.namespace ?? '')
  const work = options.fallback
    ? copiedSessions(own, sessions, options.fallback.staleness, options.failures)
    : options.move
      ? movedSessions(own, sessions)
      : sessions
  return {
    ...own,
    async createSession(session) {
      const created = await work.createSession(session)
      // Afterwards: a user who is deleted meanwhile leaves no session.
      if (await own.getUser?.(session.userId)) return created
      await work.deleteSession(session.sessionToken)
      throw new Error('[sessions] createSession: no user has the id it names')
    },
    async getSessionAndUser(sessionToken) {
      const session = await work.getSession(sessionToken)
      const user = session && (await (own.getUser?.(session.userId) as Promise<AdapterUser | null>))
      return session && user ? { session, user } : null
    },
    updateSession: (change) => work.updateSession(change),
    deleteSession: (sessionToken) => work.deleteSession(sessionToken),
    deleteSessions: (sessionTokens) => work.deleteSessions(sessionTokens),
    listSessionsByUserId: (userId) => work.listSessionsByUserId(userId),
    deleteSessionsByUserId: (userId, except) => work.deleteSessionsByUserId(userId, except),
    async deleteUser(userId) {
      const user = await own.deleteUser?.(userId)
      // Sessions without a user are refused: what fails here costs memory until they expire.
      await Promise.resolve(work.deleteSessionsByUserId(userId)).catch(() => {})
      return user
    },
    async deleteExpired(now = new Date(), limits) {
      const removed = (await own.deleteExpired?.(now, limits)) as { sessions?: number } | undefined
      const more = (await sessions.deleteExpired?.(now, limits)) ?? 0
      return removed && { ...removed, sessions: (removed.sessions ?? 0) + more }
    },
    async missingTables(operations) {
      // The table of sessions is not asked for where it is not used.
      const needed =
        options.fallback || options.move
          ? operations
          : operations.filter((operation) => !(sessionMethods as readonly string[]).includes(operation))
      const [missing, faults] = await Promise.all([adapter.missingTables?.(needed) ?? [], sessions.findFaults?.() ?? []])
      return [...missing, ...faults]
    },
    keepsCreatedAt: options.fallback ? adapter.keepsCreatedAt === true : true,
    async close() {
      await own.close?.()
      await sessions.close?.()
    },
  }
}

// An instance of a class keeps its methods and its private fields.
function bindMethods(adapter: Adapter & AdapterTables): Adapter & AdapterTables {
  const bound: Record<string, unknown> = {}
  for (const name of storeMethods) {
    const method = adapter[name] as ((...args: unknown[]) => unknown) | undefined
    if (typeof method === 'function') bound[name] = method.bind(adapter)
  }
  return { ...adapter, ...bound }
}

// During an outage every request meets the failure.
function reportFailure(failures: FailureReports, error: unknown): void {
  if (failures.now() < failures.nextReport) return
  failures.nextReport = failures.now() + 60_000
  failures.log(error)
}

/** The adapter has the sessions, `copies` answers reads. */
function copiedSessions(adapter: Adapter, copies: SessionStore, staleness: number, failures: FailureReports | undefined): SessionStore {
  const truth = toSessionStore(adapter)
  const tryCopies = async <T>(work: () => Awaitable<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (failures) reportFailure(failures, error)
      return undefined
    }
  }
  // Read again once its place is reserved: an ending that comes between the first look and the copy leaves no copy behind.
  const copy = async (session: AdapterSession, { absent }: { absent: boolean }): Promise<AdapterSession | null> => {
    // The first look stands where `copies` fails before the second.
    let current: AdapterSession | null = session
    const read = async (): Promise<AdapterSession | null> => (current = await truth.getSession(session.sessionToken))
    await tryCopies(() => copies.copyCurrent(session, read, { seconds: staleness, absent }))
    return current
  }
  return {
    ...truth,
    async createSession(session) {
      const created = await truth.createSession(session)
      await copy(created, { absent: true })
      return created
    },
    async getSession(sessionToken) {
      const found = await tryCopies(() => copies.getSession(sessionToken))
      if (found) return found
      const session = await truth.getSession(sessionToken)
      // Of many readers one fills the place.
      return session && copy(session, { absent: true })
    },
    async updateSession(change) {
      const session = await truth.updateSession(change)
      if (session) {
        await copy(session, { absent: false })
        return session
      }
      await tryCopies(() => copies.deleteSession(change.sessionToken))
      return null
    },
    async deleteSession(sessionToken) {
      const session = await truth.deleteSession(sessionToken)
      await tryCopies(() => copies.deleteSession(sessionToken))
      return session
    },
    async deleteSessions(sessionTokens) {
      await truth.deleteSessions(sessionTokens)
      await tryCopies(() => copies.deleteSessions(sessionTokens))
    },
    async deleteSessionsByUserId(userId, except) {
      await truth.deleteSessionsByUserId(userId, except)
      await tryCopies(() => copies.deleteSessionsByUserId(userId, except))
    },
  }
}

/** What the adapter has goes on, and moves to `sessions` when it is used. An end goes to the adapter first: what is moved at that moment is found after it. */
function movedSessions(adapter: Adapter, sessions: SessionStore): SessionStore {
  const former = toSessionStore(adapter)
  return {
    ...sessions,
    async getSession(sessionToken) {
      return (await sessions.getSession(sessionToken)) ?? (await moveSession(former, sessions, sessionToken)).session
    },
    async updateSession(change) {
      const changed = await sessions.updateSession(change)
      if (changed) {
        // What an interrupted move left there would come back when this one ends.
        await former.deleteSession(change.sessionToken)
        return changed
      }
      if (!(await moveSession(former, sessions, change.sessionToken)).session) return null
      const update = async (): Promise<AdapterSession | null> => sessions.updateSession(change)
      // While another process moves it, it is in the former store.
      return (await update()) ?? (await former.updateSession(change)) ?? update()
    },
    async deleteSession(sessionToken) {
      const session = await former.deleteSession(sessionToken)
      return (await sessions.deleteSession(sessionToken)) ?? session
    },
    async deleteSessions(sessionTokens) {
      await former.deleteSessions(sessionTokens)
      await sessions.deleteSessions(sessionTokens)
    },
    async listSessionsByUserId(userId) {
      const [before, now] = [await former.listSessionsByUserId(userId), await sessions.listSessionsByUserId(userId)]
      // One that moves between the two looks is in both.
      const moved = new Set(now.map(({ sessionToken }) => sessionToken))
      const forms = await Promise.all(before.map(async ({ sessionToken }) => toListedForm(await toListedName(sessionToken))))
      return [...before.filter((_session, at) => !moved.has(forms[at] ?? '')), ...now]
    },
    async deleteSessionsByUserId(userId, except) {
      if (except) await moveSession(former, sessions, except.sessionToken)
      await former.deleteSessionsByUserId(userId)
      await sessions.deleteSessionsByUserId(userId, except)
    },
  }
}

/** What became of a session: `isMoved` is false for one that another process moves at this moment. Null: neither store has it. */
export interface MovedSession {
  session: AdapterSession | null
  isMoved: boolean
}

/**
 * Moves one session. It counts in `sessions` from the moment when it is written there, and is removed from the former store afterwards. A process that is killed in between leaves it in both, and the next call removes it. One that is ended meanwhile does not come back: an end goes to the former store first.
 */
export async function moveSession(former: SessionStore, sessions: SessionStore, sessionToken: string): Promise<MovedSession> {
  const first = await former.getSession(sessionToken)
  // Another process has moved it between the two looks, or there is none.
  if (!first) return { session: await sessions.getSession(sessionToken), isMoved: false }
  const copy = await sessions.copyCurrent(first, async () => former.getSession(sessionToken), { absent: true })
  const moved = copy.isKept ? copy.session : await sessions.getSession(sessionToken)
  if (moved) {
    await former.deleteSession(sessionToken)
    return { session: moved, isMoved: true }
  }
  // Another process has reserved its place: it goes on in the former store until then.
  return { session: (await former.getSession(sessionToken)) ?? (await sessions.getSession(sessionToken)), isMoved: false }
}

/** The session operations of an adapter, which `assertSessions` found there, as a session store. */
export function toSessionStore(adapter: Adapter): SessionStore {
  const { createSession, getSessionAndUser, updateSession, deleteSession, listSessionsByUserId, deleteSessionsByUserId } =
    adapter as Required<Adapter>
  return {
    createSession,
    async getSession(sessionToken) {
      return (await getSessionAndUser(sessionToken))?.session ?? null
    },
    async updateSession(change) {
      return (await updateSession(change)) ?? null
    },
    async deleteSession(sessionToken) {
      return ((await deleteSession(sessionToken)) as AdapterSession | null | undefined) ?? null
    },
    async deleteSessions(sessionTokens) {
      if (adapter.deleteSessions) await adapter.deleteSessions(sessionTokens)
      else for (const sessionToken of sessionTokens) await deleteSession(sessionToken)
    },
    listSessionsByUserId,
    async deleteSessionsByUserId(userId, except) {
      await deleteSessionsByUserId(userId, except)
    },
    copyCurrent: refuseCopies,
  }
}

/** Sessions of one tenant of an adapter that keeps tenants apart by itself. */
function inNamespace(sessions: SessionStore, namespace: string): SessionStore {
  if (namespace === '') return sessions
  const lead = `~${namespace}~`
  const enter = (text: string): string => lead + text
  const leave = <T extends { sessionToken: string; userId: string }>(row: T): T => ({
    ...row,
    sessionToken: row.sessionToken.slice(lead.length),
    userId: row.userId.slice(lead.length),
  })
  const enterRow = <T extends { sessionToken: string; userId?: string }>(row: T): T => ({
    ...row,
    sessionToken: enter(row.sessionToken),
    ...(row.userId !== undefined && { userId: enter(row.userId) }),
  })
  return {
    ...sessions,
    createSession: async (session) => leave(await sessions.createSession(enterRow(session))),
    getSession: async (sessionToken) => leaveIfThere(await sessions.getSession(enter(sessionToken))),
    updateSession: async (change) => leaveIfThere(await sessions.updateSession(enterRow(change))),
    deleteSession: async (sessionToken) => leaveIfThere(await sessions.deleteSession(enter(sessionToken))),
    deleteSessions: (sessionTokens) => sessions.deleteSessions(sessionTokens.map(enter)),
    listSessionsByUserId: async (userId) => (await sessions.listSessionsByUserId(enter(userId))).map(leave),
    deleteSessionsByUserId: (userId, except) =>
      sessions.deleteSessionsByUserId(enter(userId), except && { sessionToken: enter(except.sessionToken) }),
    async copyCurrent(session, read, options) {
      const readInside = async (): Promise<AdapterSession | null> => {
        const current = await read()
        return current && enterRow(current)
      }
      const copy = await sessions.copyCurrent(enterRow(session), readInside, options)
      return { ...copy, session: leaveIfThere(copy.session) }
    },
  }
  function leaveIfThere(row: AdapterSession | null): AdapterSession | null {
    return row && leave(row)
  }
}

function refuseCopies(): never {
  throw new TypeError('An adapter keeps no copies of sessions.')
}
