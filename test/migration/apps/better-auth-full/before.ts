/** An app as its users wrote it with better-auth and many of its plugins. */
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { admin, anonymous, organization, phoneNumber, twoFactor, username } from 'better-auth/plugins'

export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
}

export async function start({ database, origin, secret }: Setting) {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database,
    emailAndPassword: { enabled: true },
    user: { additionalFields: { plan: { type: 'string', required: false, input: false } } },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    plugins: [
      admin(),
      username(),
      twoFactor(),
      organization({ teams: { enabled: true }, sendInvitationEmail: async () => {} }),
      apiKey({ rateLimit: { enabled: false } }),
      phoneNumber({ sendOTP: () => {} }),
      anonymous(),
    ],
  }
  const { runMigrations } = await getMigrations(options as never)
  await runMigrations()
  return betterAuth(options as never)
}
