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
/** Namespaces whose counts wait: a site may have many tenants. */
const maxWaiting = 1_000
/** Sign-ins of one namespace that wait. */
const maxSeen = 200
/** Days that a count is kept. */
const keptDays = 400

/** What this process has counted in a namespace and has not written yet. It is removed with the write, so that no request is kept. */
interface Waiting {
  /** Milliseconds. */
  since: number
  counts: Map<string, { day: string; kind: CountKind; count: number }>
  /** The last sign-in of each user. */
  seen: Map<string, Date>
  /** Of the last request, for the store of its tenant. */
  ctx: AnyContext
}
/** Writes what this process has counted. */
export interface Counts {
  flush(ctx: AnyContext): Promise<void>
}

/** Listens to events, and keeps who signed in when. */
export function addCounts(kernel: Kernel): Counts {
  const waiting = new Map<string, Waiting>()
  // Milliseconds, by namespace: the first event after a pause is written at once. The oldest are forgotten.
  const written = new Map<string, number>()
  const write = async (namespace: string, ctx?: AnyContext): Promise<void> => {
    const mine = waiting.get(namespace)
    if (!mine) return
    waiting.delete(namespace)
    written.delete(namespace)
    written.set(namespace, mine.ctx.runtime.now())
    for (const oldest of written.keys()) if (written.size > maxWaiting) written.delete(oldest)
    await writeWaiting(ctx ?? mine.ctx, mine)
  }
  const count = async (ctx: AnyContext, kind: CountKind, userId?: string): Promise<void> => {
    const { namespace } = ctx.facts
    const now = ctx.runtime.now()
    const mine = waiting.get(namespace) ?? { since: now, counts: new Map(), seen: new Map(), ctx }
    waiting.set(namespace, mine)
    mine.ctx = ctx
    const today = dayOf(now)
    const entry = mine.counts.get(today + kind) ?? { day: today, kind, count: 0 }
    entry.count++
    mine.counts.set(today + kind, entry)
    if (userId !== undefined) mine.seen.set(userId, ctx.now)
    if (now - (written.get(namespace) ?? -pause) >= pause || mine.seen.size >= maxSeen) await write(namespace)
    // The oldest come first. A tenant without further sign-ins is written by those of others.
    for (const [name, { since }] of waiting) {
      if (now - since < pause && waiting.size <= maxWaiting) break
      await write(name)
    }
  }
  kernel.on('signedIn', async ({ login, ctx }) => {
    if (login.session === 'new') await count(ctx, 'signIns', login.user.id)
  })
  kernel.on('signInFailed', ({ ctx }) => count(ctx, 'failures'))
  kernel.on('createUser', ({ ctx }) => count(ctx, 'users'))
  kernel.on('credentialChanged', ({ kind, action, ctx }) =>
    action === 'added' && (kind === 'factor' || kind === 'passkey') ? count(ctx, 'factors') : undefined,
  )
  kernel.onClose(
    async () => {
      for (const namespace of waiting.keys()) await write(namespace)
    },
    { first: true },
  )
  return { flush: (ctx) => write(ctx.facts.namespace, ctx) }
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

async function writeWaiting(ctx: AnyContext, { counts, seen }: Waiting): Promise<void> {
  const table = ctx.records('adminCount')
  for (const { day: name, kind, count } of counts.values()) {
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
  if (seen.size === 0 || !ctx.store) return
  // A session may have a user who is not stored, or who was deleted meanwhile.
  const stored = await ctx.store.getUsers([...seen.keys()])
  for (const { id } of stored) await ctx.records('userSeen').put({ id: await banId(id), userId: id, at: seen.get(id) as Date })
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
