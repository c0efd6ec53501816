/** An app as its users wrote it with better-auth: addresses are not verified, and a user can add every credential. */
import { apiKey } from '@better-auth/api-key'
import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { genericOAuth, phoneNumber, twoFactor, username } from 'better-auth/plugins'

export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
  provider: { issuer: string; clientId: string; clientSecret: string }
  texts: string[]
  mails: { to: string; text: string }[]
}

export async function start({ database, origin, secret, provider, texts, mails }: Setting) {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database,
    emailAndPassword: {
      enabled: true,
      sendResetPassword: async ({ user, token }: { user: { email: string }; token: string }) =>
        void mails.push({ to: user.email, text: `reset: ${token}` }),
    },
    // An account of any address can be linked: what an attacker needs to add one.
    account: { accountLinking: { enabled: true, trustedProviders: ['acme'], allowDifferentEmails: true } },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    plugins: [
      twoFactor(),
      username(),
      phoneNumber({ sendOTP: ({ code }) => void texts.push(code) }),
      apiKey({ rateLimit: { enabled: false } }),
      passkey({ rpID: 'localhost', rpName: 'Moving app', origin }),
      genericOAuth({
        config: [
          {
            providerId: 'acme',
            discoveryUrl: `${provider.issuer}/.well-known/openid-configuration`,
            clientId: provider.clientId,
            clientSecret: provider.clientSecret,
            scopes: ['openid', 'profile', 'email'],
            pkce: true,
          },
        ],
      }),
    ],
  }
  const { runMigrations } = await getMigrations(options as never)
  await runMigrations()
  return betterAuth(options as never)
}
