/** A session that can be watched: for React (`useSyncExternalStore`), Svelte (`$session`), Solid, Vue or plain scripts. */
import type { Session } from 'authkernel'
import type { Protocol } from './protocol.ts'
import { type RereadOptions, watchTab } from './tab.ts'

/**
 * The session as far as this tab knows it. A new object only when something changed. `loading` until the first answer.
 * `error`: why the last read failed. The session is then the last one known: an outage is not a sign-out.
 */
export type SessionState<S = Session> =
  | { status: 'loading'; session: null; error: Error | undefined }
  | { status: 'unauthenticated'; session: null; error: Error | undefined }
  | { status: 'authenticated'; session: S; error: Error | undefined }
/** Where the session comes from and when it is read again. */
export interface SessionOptions<S = Session> extends RereadOptions {
  /** The session that the server put into the page; without it the first subscriber fetches it. */
  initial?: S | null | undefined
}
/** A session to subscribe to. It reads and listens only while there is a subscriber. */
export interface SessionStore<S = Session> {
  get(): SessionState<S>
  /** The state as it was made, from `initial`: what the server rendered. For `getServerSnapshot` of React. */
  getInitial(): SessionState<S>
  /** Calls the listener now and at every change; returns how to stop. */
  subscribe(listener: (state: SessionState<S>) => void): () => void
  /** Reads again now. Does not throw: see `error`. */
  refresh(): Promise<SessionState<S>>
  /** Sets the session that the server has just rendered, for example after an action. Other tabs get a change too. */
  set(session: S | null): void
}

export function createSessionStore(protocol: Protocol, options: SessionOptions): SessionStore {
  const listeners = new Set<(state: SessionState) => void>()
  const first: SessionState =
    options.initial === undefined ? { status: 'loading', session: null, error: undefined } : stateOf(options.initial)
  let state = first
  let latest = 0
  let running: Promise<SessionState> | undefined
  let tab: ReturnType<typeof watchTab> | undefined

  function change(next: SessionState): boolean {
    tab?.due(next.session)
    if (next.status === state.status && next.error === state.error && JSON.stringify(next.session) === JSON.stringify(state.session))
      return false
    state = next
    for (const listener of listeners) listener(state)
    return true
  }

  async function fetchSession(): Promise<SessionState> {
    const own = ++latest
    const next = await protocol.get<Session | null>('/session').then(stateOf, (error: Error) => ({ ...state, error }))
    // A later read began after a change that this one may not have seen.
    if (own === latest) {
      running = undefined
      change(next)
    }
    return state
  }

  const refresh = (): Promise<SessionState> => (running = fetchSession())

  function start(): () => void {
    const off = protocol.onChange(refresh)
    const watched = (tab = watchTab(options, () => running ?? refresh()))
    watched.due(state.session)
    if (state.status === 'loading') void refresh()
    return () => {
      off()
      watched.stop()
      tab = undefined
    }
  }

  let stop: (() => void) | undefined
  return {
    get: () => state,
    getInitial: () => first,
    refresh,
    set(session) {
      // What is under way was asked before.
      latest++
      running = undefined
      const { status } = state
      if (change(stateOf(session)) && status !== 'loading') protocol.announce()
    },
    subscribe(listener) {
      // Its own identity: one function may be subscribed twice.
      const own = (next: SessionState): void => listener(next)
      listeners.add(own)
      // While a server renders there is no page to listen for, and no cookie to read with.
      if (globalThis.document) stop ??= start()
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
  const status = session ? 'authenticated' : 'unauthenticated'
  return { status, session, error: undefined } as SessionState
}
