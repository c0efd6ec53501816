/** The mails: links of a registration or a reset, and notices of a password that changed. */
import type { Kernel } from 'authkernel/kernel'

/** Registers their templates; the texts are in `messages.ts`. */
export function addMailTemplates(kernel: Kernel): void {
  for (const what of ['confirm', 'reset'] as const)
    kernel.mailTemplate(`passwords.${what}`, {
      subject: `passwords.mail.${what}`,
      lines: [`passwords.mail.${what}-text`],
      button: { text: 'passwords.mail.open', url: 'url' },
      after: ['passwords.mail.left'],
      note: 'passwords.mail.ignore',
    })
  kernel.mailTemplate('passwords.known', {
    subject: 'passwords.mail.known',
    lines: ['passwords.mail.known-text'],
    button: { text: 'passwords.mail.sign-in', url: 'url' },
    note: 'passwords.mail.ignore',
  })
  kernel.mailTemplate('passwords.was-reset', {
    subject: 'passwords.mail.changed',
    lines: ['passwords.mail.changed-text', 'passwords.mail.keys-reset'],
    note: 'passwords.mail.not-you',
  })
  for (const what of ['added', 'changed'] as const)
    kernel.mailTemplate(`passwords.${what}`, {
      subject: `passwords.mail.${what}`,
      lines: [`passwords.mail.${what}-text`, 'passwords.mail.keys'],
      note: 'passwords.mail.not-you',
    })
}
