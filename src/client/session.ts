/** A session that can be watched: for React (`useSyncExternalStore`), Svelte (`$session`), Solid, Vue or plain scripts. */
import type { Session } from 'authkernel'
import type { Protocol } from './protocol.ts'

/** The session as far as this tab knows it. A new object only when something changed. */
export interface SessionState {
  /** `loading` until the first answer. */
  status: 'loading' | 'authenticated' | 'unauthenticated'
  session: Session | null
  /** Why the last read failed. The session is then the last one known: an outage is not a sign-out. */
  error: Error | undefined
}
/** Where the session comes from and when it is read again. */
export interface SessionOptions {
  /** The session that the server put into the page; without it the first subscriber fetches it. */
  initial?: Session | null | undefined
  /** Reads again when the tab gets the focus; default true. */
  refetchOnFocus?: boolean | undefined
}
/** A watchable session. It reads and listens only while somebody is subscribed. */
export interface SessionStore {
  get(): SessionState
  /** Calls the listener now and at every change; returns how to stop. */
  subscribe(listener: (state: SessionState) => void): () => void
  /** Reads again now. Does not throw: see `error`. */
  refresh(): Promise<SessionState>
}

export function createSessionStore(protocol: Protocol, { initial, refetchOnFocus = true }: SessionOptions): SessionStore {
  const listeners = new Set<(state: SessionState) => void>()
  let state: SessionState = initial === undefined ? { status: 'loading', session: null, error: undefined } : stateOf(initial)
  let latest = 0
  let running: Promise<SessionState> | undefined
  let stop: (() => void) | undefined

  function set(next: SessionState): void {
    if (next.status === state.status && next.error === state.error && JSON.stringify(next.session) === JSON.stringify(state.session)) return
    state = next
    for (const listener of listeners) listener(state)
  }

  async function read(): Promise<SessionState> {
    const turn = ++latest
    const next = await protocol.get<Session | null>('/session').then(stateOf, (error: Error) => ({ ...state, error }))
    // A later read began after a change that this one may not have seen.
    if (turn === latest) {
      running = undefined
      set(next)
    }
    return state
  }

  const refresh = (): Promise<SessionState> => (running = read())
  const onFocus = (): void => {
    if (document.visibilityState === 'visible' && !running) void refresh()
  }

  function start(): () => void {
    const off = protocol.onChange(refresh)
    if (refetchOnFocus) {
      addEventListener('focus', onFocus)
      document.addEventListener('visibilitychange', onFocus)
    }
    if (state.status === 'loading') void refresh()
    return () => {
      off()
      removeEventListener('focus', onFocus)
      document.removeEventListener('visibilitychange', onFocus)
    }
  }

  return {
    get: () => state,
    refresh,
    subscribe(listener) {
      // Its own identity: one function may be subscribed twice.
      const own = (next: SessionState): void => listener(next)
      listeners.add(own)
      stop ??= start()
      own(state)
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

function stateOf(session: Session | null): SessionState {
  return { status: session ? 'authenticated' : 'unauthenticated', session, error: undefined }
}
