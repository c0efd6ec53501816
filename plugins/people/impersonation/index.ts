/** An administrator acts as a user, for 30 minutes, with a reason, and gets the own session back. */
import type { Plugin, SessionPart, User } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admin'
import type {} from 'authkernel/plugins/audit'
import { startImpersonation } from './acts.ts'
import { messages } from './messages.ts'
import { addClientMethods, createApi, type ImpersonationApi, type ImpersonationClient } from './methods.ts'
import { type ImpersonationOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { actingIn, decorateSession } from './strategy.ts'
import { impersonationTable, kind, returnCookie } from './tables.ts'

export type { Order, StartOptions } from './acts.ts'
export type { ImpersonationApi, ImpersonationClient } from './methods.ts'
export type { ImpersonationOptions } from './options.ts'
export type { Actor, ImpersonationRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** From now on `admin` acts as `user`, until `until` at the latest. */
    impersonationStarted: { admin: User; user: User; reason: string; until: Date }
    /** `admin` acts as `user` no longer. */
    impersonationEnded: { admin: { id: string }; user: { id: string }; reason: string }
    /** `can` rejected it. */
    impersonationDenied: { admin: User; user: User; reason: string }
  }
}

/**
 * Adds `auth.impersonation`, `client.impersonation`, the page `/impersonation` and the route `POST /impersonation/stop`. Needs the service `records`, a store, and a session strategy that keeps attributes and
 * ends sessions by id: `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function impersonationPlugin(options: ImpersonationOptions): Plugin<ImpersonationApi & ImpersonationClient & SessionPart<'actor'>> {
  const resolved = resolveOptions(options)
  return {
    name: 'impersonation',
    requires: ['store', 'records', 'store:getUser', 'session:attributes', 'session:kinds', 'session:revoke:id'],
    setup(kernel) {
      kernel.declareEvent('impersonationStarted', 'impersonationEnded', 'impersonationDenied')
      kernel.records('impersonation', impersonationTable)
      kernel.sessionKind(kind)
      kernel.cookie(returnCookie)
      kernel.messages(messages)
      addPages(kernel)
      kernel.decorate('session', (inner) => decorateSession(kernel, inner, resolved.can))
      kernel.hook('acting', ({ ctx }) => actingIn(ctx), { of: 'audit' })
      kernel.hook(
        'impersonate',
        ({ user, reason, returnTo, request }) => startImpersonation(kernel, request, { userId: user.id, reason, returnTo }, resolved),
        { of: 'admin' },
      )
      addClientMethods(kernel)
      return createApi(kernel, resolved)
    },
  }
}
