/** An app as its users wrote it with better-auth and its package of passkeys. */
import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'

export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
}

export async function start({ database, origin, secret }: Setting): Promise<{ handler(request: Request): Promise<Response> }> {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database,
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    plugins: [passkey({ rpID: 'localhost', rpName: 'Moving app', origin })],
  }
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
  return betterAuth(options)
}
