import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `resend`; `apiKey` may come from AUTH_RESEND_KEY. */
export type ResendOptions = Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>>

/** Mail through the HTTP API of Resend. The domain of `from` must be verified there. */
export default function resend(options: ResendOptions = {}): ProviderOf<'email'> {
  return {
    id: 'resend',
    name: 'Resend',
    type: 'email',
    maxAge: 600,
    api: {
      url: 'https://api.resend.com/emails',
      headers: { authorization: 'Bearer {apiKey}' },
      body: { from: '{from}', to: '{to}', subject: '{subject}', html: '{html}', text: '{text}' },
    },
    options,
  }
}
export { resend }
