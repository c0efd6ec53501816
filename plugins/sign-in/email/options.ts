/** Options of email providers. */
import type { EmailConfig } from 'authkernel/kernel'

/** Names of all options. A record, so that the compiler finds what is missing. */
export const options: Record<keyof EmailConfig, true> = {
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
