/**
 * What a host may put into `server`. nodemailer can also start programs, write files and print every mail; options that do are rejected,
 * and so are unknown ones (GHSA-48ww-j4fc-435p: options of a host pass through an allow-list).
 */

/** Transport options of nodemailer that are passed on. */
const allowedOptions = new Set(
  (
    'host port secure service auth authMethod tls ignoreTLS requireTLS opportunisticTLS name servername localAddress ' +
    'connectionTimeout greetingTimeout socketTimeout dnsTimeout family allowInternalNetworkInterfaces lmtp proxy dkim'
  ).split(' '),
)
// A connection is opened for each mail and closed after it: between two sign-ins a kept one is mostly dead.
const ignoredOptions = new Set(['pool', 'maxConnections', 'maxMessages', 'rateDelta', 'rateLimit', 'maxRequeues', 'idleTimeout'])
const refusedOptions: Readonly<Record<string, string>> = {
  sendmail: 'it starts a program with the address as an argument',
  path: 'it names a program to start',
  args: 'they are arguments of a program',
  jsonTransport: 'no mail would be sent',
  streamTransport: 'no mail would be sent',
  SES: 'use the preset amazon-ses, which speaks SMTP',
  logger: 'it would print every sign-in link',
  debug: 'it would print every sign-in link',
  transactionLog: 'it would print every sign-in link',
  direct: 'mail is handed to a server, not delivered from here',
}
// Numbers and switches that an SMTP URL may carry in its query.
const inQuery = /^(?:tls\.\w+|authMethod|ignoreTLS|requireTLS|opportunisticTLS|name|service|\w+Timeout|pool|maxConnections|maxMessages)$/

/** Transport options of a `server`, checked. Throws an Error that says what is wrong. */
export function toTransportOptions(server: string | Record<string, unknown>): Record<string, unknown> {
  const { url, ...own } = typeof server === 'string' ? { url: server } : server
  const options: Record<string, unknown> = {}
  for (const [name, value] of Object.entries({ ...own, ...(url !== undefined && fromUrl(url)) })) {
    if (value === undefined || ignoredOptions.has(name)) continue
    const why = Object.hasOwn(refusedOptions, name)
      ? refusedOptions[name]
      : 'it is not known here; remove it, or send the mail yourself in sendVerificationRequest'
    // Refused options are off anyway.
    if (value !== false && !allowedOptions.has(name)) throw new Error(`option "server.${name}" is not accepted: ${why}`)
    options[name] = value
  }
  if (!options['service'] && !/^(?!.*\.\.)[\w.:-]+$/.test(String(options['host'] ?? ''))) {
    throw new Error('option "server.host" is not a host name: give the host of your mail server, or "service"')
  }
  const { type, user, pass } = (options['auth'] || { user: '-', pass: '-' }) as Record<string, unknown>
  if (type === undefined && (!user || !pass)) {
    throw new Error(
      `option "server.auth.${user ? 'pass' : 'user'}" is empty: give both, or leave "auth" out for a server without passwords`,
    )
  }
  return protectPassword(options)
}

function fromUrl(url: unknown): Record<string, unknown> {
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new Error('option "server" is not a URL such as smtp://user:password@mail.example:587')
  const { protocol, hostname, port, username, password, searchParams } = new URL(url)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new Error('option "server" must be an smtp:// or smtps:// URL')
  const options: Record<string, unknown> = { secure: protocol === 'smtps:', host: hostname.replace(/^\[(.*)\]$/, '$1') }
  if (port) options['port'] = Number(port)
  if (username || password) options['auth'] = { user: decodeUserInfo(username), pass: decodeUserInfo(password) }
  const tls: Record<string, unknown> = {}
  for (const [name, text] of searchParams) {
    if (!inQuery.test(name)) throw new Error(`option "server" has the parameter "${name.slice(0, 40)}", which is not accepted in a URL`)
    const value = text === 'true' ? true : text === 'false' ? false : /^\d+$/.test(text) ? Number(text) : text
    if (name.startsWith('tls.')) tls[name.slice(4)] = value
    else options[name] = value
  }
  return Object.keys(tls).length > 0 ? { ...options, tls } : options
}

/** A password never travels in clear text: STARTTLS is demanded unless the host said otherwise or the server is on this machine. */
function protectPassword(options: Record<string, unknown>): Record<string, unknown> {
  const local = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(String(options['host']))
  const decided = options['secure'] || local || options['requireTLS'] !== undefined || options['ignoreTLS'] !== undefined
  return decided || !options['auth'] || options['service'] ? options : { ...options, requireTLS: true }
}

function decodeUserInfo(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
