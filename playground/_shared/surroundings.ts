/** What an app needs to be tried: an OpenID Provider and a mail server on loopback, and the environment that leads to them. */
import { randomBytes } from 'node:crypto'
import { type Mailbox, startMailbox } from './mail.ts'
import { type OP, startOP } from './op.ts'

/** Everything beside the app. */
export interface Surroundings {
  /** For the app's process. */
  env: Record<string, string>
  op: OP
  mailbox: Mailbox
  close(): Promise<void>
}

/** Starts the surroundings of an app that will be at `http://localhost:<port>` with its routes at `basePath`. */
export async function startSurroundings(port: number, basePath: string): Promise<Surroundings> {
  const origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  const client = { id: 'playground', secret: randomBytes(24).toString('hex') }
  const mailbox = await startMailbox()
  const redirectUris = origins.map((origin) => `${origin}${basePath}/callback/acme`)
  const op = await startOP(0, () => [{ ...client, name: 'authkernel playground', redirectUris, origins }])
  return {
    op,
    mailbox,
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      // On loopback every Host header is ours. A deployment sets AUTH_URL instead.
      AUTH_TRUST_HOST: 'true',
      AUTH_ACME_ID: client.id,
      AUTH_ACME_SECRET: client.secret,
      AUTH_ACME_ISSUER: op.issuer,
      MAIL_SERVER: `smtp://127.0.0.1:${mailbox.server.port}?ignoreTLS=true`,
    },
    close: async () => void (await Promise.all([op.close(), mailbox.close()])),
  }
}
