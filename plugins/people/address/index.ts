/** People change their own mail address: proved at the new one, told at the old one, with a way back. */
import { type ClientPart, clientMethod, clientMethods, type Plugin } from 'authkernel/kernel'
import { requestChange, confirmChange } from './change.ts'
import { mailMessages } from './messages-mail.ts'
import { messages } from './messages.ts'
import { type AddressOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { undoChange } from './undo.ts'

export type { AddressOptions } from './options.ts'

/** Methods of the client. */
export interface AddressMethods {
  /** Mails a link to the new address. Anybody who is signed in gets the same answer, whoever has that address. */
  change(input: { email: string }): Promise<{ url: string }>
}

/**
 * Adds a section to the account page and the routes below `/account/address`. Needs an adapter, something that carries mails, and a session strategy
 * that ends the sessions of a person. Throws AuthError for options of the wrong shape.
 */
export function addressPlugin(options: AddressOptions = {}): Plugin<ClientPart<{ readonly address: AddressMethods }>> {
  const resolved = resolveOptions(options)
  return {
    name: 'address',
    requires: ['store', 'store:getUserByEmail', 'limit', 'once', 'mail', 'mailTransport', 'session:attributes', 'session:revoke:user'],
    setup(kernel) {
      kernel.messages(messages)
      kernel.messages(mailMessages)
      const button = (url: 'confirm' | 'undo') => ({ text: `address.mail.${url}-button`, url: 'url' })
      kernel.mailTemplate('address.confirm', {
        subject: 'address.mail.confirm',
        lines: ['address.mail.confirm-text'],
        button: button('confirm'),
        after: ['address.mail.left'],
        note: 'address.mail.ignore',
      })
      kernel.mailTemplate('address.taken', {
        subject: 'address.mail.taken',
        lines: ['address.mail.taken-text'],
        note: 'address.mail.ignore',
      })
      kernel.mailTemplate('address.changed', {
        subject: 'address.mail.changed',
        lines: ['address.mail.changed-text'],
        button: button('undo'),
        after: ['address.mail.left'],
        note: 'address.mail.not-you',
      })
      kernel.mailTemplate('address.restored', {
        subject: 'address.mail.restored',
        lines: ['address.mail.restored-text'],
        note: 'address.mail.password',
      })
      kernel.route({ method: 'POST', path: '/account/address', handler: (ctx) => requestChange(ctx, resolved) })
      kernel.route({ method: 'POST', path: '/account/address/confirm', handler: (ctx) => confirmChange(ctx, resolved) })
      kernel.route({ method: 'POST', path: '/account/address/undo', handler: undoChange })
      addPages(kernel, resolved)
      const fields = (sent: unknown): Record<string, unknown> => {
        if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
        return { ...sent }
      }
      clientMethods(kernel, 'address', { change: clientMethod(fields, (ctx) => requestChange(ctx, resolved)) })
      return {} as ClientPart<{ readonly address: AddressMethods }>
    },
  }
}
