/** Sessions in a store; the cookie holds a random token only (D6, D38, D44, D45). */
import { assertOptions, AuthError, lazily, lazyObject, type Plugin } from 'authkernel/kernel'
import { sessionRecord, strategyMethods } from 'authkernel/kernel/strategies'
import { abilitiesWith, type DatabaseSessionOptions, infoCookie, type Keeping, resolveOptions, storeMethods } from './options.ts'

export type { DatabaseSessionOptions } from './options.ts'

const remedies = {
  list: 'the database strategy with an adapter that has listSessionsByUserId',
  'revoke:id': 'the database strategy with an adapter that has listSessionsByUserId',
  'revoke:user': 'the database strategy with an adapter that has deleteSessionsByUserId',
  'revoke:attribute': 'the database strategy with the service "records" (an adapter of authkernel, or `recordsPlugin(…)`)',
}

// Loaded by the first request that asks for a session.
const load = /* @__PURE__ */ lazily(() => import('./strategy.ts'))
const attributeAbilities = ['list', 'revoke:id', 'revoke:user', 'revoke:attribute', 'attributes'] as const

/**
 * Registers the session strategy `database`; needs a store. Rejected at compile: `absoluteMaxAge` with an adapter that keeps no `createdAt`. What the
 * kernel knows of a session is kept where a plugin asks for it: in records, else, for the session of the browser alone, in a sealed cookie.
 */
export function databaseSessionPlugin(options: DatabaseSessionOptions = {}): Plugin {
  assertOptions('Plugin "session-database"', options, { maxAge: true, updateAge: true, absoluteMaxAge: true, generateSessionToken: true })
  return {
    name: 'session-database',
    setup(kernel) {
      const resolved = resolveOptions(kernel.config, options)
      kernel.cookie(infoCookie)
      kernel.records('sessionRecord', sessionRecord, {
        optional: true,
        when: (requires) => attributeAbilities.some((ability) => requires(`session:${ability}`)),
      })
      kernel.preload(async () => load())
      kernel.sessionStrategy(
        'database',
        (view) => {
          const store = view.service('store')
          if (resolved.absoluteMaxAge !== undefined && store && !store.keepsCreatedAt) {
            throw new AuthError(
              'Plugin "session-database": `session.absoluteMaxAge` needs an adapter that keeps `createdAt` of sessions, and this one does not say so. ' +
                'Use an adapter of authkernel, or leave the option out.',
            )
          }
          const inRecords = view.records.has('sessionRecord')
          const keeping: Keeping = inRecords ? 'records' : view.requires('session:attributes') ? 'cookie' : undefined
          const form = view.service('sessionCookie')
          const facts = { abilities: abilitiesWith(keeping, store), methods: storeMethods, storedUsers: true }
          return lazyObject(strategyMethods, load, ({ createStrategy }) => createStrategy(resolved, keeping, form), facts)
        },
        { suits: (view) => view.service('store') !== undefined, remedies },
      )
    },
  }
}
