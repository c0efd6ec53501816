import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `forwardemail`; `apiKey` may come from AUTH_FORWARDEMAIL_KEY. */
export type ForwardEmailOptions = Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>>

/** Mail through the HTTP API of Forward Email. */
export default function forwardemail(options: ForwardEmailOptions = {}): ProviderOf<'email'> {
  return {
    id: 'forwardemail',
    name: 'Forward Email',
    type: 'email',
    maxAge: 600,
    api: {
      url: 'https://api.forwardemail.net/v1/emails',
      basic: '{apiKey}:',
      body: { from: '{from}', to: '{to}', subject: '{subject}', html: '{html}', text: '{text}' },
    },
    options,
  }
}
export { forwardemail }
