/** The mails about invitations and the waitlist. */
import type { AnyContext, Kernel, MailValue } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import { mailMessages } from './messages-mail.ts'

type Template = 'admission.invited' | 'admission.approved' | 'admission.waiting'

/** Adds texts and templates. */
export function addMails(kernel: Kernel): void {
  kernel.messages(mailMessages)
  for (const name of ['invited', 'approved'] as const)
    kernel.mailTemplate(`admission.${name}`, {
      subject: `admission.mail.${name}`,
      lines: [`admission.mail.${name}-text`],
      button: { text: 'admission.mail.open', url: 'url' },
      after: ['admission.mail.left'],
      note: 'admission.mail.ignore',
    })
  kernel.mailTemplate('admission.waiting', {
    subject: 'admission.mail.waiting',
    lines: ['admission.mail.waiting-text'],
    note: 'admission.mail.ignore',
  })
}

/** Sends one mail. */
export function sendMail(
  ctx: AnyContext,
  to: string,
  template: Template,
  data: Readonly<Record<string, MailValue>>,
  lang?: string,
): Promise<void> {
  return ctx.service('mail').send(ctx, to, template, data, { lang })
}

/** Sends a mail that the answer does not wait for. A mailbox is spared, whatever is in the mails. A mail that fails is logged. */
export function sendInBackground(
  ctx: AnyContext,
  to: string,
  template: Template,
  data: Readonly<Record<string, MailValue>>,
  lang?: string,
): void {
  mailWithinLimit(ctx, to, () => sendMail(ctx, to, template, data, lang)).catch((error: unknown) => ctx.logger.error(error as Error))
}
