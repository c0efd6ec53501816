/** The mail with the sign-in link. */
import type { MailTemplate } from 'authkernel/kernel'

/** The mail as the service `mail` knows it; `data` has `site`, `url` and, when it is known, `duration`. */
export const linkTemplate: MailTemplate = {
  subject: 'email.link.subject',
  lines: [],
  after: ['email.link.validity'],
  button: { text: 'email.link.submit', url: 'url' },
  note: 'email.link.ignore',
}
