import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `sendgrid`; `apiKey` may come from AUTH_SENDGRID_KEY. */
export type SendGridOptions = Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>>

/** Mail through the HTTP API of SendGrid. `from` must be a verified sender; SendGrid wants its name and address apart. */
export default function sendgrid(options: SendGridOptions = {}): ProviderOf<'email'> {
  return {
    id: 'sendgrid',
    name: 'SendGrid',
    type: 'email',
    maxAge: 600,
    api: {
      url: 'https://api.sendgrid.com/v3/mail/send',
      headers: { authorization: 'Bearer {apiKey}' },
      body: {
        personalizations: [{ to: [{ email: '{to}' }] }],
        from: { email: '{from.address}', name: '{from.name}' },
        subject: '{subject}',
        content: [
          { type: 'text/plain', value: '{text}' },
          { type: 'text/html', value: '{html}' },
        ],
      },
    },
    options,
  }
}
export { sendgrid }
