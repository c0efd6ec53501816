/** The session strategy with devices: where a session began and is used, when it ends, and what it is bound to. */
import { type AnyContext, type Awaitable, type Context, type Login, type SessionAttributes, type SessionStrategy } from 'authkernel/kernel'
import { announce, offer } from './bind.ts'
import { forget, holds } from './cookie.ts'
import { notify } from './notice.ts'
import type { Settled } from './options.ts'
import { type DeviceSession, type DeviceSessionRow, inSeconds, rowId, rowOf } from './table.ts'

const minute = 60_000
const kept = 400 * 86_400

export function withDevices(inner: SessionStrategy, options: Settled, mails: boolean): Partial<SessionStrategy> {
  const states = new WeakMap<Context, Promise<DeviceSession | 'plain' | null>>()
  const own = async (ctx: Context): Promise<string | null> => (await inner.id?.(ctx)) ?? null
  /** Null: nobody is here. `plain`: a session from before the plugin. */
  const stateOf = (ctx: Context): Promise<DeviceSession | 'plain' | null> => {
    const known = states.get(ctx) ?? find(ctx)
    states.set(ctx, known)
    return known
  }

  async function find(ctx: Context): Promise<DeviceSession | 'plain' | null> {
    const sessionId = await own(ctx)
    if (sessionId === null) return null
    const row = await rowOf(ctx, sessionId)
    if (!row) return options.bind === 'required' ? null : 'plain'
    if (isOver(ctx, row, options)) {
      await end(ctx, row, 'deviceSessions')
      return null
    }
    if (row.bound !== null ? !(await holds(ctx, row)) : isLate(ctx, row, options)) {
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
    const place = placeOf(ctx)
    const [address, userAgent] = [place.address ?? row.address, place.userAgent ?? row.userAgent]
    const changed = (row.address !== address || row.userAgent !== userAgent) && ctx.has('hook', 'deviceChanged')
    const verdict = changed ? await ctx.ask('deviceChanged', { session: shown(row), address, userAgent }) : undefined
    if (verdict === 'refuse') {
      await end(ctx, row, 'deviceChanged')
      return null
    }
    // Every use counts, also one that only server code sees; at most one write a minute.
    if (!changed && ctx.now.getTime() - row.seen.getTime() < minute) return row
    const change = { seen: ctx.now, expires: inSeconds(ctx, kept), address, userAgent, ...(verdict === 'stepUp' && { doubted: true }) }
    return (await ctx.records('deviceSession').update(row.id, change)) ?? null
  }

  async function end(ctx: Context, row: DeviceSession, by: string): Promise<void> {
    await ctx.records('deviceSession').delete(row.id)
    const count = (await inner.revoke?.(ctx, { id: row.sessionId, userId: row.userId })) ?? undefined
    await ctx.emit('sessionsEnded', { which: { id: row.sessionId, userId: row.userId }, count, by })
  }

  const gated =
    <T>(ask: (ctx: Context) => Awaitable<T | null>): ((ctx: Context) => Promise<T | null>) =>
    async (ctx) =>
      (await stateOf(ctx)) ? ask(ctx) : null

  async function attributes(ctx: Context): Promise<SessionAttributes | null> {
    const state = await stateOf(ctx)
    const found = state && ((await inner.attributes?.(ctx)) ?? null)
    // What was proved before the change counts no more, until it is proved again.
    return found && state !== 'plain' && state.doubted ? { ...found, authTime: 0, methods: {}, factors: 1 } : found
  }

  async function issue(ctx: Context, login: Login, given: SessionAttributes): Promise<{ id: string } | null> {
    const before = await own(ctx)
    const issued = await inner.issue(ctx, login, given)
    const userId = login.user.id
    if (!issued || userId === undefined || issued.id === before) return issued
    states.delete(ctx)
    const table = ctx.records('deviceSession')
    const former = before === null ? null : await table.take(await rowId(before))
    const id = await rowId(issued.id)
    if (login.session === 'renew' && former?.userId === userId) {
      // The same session under another id: what it is bound to goes with it.
      await table.create({ ...former, id, sessionId: issued.id, doubted: false, seen: ctx.now })
      return issued
    }
    // Whoever acts as another person has no sign-in that a browser could answer, and goes back to a session that is bound.
    const acts = given.provider === 'impersonation'
    if (!acts && former?.bound) forget(ctx, former.bound)
    const bound = options.bind && !acts ? offer(ctx) : null
    const fresh = { id, sessionId: issued.id, userId, started: ctx.now, seen: ctx.now, doubted: false, expires: inSeconds(ctx, kept) }
    await table.create({ ...fresh, ...placeOf(ctx), ...bound })
    if (bound) announce(ctx, bound.offer)
    await overflow(ctx, userId, id)
    await notify(
      ctx,
      { ...login.user, id: userId },
      { wanted: mails && options.notice({ user: login.user }), isNew: login.isNewUser === true },
    )
    return issued
  }

  /** The oldest end, and never the one that has just begun. */
  async function overflow(ctx: Context, userId: string, id: string): Promise<void> {
    if (options.max === undefined) return
    const others = (await liveRows(ctx, inner, userId)).filter((row) => row.id !== id && !isOver(ctx, row, options))
    for (const row of others.slice(options.max - 1)) await end(ctx, row, 'deviceSessions.max')
  }

  return {
    read: gated((ctx) => inner.read(ctx)),
    update: async (ctx, data) => ((await stateOf(ctx)) ? inner.update(ctx, data) : null),
    user: gated((ctx) => inner.user(ctx)),
    ...(inner.subject && { subject: gated((ctx) => inner.subject?.(ctx) ?? null) }),
    id: gated(own),
    attributes,
    issue,
    async revoke(ctx, which) {
      const count = await inner.revoke?.(ctx, which)
      const table = ctx.records('deviceSession')
      if ('id' in which) await table.delete(await rowId(which.id))
      else if ('userId' in which) {
        const { rows } = await table.find({ where: { userId: which.userId }, limit: 1000 })
        for (const row of rows) if (row.sessionId !== which.except) await table.delete(row.id)
      }
      return count
    },
    async end(ctx) {
      const sessionId = await own(ctx)
      const row = sessionId === null ? null : await ctx.records('deviceSession').take(await rowId(sessionId))
      if (row?.bound) forget(ctx, row.bound)
      return inner.end(ctx)
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
export function shown({ sessionId, userId, started, seen, address, userAgent, bound }: DeviceSessionRow): SeenSession {
  return { id: sessionId, userId, started, seen, address, userAgent, bound: bound !== null }
}

/** Those of a person that have not ended, the newest first. */
export async function liveRows(ctx: AnyContext, strategy: SessionStrategy, userId: string): Promise<DeviceSession[]> {
  const { rows } = await ctx.records('deviceSession').find({ where: { userId }, order: 'desc', limit: 1000 })
  if (!strategy.abilities?.has('list')) return rows
  // The identity provider may have ended some.
  const live = new Set((await strategy.list?.(ctx, userId))?.map(({ id }) => id))
  return rows.filter(({ sessionId }) => live.has(sessionId))
}

/** It could have been bound, had to be, and was not. */
function isLate({ now }: Context, { started, offerUntil }: DeviceSession, { bind }: Settled): boolean {
  return bind === 'required' && offerUntil !== null && now.getTime() - started.getTime() >= minute
}
function isOver({ now }: Context, { started, seen }: DeviceSession, { idle, absolute }: Settled): boolean {
  const since = (date: Date): number => (now.getTime() - date.getTime()) / 1000
  return (idle !== undefined && since(seen) >= idle) || (absolute !== undefined && since(started) >= absolute)
}
function placeOf({ facts: { address, userAgent } }: Context): { address: string | null; userAgent: string | null } {
  return { address: address?.slice(0, 64) ?? null, userAgent: userAgent?.slice(0, 256) ?? null }
}
