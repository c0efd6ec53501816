/** Sends over SMTP with nodemailer, an optional peer: the part of it used here, as structural types. */
import { AuthError, type EmailConfig, type MailMessage } from 'authkernel/kernel'
import { parseMailbox } from './sender.ts'
import { toTransportOptions } from './server.ts'

interface Transporter {
  sendMail(mail: Record<string, unknown>): Promise<{ rejected?: readonly unknown[]; pending?: readonly unknown[] }>
  verify?(): Promise<unknown>
  close?(): void
}
interface MailLibrary {
  createTransport(options: Record<string, unknown>): Transporter
}

/** Sends a mail through `provider.server`. Throws when the server did not accept the one recipient. `deadline` in milliseconds. */
export async function sendThroughServer(
  provider: EmailConfig,
  server: string | Record<string, unknown>,
  mail: MailMessage,
  { signal, deadline }: { signal: AbortSignal; deadline: number },
): Promise<void> {
  const { createTransport } = await loadMailLibrary(provider)
  // nodemailer 7 and 8 know no signal, and their own deadlines are minutes: without these a server that hangs would keep the connection.
  const deadlines = { connectionTimeout: deadline, greetingTimeout: deadline, socketTimeout: deadline }
  const transporter = createTransport({ ...deadlines, ...toTransportOptions(server) })
  const { address, name } = parseMailbox(mail.from)
  try {
    const { rejected = [], pending = [] } = await transporter.sendMail({
      // Objects, not texts: nothing is parsed, so nothing can be read as another mailbox (GHSA-mm7p-fcc7-pg87).
      from: { address, name: name ?? '' },
      to: { address: mail.to, name: '' },
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      // RFC 3834 section 5: no out-of-office answers to the sender.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal,
    })
    if (rejected.length + pending.length > 0) throw new Error('The mail server did not accept the recipient.')
  } finally {
    transporter.close?.()
  }
}

/** Connects to the server and signs in there. Throws without the password when that fails. */
export async function verifyServer(provider: EmailConfig, server: string | Record<string, unknown>, signal: AbortSignal): Promise<void> {
  const { createTransport } = await loadMailLibrary(provider)
  const transporter = createTransport(toTransportOptions(server))
  // Its own deadlines are minutes.
  const stop = (): void => transporter.close?.()
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The mail server did not answer in time.')), { once: true })
  })
  let failure: unknown
  try {
    await Promise.race([transporter.verify?.(), late])
    return
  } catch (error) {
    failure = error
  } finally {
    stop()
  }
  // Servers like to repeat what they receive.
  const { code, responseCode } = Object(failure) as { code?: unknown; responseCode?: unknown }
  const facts = [code, responseCode].filter((one) => typeof one === 'string' || typeof one === 'number').join(' ')
  throw new Error(facts === '' ? 'The mail server did not answer in time.' : `The mail server cannot be used: ${facts}.`)
}

/** Throws AuthError when mails go through nodemailer and it is not installed. */
export async function checkMailer(provider: EmailConfig): Promise<void> {
  const { api, sendVerificationRequest, server } = provider
  if (server !== undefined && !api && !sendVerificationRequest) await loadMailLibrary(provider)
}

/** The provider's `lib`, or the installed package. Imported at the first mail: a host with another mailer need not have it. */
async function loadMailLibrary(provider: EmailConfig): Promise<MailLibrary> {
  const library = (await importLibrary(provider)) as Partial<MailLibrary> & { default?: Partial<MailLibrary> }
  const createTransport = library.createTransport ?? library.default?.createTransport
  if (createTransport) return { createTransport }
  throw new AuthError(`The lib of provider "${provider.id}" has no createTransport: give () => import('nodemailer').`)
}

async function importLibrary({ id, lib }: EmailConfig): Promise<unknown> {
  try {
    return await (lib ? lib() : import('nodemailer'))
  } catch (error) {
    throw new AuthError(
      `Provider "${id}" needs nodemailer 7, 8 or 10: npm install nodemailer. ` +
        `With a bundler that cannot find it, give the provider lib: () => import('nodemailer').`,
      { cause: error },
    )
  }
}
