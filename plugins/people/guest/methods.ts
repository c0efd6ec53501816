/** `auth.guest` and `client.guest`. */
import { clientMethod, clientMethods, type ClientPart, jobFor, type Kernel } from 'authkernel/kernel'
import { startGuest, type Sweep, sweepGuests } from './guests.ts'
import type { ResolvedOptions } from './options.ts'

/** What the plugin puts on `auth`. */
export interface GuestApi {
  guest: {
    /**
     * A redirect whose cookies make the browser a guest's. A user who is signed in stays signed in. Throws HttpError 400 for a wrong `returnTo`, 429 for too many
     * guests, and AccessDenied when the hook `signIn` says no. Call it behind a route that checks a CSRF token.
     */
    start(request: Request, order?: { returnTo?: string }): Promise<Response>
    /** Deletes the users of guests who did not come back; answers how many. Call it once a day for each tenant. */
    sweep(order?: Sweep): Promise<number>
  }
}

/** `client.guest`. */
export type GuestClient = ClientPart<{
  readonly guest: {
    /** Begins the session of a guest. A user who is signed in stays signed in. `url` is where to go. Rejects with status 429 for too many guests. */
    start(): Promise<{ url: string }>
  }
}>

/** Methods on `auth`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): GuestApi {
  return {
    guest: {
      async start(request, { returnTo = '/' } = {}) {
        const ctx = await kernel.contextOf(request)
        return kernel.answer(ctx, await startGuest(ctx, options, returnTo))
      },
      async sweep({ max: most = 1000, ...tenant } = {}) {
        return sweepGuests(await kernel.contextOf(jobFor('guest', tenant)), most)
      },
    },
  }
}

/** Methods of the client. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): GuestClient {
  return clientMethods(kernel, 'guest', { start: clientMethod((ctx) => startGuest(ctx, options)) })
}
