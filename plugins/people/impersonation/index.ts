/** An administrator acts as a user, for 30 minutes, with a reason, and gets the own session back. */
import {
  assertOptions,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  type Plugin,
  type User,
} from 'authkernel/kernel'
import type {} from 'authkernel/plugins/audit'
import { type Order, pathOf, type StartOptions, startImpersonation, stopImpersonation } from './acts.ts'
import { addPages } from './banner.ts'
import { messages } from './messages.ts'
import type { ImpersonationOptions } from './options.ts'
import { actingIn, decorateSession } from './strategy.ts'
import { impersonationTable, kind, returnCookie } from './table.ts'

export type { Order, StartOptions } from './acts.ts'
export type { ImpersonationOptions } from './options.ts'
export type { Actor, ImpersonationRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** From now on `admin` acts as `user`, until `until` at the latest. */
    impersonationStarted: { admin: User; user: User; reason: string; until: Date }
    /** `admin` acts as `user` no longer. */
    impersonationEnded: { admin: { id: string }; user: { id: string }; reason: string }
    /** `can` refused it. */
    impersonationDenied: { admin: User; user: User; reason: string }
  }
}

/** What the plugin puts on `auth`. Call it behind routes that check a CSRF token. */
export interface ImpersonationApi {
  impersonation: {
    /**
     * A redirect whose cookies make the browser the user's; `session.actor` says who acts. Throws AccessDenied when nobody, an API key or somebody who
     * acts already asks, when the proof is older than `proofAge`, and when `can` says no; HttpError 404 for an unknown user, 400 for a missing reason.
     */
    start(request: Request, order: StartOptions): Promise<Response>
    /** A redirect with a new token of the administrator's own session; with none when that has ended. Throws AccessDenied where nobody acts. */
    stop(request: Request, order?: Order): Promise<Response>
  }
}

/** `client.impersonation`. */
export type ImpersonationClient = ClientPart<{
  readonly impersonation: {
    /** Gives the administrator the own session back; `url` is where to go. Rejects with `AccessDenied` (403) where nobody acts. */
    stop(): Promise<{ url: string }>
  }
}>

/**
 * Adds `auth.impersonation`, `client.impersonation`, the page `/impersonation` and the route `POST /impersonation/stop`. Needs the service `records`, a store, and a session strategy that keeps attributes and
 * ends sessions by id: `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function impersonationPlugin(options: ImpersonationOptions): Plugin<ImpersonationApi & ImpersonationClient> {
  assertOptions('Plugin "impersonation"', options ?? {}, { can: true, proofAge: true })
  const { can, proofAge = 300 } = (options ?? {}) as ImpersonationOptions
  if (typeof can !== 'function') throw new AuthError('Plugin "impersonation": the option `can` is missing. Say who may act as whom.')
  if (!(proofAge >= 1 && proofAge <= 3600)) throw new AuthError('Plugin "impersonation": `proofAge` must be 1 to 3600 seconds.')
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
      kernel.decorate('session', (inner) => decorateSession(kernel, inner, can))
      kernel.hook('acting', ({ ctx }) => actingIn(ctx), { of: 'audit' })
      const end = async (ctx: Context): Promise<Response> => stopImpersonation(kernel, ctx, await ctx.callbackUrl())
      // The button of the page posts to the path of the method.
      clientMethods(kernel, 'impersonation', { stop: clientMethod(() => ({}), end, end) })
      return {
        impersonation: {
          start: (request, order) => startImpersonation(kernel, request, order, { can, proofAge }),
          async stop(request, order = {}) {
            const ctx = await kernel.contextOf(request)
            return kernel.answer(ctx, await stopImpersonation(kernel, ctx, ctx.origin + pathOf(order)))
          },
        },
      }
    },
  }
}
