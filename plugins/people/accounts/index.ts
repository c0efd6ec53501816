/** A server API for what users manage themselves: linked accounts, sessions on other devices, and the deletion of the account. */
import { assertOptions, AuthError, type Plugin } from 'authkernel/kernel'
import { sessionRecord } from 'authkernel/kernel/strategies'
import { demandLinkProof, skipLinkProof } from './link-proof.ts'
import { type AccountsApi, createApi } from './methods.ts'
import { type AccountsClient, addClientMethods } from './methods-client.ts'
import { addDataSection } from './pages.ts'
import { addProfilePage } from './pages-profile.ts'

export type { DataExport } from './data-export.ts'
export type { ErasureReport } from './erasure.ts'
export { LastAccount, StepUpRequired } from './errors.ts'
export { skipLinkProof } from './link-proof.ts'
export type { LinkedAccount } from './linked-account.ts'
export type { AccountsApi } from './methods.ts'
export type { AccountsClient } from './methods-client.ts'
export type { ListedSession, SessionsApi, Who } from './methods-sessions.ts'
export type { Profile, ProfileIssue } from './profile.ts'

/** What `accountsPlugin` takes. */
export interface AccountsOptions {
  /** Adds `client.sessions`, `client.accounts`, `client.profile` and `client.user` with their routes. Default false. */
  routes?: boolean | undefined
  /**
   * Seconds: how old the proof of the session may be when a user who is signed in links an account, by the page, the client or `POST /signin/:provider`. With an
   * older one the account is not linked, and the browser goes to the sign-in page first. At least 60; default 900. `skipLinkProof`: as Auth.js, a session is enough. A
   * strategy without attributes knows no age, and asks for nothing.
   */
  linkProof?: number | typeof skipLinkProof | undefined
  /** Users change name, picture and editable fields on a page, which the account page links to, and download there what is kept about them. Default false. */
  accountSection?: boolean | undefined
}

/**
 * Puts `accounts`, `sessions`, `profile` and `users` on `auth`. They check ownership, not CSRF: call them behind your own routes, with the
 * request, and with a CSRF token where they change something. With `routes` the typed client has them, with that check. Throws AuthError for options of the
 * wrong shape.
 */
export function accountsPlugin(options: AccountsOptions & { routes: true }): Plugin<AccountsApi & AccountsClient>
export function accountsPlugin(options?: AccountsOptions): Plugin<AccountsApi>
export function accountsPlugin(options: AccountsOptions = {}): Plugin<AccountsApi & AccountsClient> {
  assertOptions('Plugin "accounts"', options, { routes: true, linkProof: true, accountSection: true })
  const { routes = false, linkProof = 900, accountSection = false } = options
  if (linkProof !== skipLinkProof && !(Number.isFinite(linkProof) && linkProof >= 60))
    throw new AuthError('Plugin "accounts": `linkProof` must be seconds, at least 60, or `skipLinkProof`.')
  if (typeof routes !== 'boolean') throw new AuthError('Plugin "accounts": `routes` must be true or false.')
  if (typeof accountSection !== 'boolean') throw new AuthError('Plugin "accounts": `accountSection` must be true or false.')
  return {
    name: 'accounts',
    // A proof has an age only where sessions keep attributes.
    requires: routes || typeof options.linkProof === 'number' ? ['store', 'session:attributes'] : ['store'],
    setup(kernel) {
      // Where there are records, users see where their sessions began.
      kernel.records('sessionRecord', sessionRecord, { optional: true })
      const api = createApi(kernel)
      if (linkProof !== skipLinkProof) demandLinkProof(kernel, linkProof)
      if (accountSection) {
        addDataSection(kernel)
        addProfilePage(kernel)
      }
      if (routes) addClientMethods(kernel, api, linkProof)
      return api
    },
  }
}
