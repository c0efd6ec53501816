/**
 * Supabase Auth: rows of `auth.users` with those of `auth.identities` and `auth.mfa_factors` in them, from the database itself or from a file. Its hashes
 * are bcrypt, or what was imported into it: argon2id and the scrypt of Firebase.
 */
import { accountOf, dateOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import { type HashFound, readHash } from './hashes.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

const providers = { azure: 'microsoft-entra-id', linkedin_oidc: 'linkedin', slack_oidc: 'slack' } as const
// What Supabase Auth writes into `raw_app_meta_data` by itself.
const ownMetadata = new Set(['provider', 'providers', 'role', 'roles'])

export const supabase: Source = {
  lists: ['users'],
  tables: {
    schema: 'auth',
    users: ['users'],
    more: {
      identities: { tables: ['identities'], column: 'user_id' },
      mfa_factors: { tables: ['mfa_factors'], column: 'user_id' },
    },
  },
  // Deleted softly: the row is kept without an address.
  read: (row) => (dateOf(row['deleted_at']) ? [] : [readUser(row)]),
}

function readUser(row: ExportedRow): ImportedUser {
  const profile = objectOf(row['raw_user_meta_data'] ?? row['user_metadata'])
  const app = objectOf(row['raw_app_meta_data'] ?? row['app_metadata'])
  const factors = rowsOf(row['mfa_factors'] ?? row['factors']).filter(({ status }) => status === undefined || status === 'verified')
  const totp = factors.find(({ factor_type: type, secret }) => type === 'totp' && /^[A-Z2-7]{16,128}$/.test(String(secret)))
  const phone = textOf(row['phone'])
  const number = phone === undefined ? undefined : numberOf(phone.startsWith('+') ? phone : `+${phone}`)
  const stored = textOf(row['encrypted_password'])
  const until = dateOf(row['banned_until'])
  const roles = [...listOf(app['roles']), ...listOf(app['role'])]
  return {
    kind: 'user',
    id: idOf(row, 'id'),
    email: textOf(row['email']) ?? null,
    emailVerified: dateOf(row['email_confirmed_at']) !== undefined,
    name: nameOf(profile['full_name'] ?? profile['name'] ?? profile['display_name']) ?? null,
    image: textOf(profile['avatar_url']) ?? textOf(profile['picture']) ?? null,
    phone: number === undefined ? null : { number, verified: dateOf(row['phone_confirmed_at']) !== undefined },
    accounts: rowsOf(row['identities'])
      .filter(({ provider }) => provider !== 'email' && provider !== 'phone')
      .flatMap((identity) =>
        accountOf(providers, identity['provider'], identity['provider_id'] ?? objectOf(identity['identity_data'])['sub'] ?? identity['id']),
      ),
    ban: until === undefined ? null : { reason: 'Banned in Supabase.', until },
    ...(roles.length > 0 && { roles }),
    ...(stored !== undefined && readStored(stored)),
    ...(totp !== undefined && { totp: String(totp['secret']) }),
    ...droppedOf({
      guests: isTrue(row['is_anonymous']),
      factors: factors.length > (totp ? 1 : 0),
      sso: isTrue(row['is_sso_user']),
      metadata: Object.keys(app).some((name) => !ownMetadata.has(name)),
    }),
  }
}

// `$fbscrypt$v=1,n=14,r=8,p=1,ss=<separator>,sk=<signer key>$<salt>$<hash>`.
function readStored(stored: string): HashFound {
  const [, salt, hash] = /^\$fbscrypt\$[^$]{1,256}\$([\w+/=-]{1,128})\$([\w+/=-]{1,128})$/.exec(stored) ?? []
  return salt !== undefined && hash !== undefined ? { hash: `firebase:${salt}:${hash}` } : readHash(stored)
}
