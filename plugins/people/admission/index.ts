/** Who may become a user: every visitor, visitors with an invitation, or visitors whom an administrator approves. */
import type { AnyContext, First, Plugin } from 'authkernel/kernel'
import { codeCookie } from './codes.ts'
import { addGuard } from './guard.ts'
import { addMails } from './mails.ts'
import { messages } from './messages.ts'
import { type AdmissionApi, type AdmissionClient, addClientMethods, createApi } from './methods.ts'
import { type AdmissionOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { addManagePage } from './pages-manage.ts'
import { admittedTable, invitationTable, passTable, requestTable } from './tables.ts'

export { AdmissionInput, AdmissionRefused, InvitationCodeInvalid } from './errors.ts'
export type { CreatedInvitation, NewInvitation } from './invitations.ts'
export type { AdmissionApi, AdmissionClient, PageSearch } from './methods.ts'
export type { AddressList, BlockList } from './addresses.ts'
export type { AdmissionAct, AdmissionMode, AdmissionOptions, By } from './options.ts'
export type { AdmittedRow, Invitation, WaitlistRequest } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether a visitor with this verified address comes in although neither the lists nor an invitation say so. Undefined: no opinion. */
    admission: First<{ email: string }, true, AnyContext>
  }
}

/**
 * Adds the guard of new users, `auth.admission`, the pages `/admission` and `client.admission`. Needs the services `store`, `records`, `limit` and `mail` with a
 * transport. Throws AuthError for options of the wrong shape.
 */
export function admissionPlugin(options: AdmissionOptions = {}): Plugin<AdmissionApi & AdmissionClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'admission',
    requires: ['store', 'records', 'limit', 'mail', 'mailTransport', 'store:getUser', 'store:getUserByEmail'],
    setup(kernel) {
      kernel.records('admissionInvitation', invitationTable)
      kernel.records('admissionRequest', requestTable)
      kernel.records('admittedUser', admittedTable)
      kernel.records('admissionPass', passTable)
      kernel.declareHook('admission', 'first')
      kernel.pending(codeCookie)
      kernel.messages(messages)
      addMails(kernel)
      addGuard(kernel, resolved)
      addPages(kernel, resolved)
      if (resolved.pages) addManagePage(kernel, resolved)
      addClientMethods(kernel, resolved)
      return { admission: createApi(kernel, resolved) }
    },
  }
}
