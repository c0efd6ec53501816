/** One writer of an address at a time: stores without unique keys would keep two users of one address. */
import type { Store } from '../contract/adapter.ts'
import type { AnyContext } from '../contract/context.ts'
import { innermostOf } from '../registry/overlay.ts'

// Seconds after which another process may write the address: longer than any write.
const leaseSeconds = 30
// The newest so many.
const maxRemembered = 1_000
const createdAddresses = new WeakMap<Store, Set<string>>()
const addressQueues = new WeakMap<Store, Map<string, Promise<void>>>()

// Addresses that a request holds already, by its context.
const heldAddresses = new WeakMap<AnyContext, Set<string>>()

/**
 * Runs `work` while no other request may write the canonical address: for a request that writes more than the user, and takes the user back where that fails.
 * Null: another request holds it. `seconds`: longer than the work takes.
 */
export async function holdAddress<T>(ctx: AnyContext, email: string, seconds: number, work: () => Promise<T>): Promise<T | null> {
  const lease = await ctx.lease(`address ${email}`, seconds)
  if (!lease) return null
  const held = heldAddresses.get(ctx) ?? new Set()
  heldAddresses.set(ctx, held.add(email))
  try {
    return await work()
  } finally {
    held.delete(email)
    await lease.release()
  }
}

/**
 * Runs `write`, which stores the canonical address `email` for the user `userId`, new or old. Null: another user has the address, or gets it at this moment.
 * One at a time, between processes too where they share records; the store's unique key decides against sign-ins of another process.
 */
export async function writeAddress<T>(ctx: AnyContext, email: string, userId: string, write: () => Promise<T>): Promise<T | null> {
  const store = ctx.store as Store
  const isTaken = async (): Promise<boolean> => {
    const holder = await store.getUserByEmail(email)
    return holder !== null && holder.id !== userId
  }
  const isHeld = heldAddresses.get(ctx)?.has(email) === true
  const lease = isHeld ? undefined : await ctx.lease(`address ${email}`, leaseSeconds)
  if (lease === null) return null
  const release = await waitForAddress(store, email)
  try {
    if (await isTaken()) return null
    const answer = await write()
    rememberCreatedUser(store, email)
    return answer
  } catch (error) {
    // A user who was registered with it at this moment.
    if (await isTaken()) return null
    throw error
  } finally {
    release.done()
    await lease?.release()
  }
}

/** Whether this process has made a user of this address. */
export function wasUserCreatedHere(store: Store, email: string): boolean {
  return createdAddresses.get(innermostOf(store))?.has(email) === true
}

/** Remembers that a user of this address was made. */
export function rememberCreatedUser(store: Store, email: string): void {
  const known = createdAddresses.get(innermostOf(store)) ?? new Set<string>()
  createdAddresses.set(innermostOf(store), known.add(email))
  for (const oldest of known) if (known.size > maxRemembered) known.delete(oldest)
}

/** Waits for the request that makes a user of this address in this process. */
export async function waitForAddress(store: Store, email: string): Promise<{ waited: boolean; done: () => void }> {
  const waiting = addressQueues.get(innermostOf(store)) ?? new Map<string, Promise<void>>()
  addressQueues.set(innermostOf(store), waiting)
  const before = waiting.get(email)
  let letNextIn = (): void => {}
  const mine = new Promise<void>((resolve) => (letNextIn = resolve))
  const last = (before ?? Promise.resolve()).then(() => mine)
  waiting.set(email, last)
  await before
  const end = (): void => {
    letNextIn()
    if (waiting.get(email) === last) waiting.delete(email)
  }
  return { waited: before !== undefined, done: end }
}
