/** Users change their own mail address: proved at the new one, told at the old one, with a way back. */
import type { ClientPart, Plugin } from 'authkernel/kernel'
import { addMails } from './mails.ts'
import { messages } from './messages.ts'
import { addClientMethods, type AddressMethods } from './methods.ts'
import { type AddressOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'

export type { AddressMethods } from './methods.ts'
export type { AddressOptions } from './options.ts'

/**
 * Adds a section to the account page and the routes below `/account/address`. Needs an adapter, something that carries mails, and a session strategy
 * that ends the sessions of a user. Throws AuthError for options of the wrong shape.
 */
export function addressPlugin(options: AddressOptions = {}): Plugin<ClientPart<{ readonly address: AddressMethods }>> {
  const resolved = resolveOptions(options)
  return {
    name: 'address',
    requires: ['store', 'store:getUserByEmail', 'limit', 'once', 'mail', 'mailTransport', 'session:attributes', 'session:revoke:user'],
    setup(kernel) {
      kernel.messages(messages)
      addMails(kernel)
      addPages(kernel, resolved)
      return addClientMethods(kernel, resolved)
    },
  }
}
