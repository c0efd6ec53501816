/** `authkernel/svelte`: the session for components of Svelte 4 and 5, rendered on a server or not. */
import type { Session } from 'authkernel'
import { type Client, createShared, type SessionState, type PageClient, sharedByPage, type SharedOptions } from 'authkernel/client'
import { getContext, hasContext, setContext } from 'svelte'

/** A store by Svelte's contract: `$session.status` narrows `$session.session`. */
export interface UseSession {
  subscribe(listener: (state: SessionState) => void): () => void
  /** Takes over what the server has rendered again: `$effect(() => session.set(data.session))` in the layout. */
  set(session: Session | null): void
  /** Reads again now. */
  refresh(): Promise<SessionState>
  /** @see Client.update */
  update: Client['update']
  /** @see Client.signIn */
  signIn: Client['signIn']
  /** @see Client.signOut */
  signOut: Client['signOut']
}

const key = 'authkernel session'

/** Gives this component and those below it one client and one session; call it while the component is made, with what the server loaded. */
export function provideSession(options: SharedOptions = {}): UseSession {
  return sessionOf(setContext(key, createShared(options)))
}

/** The session; call it while the component is made. Without `provideSession` above it, components share one per page, at `/auth`. */
export function useSession(): UseSession {
  return sessionOf(usePageClient())
}

/** The client; `A` is its type where it is one of `createAuthClient`. */
export function useAuthClient<A extends Client = Client>(): A {
  return usePageClient().client as A
}

/** The client and the session that the components here share: what `authkernel/parts` works with. */
export function usePageClient(): PageClient {
  return hasContext(key) ? getContext<PageClient>(key) : sharedByPage()
}

function sessionOf({ client, store }: PageClient): UseSession {
  const { update, signIn, signOut } = client
  return { subscribe: store.subscribe, set: store.set, refresh: store.refresh, update, signIn, signOut }
}
