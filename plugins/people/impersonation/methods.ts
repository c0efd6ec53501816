/** `auth.impersonation` and `client.impersonation`. */
import { clientMethod, clientMethods, type ClientPart, type Context, type Kernel, toLocalPath } from 'authkernel/kernel'
import { type Order, startImpersonation, type StartOptions, stopImpersonation } from './acts.ts'
import type { resolveOptions } from './options.ts'

/** What the plugin puts on `auth`. Call it behind routes that check a CSRF token. */
export interface ImpersonationApi {
  impersonation: {
    /**
     * A redirect whose cookies make the browser the user's; `session.actor` says who acts. Throws AccessDenied when signed out, for an API key, during an impersonation, when the proof is older than `proofAge`, and when `can` says no. Throws HttpError 404 for an unknown user, and 400 for a missing reason.
     */
    start(request: Request, order: StartOptions): Promise<Response>
    /** A redirect with a new token of the administrator's own session; with none when that has ended. Throws AccessDenied without an impersonation. */
    stop(request: Request, order?: Order): Promise<Response>
  }
}

/** `client.impersonation`. */
export type ImpersonationClient = ClientPart<{
  readonly impersonation: {
    /** Gives the administrator the own session back; `url` is where to go. Rejects with `AccessDenied` (403) without an impersonation. */
    stop(): Promise<{ url: string }>
  }
}>

/** Methods on `auth`. */
export function createApi(kernel: Kernel, options: ReturnType<typeof resolveOptions>): ImpersonationApi {
  return {
    impersonation: {
      start: (request, order) => startImpersonation(kernel, request, order, options),
      async stop(request, order = {}) {
        const ctx = await kernel.contextOf(request)
        return kernel.answer(ctx, await stopImpersonation(kernel, ctx, ctx.origin + toLocalPath(order.returnTo ?? '/', 'impersonation')))
      },
    },
  }
}

/** The method `stop` of the client. The button of the page posts to its path. */
export function addClientMethods(kernel: Kernel): void {
  const stop = async (ctx: Context): Promise<Response> => stopImpersonation(kernel, ctx, await ctx.callbackUrl())
  clientMethods(kernel, 'impersonation', { stop: clientMethod(() => ({}), stop, stop) })
}
