/** Several accounts in one browser, of which one is used at a time. */
import { assertOptions, AuthError, type Plugin, type User } from 'authkernel/kernel'
import { replaceWaiting } from './browser-accounts.ts'
import { messages } from './messages.ts'
import { addClientMethods, createApi, type MultiSessionApi, type MultiSessionClient } from './methods.ts'
import { addPages } from './pages.ts'
import { listCookie, waitingSessionTable } from './tables.ts'

export type { BrowserAccount } from './browser-accounts.ts'
export * from './errors.ts'
export type { MultiSessionApi, MultiSessionClient } from './methods.ts'
export type { WaitingSessionRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A browser uses another account from now on. `from` null: none was used. */
    accountSwitched: { user: User; from: User | null }
  }
}

/** What `multiSessionPlugin` takes. */
export interface MultiSessionOptions {
  /** Sessions that wait in one browser beside the one that is used; default 4, at most 4. */
  max?: number | undefined
}
/**
 * Adds `auth.multiSession`, the page `/switch` and `client.multiSession`. Needs the service `records` and a session strategy that ends sessions by id:
 * `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function multiSessionPlugin(options: MultiSessionOptions = {}): Plugin<MultiSessionApi & MultiSessionClient> {
  assertOptions('Plugin "multi-session"', options, { max: true })
  const { max = 4 } = options
  if (!Number.isInteger(max) || max < 1 || max > 4) throw new AuthError('Plugin "multi-session": `max` must be a whole number from 1 to 4.')
  return {
    name: 'multi-session',
    requires: ['records', 'session:revoke:id', 'session:attributes'],
    setup(kernel) {
      kernel.declareEvent('accountSwitched')
      kernel.records('waitingSession', waitingSessionTable)
      kernel.cookie(listCookie)
      kernel.messages(messages)
      kernel.decorate('session', (inner) => ({
        async issue(ctx, login, attributes, before) {
          const issued = await inner.issue(ctx, login, attributes, before)
          const { id } = login.user
          if (issued && id !== undefined && login.purpose === 'signIn' && listCookie.get(ctx) !== undefined)
            await replaceWaiting(kernel, ctx, id)
          return issued
        },
      }))
      addPages(kernel, max)
      return { ...createApi(kernel, max), ...addClientMethods(kernel, max) }
    },
  }
}
