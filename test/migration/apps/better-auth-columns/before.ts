/** An app whose tables are plural and whose columns are in snake case, as its users wrote it with better-auth. */
import { apiKey } from '@better-auth/api-key'
import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { admin, organization, phoneNumber, twoFactor, username } from 'better-auth/plugins'

export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
}

const named = (modelName: string | undefined, ...fields: string[]) => ({
  ...(modelName !== undefined && { modelName }),
  fields: Object.fromEntries(fields.map((field) => [field, field.replaceAll(/([a-z\d])([A-Z]+)/g, '$1_$2').toLowerCase()])),
})

export async function start({ database, origin, secret }: Setting) {
  const options = {
    appName: 'Moving app',
    baseURL: origin,
    secret,
    database,
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    user: named('users', 'emailVerified', 'createdAt', 'updatedAt'),
    session: named('sessions', 'expiresAt', 'createdAt', 'updatedAt', 'ipAddress', 'userAgent', 'userId'),
    account: named(
      'accounts',
      ...'accountId providerId userId accessToken refreshToken idToken accessTokenExpiresAt refreshTokenExpiresAt createdAt updatedAt'.split(
        ' ',
      ),
    ),
    verification: named('verifications', 'expiresAt', 'createdAt', 'updatedAt'),
    plugins: [
      admin({ schema: { user: named(undefined, 'banReason', 'banExpires'), session: named(undefined, 'impersonatedBy') } }),
      username({ schema: { user: named(undefined, 'displayUsername') } }),
      phoneNumber({ sendOTP: () => {}, schema: { user: named(undefined, 'phoneNumber', 'phoneNumberVerified') } }),
      twoFactor({
        schema: {
          user: named(undefined, 'twoFactorEnabled'),
          twoFactor: named('two_factors', 'backupCodes', 'userId', 'failedVerificationCount', 'lockedUntil'),
        },
      }),
      organization({
        sendInvitationEmail: async () => {},
        schema: {
          session: named(undefined, 'activeOrganizationId'),
          organization: named('organizations', 'createdAt'),
          member: named('members', 'organizationId', 'userId', 'createdAt'),
          invitation: named('invitations', 'organizationId', 'expiresAt', 'inviterId', 'createdAt'),
        },
      }),
      apiKey({
        rateLimit: { enabled: false },
        schema: {
          apikey: named(
            'api_keys',
            ...(
              'configId referenceId refillInterval refillAmount lastRefillAt rateLimitEnabled rateLimitTimeWindow rateLimitMax ' +
              'requestCount lastRequest expiresAt createdAt updatedAt'
            ).split(' '),
          ),
        },
      }),
      passkey({
        rpID: 'localhost',
        rpName: 'Moving app',
        origin,
        schema: { passkey: named('passkeys', 'publicKey', 'userId', 'credentialID', 'deviceType', 'backedUp', 'createdAt') },
      }),
    ],
  }
  const { runMigrations } = await getMigrations(options as never)
  await runMigrations()
  return betterAuth(options as never)
}
