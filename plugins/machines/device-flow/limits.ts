/** Limits of the device flow, counted together for all clients: of starts, of codes that users try (RFC 8628 section 5.1), and of polls. */
import { type Context, networksOf } from 'authkernel/kernel'

/** Starts of one network in ten minutes. */
const startsPerNetwork = { max: 60, seconds: 600 }
/** Where no binding says where requests come from. */
const startsOfUnknown = { max: 600, seconds: 600 }
/** Codes that one user, and one network, may try in ten minutes. */
const codesPerUser = { max: 10, seconds: 600 }
const codesPerNetwork = { max: 50, seconds: 600 }
/** Seconds that a client which polls too often waits longer, for good. */
const slower = 5

/** A start needs no sign-in: without a limit an attacker could fill the table, and make codes easier to guess. `retryAfter` in seconds. */
export async function takeStart(ctx: Context): Promise<{ allowed: boolean; retryAfter: number }> {
  const network = networkOf(ctx)
  return ctx.limit.take(`deviceFlow.start:${network ?? ''}`, network === undefined ? startsOfUnknown : startsPerNetwork)
}

/** Whether a user may try one more code. */
export async function takeTry(ctx: Context, { id }: { id: string }): Promise<boolean> {
  const { allowed } = await ctx.limit.take(`deviceFlow.user:${id}`, codesPerUser)
  const network = networkOf(ctx)
  if (!allowed || network === undefined) return allowed
  return (await ctx.limit.take(`deviceFlow.network:${network}`, codesPerNetwork)).allowed
}

/** Where the rows are that a client polls for. */
export interface PolledTable {
  update(id: string, change: { polled: Date }, options: { if: { polled: Date } }): Promise<unknown>
  increment(id: string, field: 'interval', by: number, options: { set: { polled: Date } }): Promise<unknown>
}

/** What a poll gets before the user has answered: `slow_down` for one that comes earlier than `interval` seconds after the last one (section 3.5). */
export async function countPoll(
  ctx: Context,
  table: PolledTable,
  { id, interval, polled }: { id: string; interval: number; polled: Date },
): Promise<'authorization_pending' | 'slow_down'> {
  const isEarly = ctx.now.getTime() - polled.getTime() < interval * 1000
  // Two polls at the same moment are too many as well.
  if (!isEarly && (await table.update(id, { polled: ctx.now }, { if: { polled } }))) return 'authorization_pending'
  await table.increment(id, 'interval', slower, { set: { polled: ctx.now } })
  return 'slow_down'
}

function networkOf(ctx: Context): string | undefined {
  return ctx.clientAddress === undefined ? undefined : networksOf(ctx.clientAddress)[0]?.key
}
