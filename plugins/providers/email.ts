import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `email`: those of `nodemailer`. */
export interface EmailOptions extends Partial<Omit<EmailConfig, 'type' | 'options' | 'api' | 'apiKey'>> {
  /** Transport options of nodemailer, or an `smtp://` or `smtps://` URL. */
  server: string | Record<string, unknown> | undefined
}

/** `nodemailer` under its former id, so that links and rows of the `email` provider of Auth.js stay valid. */
export default function email(options: EmailOptions): ProviderOf<'email'> {
  return { id: 'email', name: 'Email', type: 'email', maxAge: 600, options }
}
export { email }
