/** `authkernel/qwik`: the session for components of Qwik 1, rendered on a server and resumed in the browser. */
import {
  createContextId,
  inlinedQrl,
  useContext,
  useContextProvider,
  useLexicalScope,
  useSignal,
  useVisibleTaskQrl,
} from '@builder.io/qwik'
import type { Session } from 'authkernel'
import { type Client, createShared, type SessionState, type PageClient, type SharedOptions } from 'authkernel/client'

/** A signal of Qwik, as far as it is used here. */
export interface SessionSignal<T> {
  value: T
}
/** What `useSession` answers. `state.value.status` narrows `state.value.session`. The functions are QRLs: use them in handlers of events. */
export interface UseSession {
  /** Changes as one value. */
  readonly state: Readonly<SessionSignal<SessionState>>
  /** Reads again now. */
  refresh(): Promise<SessionState>
  /** @see Client.update */
  update: Client['update']
  /** @see Client.signIn */
  signIn: Client['signIn']
  /** @see Client.signOut */
  signOut: Client['signOut']
}
/** Options of `useSessionProvider`. They go through the HTML, so that `fetch` is not among them. */
export interface SessionProviderOptions extends Omit<SharedOptions, 'client' | 'fetch' | 'session'> {
  /** The session that the server rendered: what `useSession()` of `serverAuth$` answers. When it changes, after an action of the server, it replaces what the tab knows. */
  session?: Readonly<SessionSignal<Session | null>> | undefined
}

type Options = Omit<SessionProviderOptions, 'session'>
/** What components below a provider are given. All of it goes through the HTML. */
interface ProvidedSession {
  state: SessionSignal<SessionState>
  options: Options
}
const context = createContextId<ProvidedSession>('authkernel.session')

/** Gives the components below it one session. Call it in the layout. Without it each component listens for itself, to one client per page at `/auth`. */
export function useSessionProvider({ session, ...options }: SessionProviderOptions = {}): UseSession {
  const kept: ProvidedSession = { state: useWatched(options, session), options }
  useContextProvider(context, kept)
  return toUseSession(kept)
}

/** The session. It begins with what the server rendered, and listens from the moment the page is in the browser. */
export function useSession(): UseSession {
  const given = useContext<ProvidedSession | null>(context, null)
  // A component has a provider above it or not: the order of its hooks stays.
  return toUseSession(given ?? { state: useWatched({}), options: {} })
}

function useWatched(options: Options, session?: SessionProviderOptions['session']): SessionSignal<SessionState> {
  const state = useSignal<SessionState>(stateOf(session?.value))
  useVisibleTaskQrl(
    inlinedQrl(
      ({ track, cleanup }: { track<T>(read: () => T): T; cleanup(end: () => void): void }) => {
        const [shown, rendered, wanted] = useLexicalScope<[typeof state, typeof session, Options]>()
        const fromServer = rendered && track(() => rendered.value)
        const { store } = sharedAt(wanted, fromServer)
        if (fromServer !== undefined) store.set(fromServer)
        cleanup(store.subscribe((next) => void (shown.value = next)))
      },
      'authkernel_watchSession',
      [state, session, options],
    ),
    { strategy: 'document-ready' },
  )
  return state
}

function toUseSession({ state, options }: ProvidedSession): UseSession {
  return {
    state,
    refresh: inlinedQrl(
      () => {
        const [wanted] = useLexicalScope<[Options]>()
        return sharedAt(wanted).store.refresh()
      },
      'authkernel_refreshSession',
      [options],
    ),
    update: inlinedQrl(
      (data?: unknown) => {
        const [wanted] = useLexicalScope<[Options]>()
        return sharedAt(wanted).client.update(data)
      },
      'authkernel_updateSession',
      [options],
    ),
    signIn: inlinedQrl(
      (...given: Parameters<Client['signIn']>) => {
        const [wanted] = useLexicalScope<[Options]>()
        return sharedAt(wanted).client.signIn(...given)
      },
      'authkernel_signIn',
      [options],
    ),
    signOut: inlinedQrl(
      (given?: Parameters<Client['signOut']>[0]) => {
        const [wanted] = useLexicalScope<[Options]>()
        return sharedAt(wanted).client.signOut(given)
      },
      'authkernel_signOut',
      [options],
    ),
  }
}

const page = new Map<string, PageClient>()

/** The client and the session of a base path in this tab. Never called on a server, where tabs of all users would share it. */
function sharedAt(options: Options, session?: Session | null): PageClient {
  const path = (options.baseURL ?? '') + (options.basePath ?? '/auth')
  const known = page.get(path)
  if (known) return known
  const made = createShared({ ...options, session })
  page.set(path, made)
  return made
}

function stateOf(session: Session | null | undefined): SessionState {
  if (session === undefined) return { status: 'loading', session: null, error: undefined }
  return session ? { status: 'authenticated', session, error: undefined } : { status: 'unauthenticated', session, error: undefined }
}
