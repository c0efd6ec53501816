import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `nodemailer`. */
export interface NodemailerOptions extends Partial<Omit<EmailConfig, 'type' | 'options' | 'api' | 'apiKey'>> {
  /** Transport options of nodemailer, or an `smtp://` or `smtps://` URL. */
  server: string | Record<string, unknown> | undefined
}

/** Any mail server, over SMTP. Needs the package nodemailer 7, 8 or 10. */
export default function nodemailer(options: NodemailerOptions): ProviderOf<'email'> {
  return { id: 'nodemailer', name: 'Nodemailer', type: 'email', maxAge: 600, options }
}
export { nodemailer }
