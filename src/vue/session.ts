/** The session for components of Vue 3, rendered on a server or not. */
import type { Session } from 'authkernel'
import { type Client, createShared, type SessionState, type PageClient, sharedByPage, type SharedOptions } from 'authkernel/client'
import {
  type InjectionKey,
  inject,
  onMounted,
  onScopeDispose,
  type Plugin,
  provide,
  type ShallowRef,
  shallowReadonly,
  shallowRef,
} from 'vue'

/** What `useSession` answers. `state.value.status` narrows `state.value.session`. */
export interface UseSession {
  /** Changes as one value: a reactive reference. */
  state: Readonly<ShallowRef<SessionState>>
  /** Reads again now. */
  refresh(): Promise<SessionState>
  /** Takes over what the server has rendered again, after an action of the server. */
  set(session: Session | null): void
  /** @see Client.update */
  update: Client['update']
  /** @see Client.signIn */
  signIn: Client['signIn']
  /** @see Client.signOut */
  signOut: Client['signOut']
}

const key: InjectionKey<PageClient> = Symbol('authkernel session')

/** `app.use(sessionPlugin({ session }))`: one client and one session for the app. Without it components share one per page, at `/auth`. */
export function sessionPlugin(options: SharedOptions = {}): Plugin {
  return { install: (app) => void app.provide(key, createShared(options)) }
}

/** The same for the components below this one; call it in `setup`. */
export function provideSession(options: SharedOptions = {}): void {
  provide(key, createShared(options))
}

/** The session; call it in `setup`. It begins with what the server rendered, and listens from the moment the component is mounted. */
export function useSession(): UseSession {
  const { client, store } = usePageClient()
  const state = shallowRef(store.getInitial())
  let stop: (() => void) | undefined
  onMounted(() => (stop = store.subscribe((next) => (state.value = next))))
  onScopeDispose(() => stop?.())
  const { update, signIn, signOut } = client
  return { state: shallowReadonly(state), refresh: store.refresh, set: store.set, update, signIn, signOut }
}

/** The client of the app; `A` is its type where it is one of `createAuthClient`. */
export function useAuthClient<A extends Client = Client>(): A {
  return usePageClient().client as A
}

/** The client and the session that the components here share: what `authkernel/parts` works with. */
export function usePageClient(): PageClient {
  return inject(key, undefined) ?? sharedByPage()
}
