/** Users of one address are made one after the other, and what was made a moment ago is known: for stores without unique keys. */
import type { Store } from '../contract/adapter.ts'
import { innermostOf } from '../registry/overlay.ts'

// The newest so many.
const maxMade = 1_000
const addresses = new WeakMap<Store, Set<string>>()
const turns = new WeakMap<Store, Map<string, Promise<void>>>()

/** Whether this process has made a user of this address. */
export function made(store: Store, email: string): boolean {
  return addresses.get(innermostOf(store))?.has(email) === true
}

/** Remembers that a user of this address was made. */
export function note(store: Store, email: string): void {
  const known = addresses.get(innermostOf(store)) ?? new Set<string>()
  addresses.set(innermostOf(store), known.add(email))
  for (const oldest of known) if (known.size > maxMade) known.delete(oldest)
}

/** Waits for whoever makes a user of this address in this process. */
export async function turn(store: Store, email: string): Promise<{ waited: boolean; done: () => void }> {
  const waiting = turns.get(innermostOf(store)) ?? new Map<string, Promise<void>>()
  turns.set(innermostOf(store), waiting)
  const before = waiting.get(email)
  let done = (): void => {}
  const mine = new Promise<void>((resolve) => (done = resolve))
  const last = (before ?? Promise.resolve()).then(() => mine)
  waiting.set(email, last)
  await before
  const end = (): void => {
    done()
    if (waiting.get(email) === last) waiting.delete(email)
  }
  return { waited: before !== undefined, done: end }
}
