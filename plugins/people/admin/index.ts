/** A server API and a console for administrators: find, make, change, ban and delete users, with roles, approvals and an overview. */
import { type AnyContext, type First, type Kernel, type Plugin, type User } from 'authkernel/kernel'
import { banTarget } from './ban-import.ts'
import { addBans } from './bans.ts'
import { clientMessages } from './messages-clients.ts'
import { consoleMessages } from './messages-console.ts'
import { logMessages } from './messages-logs.ts'
import { mailMessages } from './messages-mail.ts'
import { messages } from './messages.ts'
import { type AdminActs, createApi } from './methods.ts'
import { type AdminClient, addClientMethods } from './methods-client.ts'
import { type AdminAct, type AdminOptions, type ApprovableAct, resolveOptions } from './options.ts'
import { addCounts } from './overview.ts'
import { addPages } from './pages.ts'
import { banTable, countTable, approvalTable, roleTable, seenTable } from './tables.ts'

export { StepUpRequired } from './errors.ts'
export type { PendingApproval } from './approvals.ts'
export type { ClientActs } from './client-acts.ts'
export type { AuditFormat, AuditSearch } from './audit-export.ts'
export type { Configuration, ConfigurationWarning } from './configuration.ts'
export type { UserDetails } from './details.ts'
export type { AdminActs, AdminRights, BanOrder, ActResult, ProfileOrder, UserOrder } from './methods.ts'
export type { AdminClient, AdminMethods } from './methods-client.ts'
export type { AdminAct, AdminOptions, AdminQuestion, ApprovableAct, By, Order } from './options.ts'
export type { CountKind, DayCounts, Overview } from './overview.ts'
export type { BanRow, CountRow, RequestRow, RoleRow, SeenRow } from './tables.ts'
export type { ListedKey, ListedOrganization, ThingPage, ThingQuery } from './things.ts'
export type { ListedUser, UserPage, UserSearch } from './users.ts'
export type { Ban } from './bans.ts'
export type { BanTaken } from './ban-import.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** An administrator demands a new second factor. The plugin that keeps factors removes them, ends the sessions of the user and answers true. */
    newFactor: First<{ user: User & { id: string }; admin: User; reason: string }, true, AnyContext>
    /** An administrator wants the user to choose a new password. The plugin that keeps passwords mails a link and answers true. */
    resetPassword: First<{ user: User & { id: string; email: string }; admin: User }, true, AnyContext>
    /** An administrator wants to act as a user. The plugin that can do it answers a redirect with the cookies of the new session. */
    impersonate: First<
      { user: User & { id: string }; reason: string; returnTo: string | undefined; request: Request },
      Response,
      AnyContext
    >
    /** An administrator revokes an API key. The plugin that keeps keys removes it and answers true; false: there was no such key. */
    revokeKey: First<{ keyId: string }, boolean, AnyContext>
  }
  interface Events {
    /** An administrator did something to a user. For a key without a user, `user.id` is ''. */
    adminAct: { admin: User; act: AdminAct; user: User; reason: string }
    /** An act waits for another administrator, one more agreed, or it was rejected. */
    adminApproval: {
      admin: User
      what: 'requested' | 'approved' | 'refused'
      act: ApprovableAct
      user: User
      reason: string
      requestId: string
    }
  }
}

/** What the plugin puts on `auth`. */
export interface AdminApi {
  admin: AdminActs
}

/**
 * Puts `auth.admin` on `auth`. Each call asks roles and `can` first. Needs the service `records`, an adapter with `listUsers`, and a session strategy that ends
 * the sessions of a user: `session.revocable` with jwt. Throws AuthError for options of the wrong shape, and without any that says who is an administrator.
 */
export function adminPlugin(options: AdminOptions): Plugin<AdminApi & AdminClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'admin',
    requires: ['store', 'records', 'store:listUsers', 'store:getUser', 'session:revoke:user'],
    setup(kernel: Kernel) {
      kernel.records('userBan', banTable)
      kernel.records('adminRole', roleTable)
      kernel.records('adminRequest', approvalTable)
      kernel.records('adminCount', countTable)
      kernel.records('userSeen', seenTable)
      kernel.declareEvent('adminAct', 'adminApproval')
      kernel.declareHook('newFactor', 'first')
      kernel.declareHook('resetPassword', 'first')
      kernel.declareHook('revokeKey', 'first')
      kernel.declareHook('impersonate', 'first')
      kernel.messages(mailMessages)
      kernel.mailTemplate('admin.invited', {
        subject: 'admin.mail.invited',
        lines: ['admin.mail.invited-text'],
        button: { text: 'admin.mail.open', url: 'url' },
        note: 'admin.mail.ignore',
      })
      addBans(kernel)
      kernel.provide('banImport', banTarget)
      const acts = createApi(kernel, resolved, addCounts(kernel))
      if (resolved.pages) {
        for (const texts of [messages, consoleMessages, clientMessages, logMessages]) kernel.messages(texts)
        addPages(kernel, acts)
        addClientMethods(kernel, acts)
      }
      return { admin: acts }
    },
  }
}
