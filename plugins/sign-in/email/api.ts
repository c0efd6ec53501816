/** The one sender of all HTTP mailers: a mailer is data (`MailApi`), and its values name what goes into them. */
import { boundedFetch, bytes, type EmailConfig, type MailApi, type MailMessage, type NetworkLimits, toBase64 } from 'authkernel/kernel'
import { parseMailbox } from './sender.ts'
/** Longest part of an answer that goes into the log, in characters. */
const maxAnswer = 2_048
const mailNames = ['from', 'from.address', 'from.name', 'from.domain', 'to', 'subject', 'text', 'html', 'url', 'host']
const placeholder = /\{([a-z]+(?:\.[a-z]+)?)\}/gi

/** Hands a mail to the mailer of a provider. Throws an Error with status and answer unless it was accepted, and NetworkError (D10). */
export async function sendThroughApi(provider: EmailConfig, api: MailApi, mail: MailMessage, limits: NetworkLimits): Promise<void> {
  const fill = createFiller(provider, mail)
  const json = api.encoding !== 'form'
  const headers: Record<string, string> = json ? { 'content-type': 'application/json' } : {}
  if (api.basic !== undefined) headers['authorization'] = `Basic ${toBase64(bytes(String(fill(api.basic))))}`
  for (const [name, value] of Object.entries(api.headers ?? {})) headers[name] = String(fill(value))
  const filled = fill(api.body) as Record<string, unknown>
  const body = json ? JSON.stringify(filled) : toForm(filled)
  const response = await boundedFetch(limits)(String(fill(api.url)), { method: 'POST', headers, body })
  if (!response.ok)
    throw new Error(`${provider.name} answered with status ${response.status}: ${(await response.text()).slice(0, maxAnswer)}`)
}

/** Options that the data of a mailer names and the provider lacks. */
export function missingOptions(provider: EmailConfig, api: MailApi): string[] {
  const named = [...JSON.stringify(api).matchAll(placeholder)].map(([, name = '']) => name)
  return [...new Set(named)].filter((name) => !mailNames.includes(name) && optionOf(provider, name) === undefined)
}

/** Fills texts at any depth; a member that is only a name without a value is left out. One pass: values are never read as templates. */
function createFiller(provider: EmailConfig, mail: MailMessage): (value: unknown) => unknown {
  const { address, name } = parseMailbox(mail.from)
  const known: Record<string, string | undefined> = {
    from: mail.from,
    'from.address': address,
    'from.name': name,
    'from.domain': address.slice(address.indexOf('@') + 1),
    to: mail.to,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    url: mail.url,
    host: mail.url && new URL(mail.url).host,
  }
  const lookUp = (key: string): string | undefined => (mailNames.includes(key) ? known[key] : optionOf(provider, key))
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const whole = /^\{([^{}]+)\}$/.exec(value)?.[1]
      if (whole !== undefined) return lookUp(whole)
      return value.replaceAll(placeholder, (match, key: string) => lookUp(key) ?? match)
    }
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item)]))
  }
  return fill
}

function optionOf(provider: EmailConfig, name: string): string | undefined {
  // Options of the sender differ by provider, and are read by their name.
  const value = Object.hasOwn(provider, name) ? (provider as unknown as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

function toForm(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value))
  return form
}
