/** Options of email providers, and of mailers that are no sign-in method. */
import type { EmailConfig, ProviderOptionsOf } from 'authkernel/kernel'

/** Names of all options. A record, so that the compiler finds what is missing. */
export const optionNames: Record<keyof EmailConfig, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  from: true,
  maxAge: true,
  server: true,
  lib: true,
  api: true,
  apiKey: true,
  secret: true,
  confirm: true,
  revealDenied: true,
  internationalAddresses: true,
  sendVerificationRequest: true,
  generateVerificationToken: true,
  normalizeIdentifier: true,
  options: true,
}

/** A provider, or a function that returns one. */
export type EmailProviderOptions = ProviderOptionsOf<'email'>

/** Options of an email provider, and whether it is a sign-in method. */
export type EmailInput = EmailProviderOptions & {
  /** `false`: it sends the mails of other plugins and is no sign-in method: no provider, no button, no route. Default true. */
  signIn?: boolean | undefined
}

/** Options of one mailer, as a host writes them. */
export type Mailer = Omit<Partial<EmailConfig>, 'options'> & { options?: object | undefined }
