/** An app as its users wrote it with better-auth: passwords, a provider and a second factor, in a database. */
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { genericOAuth, twoFactor } from 'better-auth/plugins'
import type { Setting } from './setting.ts'

export async function start({
  database,
  origin,
  secret,
  provider,
  mails,
}: Setting): Promise<{ handler(request: Request): Promise<Response> }> {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database,
    emailAndPassword: { enabled: true },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: async ({ user, url }: { user: { email: string }; url: string }) =>
        void mails.push({ to: user.email, text: url }),
    },
    telemetry: { enabled: false },
    plugins: [
      twoFactor(),
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
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
  return betterAuth(options)
}
