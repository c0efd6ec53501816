/** Long polling (RFC 8936 section 2.2): a poll waits until an event is there. Events of this process end the wait at once, those of others within a second. */
import type { AnyContext, SharedState } from 'authkernel/kernel'

interface Waits {
  count: number
  /** Of polls that sleep at the moment. */
  wakes: Set<() => void>
}
interface Polls {
  streams: Map<string, Waits>
  closed: boolean
}

// Of one stream, so that a receiver which opens many connections holds few of them.
const maxWaiting = 2
const [firstPause, longestPause] = [250, 1000]
const pollsByState = new WeakMap<SharedState, Polls>()

/** Calls `look` until it answers something, or until `seconds` are over. Undefined at once for a third poll of one stream. */
export async function waitFor<T>(
  ctx: AnyContext,
  streamId: string,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const polls = pollsOf(ctx.app.shared)
  const waits = polls.streams.get(streamId) ?? { count: 0, wakes: new Set() }
  if (waits.count >= maxWaiting) return undefined
  polls.streams.set(streamId, waits)
  waits.count++
  try {
    // Steps and no clock: what a wait costs does not depend on it.
    for (let left = seconds * 1000, pause = firstPause; left > 0 && !polls.closed; pause = Math.min(longestPause, pause * 2)) {
      const step = Math.min(left, pause)
      left -= step
      await sleep(step, waits.wakes)
      const found = polls.closed ? undefined : await look()
      if (found !== undefined) return found
    }
    return undefined
  } finally {
    waits.count--
    if (waits.count === 0) polls.streams.delete(streamId)
  }
}

/** Something happened to the stream: an event, or the end of its receiver. */
export function wakePolls({ app }: AnyContext, streamId: string): void {
  for (const wake of pollsByState.get(app.shared)?.streams.get(streamId)?.wakes ?? []) wake()
}

/** When the app closes: no poll holds it open. */
export function endPolls(shared: SharedState): void {
  const polls = pollsOf(shared)
  polls.closed = true
  for (const { wakes } of polls.streams.values()) for (const wake of wakes) wake()
}

function pollsOf(shared: SharedState): Polls {
  const polls = pollsByState.get(shared) ?? { streams: new Map(), closed: false }
  pollsByState.set(shared, polls)
  return polls
}

function sleep(ms: number, wakes: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      wakes.delete(end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    wakes.add(end)
  })
}
