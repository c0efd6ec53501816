/** A real SMTP server on loopback that keeps what it gets. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** One delivered mail. */
export interface Delivered {
  /** MAIL FROM. */
  sender: string
  /** RCPT TO, every one of them. */
  recipients: string[]
  mail: Email
  raw: string
}
export interface MailServer {
  port: number
  delivered: Delivered[]
  /** Recipients that were asked for, refused ones included. */
  asked: string[]
  /** Links of the last mail, as a person would click them. */
  lastLink(): string
  /** Connections that are open. */
  open(): number
  close(): Promise<void>
}

/** Starts a server; `options` go over what makes it take every mail without a password. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const delivered: Delivered[] = []
  const asked: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onRcptTo(address, session, callback) {
      asked.push(address.address)
      if (options.onRcptTo) options.onRcptTo.call(server, address, session, callback)
      else callback()
    },
    async onData(stream, session, callback) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks)
      const { mailFrom, rcptTo } = session.envelope
      const mail = await PostalMime.parse(raw)
      delivered.push({
        sender: mailFrom ? mailFrom.address : '',
        recipients: rcptTo.map(({ address }) => address),
        mail,
        raw: raw.toString(),
      })
      callback()
    },
    ...without(options),
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    delivered,
    asked,
    lastLink: () => /https?:\S+/.exec(delivered.at(-1)?.mail.text ?? '')?.[0] ?? '',
    open: () => (server as unknown as { connections: ReadonlySet<unknown> }).connections.size,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function without({ onRcptTo: _handled, ...rest }: SMTPServerOptions): SMTPServerOptions {
  return rest
}
