/** A server API for what users manage themselves: linked accounts, sessions on other devices, and the deletion of the account. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { sessionRecord } from 'authkernel/kernel/strategies'
import { type AccountsApi, createApi } from './methods.ts'

export type { AccountsApi, LinkedAccount } from './methods.ts'
export type { ListedSession, SessionsApi, Who } from './methods-sessions.ts'

/**
 * Puts `accounts`, `sessions` and `users` on `auth`. They check ownership, not CSRF: call them behind your own routes, with the
 * request, and with a CSRF token where they change something.
 */
export function accountsPlugin(options: NoOptions = {}): Plugin<AccountsApi> {
  assertOptions('Plugin "accounts"', options, {})
  return {
    name: 'accounts',
    requires: ['store'],
    setup(kernel) {
      // Where there are records, users see where their sessions began.
      kernel.records('sessionRecord', sessionRecord, { optional: true })
      return createApi(kernel)
    },
  }
}
