/** An app as its users wrote it with the plugins of better-auth that move in part, or not yet. */
import { oauthProvider } from '@better-auth/oauth-provider'
import { scim } from '@better-auth/scim'
import { sso } from '@better-auth/sso'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { anonymous, jwt, multiSession, organization, phoneNumber, siwe, twoFactor } from 'better-auth/plugins'

export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
  texts: { phoneNumber: string; code: string }[]
  /** Version 1.6 of `@better-auth/scim` has no connections of an administrator. */
  line: '1.6' | '1.7'
  /** Origins that single sign-on may read discovery documents from. */
  trustedOrigins?: string[]
}

export async function start({ database, origin, secret, texts, line, trustedOrigins = [] }: Setting) {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database: { ...database, transaction: true },
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    trustedOrigins,
    rateLimit: { enabled: false },
    plugins: [
      twoFactor(),
      multiSession(),
      anonymous(),
      phoneNumber({ sendOTP: (text) => void texts.push(text) }),
      organization({ teams: { enabled: true } }),
      sso(),
      scim((line === '1.6' ? {} : { connections: [], managedConnections: { credentialHashSecret: secret } }) as never),
      jwt(),
      oauthProvider({ loginPage: '/login', consentPage: '/consent' }),
      siwe({ domain: 'localhost', getNonce: async () => 'anonceofthetest', verifyMessage: async () => true }),
    ],
  }
  const { runMigrations } = await getMigrations(options as never)
  await runMigrations()
  return betterAuth(options as never)
}
