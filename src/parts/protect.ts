/** Whether a part of a page is for the user: signed in, with a role, or with a permission in the organization. It hides; the server must reject. */
import type { PageClient, SessionState } from 'authkernel/client'

/** Permissions that a client of `createAuthClient<typeof auth>()` knows; any text for another one. */
export type PermissionsOf<A> = A extends { readonly organizations: { hasPermission(input: infer I): unknown } }
  ? I extends { readonly permission: infer P extends string }
    ? P
    : string
  : string
/** What `Protect` asks for. All that is named must hold; none: a signed-in user. `A`: the type of the client. */
export interface ProtectDemand<A = unknown> {
  /** A permission of organizationsPlugin: `member:read`. */
  permission?: PermissionsOf<A> | undefined
  /** Id of the organization; default: the one that the session acts for. */
  organization?: string | undefined
  /** A role of the user in the organization that the session acts for. */
  role?: string | undefined
  /** Decides by the session. */
  when?: ((session: NonNullable<SessionState['session']>) => boolean) | undefined
}
/** The answer; `pending` until the server has told it. */
export type ProtectState = 'pending' | 'allowed' | 'refused'
/** The answer, watched. */
export interface ProtectStore {
  get(): ProtectState
  getInitial(): ProtectState
  subscribe(listener: () => void): () => void
}

interface Methods {
  readonly organizations?: { hasPermission(input: { permission: string; organization?: string }): Promise<boolean> }
}

/** Asks again for each session. A demand that cannot be checked is rejected. */
export function createProtect({ client, store }: PageClient, demand: ProtectDemand): ProtectStore {
  const first = decide(store.getInitial(), demand)
  const listeners = new Set<() => void>()
  let state = first
  let latest = 0
  const change = (next: ProtectState): void => {
    if (next === state) return
    state = next
    for (const listener of listeners) listener()
  }
  const check = async (session: SessionState): Promise<void> => {
    const own = ++latest
    const next = decide(session, demand)
    if (next !== 'pending' || session.status !== 'authenticated') return change(next)
    const { permission = '', organization } = demand
    // Methods of plugins are found by their names at run time.
    const { organizations } = client as unknown as Methods
    const holds = await organizations?.hasPermission({ permission, ...(organization !== undefined && { organization }) }).catch(() => false)
    if (own === latest) change(holds ? 'allowed' : 'refused')
  }
  let stop: (() => void) | undefined
  return {
    get: () => state,
    getInitial: () => first,
    subscribe(listener) {
      const own = (): void => listener()
      listeners.add(own)
      if (globalThis.document) stop ??= store.subscribe((session) => void check(session))
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

/** What the session alone says. */
function decide({ status, session }: SessionState, { permission, role, when }: ProtectDemand): ProtectState {
  if (status === 'loading') return 'pending'
  if (!session || (when && !when(session))) return 'refused'
  const { organization } = session as { organization?: { role?: string } }
  if (role !== undefined && organization?.role !== role) return 'refused'
  return permission === undefined ? 'allowed' : 'pending'
}
