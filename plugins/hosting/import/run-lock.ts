/** One run of a move at a time: two at the same moment would each take the other's rows for changes that were made here. */
import { AdapterError, type AnyContext, AuthError, type Lease } from 'authkernel/kernel'

// A run that was killed holds its lock for this long.
const seconds = 20
const waitSeconds = 30

/** Waits for a run that is under way in any process, and throws AuthError when it takes too long. Without the table of leases there is nothing to wait for. */
export async function lockRun<T>(ctx: AnyContext, source: string, work: () => Promise<T>): Promise<T> {
  const lease = await waitForLease(ctx, `move ${source}`)
  if (lease === undefined) return work()
  const timer = setInterval(() => void lease.renew(seconds).catch(() => false), (seconds * 1000) / 4)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    // A store that is down gives the lock back by its end.
    await lease.release().catch(() => undefined)
  }
}

async function waitForLease(ctx: AnyContext, key: string): Promise<Lease | undefined> {
  for (let second = 0; second <= waitSeconds; second++) {
    try {
      const lease = await ctx.lease(key, seconds)
      if (lease) return lease
    } catch (error) {
      // Before the first migration there is no table, and the run says so itself.
      if (error instanceof AdapterError) return undefined
      throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  throw new AuthError('Another run of this move is under way. Wait until it has ended, and run this again.')
}
