/** What happened on each day: counted while it happens, so that the overview reads a few rows and needs no log. */
import { type AnyContext, HttpError, type Kernel, RecordConflict, type Store } from 'authkernel/kernel'
import { banId } from './bans.ts'

/** What is counted: sign-ins, failed sign-ins, new users, and second factors or passkeys that were added. */
export type CountKind = 'signIns' | 'failures' | 'users' | 'factors'
/** One day. */
export interface DayCounts extends Record<CountKind, number> {
  /** `2026-11-23`, in UTC. */
  day: string
}
/** What `getOverview` answers. */
export interface Overview {
  /** Users in all. Null: the adapter cannot count them. */
  users: number | null
  /** Of the days below. */
  totals: Record<CountKind, number>
  /** The oldest first, today last. */
  days: DayCounts[]
}

const day = 86_400_000
const kinds: readonly CountKind[] = ['signIns', 'failures', 'users', 'factors']
/** Milliseconds between two writes of one process: sign-ins share few rows. */
const pause = 5_000
/** Days that a count is kept. */
const keptDays = 400

/** Counts of this process that are not written yet, by namespace. */
interface Waiting {
  ctx: AnyContext
  written: number
  counts: Map<string, { day: string; kind: CountKind; count: number }>
}
/** Writes what this process has counted. */
export interface Counts {
  flush(ctx: AnyContext): Promise<void>
}

/** Listens to events, and keeps who signed in when. */
export function addCounts(kernel: Kernel): Counts {
  const waiting = new Map<string, Waiting>()
  const count = async (ctx: AnyContext, kind: CountKind): Promise<void> => {
    const { namespace } = ctx.facts
    const mine = waiting.get(namespace) ?? { ctx, written: -pause, counts: new Map() }
    waiting.set(namespace, mine)
    mine.ctx = ctx
    const today = dayOf(ctx.runtime.now())
    const entry = mine.counts.get(today + kind) ?? { day: today, kind, count: 0 }
    entry.count++
    mine.counts.set(today + kind, entry)
    if (ctx.runtime.now() - mine.written >= pause) await writeCounts(mine)
  }
  kernel.on('signedIn', async ({ login, ctx }) => {
    if (login.session !== 'new') return
    await count(ctx, 'signIns')
    const { id } = login.user
    if (id !== undefined && (await ctx.store?.getUser(id)))
      await ctx.records('userSeen').put({ id: await banId(id), userId: id, at: ctx.now })
  })
  kernel.on('signInFailed', ({ ctx }) => count(ctx, 'failures'))
  kernel.on('createUser', ({ ctx }) => count(ctx, 'users'))
  kernel.on('credentialChanged', ({ kind, action, ctx }) =>
    action === 'added' && (kind === 'factor' || kind === 'passkey') ? count(ctx, 'factors') : undefined,
  )
  kernel.onClose(
    async () => {
      for (const mine of waiting.values()) await writeCounts(mine)
    },
    { first: true },
  )
  return {
    async flush(ctx) {
      const mine = waiting.get(ctx.facts.namespace)
      if (mine) await writeCounts({ ...mine, ctx })
    },
  }
}

/** Throws HttpError 400 for a number of days that cannot be. */
export async function readOverview(ctx: AnyContext, counts: Counts, days: number = 30): Promise<Overview> {
  if (!Number.isInteger(days) || days < 1 || days > 366)
    throw new HttpError(400, 'admin.getOverview: `days` must be a whole number from 1 to 366.')
  await counts.flush(ctx)
  const now = ctx.now.getTime()
  const all = new Map<string, DayCounts>()
  for (let at = days - 1; at >= 0; at--) {
    const name = dayOf(now - at * day)
    all.set(name, { day: name, signIns: 0, failures: 0, users: 0, factors: 0 })
  }
  const first = dayOf(now - (days - 1) * day)
  const { rows } = await ctx.records('adminCount').find({ range: { day: { gte: first } }, limit: days * kinds.length + kinds.length })
  for (const row of rows) {
    const found = all.get(row.day)
    if (found && (kinds as readonly string[]).includes(row.kind)) found[row.kind as CountKind] = row.count
  }
  const list = [...all.values()]
  const sum = (kind: CountKind): number => list.reduce((total, one) => total + one[kind], 0)
  const store = ctx.store as Store
  const users = store.supports('searchUsers') ? (await store.searchUsers({ limit: 1 })).total : null
  return { users, totals: { signIns: sum('signIns'), failures: sum('failures'), users: sum('users'), factors: sum('factors') }, days: list }
}

async function writeCounts(mine: Waiting): Promise<void> {
  const entries = [...mine.counts.values()]
  mine.counts.clear()
  mine.written = mine.ctx.runtime.now()
  const table = mine.ctx.records('adminCount')
  for (const { day: name, kind, count } of entries) {
    const id = `${name}:${kind}`
    const until = new Date(Date.parse(name) + keptDays * day)
    if ((await table.increment(id, 'count', count)) !== null) continue
    try {
      await table.create({ id, day: name, kind, count, until })
    } catch (error) {
      if (!(error instanceof RecordConflict)) throw error
      // Another process was first.
      await table.increment(id, 'count', count)
    }
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
