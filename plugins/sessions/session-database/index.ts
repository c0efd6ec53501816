/** Sessions in a store; the cookie holds a random token only (D6, D38, D44, D45). */
import { AuthError, type Plugin, sessionRecord } from 'authkernel/kernel'
import { createKept, infoCookie } from './kept.ts'
import { type DatabaseSessionOptions, settle } from './settled.ts'
import { createStrategy } from './strategy.ts'

export type { DatabaseSessionOptions } from './settled.ts'

const told = ['list', 'revoke:id', 'revoke:user', 'revoke:attribute', 'attributes'] as const

/**
 * Registers the session strategy `database`; needs a store. Refused at compile: `absoluteMaxAge` with an adapter that keeps no `createdAt`. What the
 * kernel knows of a session is kept where a plugin asks for it: in records, else, for the session of the browser alone, in a sealed cookie.
 */
export function databaseSessionPlugin(options: DatabaseSessionOptions = {}): Plugin {
  return {
    name: 'session-database',
    setup(kernel) {
      const settled = settle(kernel.config, options)
      const cookie = kernel.cookie(infoCookie)
      kernel.records('sessionRecord', sessionRecord as never, {
        optional: true,
        when: (requires) => told.some((ability) => requires(`session:${ability}`)),
      })
      kernel.sessionStrategy(
        'database',
        (view) => {
          const store = view.service('store')
          if (settled.absoluteMaxAge !== undefined && store && !store.keepsCreatedAt) {
            throw new AuthError(
              'Plugin "session-database": `session.absoluteMaxAge` needs an adapter that keeps `createdAt` of sessions, and this one does not say so. ' +
                'Use an adapter of authkernel, or leave the option out.',
            )
          }
          const inRecords = view.records.has('sessionRecord')
          const kept = inRecords || view.requires('session:attributes') ? createKept(inRecords ? undefined : cookie) : undefined
          return createStrategy(settled, kept, store, view.service('sessionCookie'))
        },
        { suits: (view) => view.service('store') !== undefined },
      )
    },
  }
}
