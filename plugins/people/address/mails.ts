/** The mails about an address: the link to prove a new one, the notice to the former one, and the way back. */
import type { Kernel, MailValue, Context } from 'authkernel/kernel'
import { mailMessages } from './messages-mail.ts'

/** Adds texts and templates. */
export function addMails(kernel: Kernel): void {
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
}

/** Sends a mail in the background, so that the time of the response says nothing. A mail that fails is logged. */
export function sendInBackground(ctx: Context, to: string, template: string, data: Record<string, MailValue> = {}): void {
  ctx
    .service('mail')
    .send(ctx, to, template, { at: ctx.now, ...data })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
