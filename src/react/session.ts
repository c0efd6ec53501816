/** The session for components of React 18 and later, rendered on a server or not. */
import type { Session } from 'authkernel'
import { type Client, createShared, type SessionState, type PageClient, sharedByPage, type SharedOptions } from 'authkernel/client'
import {
  createContext,
  createElement,
  type FunctionComponent,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'

/** What `useSession` answers: the state, and what changes it. `status` narrows `session`. */
export type UseSession = SessionState & {
  /** Reads again now. */
  refresh(): Promise<SessionState>
  /** @see Client.update */
  update: Client['update']
  /** @see Client.signIn */
  signIn: Client['signIn']
  /** @see Client.signOut */
  signOut: Client['signOut']
}
/** Properties of `SessionProvider`. All but `children` and `session` are read once. */
export interface SessionProviderProps extends SharedOptions {
  /** The session that the server rendered. A new object, after an action of the server, replaces what the tab knows. */
  session?: Session | null | undefined
  children?: ReactNode
}

const Context = createContext<PageClient | undefined>(undefined)

/** Gives the components below it one client and one session. Without it they share one per page, at `/auth`. */
export const SessionProvider: FunctionComponent<SessionProviderProps> = ({ children, ...options }) => {
  const [shared] = useState(() => createShared(options))
  const { session } = options
  useEffect(() => {
    if (session !== undefined) shared.store.set(session)
  }, [shared, session])
  return createElement(Context.Provider, { value: shared }, children)
}

/** The session; all parts that show it learn of changes. `required`: a signed-out user is led to the sign-in page. */
export function useSession({ required = false }: { required?: boolean } = {}): UseSession {
  const { client, store } = usePageClient()
  const state = useSyncExternalStore(store.subscribe, store.get, store.getInitial)
  const leave = required && state.status === 'unauthenticated'
  useEffect(() => {
    if (leave) void client.signIn()
  }, [client, leave])
  return { ...state, refresh: store.refresh, update: client.update, signIn: client.signIn, signOut: client.signOut }
}

/** The client of the nearest `SessionProvider`; `A` is its type where it is one of `createAuthClient`. */
export function useAuthClient<A extends Client = Client>(): A {
  return usePageClient().client as A
}

/** The client and the session that the components here share: what `authkernel/parts` works with. */
export function usePageClient(): PageClient {
  return useContext(Context) ?? sharedByPage()
}
