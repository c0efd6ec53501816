import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `mailgun`; `apiKey` may come from AUTH_MAILGUN_KEY. */
export interface MailgunOptions extends Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>> {
  /** Where the domain was created; default `US`. */
  region?: 'US' | 'EU' | undefined
}

/** Mail through the HTTP API of Mailgun. The domain of `from` is the Mailgun domain. */
export default function mailgun(options: MailgunOptions = {}): ProviderOf<'email'> {
  const host = options.region === 'EU' ? 'api.eu.mailgun.net' : 'api.mailgun.net'
  return {
    id: 'mailgun',
    name: 'Mailgun',
    type: 'email',
    maxAge: 600,
    api: {
      url: `https://${host}/v3/{from.domain}/messages`,
      basic: 'api:{apiKey}',
      encoding: 'form',
      body: { from: '{from}', to: '{to}', subject: '{subject}', html: '{html}', text: '{text}' },
    },
    options,
  }
}
export { mailgun }
