/** Writes that succeed after their deadline: whoever asked was told that they failed. */
import type { AdapterUser, Store } from '../contract/adapter.ts'
import { innermostOf } from '../registry/overlay.ts'
import { lateAnswer } from '../store/store.ts'

/** A write whose answer is still to come, or was not yet undone. */
interface Late {
  /** A later sign-in of the same person went on with what was written. */
  kept: boolean
  undone?: Promise<void>
}

const writes = new WeakMap<Store, Map<string, Late>>()

/**
 * Undoes a write when its late answer arrives, unless a sign-in went on with it meanwhile. `key` is the person; `undo` is called with the
 * answer. Nobody waits for it, so nothing is thrown.
 */
export function expectLate(store: Store, key: string, error: unknown, undo: (answer: unknown) => Promise<void> | undefined): void {
  const answer = lateAnswer(error)
  if (!answer) return
  const pending = writes.get(innermostOf(store)) ?? new Map<string, Late>()
  writes.set(innermostOf(store), pending)
  const late: Late = { kept: false }
  pending.set(key, late)
  const forget = (): void => void (pending.get(key) === late && pending.delete(key))
  answer.then((value) => (late.kept ? undefined : (late.undone = Promise.resolve(undo(value)).then(() => {})))).then(forget, forget)
}

/** The owner that `read` finds, which a late write may have made: it is kept from now on, or, when it is being undone, looked for again afterwards. */
export async function settledOwner(
  store: Store,
  key: string,
  read: () => AdapterUser | null | PromiseLike<AdapterUser | null>,
): Promise<AdapterUser | null> {
  const found = await read()
  const late = found && writes.get(innermostOf(store))?.get(key)
  if (!late) return found
  if (!late.undone) {
    late.kept = true
    return found
  }
  await late.undone.catch(() => {})
  return read()
}
