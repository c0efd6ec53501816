/** A real SMTP server on loopback that keeps what it received: no mail leaves the machine. */
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** A mail as a reader sees it. */
export interface Mail {
  id: number
  to: string
  subject: string
  text: string
  /** The first link of the text. */
  link: string | undefined
  at: Date
}
/** A running mail server, newest mail first. */
export interface Mailbox {
  /** Options of a nodemailer transport. */
  server: { host: string; port: number; secure: false; ignoreTLS: true }
  mails: readonly Mail[]
  /** Told of every mail. */
  onMail(listener: (mail: Mail) => void): void
  close(): Promise<void>
}

const kept = 50

/** Starts the server on a free port of 127.0.0.1. */
export async function startMailbox(): Promise<Mailbox> {
  const mails: Mail[] = []
  const listeners: ((mail: Mail) => void)[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, reply) => void receive(stream, session.envelope.rcptTo).then(() => reply(), reply),
  })
  async function receive(stream: AsyncIterable<Uint8Array>, recipients: readonly { address: string }[]): Promise<void> {
    const { subject, text } = await read(stream)
    const to = recipients.map(({ address }) => address).join(', ')
    const mail = { id: (mails[0]?.id ?? 0) + 1, to, subject, text, link: /https?:\/\/\S+/.exec(text)?.[0], at: new Date() }
    mails.unshift(mail)
    mails.length = Math.min(mails.length, kept)
    for (const listener of listeners) listener(mail)
  }
  smtp.on('error', (error) => console.error(`mail server: ${error.message}`))
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()))
  const { port } = smtp.server.address() as AddressInfo
  return {
    server: { host: '127.0.0.1', port, secure: false, ignoreTLS: true },
    mails,
    onMail: (listener) => void listeners.push(listener),
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
}

async function read(stream: AsyncIterable<Uint8Array>): Promise<{ subject: string; text: string }> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const { subject = '', text = '' } = await PostalMime.parse(Buffer.concat(chunks))
  return { subject, text }
}
