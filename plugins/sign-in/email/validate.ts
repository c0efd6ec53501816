/** What must be right about an email provider before a request is served; each message names provider, option and remedy. */
import { AuthError, type EmailConfig } from 'authkernel/kernel'
import { missingOptions } from './api.ts'
import { parseMailbox } from './sender.ts'
import { toTransportOptions } from './server.ts'

/** Throws AuthError for an email provider that could not send (row 226). */
export function validateProvider(provider: EmailConfig): void {
  const { id, api, from, maxAge, server } = provider
  if (maxAge !== undefined && !(maxAge > 0))
    throw optionError(id, `option "maxAge" is ${String(maxAge)}: give the lifetime of a link in seconds, 600 for example`)
  if (from !== undefined)
    checkOption(id, 'option "from" is not one mailbox such as "Login <no-reply@app.example>": ', () => parseMailbox(from))
  if (provider.sendVerificationRequest) return
  if (api) {
    const missing = missingOptions(provider, api)
    if (missing.length === 0) return
    const variable = `AUTH_${id.toUpperCase().replaceAll('-', '_')}_KEY`
    const remedy = missing.includes('apiKey') ? `, or set ${variable}` : ''
    throw optionError(id, `option ${missing.map((name) => `"${name}"`).join(', ')} is missing: give it to the provider${remedy}`)
  }
  if (server === undefined || server === '') {
    throw optionError(
      id,
      'it has no "server": give transport options of nodemailer or an smtp:// URL, or send the mail yourself in sendVerificationRequest',
    )
  }
  checkOption(id, '', () => toTransportOptions(server))
}

function checkOption(id: string, what: string, check: () => unknown): void {
  try {
    check()
  } catch (error) {
    throw optionError(id, what + (error as Error).message.replace(/\.$/, ''))
  }
}

function optionError(id: string, what: string): AuthError {
  return new AuthError(`Email provider "${id}": ${what}.`)
}
