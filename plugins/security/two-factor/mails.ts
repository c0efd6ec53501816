/** Mails about factors. They leave after the answer was decided; a mail that fails changes nothing. */
import type { AnyContext, Kernel, MailValue } from 'authkernel/kernel'
import { mailMessages } from './messages-mail.ts'
import type { Person } from './person.ts'

/** Adds the templates, and their texts. */
export function addMails(kernel: Kernel): void {
  kernel.messages(mailMessages)
  kernel.mailTemplate('two-factor.code', {
    subject: 'two-factor.mail.code',
    lines: ['two-factor.mail.code-lead'],
    code: 'code',
    after: ['two-factor.mail.left'],
    note: 'two-factor.mail.never-tell',
  })
  for (const what of ['added', 'changed', 'removed', 'few-codes', 'code-used'] as const)
    kernel.mailTemplate(`two-factor.${what}`, {
      subject: `two-factor.mail.${what}`,
      lines: [`two-factor.mail.${what}-text`],
      note: 'two-factor.mail.not-you',
    })
}

/** Sends nothing where no transport is configured, or where the user has no address. */
export function mailNotice(ctx: AnyContext, { user }: Person, template: string, data: Record<string, MailValue> = {}): void {
  const { email } = user
  if (!email || !ctx.app.services.mailTransport) return
  ctx
    .service('mail')
    .send(ctx, email, template, { at: ctx.now, ...data })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
