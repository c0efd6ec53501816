/** A session that is read again and again, until it is over. */
import type { Runtime, Session } from 'authkernel/kernel'

/** Why a connection ends: the session is over, or the store did not say. */
export type LiveReason = 'session' | 'store'
/** A connection of a signed-in user. */
export interface Live {
  /** The session at the start. */
  session: Session
  /** Aborted when the session is over, or the store has not answered for `staleAfter`. Its `reason` is a `LiveReason`. */
  ended: AbortSignal
  /** Reads the session now, before something important. `null` and `ended`: it is over. */
  check(): Promise<Session | null>
  /** Stops the readings: call it when the connection is closed. */
  stop(): void
}
/** In milliseconds. */
export interface LiveRules {
  every: number
  staleAfter: number
}

/** Reads the session at most `every` after the last reading. What other processes ended is seen by that. */
export function watchSession(
  first: Session,
  read: () => Promise<Session | null>,
  { every, staleAfter }: LiveRules,
  runtime: Runtime,
): Live {
  const over = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let readAt = runtime.now()
  let reading: Promise<Session | null> | undefined
  let stopped = false

  const stop = (): void => {
    stopped = true
    clearTimeout(timer)
  }
  const end = (reason: LiveReason): null => {
    const wasOpen = !stopped
    stop()
    if (wasOpen) over.abort(reason)
    return null
  }
  async function readAgain(): Promise<Session | null> {
    try {
      const session = await read()
      readAt = runtime.now()
      return session?.user && isSameUser(session, first) ? session : end('session')
    } catch (error) {
      if (runtime.now() - readAt >= staleAfter) return end('store')
      throw error
    }
  }
  async function check(): Promise<Session | null> {
    if (over.signal.aborted) return null
    // Readings of one moment are one; a later one is new.
    reading ??= readAgain().finally(() => (reading = undefined))
    return reading
  }
  function plan(share: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      // A store that is down is asked again.
      void check()
        .catch(() => null)
        .then(() => plan(1))
    }, every * share)
    // Connections keep a process alive, their readings do not.
    if (typeof timer === 'object' && 'unref' in timer) timer.unref()
  }

  // The first reading comes at a random time: connections that were opened together do not all ask together.
  plan(((runtime.random(1)[0] ?? 255) + 1) / 256)
  return { session: first, ended: over.signal, check, stop }
}

/** The cookie of a browser may come to name another user: another tab does not change who is at this connection. */
function isSameUser({ user }: Session, first: Session): boolean {
  return user?.id === first.user?.id && user?.email === first.user?.email
}
