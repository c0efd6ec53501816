/** A server API for administrators: find users, ban them, end their sessions, demand a new factor, verify an address. */
import { type AnyContext, type First, type Kernel, type Plugin, type User } from 'authkernel/kernel'
import { banTarget } from './ban-import.ts'
import { addBans } from './bans.ts'
import { messages } from './messages.ts'
import { type AdminActs, createApi } from './methods.ts'
import { type AdminClient, addClientMethods } from './methods.ts'
import { type AdminAct, type AdminOptions, checkAdminOptions } from './options.ts'
import { addPages } from './pages.ts'
import { banTable } from './tables.ts'

export type { AdminActs, BanOrder, ListedUser, UserPage, UserSearch } from './methods.ts'
export type { AdminClient, AdminMethods } from './methods.ts'
export type { AdminAct, AdminOptions, AdminQuestion, By } from './options.ts'
export type { BanRow } from './tables.ts'
export type { Ban } from './bans.ts'
export type { BanTaken } from './ban-import.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** An administrator demands a new second factor. The plugin that keeps factors removes them, ends the sessions of the user and answers true. */
    newFactor: First<{ user: User & { id: string }; admin: User; reason: string }, true, AnyContext>
  }
  interface Events {
    /** An administrator did something to a user. */
    adminAct: { admin: User; act: AdminAct; user: User; reason: string }
  }
}

/** What the plugin puts on `auth`. */
export interface AdminApi {
  admin: AdminActs
}

/**
 * Puts `auth.admin` on `auth`. Every call asks `can` first. Needs the service `records`, an adapter with `listUsers`, and a session strategy that ends
 * the sessions of a user: `session.revocable` with jwt. Throws AuthError without `can`.
 */
export function adminPlugin(options: AdminOptions): Plugin<AdminApi & AdminClient> {
  checkAdminOptions(options)
  return {
    name: 'admin',
    requires: ['store', 'records', 'store:listUsers', 'store:getUser', 'session:revoke:user'],
    setup(kernel: Kernel) {
      kernel.records('userBan', banTable)
      kernel.declareEvent('adminAct')
      kernel.declareHook('newFactor', 'first')
      addBans(kernel)
      kernel.provide('banImport', banTarget)
      const acts = createApi(kernel, options)
      if (options.pages) {
        kernel.messages(messages)
        addPages(kernel, acts)
        addClientMethods(kernel, acts)
      }
      return { admin: acts }
    },
  }
}
