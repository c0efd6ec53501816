/** People change their own mail address: proved at the new one, told at the old one, with a way back. */
import {
  AuthError,
  type Awaitable,
  type ClientPart,
  clientMethod,
  clientMethods,
  type Context,
  type Plugin,
  type User,
} from 'authkernel/kernel'
import { ask, confirm } from './change.ts'
import { mailMessages } from './messages-mail.ts'
import { messages } from './messages.ts'
import { addPages } from './pages.ts'
import { undo } from './undo.ts'

/** What `addressPlugin` takes. */
export interface AddressOptions {
  /** Whether a person may have an address; default: any. Asked when the change is asked for, and again when it is done. */
  allow?: ((change: { user: User; to: string }, ctx: Context) => Awaitable<boolean>) | undefined
  /** Seconds after which a person proves again who they are before an address may be changed; default 300, 30 to 3600. */
  maxAge?: number | undefined
  /** Days in which the former address can take the change back; default 7, 1 to 30. */
  undoDays?: number | undefined
}
/** With the defaults in place. */
export interface Options {
  allow(change: { user: User; to: string }, ctx: Context): Awaitable<boolean>
  maxAge: number
  undoDays: number
}
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
  const resolved = resolve(options)
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
      kernel.route({ method: 'POST', path: '/account/address', handler: (ctx) => ask(ctx, resolved) })
      kernel.route({ method: 'POST', path: '/account/address/confirm', handler: (ctx) => confirm(ctx, resolved) })
      kernel.route({ method: 'POST', path: '/account/address/undo', handler: undo })
      addPages(kernel, resolved)
      const fields = (sent: unknown): Record<string, unknown> => {
        if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
        return { ...sent }
      }
      clientMethods(kernel, 'address', { change: clientMethod(fields, (ctx) => ask(ctx, resolved)) })
      return {} as ClientPart<{ readonly address: AddressMethods }>
    },
  }
}

function resolve({ allow = () => true, maxAge = 300, undoDays = 7 }: AddressOptions): Options {
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "address": ${what}`)
  }
  if (typeof allow !== 'function') refuse('`allow` must be a function that answers whether a person may have an address.')
  if (!(maxAge >= 30 && maxAge <= 3600)) refuse('`maxAge` must be 30 to 3600 seconds.')
  if (!(undoDays >= 1 && undoDays <= 30)) refuse('`undoDays` must be 1 to 30.')
  return { allow, maxAge, undoDays }
}
