/** Users who begin without signing in: a stored user without an address, whose data goes to the user they become. */
import type { Plugin, SessionPart, User } from 'authkernel/kernel'
import { startGuest } from './guests.ts'
import { addClientMethods, createApi, type GuestApi, type GuestClient } from './methods.ts'
import { type GuestOptions, resolveOptions } from './options.ts'
import { decorateSession } from './strategy.ts'
import { guestTable, kind } from './tables.ts'

export type { Sweep } from './guests.ts'
export type { GuestApi, GuestClient } from './methods.ts'
export type { GuestOptions } from './options.ts'
export type { GuestRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A user began as a guest. */
    guestCreated: { user: User }
    /** A guest signed in as `user`, after the option `convert`. The user of the guest is deleted now. */
    guestConverted: { guest: User; user: User }
  }
}

/**
 * Adds `auth.guest`, the route `POST /guest` and `client.guest`. Needs the services `records` and `limit`, an adapter that stores users without an address and deletes users, and a session
 * strategy that keeps attributes. Throws AuthError for options of the wrong shape.
 */
export function guestPlugin(options: GuestOptions = {}): Plugin<GuestApi & GuestClient & SessionPart<'guest'>> {
  const resolved = resolveOptions(options)
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
      kernel.decorate('session', (inner) => decorateSession(inner, resolved))
      kernel.route({ method: 'POST', path: '/guest', handler: (ctx) => startGuest(ctx, resolved) })
      return { ...createApi(kernel, resolved), ...addClientMethods(kernel, resolved) }
    },
  }
}
