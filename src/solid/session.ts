/** The session for components of Solid 1, rendered on a server or not. */
import type { Session } from 'authkernel'
import { type Client, createShared, type SessionState, type PageClient, sharedByPage, type SharedOptions } from 'authkernel/client'
import {
  type Accessor,
  createComponent,
  createContext,
  createEffect,
  createSignal,
  type JSX,
  onCleanup,
  onMount,
  on,
  useContext,
} from 'solid-js'

/** What `useSession` answers. `status` of the state narrows its `session`. */
export interface UseSession {
  state: Accessor<SessionState>
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
  /** The session that the server rendered. A new one, after an action of the server, replaces what the tab knows. */
  session?: Session | null | undefined
  children?: JSX.Element
}

const Context = createContext<PageClient>()

/** Gives the components below it one client and one session. Without it they share one per page, at `/auth`. */
export function SessionProvider(props: SessionProviderProps): JSX.Element {
  const { client, basePath, baseURL, fetch, session, refetchOnFocus, refetchOnNavigation, refetchAfter } = props
  const shared = createShared({ client, basePath, baseURL, fetch, session, refetchOnFocus, refetchOnNavigation, refetchAfter })
  const storeNext = (next: Session | null | undefined): void => {
    if (next !== undefined) shared.store.set(next)
  }
  createEffect(on(() => props.session, storeNext, { defer: true }))
  return createComponent(Context.Provider, {
    value: shared,
    get children() {
      return props.children
    },
  })
}

/** The session. It begins with what the server rendered, and listens from the moment the component is mounted. */
export function useSession(): UseSession {
  const { client, store } = usePageClient()
  const [state, setState] = createSignal(store.getInitial(), { equals: (before, now) => before === now })
  onMount(() => onCleanup(store.subscribe((next) => setState(() => next))))
  const { update, signIn, signOut } = client
  return { state, refresh: store.refresh, update, signIn, signOut }
}

/** The client of the nearest `SessionProvider`; `A` is its type where it is one of `createAuthClient`. */
export function useAuthClient<A extends Client = Client>(): A {
  return usePageClient().client as A
}

/** The client and the session that the components here share: what `authkernel/parts` works with. */
export function usePageClient(): PageClient {
  return useContext(Context) ?? sharedByPage()
}
