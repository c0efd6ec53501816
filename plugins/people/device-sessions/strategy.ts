/** The session strategy with devices: where a session began and is used, when it ends, and what it is bound to. */
import { type Awaitable, type Context, type Login, type SessionAttributes, type SessionStrategy } from 'authkernel/kernel'
import { reportUnguarded, withKind } from 'authkernel/kernel/strategies'
import { announceRegistration, createOffer, deleteShortCookie, holdsCookie } from './binding.ts'
import { notifyOfDevice } from './notice.ts'
import type { ResolvedOptions } from './options.ts'
import { dropFormer, findDeviceSession, inSeconds, listGuardIds, listLiveRows, rowId } from './rows.ts'
import { type DeviceSession, type DeviceSessionRow, kind } from './tables.ts'

const minute = 60_000
const keptSeconds = 400 * 86_400

export function decorateSession(inner: SessionStrategy, options: ResolvedOptions, mails: boolean): Partial<SessionStrategy> {
  const states = new WeakMap<Context, Promise<DeviceSession | 'plain' | null>>()
  const own = async (ctx: Context): Promise<string | null> => (await inner.id?.(ctx)) ?? null
  const isGuarded = async (ctx: Context): Promise<boolean> => (await inner.kinds?.(ctx))?.includes(kind) === true
  /** Null: signed out. `plain`: a session from before the plugin. */
  const stateOf = (ctx: Context): Promise<DeviceSession | 'plain' | null> => {
    const known = states.get(ctx) ?? find(ctx)
    states.set(ctx, known)
    return known
  }

  async function find(ctx: Context): Promise<DeviceSession | 'plain' | null> {
    const sessionId = await own(ctx)
    if (sessionId === null) return null
    const row = await findDeviceSession(ctx, sessionId)
    if (!row) {
      if (!(await isGuarded(ctx))) return options.bind === 'required' ? null : 'plain'
      reportUnguarded(ctx, kind, sessionId)
      return null
    }
    if (isOver(ctx, row, options)) {
      await end(ctx, row, 'deviceSessions')
      return null
    }
    if (row.bound !== null ? !(await holdsCookie(ctx, row)) : isLate(ctx, row, options)) {
      await ctx.emit('noted', {
        name: 'session.refused',
        outcome: 'denied',
        reason: 'bound',
        user: { id: row.userId },
        sessionId: row.sessionId,
      })
      return null
    }
    // Server code often asks without the address: what is not known has not changed.
    const place = clientPlace(ctx)
    const [address, userAgent] = [place.address ?? row.address, place.userAgent ?? row.userAgent]
    const changed = (row.address !== address || row.userAgent !== userAgent) && ctx.has('hook', 'deviceChanged')
    const verdict = changed ? await ctx.ask('deviceChanged', { session: toSeenSession(row), address, userAgent }) : undefined
    if (verdict === 'refuse') {
      await end(ctx, row, 'deviceChanged')
      return null
    }
    // Every use counts, also one that only server code sees; at most one write a minute.
    if (!changed && ctx.now.getTime() - row.seen.getTime() < minute) return row
    const change = {
      seen: ctx.now,
      expires: inSeconds(ctx, keptSeconds),
      address,
      userAgent,
      ...(verdict === 'stepUp' && { doubted: true }),
    }
    return (await ctx.records('deviceSession').update(row.id, change)) ?? null
  }

  /** The session first: until it ends, its row guards it. */
  async function end(ctx: Context, row: DeviceSession, by: string): Promise<void> {
    const which = { id: row.sessionId, userId: row.userId }
    const count = (await inner.revoke?.(ctx, which)) ?? undefined
    if (count === 0) return
    await ctx.records('deviceSession').delete(row.id)
    await ctx.emit('sessionsEnded', { which, count, by })
  }

  const askIfLive =
    <T>(ask: (ctx: Context) => Awaitable<T | null>): ((ctx: Context) => Promise<T | null>) =>
    async (ctx) =>
      (await stateOf(ctx)) ? ask(ctx) : null

  async function attributes(ctx: Context): Promise<SessionAttributes | null> {
    const state = await stateOf(ctx)
    const found = state && ((await inner.attributes?.(ctx)) ?? null)
    // What was proved before the change counts no more, until it is proved again.
    return found && state !== 'plain' && state.doubted ? { ...found, authTime: 0, methods: {}, factors: 1 } : found
  }

  async function issue(
    ctx: Context,
    login: Login,
    sessionAttributes: SessionAttributes,
    before?: (id: string) => Awaitable<void>,
  ): Promise<{ id: string } | null> {
    const userId = login.user.id
    if (userId === undefined) return inner.issue(ctx, login, sessionAttributes, before)
    const formerId = await own(ctx)
    const former = formerId === null ? null : await findDeviceSession(ctx, formerId)
    // The same session under another id: what it is bound to goes with it.
    const moves = login.session === 'renew' && former?.userId === userId ? former : null
    // An administrator who acts as a user has no sign-in that a browser could answer, and goes back to a session that is bound.
    const acts = sessionAttributes.actor !== undefined
    const bound = options.bind && !acts && !moves ? createOffer(ctx) : null
    const guarded = new Set<string>()
    const guard = async (sessionId: string): Promise<void> => {
      const times = { started: ctx.now, seen: ctx.now, doubted: false, expires: inSeconds(ctx, keptSeconds) }
      const id = await rowId(sessionId)
      const fresh = moves ? { ...moves, doubted: false, seen: ctx.now } : { userId, ...times, ...clientPlace(ctx), ...bound }
      await ctx.records('deviceSession').create({ ...fresh, id, sessionId })
      guarded.add(sessionId)
    }
    const issued = await inner.issue(ctx, login, withKind(sessionAttributes, kind), async (id) => {
      await guard(id)
      await before?.(id)
    })
    if (!issued || issued.id === formerId) return issued
    // A strategy that does not say the id before: until its row is there, the session is signed out.
    if (!guarded.has(issued.id)) await guard(issued.id)
    states.delete(ctx)
    if (former) await dropFormer(ctx, former, moves ? await rowId(issued.id) : null)
    if (moves) return issued
    if (!acts && former?.bound) deleteShortCookie(ctx, former.bound)
    if (bound) announceRegistration(ctx, bound.offer)
    await overflow(ctx, userId, await rowId(issued.id))
    await notifyOfDevice(
      ctx,
      { ...login.user, id: userId },
      { wanted: mails && options.notice({ user: login.user }), isNew: login.isNewUser === true },
    )
    return issued
  }

  /** The oldest end, and never the one that has just begun. */
  async function overflow(ctx: Context, userId: string, id: string): Promise<void> {
    if (options.max === undefined) return
    const others = (await listLiveRows(ctx, inner, userId)).filter((row) => row.id !== id && !isOver(ctx, row, options))
    for (const row of others.slice(options.max - 1)) await end(ctx, row, 'deviceSessions.max')
  }

  return {
    read: askIfLive((ctx) => inner.read(ctx)),
    update: async (ctx, data) => ((await stateOf(ctx)) ? inner.update(ctx, data) : null),
    user: askIfLive((ctx) => inner.user(ctx)),
    ...(inner.subject && { subject: askIfLive((ctx) => inner.subject?.(ctx) ?? null) }),
    id: askIfLive(own),
    attributes,
    issue,
    async revoke(ctx, which) {
      // Rows of sessions that begin meanwhile stay.
      const rows = await listGuardIds(ctx, which)
      const count = await inner.revoke?.(ctx, which)
      // Another user's session, or one that is not there: nothing has ended.
      if ('id' in which && !count) return count
      for (const id of rows) await ctx.records('deviceSession').delete(id)
      return count
    },
    async end(ctx) {
      const sessionId = await own(ctx)
      const row = sessionId === null ? null : await findDeviceSession(ctx, sessionId)
      const ended = await inner.end(ctx)
      if (row?.bound) deleteShortCookie(ctx, row.bound)
      if (row && ended) await ctx.records('deviceSession').delete(row.id)
      return ended
    },
  }
}

/** A session as the host's hook sees it. */
export interface SeenSession {
  id: string
  userId: string
  started: Date
  seen: Date
  /** Where it was used last. */
  address: string | null
  userAgent: string | null
  bound: boolean
}
export function toSeenSession({ sessionId, userId, started, seen, address, userAgent, bound }: DeviceSessionRow): SeenSession {
  return { id: sessionId, userId, started, seen, address, userAgent, bound: bound !== null }
}

/** It could have been bound, had to be, and was not. */
function isLate({ now }: Context, { started, offerUntil }: DeviceSession, { bind }: ResolvedOptions): boolean {
  return bind === 'required' && offerUntil !== null && now.getTime() - started.getTime() >= minute
}
function isOver({ now }: Context, { started, seen }: DeviceSession, { idle, absolute }: ResolvedOptions): boolean {
  const since = (date: Date): number => (now.getTime() - date.getTime()) / 1000
  return (idle !== undefined && since(seen) >= idle) || (absolute !== undefined && since(started) >= absolute)
}
function clientPlace({ facts: { address, userAgent } }: Context): { address: string | null; userAgent: string | null } {
  return { address: address?.slice(0, 64) ?? null, userAgent: userAgent?.slice(0, 256) ?? null }
}
