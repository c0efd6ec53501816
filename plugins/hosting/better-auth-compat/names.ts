/** The tables of better-auth as `sqlAdapter` takes them. */
import { type BetterAuthModel, type BetterAuthSchema, checkSchema, columnOf, tableOf } from './schema.ts'

type Fields = Readonly<Record<string, unknown>>
/** A table: its columns by field, forms of fields, values of further columns, and fields that it lacks. */
interface Mapping {
  table: string
  columns: Readonly<Record<string, string>>
  forms?: Readonly<Record<string, 'flag' | 'instant' | 'blank' | 'base64url' | 'address'>>
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
 * Names for `sqlAdapter(db, { names: betterAuthNames() })`. `passkeys`: the table of @better-auth/passkey is there. `casing` and `models` say what your tables and
 * columns are called. Magic links, one-time marks and records of plugins get separate tables. Throws AuthError for an unknown model.
 */
export function betterAuthNames({ passkeys = false, ...schema }: { passkeys?: boolean } & BetterAuthSchema = {}): BetterAuthNames {
  checkSchema(schema)
  const name = (model: BetterAuthModel, field: string): string => columnOf(schema, model, field)
  const columnsOf = (model: BetterAuthModel, fields: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(fields).map(([field, theirs]) => [field, name(model, theirs)]))
  const dates = (model: BetterAuthModel): Record<string, () => unknown> => ({
    [name(model, 'createdAt')]: currentDate,
    [name(model, 'updatedAt')]: currentDate,
  })
  return {
    users: {
      table: tableOf(schema, 'user'),
      columns: columnsOf('user', { id: 'id', name: 'name', email: 'email', emailVerified: 'emailVerified', image: 'image' }),
      forms: { emailVerified: 'flag', name: 'blank', email: 'address' },
      fill: dates('user'),
    },
    accounts: {
      table: tableOf(schema, 'account'),
      columns: columnsOf('account', {
        ...own('account'),
        provider: 'providerId',
        providerAccountId: 'accountId',
        access_token: 'accessToken',
        refresh_token: 'refreshToken',
        id_token: 'idToken',
        expires_at: 'accessTokenExpiresAt',
      }),
      forms: { expires_at: 'instant' },
      fill: dates('account'),
      absent: {
        type: ({ provider }) => (provider === 'credential' ? 'credentials' : 'oauth'),
        token_type: returnNull,
        session_state: returnNull,
      },
    },
    sessions: {
      table: tableOf(schema, 'session'),
      columns: columnsOf('session', { ...own('session'), sessionToken: 'token', expires: 'expiresAt', createdAt: 'createdAt' }),
      fill: dates('session'),
    },
    ...(passkeys && {
      authenticators: {
        table: tableOf(schema, 'passkey'),
        columns: columnsOf('passkey', {
          ...own('passkey'),
          credentialID: 'credentialID',
          credentialPublicKey: 'publicKey',
          credentialDeviceType: 'deviceType',
          credentialBackedUp: 'backedUp',
        }),
        forms: { credentialID: 'base64url' },
        fill: { [name('passkey', 'createdAt')]: currentDate },
        absent: { providerAccountId: ({ credentialID }) => credentialID },
      },
    }),
  }

  /** Fields of the same name in both products, where the app calls the column otherwise. */
  function own(model: 'account' | 'session' | 'passkey'): Record<string, string> {
    const shared = {
      account: ['id', 'userId', 'scope', 'password'],
      session: ['id', 'userId'],
      passkey: ['userId', 'counter', 'transports'],
    }[model]
    return Object.fromEntries(shared.filter((field) => name(model, field) !== field).map((field) => [field, field]))
  }
}
