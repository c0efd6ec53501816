/** People who begin without signing in: a stored user without an address, whose data goes to the user they become. */
import { assertOptions, AuthError, clientMethod, clientMethods, type ClientPart, jobFor, type Plugin, type User } from 'authkernel/kernel'
import { startGuest, sweepGuests, type Sweep } from './acts.ts'
import type { GuestOptions } from './options.ts'
import { decorateSession } from './strategy.ts'
import { guestTable, kind } from './table.ts'

export type { Sweep } from './acts.ts'
export type { GuestOptions } from './options.ts'
export type { GuestRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** Somebody began as a guest. */
    guestCreated: { user: User }
    /** A guest signed in as `user`, after the option `convert`. The user of the guest is deleted now. */
    guestConverted: { guest: User; user: User }
  }
}

/** What the plugin puts on `auth`. */
export interface GuestApi {
  guest: {
    /**
     * A redirect whose cookies make the browser a guest's; whoever is signed in stays who they are. Throws HttpError 400 for a wrong `returnTo`, 429 for too many
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
    /** Makes a guest of whoever is nobody; whoever is signed in stays who they are. `url` is where to go. Rejects with status 429 for too many guests. */
    start(): Promise<{ url: string }>
  }
}>

/**
 * Adds `auth.guest`, the route `POST /guest` and `client.guest`. Needs the services `records` and `limit`, an adapter that stores users without an address and deletes users, and a session
 * strategy that keeps attributes. Throws AuthError for options of the wrong shape.
 */
export function guestPlugin(options: GuestOptions = {}): Plugin<GuestApi & GuestClient> {
  assertOptions('Plugin "guest"', options, { convert: true, idle: true, max: true })
  const { convert, idle = 30 * 86_400, max = 20 } = options
  if (!(idle >= 3600 && idle <= 400 * 86_400)) throw new AuthError('Plugin "guest": `idle` must be 3600 to 34560000 seconds.')
  if (!Number.isInteger(max) || max < 1) throw new AuthError('Plugin "guest": `max` must be a whole number of at least 1.')
  const settled = { convert, idle, max }
  return {
    name: 'guest',
    requires: [
      'store',
      'records',
      'limit',
      'store:createUser',
      'store:getUser',
      'store:deleteUser',
      'store:nullableEmail',
      'session:attributes',
      'session:kinds',
    ],
    setup(kernel) {
      kernel.declareEvent('guestCreated', 'guestConverted')
      kernel.records('guest', guestTable)
      kernel.sessionKind(kind)
      kernel.decorate('session', (inner) => decorateSession(inner, settled))
      kernel.route({ method: 'POST', path: '/guest', handler: (ctx) => startGuest(ctx, settled) })
      return {
        guest: {
          async start(request, { returnTo = '/' } = {}) {
            const ctx = await kernel.contextOf(request)
            return kernel.answer(ctx, await startGuest(ctx, settled, returnTo))
          },
          async sweep({ max: most = 1000, ...tenant } = {}) {
            return sweepGuests(await kernel.contextOf(jobFor('guest', tenant)), most)
          },
        },
        ...clientMethods(kernel, 'guest', { start: clientMethod((ctx) => startGuest(ctx, settled)) }),
      }
    },
  }
}
