/** A server API for what users manage themselves: linked accounts, sessions on other devices, and the deletion of the account. */
import { assertOptions, AuthError, type Plugin } from 'authkernel/kernel'
import { sessionRecord } from 'authkernel/kernel/strategies'
import { type AccountsApi, createApi } from './methods.ts'
import { type AccountsClient, addClientMethods } from './methods-client.ts'

export type { DataExport } from './data-export.ts'
export { LastAccount, StepUpRequired } from './errors.ts'
export type { LinkedAccount } from './linked-account.ts'
export type { AccountsApi } from './methods.ts'
export type { AccountsClient } from './methods-client.ts'
export type { ListedSession, SessionsApi, Who } from './methods-sessions.ts'
export type { Profile, ProfileIssue } from './profile.ts'

/** What `accountsPlugin` takes. */
export interface AccountsOptions {
  /** Adds `client.sessions`, `client.accounts`, `client.profile` and `client.user` with their routes. Default false. */
  routes?: boolean | undefined
}

/**
 * Puts `accounts`, `sessions`, `profile` and `users` on `auth`. They check ownership, not CSRF: call them behind your own routes, with the
 * request, and with a CSRF token where they change something. With `routes` the typed client has them, with that check. Throws AuthError for options of the
 * wrong shape.
 */
export function accountsPlugin(options: AccountsOptions & { routes: true }): Plugin<AccountsApi & AccountsClient>
export function accountsPlugin(options?: AccountsOptions): Plugin<AccountsApi>
export function accountsPlugin(options: AccountsOptions = {}): Plugin<AccountsApi & AccountsClient> {
  assertOptions('Plugin "accounts"', options, { routes: true })
  const { routes = false } = options
  if (typeof routes !== 'boolean') throw new AuthError('Plugin "accounts": `routes` must be true or false.')
  return {
    name: 'accounts',
    // A proof has an age only where sessions keep attributes.
    requires: routes ? ['store', 'session:attributes'] : ['store'],
    setup(kernel) {
      // Where there are records, users see where their sessions began.
      kernel.records('sessionRecord', sessionRecord, { optional: true })
      const api = createApi(kernel)
      if (routes) addClientMethods(kernel, api)
      return api
    },
  }
}
