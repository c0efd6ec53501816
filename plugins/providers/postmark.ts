import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `postmark`; `apiKey` is the server token and may come from AUTH_POSTMARK_KEY. */
export type PostmarkOptions = Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>>

/** Mail through the HTTP API of Postmark, on the message stream `outbound`. */
export default function postmark(options: PostmarkOptions = {}): ProviderOf<'email'> {
  return {
    id: 'postmark',
    name: 'Postmark',
    type: 'email',
    maxAge: 600,
    api: {
      url: 'https://api.postmarkapp.com/email',
      headers: { accept: 'application/json', 'x-postmark-server-token': '{apiKey}' },
      body: { From: '{from}', To: '{to}', Subject: '{subject}', TextBody: '{text}', HtmlBody: '{html}', MessageStream: 'outbound' },
    },
    options,
  }
}
export { postmark }
