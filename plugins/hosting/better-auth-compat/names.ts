/** The tables of better-auth as `sqlAdapter` takes them. */

type Fields = Readonly<Record<string, unknown>>
/** A table: its columns by field, forms of fields, values of further columns, and fields that it lacks. */
interface Mapping {
  table: string
  columns: Readonly<Record<string, string>>
  forms?: Readonly<Record<string, 'flag' | 'instant' | 'blank' | 'base64url'>>
  fill?: Readonly<Record<string, () => unknown>>
  absent?: Readonly<Record<string, (row: Fields) => unknown>>
}
/** For `names` of `sqlAdapter`. */
export interface BetterAuthNames {
  users: Mapping
  accounts: Mapping
  sessions: Mapping
  authenticators?: Mapping
}

const currentDate = (): Date => new Date()
const returnNull = (): null => null

/**
 * Names for `sqlAdapter(db, { names: betterAuthNames() })`. `passkeys`: the table of @better-auth/passkey is there. Mailed links, one-time marks and
 * records of plugins get tables of their own.
 */
export function betterAuthNames({ passkeys = false }: { passkeys?: boolean } = {}): BetterAuthNames {
  return {
    users: {
      table: 'user',
      columns: { id: 'id', name: 'name', email: 'email', emailVerified: 'emailVerified', image: 'image' },
      forms: { emailVerified: 'flag', name: 'blank' },
      fill: { createdAt: currentDate, updatedAt: currentDate },
    },
    accounts: {
      table: 'account',
      columns: {
        provider: 'providerId',
        providerAccountId: 'accountId',
        access_token: 'accessToken',
        refresh_token: 'refreshToken',
        id_token: 'idToken',
        expires_at: 'accessTokenExpiresAt',
      },
      forms: { expires_at: 'instant' },
      fill: { createdAt: currentDate, updatedAt: currentDate },
      absent: {
        type: ({ provider }) => (provider === 'credential' ? 'credentials' : 'oauth'),
        token_type: returnNull,
        session_state: returnNull,
      },
    },
    sessions: {
      table: 'session',
      columns: { sessionToken: 'token', expires: 'expiresAt', createdAt: 'createdAt' },
      fill: { createdAt: currentDate, updatedAt: currentDate },
    },
    ...(passkeys && {
      authenticators: {
        table: 'passkey',
        columns: {
          credentialID: 'credentialID',
          credentialPublicKey: 'publicKey',
          credentialDeviceType: 'deviceType',
          credentialBackedUp: 'backedUp',
        },
        forms: { credentialID: 'base64url' },
        fill: { createdAt: currentDate },
        absent: { providerAccountId: ({ credentialID }) => credentialID },
      },
    }),
  }
}
